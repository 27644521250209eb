"""The measured coordinates of a regime: what can be held out, and where an axis has steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from sqlinterp.lookup.regimes import Regime

Coordinate = tuple[float, ...]  # four stored axis values
Row = dict[str, Any]

_STEP_FROM, _STEP_GAP = 16, 8  # both sides of a tile edge are sampled: b and b + 1, far from others
_INVERSE: dict[str, Callable[[float], float]] = {
    "log2": lambda value: 2.0**value,
    "log": math.exp,
    "sqrt": lambda value: value * value,
}
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Point:
    """One measured coordinate of a group.

    Attributes
    ----------
    truth_us : float
        Latency of the point, repetitions aggregated [us].
    spread : float or None
        Largest over smallest repetition [ratio].
    row_id, line_number : int
        First measurement of the point.
    is_conflicting : bool
        Whether measurements of different content gave different latencies.
    """

    coordinate: Coordinate
    truth_us: float
    latency_column: str
    measurement_count: int
    spread: float | None
    is_conflicting: bool
    row_id: int
    line_number: int


@dataclass(frozen=True, eq=False)
class Group:
    """One kernel in one regime of one version, with its points in ascending order.

    Attributes
    ----------
    group_id : str
        The same for the same regime in every version.
    device : str
        First part of the version key.
    dtype : str
        Values of the regime fields that name dtypes.
    feasible : str or None
        Which coordinates can exist, None when all can [SQL boolean over the axes].
    """

    version_key: str
    group_id: str
    device: str
    dtype: str
    kernel_type: str
    regime: Regime
    feasible: str | None
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """Name of the lookup path."""
        return self.regime.path.name

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.regime.axes

    @property
    def fields(self) -> Row:
        """Discrete fields of the regime."""
        return self.regime.fields

    @cached_property
    def by_coordinate(self) -> dict[Coordinate, Point]:
        """Points by their coordinate."""
        return {point.coordinate: point for point in self.points}

    @cached_property
    def _values(self) -> tuple[tuple[float, ...], ...]:
        count = len(self.axes)
        return tuple(
            tuple(sorted({point.coordinate[axis] for point in self.points}))
            for axis in range(count)
        )

    def values(self, axis: int) -> tuple[float, ...]:
        """Return the distinct stored values of one axis, ascending."""
        return self._values[axis]

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """Places of the axes that have more than one value."""
        return tuple(axis for axis in range(len(self.axes)) if len(self.values(axis)) > 1)

    @cached_property
    def _pairs(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        return tuple(
            boundary_pairs(self.values(axis)) if self._is_plain(axis) else ()
            for axis in range(len(self.axes))
        )

    def _is_plain(self, axis: int) -> bool:
        return self.regime.transforms[axis] not in _INVERSE

    def pairs(self, axis: int) -> tuple[tuple[float, float], ...]:
        """Return the boundary pairs of one axis."""
        return self._pairs[axis]

    @cached_property
    def _units(self) -> tuple[dict[float, tuple[float, float]], ...]:
        return tuple(
            {
                **{value: (value, value) for value in self.values(axis)},
                **{value: pair for pair in self.pairs(axis) for value in pair},
            }
            for axis in range(len(self.axes))
        )

    def unit(self, axis: int, value: float) -> tuple[float, float]:
        """Return the values that leave together with a value: its boundary pair, or itself."""
        return self._units[axis][value]

    def is_paired(self, axis: int, value: float) -> bool:
        """Whether a value of an axis is part of a boundary pair."""
        low, high = self._units[axis].get(value, (value, value))
        return low < high

    def jump(self, coordinate: Coordinate, axis: int | None = None) -> float | None:
        """Return latency above over latency below the step that a coordinate stands at, if it does.

        Parameters
        ----------
        axis : int, optional
            The axis of the step, by default the first one that has one there.
        """
        for place in range(len(self.axes)) if axis is None else [axis]:
            if not self.is_paired(place, coordinate[place]):
                continue
            low, high = (
                self.by_coordinate.get((*coordinate[:place], end, *coordinate[place + 1 :]))
                for end in self.unit(place, coordinate[place])
            )
            if low is not None and high is not None and low.truth_us > 0:
                return high.truth_us / low.truth_us
        return None

    @cached_property
    def median_jump(self) -> float:
        """Median factor between both sides of the steps, 1 without steps."""
        jumps = [
            max(jump, 1 / jump)
            for axis in range(len(self.axes))
            for low, _ in self.pairs(axis)
            for point in self.points
            if point.coordinate[axis] == low
            and (jump := self.jump(point.coordinate, axis)) is not None
        ]
        return median(jumps) if jumps else 1.0

    @cached_property
    def usual_spread(self) -> float:
        """90th percentile of largest over smallest repetition of the points that have several."""
        spreads = [p.spread for p in self.points if p.measurement_count > 1 and p.spread]
        return float(np.quantile(spreads, 0.9)) if spreads else 1.0

    def field_value(self, axis: int, stored: float) -> float:
        """Return a stored axis value in the unit of its field."""
        inverse = _INVERSE.get(self.regime.transforms[axis])
        if inverse is None:
            return stored
        value = inverse(stored)
        return value if value == 0 else round(value, _DIGITS - 1 - math.floor(math.log10(value)))

    def snapped(self, coordinate: Coordinate) -> Coordinate:
        """Return a coordinate with the measured values of axes that it differs from by rounding."""

        def near(axis: int, value: float) -> float:
            known = self.values(axis) if axis < len(self.axes) else (0.0,)
            return next((v for v in known if math.isclose(v, value, rel_tol=1e-9)), value)

        return tuple(near(axis, value) for axis, value in enumerate(coordinate))

    def target(self, coordinate: Coordinate) -> dict[str, float]:
        """Return a coordinate by the names of its axes, in the units of the fields."""
        return {name: self.field_value(i, coordinate[i]) for i, name in enumerate(self.axes)}


def coordinate_of(row: Row) -> Coordinate:
    """Return the axes of a row of points."""
    return row["axis_1"], row["axis_2"], row["axis_3"], row["axis_4"]


def point_of(row: Row) -> Point:
    """Return the point that a row of ``fidelity.group_points`` describes."""
    return Point(
        coordinate=coordinate_of(row),
        truth_us=row["truth_us"],
        latency_column=row["latency_column"],
        measurement_count=row["measurement_count"],
        spread=row["spread"],
        is_conflicting=row["is_conflicting"],
        row_id=row["first_row_id"],
        line_number=row["first_line_number"],
    )


def boundary_pairs(values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the neighbours that stand on both sides of a step of an integer axis.

    A pair is a value of at least 16 and the next integer, at least 8 away from the others.

    Source: fidelity specification, section 2.5.

    Examples
    --------
    >>> boundary_pairs([15, 16, 17, 32, 33, 48, 64])
    ((32, 33),)
    """
    if any(value != int(value) for value in values):
        return ()
    pairs = []
    for i, (low, high) in enumerate(pairwise(values)):
        before = low - values[i - 1] if i > 0 else math.inf
        after = values[i + 2] - high if i + 2 < len(values) else math.inf
        if high - low == 1 and low >= _STEP_FROM and min(before, after) >= _STEP_GAP:
            pairs.append((low, high))
    return tuple(pairs)
