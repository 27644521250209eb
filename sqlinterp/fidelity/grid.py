"""The measured coordinates of a version: what can be held out, and what leaves together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Coordinate = tuple[float, float, float, float]
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Point:
    """One measured coordinate of a regime.

    Attributes
    ----------
    truth_us : float
        Latency of the point, repetitions aggregated [us].
    spread : float or None
        Largest over smallest repetition [ratio].
    row_id : int
        First measurement of the point.
    """

    regime_id: int
    coordinate: Coordinate
    truth_us: float
    latency_column: str
    measurement_count: int
    spread: float | None
    row_id: int
    line_number: int


@dataclass(frozen=True, eq=False)
class Family:
    """Regimes of a kernel that differ only in what a call need not tell: formats, result dtypes.

    A lookup takes any of them, so a coordinate is held out in all of them.
    """

    file_id: int
    kernel_type: str
    path: str
    input_limit: int
    regime_key: str
    axis_names: tuple[str, ...]
    points: tuple[Point, ...]
    formats: dict[int, str]

    @property
    def family_id(self) -> int:
        """Smallest regime of the family."""
        return min(self.formats)

    @property
    def coordinates(self) -> list[Coordinate]:
        """Distinct coordinates, sorted."""
        return sorted({point.coordinate for point in self.points})

    def values(self, axis: int) -> list[float]:
        """Return the distinct values of one axis, ascending."""
        return sorted({point.coordinate[axis] for point in self.points})

    @property
    def varying(self) -> list[int]:
        """Places of the axes that have more than one value."""
        return [axis for axis in range(len(self.axis_names)) if len(self.values(axis)) > 1]

    def target(self, coordinate: Coordinate) -> dict[str, float]:
        """Return a coordinate by the names of its axes."""
        return dict(zip(self.axis_names, coordinate, strict=False))


def coordinate_of(row: Row) -> Coordinate:
    """Return the axes of a row of points."""
    return row["axis_1"], row["axis_2"], row["axis_3"], row["axis_4"]


def families(rows: Iterable[Row]) -> list[Family]:
    """Return the families of the points of a version, in the order of the rows."""
    grouped: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        key = (row["file_id"], row["path"], row["input_limit"], row["regime_key"])
        grouped.setdefault(key, []).append(row)
    return [_family(members) for members in grouped.values()]


def _family(rows: list[Row]) -> Family:
    first = rows[0]
    return Family(
        file_id=first["file_id"],
        kernel_type=first["kernel_type"],
        path=first["path"],
        input_limit=first["input_limit"],
        regime_key=first["regime_key"],
        axis_names=tuple(first["axis_names"]),
        points=tuple(_point(row) for row in rows),
        formats={row["regime_id"]: row["input_formats"] for row in rows},
    )


def _point(row: Row) -> Point:
    return Point(
        regime_id=row["regime_id"],
        coordinate=coordinate_of(row),
        truth_us=row["truth_us"],
        latency_column=row["latency_column"],
        measurement_count=row["measurement_count"],
        spread=row["spread"],
        row_id=row["first_row_id"],
        line_number=row["first_line_number"],
    )
