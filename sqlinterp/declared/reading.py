"""YAML into declarations: every problem is collected, then all are told at once."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlinterp.declared.cells import number_of
from sqlinterp.declared.declaration import (
    FILTERS,
    KERNEL_PLACE,
    MOST_AXES,
    SPREADS,
    TRANSFORMS,
    UNITS_US,
    Axis,
    Declaration,
    Filter,
    KernelRule,
    RegimeField,
)
from sqlinterp.declared.feasible import feasible_problem
from sqlinterp.errors import SourceError
from sqlinterp.policy import policy_problems
from sqlinterp.resources import resource_folder
from sqlinterp.strict_yaml import parse_yaml

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
VERSION = re.compile(r"[^/]+/[^/]+/[^/]+")
_KEYS = {
    "name", "description", "source", "path", "constants", "version", "kernel", "regime", "axes",
    "latency", "spread", "where", "backend", "feasible", "policy",
}  # fmt: skip
_REQUIRED = ("name", "version", "kernel", "axes", "latency")


def read_declaration(path: str | os.PathLike[str]) -> Declaration:
    """Read a declaration from a file, or a shipped one by its name.

    Raises
    ------
    SourceError
        If there is no such file, it is no YAML, or it is no declaration; all problems are told.
    """
    file = _find(path)
    try:
        document = parse_yaml(file.read_bytes())
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", str(file)) from error
    except ValueError as error:
        raise SourceError(str(error), str(file)) from error
    if not isinstance(document, Mapping):
        raise SourceError("is no declaration", str(file), "a mapping with name, kernel, axes ...")
    reader = _Reader(dict(document))
    declaration = reader.declaration()
    if declaration is None:
        raise SourceError("; ".join(reader.problems), str(file))
    return declaration


def shipped_declarations() -> dict[str, Path]:
    """Return the declarations that this package ships, by name."""
    folder = resource_folder("databases") / "declarations"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def _find(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    shipped = shipped_declarations()
    if str(path) in shipped:
        return shipped[str(path)]
    raise SourceError(
        "there is no such declaration",
        str(path),
        todo=f"Give a YAML file or one of: {', '.join(shipped)}.",
    )


class _Reader:
    """Reads the parts of one document and remembers what is wrong with them."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self.problems: list[str] = []

    def declaration(self) -> Declaration | None:
        """Return the declaration, None when there are problems."""
        given = self._document
        self.problems += [f"unknown key '{key}'" for key in given if key not in _KEYS]
        self.problems += [f"'{key}' is missing" for key in _REQUIRED if key not in given]
        kernel, axes, regime = self._kernel(), self._axes(), self._regime()
        latency = self._latency(kernel)
        parts: dict[str, Any] = {
            "name": self._text("name", NAME), "version": self._text("version", VERSION),
            "spread": self._spread(kernel), "filters": self._filters(),
            "constants": self._constants(), "patterns": self._patterns(),
            "policy": self._mapping("policy"),
            "source": {key: str(text) for key, text in self._mapping("source").items()},
            "backend": given.get("backend"), "feasible": given.get("feasible"), "content": given,
        }  # fmt: skip
        self._check_names(axes, regime)
        self.problems += policy_problems("policy", parts["policy"])
        if parts["feasible"] is not None:
            problem = feasible_problem(parts["feasible"], [axis.name for axis in axes])
            self.problems += [f"feasible: {problem}"] if problem else []
        if self.problems or kernel is None or latency is None:
            return None
        return Declaration(
            kernel=kernel, axes=axes, regime=regime, latency_column=latency[0],
            latency_unit=latency[1], **parts,
        )  # fmt: skip

    def _text(self, key: str, form: re.Pattern[str]) -> str:
        value = self._document.get(key)
        if isinstance(value, str) and form.fullmatch(value):
            return value
        if key in self._document:
            expected = "'device/backend/release'" if form is VERSION else "a name"
            self.problems.append(f"{key} is {value!r}, expected {expected}")
        return ""

    def _mapping(self, key: str) -> dict[str, Any]:
        value = self._document.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.problems.append(f"{key} is {value!r}, expected a mapping")
            return {}
        return {str(name): item for name, item in value.items()}

    def _constants(self) -> dict[str, Any]:
        constants = self._mapping("constants")
        for name, value in constants.items():
            if not isinstance(value, (str, int, float)):
                self.problems.append(f"constants.{name} is {value!r}, expected text or a number")
        return constants

    def _list(self, key: str) -> list[Any]:
        value = self._document.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.problems.append(f"{key} is {value!r}, expected a list")
            return []
        return value

    def _kernel(self) -> KernelRule | None:
        value = self._document.get("kernel")
        if isinstance(value, str) and value:
            return KernelRule("constant", value)
        if isinstance(value, Mapping) and set(value) <= {"column", "columns", "prefix"}:
            kind = "columns" if "columns" in value else "column"
            text, prefix = value.get(kind), value.get("prefix", "")
            is_told = isinstance(text, str) and isinstance(prefix, str) and len(value) < 3
            if is_told and (kind == "column" or str(text).count(KERNEL_PLACE) == 1):
                return KernelRule(kind, str(text), prefix)
        if "kernel" in self._document:
            expected = (
                "a name, {column: ...} or {columns: '...{kernel}...'}, with prefix if need be"
            )
            self.problems.append(f"kernel is {value!r}, expected {expected}")
        return None

    def _axes(self) -> tuple[Axis, ...]:
        axes = []
        given = self._list("axes")
        for place, item in enumerate(given, start=1):
            fields = self._fields(f"axes[{place}]", item, {"unit", "scale", "transform"})
            scale, transform = fields.get("scale", 1), fields.get("transform", "identity")
            if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not (
                math.isfinite(scale) and scale > 0
            ):  # fmt: skip
                self.problems.append(f"axes[{place}].scale is {scale!r}, expected a number above 0")
                scale = 1
            if transform not in TRANSFORMS:
                expected = ", ".join(TRANSFORMS)
                self.problems.append(
                    f"axes[{place}].transform is {transform!r}, expected one of {expected}"
                )
            axes.append(Axis(fields["name"], fields["column"], str(fields.get("unit", "")),
                             float(scale), str(transform)))  # fmt: skip
        if "axes" in self._document and not 1 <= len(given) <= MOST_AXES:
            self.problems.append(f"there are {len(given)} axes, expected 1 to {MOST_AXES}")
        return tuple(axes)

    def _regime(self) -> tuple[RegimeField, ...]:
        fields = []
        for place, item in enumerate(self._list("regime"), start=1):
            told = self._fields(f"regime[{place}]", item, {"default"})
            fields.append(RegimeField(told["name"], told["column"], told.get("default"),
                                      "default" in told))  # fmt: skip
        return tuple(fields)

    def _fields(self, where: str, item: Any, optional: set[str]) -> dict[str, Any]:
        """Return name, column and the rest of an item that is a column name or a mapping."""
        fields = {"column": item} if isinstance(item, str) else item
        if not isinstance(fields, Mapping) or not set(fields) <= {"name", "column", *optional}:
            expected = (
                f"a column, or a mapping of {', '.join(['name', 'column', *sorted(optional)])}"
            )
            self.problems.append(f"{where} is {item!r}, expected {expected}")
            return {"name": "", "column": ""}
        name = fields.get("name", fields.get("column"))
        column = fields.get("column", name)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            self.problems.append(f"{where}.name is {name!r}, expected letters, digits and '_'")
        if not isinstance(column, str) or not column:
            self.problems.append(f"{where}.column is {column!r}, expected a column")
        return {**fields, "name": str(name), "column": str(column)}

    def _latency(self, kernel: KernelRule | None) -> tuple[str, str] | None:
        value = self._document.get("latency")
        if isinstance(value, Mapping) and set(value) == {"column", "unit"}:
            column, unit = value["column"], value["unit"]
            if isinstance(column, str) and column and unit in UNITS_US:
                self._check_pattern("latency.column", column, kernel)
                return column, str(unit)
        if "latency" in self._document:
            units = ", ".join(UNITS_US)
            self.problems.append(
                f"latency is {value!r}, expected {{column: ..., unit: one of {units}}}"
            )
        return None

    def _spread(self, kernel: KernelRule | None) -> dict[str, str]:
        spread = self._mapping("spread")
        for name, column in spread.items():
            if name not in SPREADS or not isinstance(column, str):
                expected = f"columns for {', '.join(SPREADS)}"
                self.problems.append(f"spread.{name} is {column!r}, expected {expected}")
            else:
                self._check_pattern(f"spread.{name}", column, kernel)
        return spread

    def _check_pattern(self, where: str, column: str, kernel: KernelRule | None) -> None:
        is_wide = kernel is not None and kernel.kind == "columns"
        if is_wide and KERNEL_PLACE not in column:
            self.problems.append(f"{where} is {column!r}, expected {KERNEL_PLACE} in it")

    def _filters(self) -> tuple[Filter, ...]:
        filters = []
        for place, item in enumerate(self._list("where"), start=1):
            relations = (
                [key for key in item if key != "column"] if isinstance(item, Mapping) else []
            )
            value = item[relations[0]] if relations else None
            is_list = isinstance(value, list)
            if len(relations) != 1 or relations[0] not in FILTERS or not isinstance(
                item.get("column"), str
            ) or is_list != (relations[0] in ("in", "not_in")) or (
                relations[0] in ("min", "max") and number_of(value) is None
            ):  # fmt: skip
                expected = f"a column and one of {', '.join(FILTERS)}"
                self.problems.append(f"where[{place}] is {item!r}, expected {expected}")
                continue
            filters.append(Filter(item["column"], relations[0], value))
        return tuple(filters)

    def _patterns(self) -> tuple[str, ...]:
        value = self._document.get("path")
        patterns = [value] if isinstance(value, str) else self._list("path")
        for pattern in patterns:
            try:
                re.compile(pattern)
            except (re.error, TypeError, RecursionError) as error:
                self.problems.append(f"path is {pattern!r}, expected a regular expression: {error}")
        return tuple(patterns)

    def _check_names(self, axes: tuple[Axis, ...], regime: tuple[RegimeField, ...]) -> None:
        items: list[Axis | RegimeField] = [*axes, *regime]
        names = [item.name for item in items]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.problems.append(f"'{name}' names two fields")
        backend = self._document.get("backend")
        if backend is not None and backend not in [field.name for field in regime]:
            self.problems.append(f"backend is {backend!r}, expected a field of the regime")
