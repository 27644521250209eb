"""The region of a coordinate that nothing is held out for: on the grid, between values, beyond."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.results import ON_GRID, SMALL
from sqlinterp.fidelity.schemes import FACTORS

HOLE, JOINT = "hole", "extrap_joint"
KEPT_WHEN_SMALL = ("edge", "boundary", ON_GRID)


def region_at(group: Group, coordinate: Coordinate) -> tuple[str, int | None]:
    """Return the region of a coordinate, and the axis that it is about if it is about one.

    ``on_grid`` was measured; ``hole`` has only measured axis values and was not measured itself.
    """
    if coordinate in group.by_coordinate:
        return ON_GRID, None
    beyond = [axis for axis in range(len(group.axes)) if _side(group, axis, coordinate)]
    if len(beyond) > 1:
        return JOINT, None
    if beyond:
        return _beyond(group, beyond[0], coordinate), beyond[0]
    between = [a for a in range(len(group.axes)) if coordinate[a] not in group.values(a)]
    if not between:
        return HOLE, None
    if len(between) > 1:
        return "diag", None
    return f"axis{between[0]}", between[0]


def final_region(region: str, truth_us: float | None, small_us: float) -> str:
    """Return the region, or ``small`` for a truth below the limit [us].

    The ends of axes, steps and measured points stay what they are.
    """
    if truth_us is not None and 0 < truth_us < small_us and region not in KEPT_WHEN_SMALL:
        return SMALL
    return region


def _side(group: Group, axis: int, coordinate: Coordinate) -> int:
    """Return 1 above the largest value of an axis, -1 below the smallest, 0 in between."""
    values = group.values(axis)
    return (coordinate[axis] > values[-1]) - (coordinate[axis] < values[0])


def _beyond(group: Group, axis: int, coordinate: Coordinate) -> str:
    values = group.values(axis)
    at = group.field_value(axis, coordinate[axis])
    if _side(group, axis, coordinate) > 0:
        last = group.field_value(axis, values[-1])
        return f"extrap{axis}_x{_factor(at / last if last > 0 else FACTORS[-1]):g}"
    first = group.field_value(axis, values[0])
    return f"under{axis}_x{_factor(first / at if at > 0 else FACTORS[-1]):g}"


def _factor(ratio: float, factors: Sequence[float] = FACTORS) -> float:
    """Return the first factor that is no less than a ratio, the last one beyond them all."""
    return factors[min(bisect_left(factors, ratio - 1e-12), len(factors) - 1)]
