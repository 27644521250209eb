"""Truth from a table of the user: CSV or Parquet with the same axes, and a latency column."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlinterp.database import connect_writer
from sqlinterp.declared.cells import number_of, regime_value
from sqlinterp.declared.tables import Table, fingerprint, read_table
from sqlinterp.errors import SourceError, UsageError
from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.lookup.regimes import spelled

_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "ns": 1e-3}
_LATENCIES = {
    f"{name}_{unit}": factor for name in ("time", "latency") for unit, factor in _UNITS_US.items()
}
_KERNELS = ("kernel_type", "kernel", "kind")


class TruthTable:
    """Latencies by coordinate, of the rows that belong to a group.

    Parameters
    ----------
    column_map : mapping
        Columns of the table by our names: axes, regime fields, ``kernel``, and the latency as
        ``time_us``, ``time_ms`` ... Names that are left out stand for themselves.

    Raises
    ------
    SourceError
        If the table cannot be read.
    UsageError
        If a column is not in the table, or none or several hold the latency.
    """

    def __init__(self, path: Path, column_map: Mapping[str, str]) -> None:
        connection = connect_writer(Path(":memory:"))
        try:
            self._table: Table = read_table(path, fingerprint(path), connection)
        finally:
            connection.close()
        missing = [name for name in column_map.values() if name not in self._table.columns]
        if missing:
            raise UsageError(
                f"the table has no column '{missing[0]}'", str(path), ", ".join(self._table.header)
            )
        self._map = dict(column_map)
        found = [name for name in _LATENCIES if self._column(name) is not None]
        if len(found) != 1:
            told = ", ".join(found) or "none"
            raise UsageError(
                f"the table must have one latency column, found {told}", str(path),
                "one of " + ", ".join(_LATENCIES) + ", as a column or in column_map",
            )  # fmt: skip
        self._latency = found[0]
        self.path = path

    def latencies(self, group: Group) -> dict[Coordinate, float | None]:
        """Return the median latency of every coordinate of a group [us], None without a usable one.

        Raises
        ------
        UsageError
            If the table lacks an axis.
        SourceError
            If no row belongs to the group.
        """
        axes = [self._axis(name) for name in group.axes]
        conditions = [
            (column, spelled(value))
            for name, value in self._wanted(group).items()
            if (column := self._column(name)) is not None
        ]
        cells = self._column(self._latency) or []
        factor = _LATENCIES[self._latency]
        found: dict[Coordinate, list[float]] = {}
        for place, cell in enumerate(cells):
            if all(spelled(regime_value(c[place])) == value for c, value in conditions):
                numbers = [number_of(axis[place]) for axis in axes]
                coordinate = _stored(group, numbers)
                if coordinate is not None:
                    latency = number_of(cell)
                    own = found.setdefault(coordinate, [])
                    own += [latency * factor] if latency is not None and latency > 0 else []
        if not found:
            raise SourceError(f"no row belongs to {group.kernel_type}", str(self.path))
        return {
            coordinate: statistics.median(own) if own else None
            for coordinate, own in sorted(found.items())
        }

    def _column(self, name: str) -> list[Any] | None:
        return self._table.columns.get(self._map.get(name, name))

    def _axis(self, name: str) -> list[Any]:
        column = self._column(name)
        if column is None:
            header = ", ".join(self._table.header)
            raise UsageError(
                f"the table has no column for the axis '{name}'", str(self.path), header
            )
        return column

    def _wanted(self, group: Group) -> dict[str, Any]:
        fields = {name: value for name, value in group.fields.items() if not _is_list(value)}
        return {**fields, **dict.fromkeys(_KERNELS, group.kernel_type)}


def _stored(group: Group, numbers: list[float | None]) -> Coordinate | None:
    told = {name: x for name, x in zip(group.axes, numbers, strict=True) if x is not None}
    return group.regime.stored(told) if len(told) == len(numbers) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, dict))
