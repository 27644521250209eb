"""Tables into rows per version and kernel: regime, axes and latency, or why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlinterp.declared.cells import finite, is_blank, number_of, regime_value, shown, stored_value
from sqlinterp.declared.declaration import SPREADS, UNITS_US, Declaration, Filter
from sqlinterp.declared.tables import Rejection, Table
from sqlinterp.errors import SourceError

KERNEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
ROW_COLUMNS = (
    "row_number", "line_number", "regime_key", "axis_1", "axis_2", "axis_3", "axis_4",
    "latency_us", *(f"{name}_us" for name in SPREADS),
)  # fmt: skip
_UNTOLD = [None] * len(SPREADS)
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda cell, value: _text(cell) == _text(value),
    "not_equals": lambda cell, value: _text(cell) != _text(value),
    "in": lambda cell, values: _text(cell) in {_text(value) for value in values},
    "not_in": lambda cell, values: _text(cell) not in {_text(value) for value in values},
    "min": lambda cell, value: (number := number_of(cell)) is not None and number >= value,
    "max": lambda cell, value: (number := number_of(cell)) is not None and number <= value,
}


@dataclass
class KernelRows:
    """What one table holds of one kernel of one version.

    Attributes
    ----------
    rows : list of tuple
        Usable rows with the values of ``ROW_COLUMNS``.
    unmeasured : list of (row_number, line_number)
        Rows whose latency is blank or zero.
    rejected : list of Rejection
        Rows that cannot be used.
    """

    version_key: str
    kernel: str
    latency_column: str
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    unmeasured: list[tuple[int, int]] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        """Rows of the table that belong to the kernel."""
        return len(self.rows) + len(self.unmeasured) + len(self.rejected)


@dataclass
class DeclaredRows:
    """All rows of one table by (version key, kernel), and how many the filters left out."""

    kernels: dict[tuple[str, str], KernelRows] = field(default_factory=dict)
    filtered: int = 0


def declared_rows(
    table: Table, declaration: Declaration, values: Mapping[str, Any]
) -> DeclaredRows:
    """Return the rows that a declaration reads from a table.

    Parameters
    ----------
    values : mapping
        Columns that the table lacks, with their one value: constants, parts of the path, values
        that the caller gives.

    Raises
    ------
    SourceError
        If the table lacks columns of the declaration, or no row tells its version.
    """
    for name, value in values.items():
        table.columns[name] = [value] * len(table)
    names = _kernel_names(table, declaration)
    _check_columns(table, declaration, names, values)
    return _RowReader(table, declaration).read(names)


def _text(cell: Any) -> str:
    value = regime_value(cell)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kernel_names(table: Table, declaration: Declaration) -> list[str]:
    """Return the names that the columns of a wide table give, else an empty list."""
    rule = declaration.kernel
    if rule.kind != "columns":
        return []
    names = rule.names_in(table.header)
    if not names:
        raise SourceError(f"no column is named like '{rule.text}'", str(table.path))
    return names


def _check_columns(
    table: Table, declaration: Declaration, names: Sequence[str], values: Mapping[str, Any]
) -> None:
    needed = dict.fromkeys(c for name in names or [""] for c in declaration.columns(name))
    missing = [column for column in needed if column not in table.columns]
    if missing:
        listed = ", ".join(f"'{column}'" for column in missing)
        has = ", ".join(f"'{column}'" for column in table.header if column not in values)
        raise SourceError(
            f"the declaration '{declaration.name}' needs {listed}, which the table lacks",
            str(table.path),
            todo=f"The table has {has}. Values of missing columns can be given (--set NAME=VALUE).",
        )


class _RowReader:
    """Reads the rows of one table one by one."""

    def __init__(self, table: Table, declaration: Declaration) -> None:
        self._table, self._declaration = table, declaration
        self._result = DeclaredRows()
        self._keys: dict[tuple[Any, ...], str] = {}
        self._values: dict[tuple[int, Any], float | None] = {}
        self._lost: list[Rejection] = []
        self._version_columns = declaration.version_columns
        self._owners: dict[tuple[Any, ...], tuple[str, str]] = {}

    def read(self, names: Sequence[str]) -> DeclaredRows:
        """Return the rows; those that tell no kernel or version are kept under the declaration."""
        kept = list(self._kept())
        if self._declaration.kernel.kind == "columns":
            for name in names:
                self._read_kernel(kept, name)
        else:
            self._read_kernel(kept, "")
        self._lost += self._table.rejections
        if not self._result.kernels:
            raise SourceError("has no row that tells its kernel and version", str(self._table.path))
        if self._lost:
            version = min(key for key, _ in self._result.kernels)
            self._rows_of(version, self._declaration.name, "").rejected += self._lost
        return self._result

    def _kept(self) -> Iterator[int]:
        columns, filters = self._table.columns, self._declaration.filters
        for place in range(len(self._table)):
            if all(_passes(columns[f.column][place], f) for f in filters):
                yield place
            else:
                self._result.filtered += 1

    def _read_kernel(self, places: Sequence[int], name: str) -> None:
        columns, declaration = self._table.columns, self._declaration
        rule = declaration.kernel
        latencies = columns[rule.column(declaration.latency_column, name)]
        spreads = {
            key: columns[rule.column(declaration.spread[key], name)] for key in declaration.spread
        }
        latency_column = rule.column(declaration.latency_column, name)
        for place in places:
            problem, version, kernel = self._owner(place, name)
            if problem is not None:
                self._lost.append(problem)
                continue
            own = self._rows_of(version, kernel, latency_column)
            self._read_row(place, own, latencies[place], {k: c[place] for k, c in spreads.items()})

    def _owner(self, place: int, name: str) -> tuple[Rejection | None, str, str]:
        """Return version and kernel of a row, or why it has none."""
        columns, rule = self._table.columns, self._declaration.kernel
        parts = {column: columns[column][place] for column in self._version_columns}
        cell = columns[rule.text][place] if rule.kind == "column" else name or rule.text
        cells = (*parts.values(), cell)
        if cells in self._owners:
            return None, *self._owners[cells]
        for column_in_key, part in parts.items():
            if is_blank(part) or "/" in str(part):
                return self._rejection(place, column_in_key, "version_cell_invalid", part), "", ""
        version = re.sub(
            r"\{([^{}]+)\}", lambda found: str(parts[found[1]]).strip(), self._declaration.version
        )
        kernel = rule.prefix + str(cell).strip()
        if is_blank(cell) or not KERNEL_NAME.fullmatch(kernel):
            column = rule.text if rule.kind == "column" else None
            return self._rejection(place, column, "kernel_name_invalid", cell), "", ""
        self._owners[cells] = version, kernel
        return None, version, kernel

    def _rows_of(self, version: str, kernel: str, latency_column: str) -> KernelRows:
        key = version, kernel
        if key not in self._result.kernels:
            self._result.kernels[key] = KernelRows(version, kernel, latency_column)
        return self._result.kernels[key]

    def _rejection(self, place: int, column: str | None, reason: str, cell: Any) -> Rejection:
        table = self._table
        row, line = table.row_numbers[place], table.line_numbers[place]
        return Rejection(row, line, column, reason, shown(cell))

    def _read_row(
        self, place: int, own: KernelRows, latency: Any, spreads: Mapping[str, Any]
    ) -> None:
        table = self._table
        axes, problem = self._axes(place)
        key, problem = self._regime(place) if problem is None else ("", problem)
        number = 0.0 if is_blank(latency) else self._microseconds(latency)
        if problem is None and (number is None or number < 0):
            problem = self._rejection(place, own.latency_column, "latency_invalid", latency)
        if problem is not None:
            own.rejected.append(problem)
            return
        numbers = table.row_numbers[place], table.line_numbers[place]
        if not number:
            own.unmeasured.append(numbers)
            return
        spread = (
            _UNTOLD if not spreads else [self._microseconds(spreads.get(name)) for name in SPREADS]
        )
        own.rows.append((*numbers, key, *axes, number, *spread))

    def _microseconds(self, cell: Any) -> float | None:
        number = number_of(cell)
        return None if number is None else finite(number * UNITS_US[self._declaration.latency_unit])

    def _axes(self, place: int) -> tuple[list[float], Rejection | None]:
        """Return four stored coordinates, or why the row has none."""
        stored = [0.0, 0.0, 0.0, 0.0]
        for i, axis in enumerate(self._declaration.axes):
            cell = self._table.columns[axis.column][place]
            if (i, cell) not in self._values:
                number = number_of(cell)
                self._values[i, cell] = (
                    None
                    if number is None or number < 0
                    else stored_value(number * axis.scale, axis.transform)
                )
            value = self._values[i, cell]
            if value is None:
                return stored, self._rejection(place, axis.column, "axis_invalid", cell)
            stored[i] = value
        return stored, None

    def _regime(self, place: int) -> tuple[str, Rejection | None]:
        """Return the regime as canonical JSON, or why the row has none."""
        fields, columns = self._declaration.regime, self._table.columns
        cells = tuple(columns[f.column][place] for f in fields)
        key = self._keys.get(cells)
        if key is not None:
            return key, None
        values = {}
        for told, cell in zip(fields, cells, strict=True):
            if is_blank(cell) and not told.has_default:
                return "", self._rejection(place, told.column, "regime_cell_missing", cell)
            values[told.name] = told.default if is_blank(cell) else regime_value(cell)
        key = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self._keys[cells] = key
        return key, None


def _passes(cell: Any, condition: Filter) -> bool:
    return _RELATIONS[condition.relation](cell, condition.value)
