"""Regimes of a kernel by their fields: which of them a set of given values selects."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.paths import PATHS, Path

Row = dict[str, Any]
# Fields of a regime that a target may leave open: lookups try each of their values in turn.
_OPEN = ("input_formats",)
_MOST_DIM = 3
_TRANSFORMS = {"log2": math.log2, "log": math.log, "sqrt": math.sqrt}


class RegimeError(UsageError):
    """A kernel, regime field or value that does not exist, or several regimes that are meant.

    Attributes
    ----------
    code : str
        unknown_kind, unknown_regime_key, ambiguous_regime, no_points or bad_request.
    known : tuple of str
        What could have been given instead.
    """

    def __init__(self, code: str, what: str, known: Iterable[str] = (), expected: str = "") -> None:
        self.code, self.known = code, tuple(known)
        listed = ", ".join(self.known[:20]) + (" ..." if len(self.known) > 20 else "")
        super().__init__(what, "", expected, f"Known: {listed}." if listed else "")


@dataclass(frozen=True)
class Regime:
    """One measured regime.

    Attributes
    ----------
    fields : dict
        Discrete fields with their values, as the details of answers tell them.
    transforms : tuple of str
        How each axis is stored.
    backend : str or None
        Field whose values are alternatives of which the fastest counts.
    """

    regime_id: int
    file_id: int
    path: Path
    input_limit: int
    fields: Row
    axes: tuple[str, ...]
    transforms: tuple[str, ...]
    backend: str | None
    is_nd: bool
    latency_ranks: tuple[int, ...]
    measurement_count: int

    @property
    def columns(self) -> Row:
        """Fields that a request may name: those of the regime, then how the kernel is looked up."""
        return {**self.fields, "path": self.path.name, "input_limit": self.input_limit}

    def stored(self, coordinate: Mapping[str, float]) -> tuple[float, ...] | None:
        """Return the four stored axis values of a coordinate, None outside a transform's domain."""
        values = [0.0, 0.0, 0.0, 0.0]
        for i, (axis, transform) in enumerate(zip(self.axes, self.transforms, strict=True)):
            value = float(coordinate[axis])
            try:
                values[i] = _TRANSFORMS[transform](value) if transform in _TRANSFORMS else value
            except ValueError:
                return None
        return tuple(values)


def read_regime(row: Row) -> Regime:
    """Return the regime that a row of ``lookup.kernel_regime`` describes."""
    axes = tuple(row["axis_names"])
    fields = json.loads(row["regime_key"])
    if row["axis_transforms"] is None:
        path = PATHS[row["path"]]
        fields["input_formats"] = row["input_formats"].split(";")
        fields["output_dtypes"] = row["output_dtypes"].split(";") if row["output_dtypes"] else []
    else:
        stored = tuple(row["axis_transforms"])
        path = Path(row["path"], axes, min(len(axes), _MOST_DIM), transforms=stored)
    return Regime(
        regime_id=row["regime_id"], file_id=row["file_id"], path=path,
        input_limit=row["input_limit"], fields=fields, axes=axes,
        transforms=tuple(row["axis_transforms"] or ["identity"] * len(axes)),
        backend=row["backend_column"], is_nd=row["is_nd"],
        latency_ranks=tuple(row["latency_ranks"]), measurement_count=row["measurement_count"],
    )  # fmt: skip


def select_regimes(regimes: Sequence[Regime], given: Mapping[str, Any]) -> list[Regime]:
    """Return the regimes that equal the given fields and differ in no field that matters.

    Regimes that differ only in fields that lookups try in turn come back together.

    Raises
    ------
    RegimeError
        If a field is unknown, no regime has the values, or other fields are needed to choose.
    """
    columns = columns_of(regimes)
    for key in given:
        if key not in columns:
            raise RegimeError("unknown_regime_key", f"'{key}' is no field of the regime", columns)
    chosen = list(regimes)
    for key, value in given.items():
        left = [regime for regime in chosen if _same(regime.columns.get(key), value)]
        if not left:
            known = sorted({spelled(regime.columns.get(key)) for regime in chosen})
            raise RegimeError("no_points", f"no regime has {key} = {spelled(value)}", known)
        chosen = left
    for key in columns:
        values = sorted({spelled(regime.columns.get(key)) for regime in chosen})
        if len(values) > 1 and key not in _OPEN:
            what = f"the regime is ambiguous: '{key}' is not told and has {len(values)} values"
            raise RegimeError("ambiguous_regime", what, [f"{key}={value}" for value in values])
    return chosen


def columns_of(regimes: Iterable[Regime]) -> list[str]:
    """Return the fields that tell regimes apart, in order of their first appearance.

    How the kernel is looked up is a field only where a kernel is looked up in several ways.
    """
    every = list(regimes)
    names = dict.fromkeys(name for regime in every for name in regime.fields)
    for name in ("path", "input_limit"):
        if len({spelled(regime.columns[name]) for regime in every}) > 1:
            names[name] = None
    return list(names)


def spelled(value: Any) -> str:
    """Return a value of a regime as text, the same for all ways to write it in JSON or YAML.

    Examples
    --------
    >>> spelled(32.0), spelled("32"), spelled(True), spelled(["DT_BF16"])
    ('32', '32', 'true', '["DT_BF16"]')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _same(known: Any, given: Any) -> bool:
    return spelled(known) == spelled(given)
