"""Boxes around targets, and the measured points at their corners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

Row = dict[str, Any]
AXES = (1, 2, 3, 4)


class Corner(NamedTuple):
    """One measured point: axis values, aggregated latency [us] and where it came from.

    ``is_conflicting`` says that measurements of different signatures gave different latencies,
    ``spread`` is the greatest over the least of its measurements, 1.0 where nobody asked.
    """

    axes: tuple[float, ...]
    latency_us: float
    line_number: int
    measurement_count: int
    is_conflicting: bool = False
    spread: float = 1.0


@dataclass(slots=True)
class Box:
    """The bracket of a target in one regime, latency column and axis group.

    Attributes
    ----------
    lower, upper : tuple of float or None
        Nearest measured value at or below, at or above the target, per axis; None when missing.
    row_count, point_count : int
        Measurements and points that agree with the target on the fixed axes.
    corners : list of Corner
        Those corners of the box that were measured, in ascending order.
    """

    regime_id: int
    group: tuple[int, ...]
    latency_column: str
    latency_rank: int
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    row_count: int
    point_count: int
    corners: list[Corner] = field(default_factory=list)

    @property
    def is_bracketed(self) -> bool:
        """Whether every axis has a measured value on both sides of the target."""
        return None not in self.lower and None not in self.upper

    def bounds(self, axis: int) -> tuple[float, float]:
        """Return lower and upper value of one axis of a bracketed box."""
        lower, upper = self.lower[axis], self.upper[axis]
        if lower is None or upper is None:
            raise ValueError("the box is open")
        return lower, upper

    def has_at_corner(self, point: Corner) -> bool:
        """Whether every axis value of a point is an end of the box."""
        ends = zip(point.axes, self.lower, self.upper, strict=True)
        return all(value in (low, high) for value, low, high in ends)


def corner_of(row: Row) -> Corner:
    """Return the point that a row describes."""
    return Corner(
        axes=(row["axis_1"], row["axis_2"], row["axis_3"], row["axis_4"]),
        latency_us=row["latency_us"],
        line_number=row["first_line_number"],
        measurement_count=row["measurement_count"],
        is_conflicting=row["is_conflicting"],
        spread=row.get("spread", 1.0),
    )


def numbered(letter: str, values: Iterable[Any]) -> Row:
    """Return a value for each axis under the names that statements have for them."""
    return dict(zip(_names(letter), values, strict=True))


@cache
def _names(letter: str) -> tuple[str, ...]:
    return tuple(f"{letter}_{axis}" for axis in AXES)
