"""Coordinates to ask for where nothing was measured: inside cells, across them, and beyond.

Source: fidelity specification, sections 1.6 and 1.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from sqlinterp.declared.feasible import feasible_count
from sqlinterp.fidelity.grid import Coordinate, Group

BEYOND = (1.5, 2.0)
Field = tuple[float, ...]  # values in the units of the fields


def generated_coordinates(group: Group) -> Iterator[tuple[Coordinate, str, int | None]]:
    """Yield stored coordinates with their region and axis, none of them measured, none twice.

    Middles of the cells of each axis with the others at their middle value, the cells of all axes
    at once, 1.5 and 2 times beyond both ends of each axis and of all axes, and both sides of steps.
    """
    seen: set[Coordinate] = set()
    for values, region, axis in _fields(group):
        told = dict(zip(group.axes, values, strict=True))
        coordinate = group.regime.stored(told)
        if coordinate is None or coordinate in group.by_coordinate or coordinate in seen:
            continue
        if not can_exist(group, coordinate):
            continue
        seen.add(coordinate)
        yield coordinate, region, axis


def can_exist(group: Group, coordinate: Coordinate) -> bool:
    """Whether the declaration of a group lets a coordinate exist; without one every one can."""
    if group.feasible is None:
        return True
    values = [[coordinate[axis]] for axis in range(len(group.axes))]
    return feasible_count(group.feasible, group.axes, values) > 0


def middle_of(low: float, high: float, is_whole: bool) -> float | None:
    """Return the middle of a cell, None when an integer axis has no whole number inside.

    The geometric mean, rounded on integer axes; the arithmetic one next to zero.

    Examples
    --------
    >>> middle_of(64, 256, True), middle_of(1, 2, True), middle_of(0, 8, True)
    (128.0, None, 4.0)
    """
    inside = math.sqrt(low * high) if low > 0 else (low + high) / 2
    if is_whole:
        if high - low < 2:
            return None
        inside = float(min(max(round(inside), low + 1), high - 1))
    return inside if low < inside < high else None


def _fields(group: Group) -> Iterator[tuple[Field, str, int | None]]:
    known = [
        [group.field_value(axis, value) for value in group.values(axis)]
        for axis in range(len(group.axes))
    ]
    whole = [all(value == int(value) for value in values) for values in known]
    middle = tuple(values[len(values) // 2] for values in known)
    cells = [
        [middle_of(low, high, whole[axis]) for low, high in pairwise(values)]
        for axis, values in enumerate(known)
    ]
    for axis in group.varying:
        for inside in cells[axis]:
            if inside is not None:
                yield _with(middle, {axis: inside}), f"axis{axis}", axis
    if len(group.varying) > 1:
        yield from _diagonal(middle, {axis: cells[axis] for axis in group.varying})
    for axis in group.varying:
        yield from _steps(group, axis, middle)
    for factor in BEYOND:
        above = {axis: _scaled(known[axis][-1], factor, whole[axis]) for axis in group.varying}
        below = {axis: _scaled(known[axis][0], 1 / factor, whole[axis]) for axis in group.varying}
        for axis in group.varying:
            yield _with(middle, {axis: above[axis]}), f"extrap{axis}_x{factor:g}", axis
            if 0 < below[axis] < known[axis][0]:
                yield _with(middle, {axis: below[axis]}), f"under{axis}_x{factor:g}", axis
        if len(group.varying) > 1:
            yield _with(middle, above), "extrap_joint", None


def _diagonal(
    middle: Field, cells: dict[int, list[float | None]]
) -> Iterator[tuple[Field, str, int | None]]:
    for together in zip(*cells.values(), strict=False):
        if None not in together:
            inside = {axis: x for axis, x in zip(cells, together, strict=True) if x is not None}
            yield _with(middle, inside), "diag", None


def _steps(group: Group, axis: int, middle: Field) -> Iterator[tuple[Field, str, int | None]]:
    """Yield the neighbours of boundary pairs: the last value but one below, the second above."""
    for low, high in group.pairs(axis):
        for value in (low - 1, high + 1):
            yield _with(middle, {axis: value}), "boundary", axis


def _scaled(value: float, factor: float, is_whole: bool) -> float:
    scaled = value * factor
    if not is_whole:
        return scaled
    return float(math.ceil(scaled) if factor > 1 else math.floor(scaled))


def _with(middle: Field, changed: dict[int, float]) -> Field:
    return tuple(changed.get(axis, value) for axis, value in enumerate(middle))
