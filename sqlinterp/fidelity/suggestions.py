"""What to measure next: the cells of failing probes, then the widest gaps, up to the ceiling.

Source: fidelity specification, sections 1.8 and 2.6.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlinterp.declared.feasible import feasible_count
from sqlinterp.fidelity.generated import can_exist, middle_of
from sqlinterp.fidelity.grid import Coordinate, Group

CEILING = 500
_WIDE = 2.0  # ends of a cell that deserves a measurement without evidence [ratio]
FAILING, GAP = "failing_probe", "axis_gap"


@dataclass(frozen=True)
class Evidence:
    """A probe outside the bar.

    Attributes
    ----------
    coordinate : tuple of float
        Where it was, as stored.
    axis : int or None
        The axis that it was about.
    log_ratio : float
        Absolute logarithm of its ratio.
    weight : float
        How much its coordinate is used.
    """

    coordinate: Coordinate
    axis: int | None
    log_ratio: float
    weight: float = 1.0


@dataclass(frozen=True)
class Suggestion:
    """A coordinate to measure.

    Attributes
    ----------
    score : float
        Absolute logarithm of the ratio times the weight; 0 for gaps without evidence.
    between : tuple of float or None
        Ends of the cell on the axis, None when the probe itself is to be measured.
    """

    coordinate: Coordinate
    target: Mapping[str, float]
    score: float
    weight: float
    reason: str
    axis: str | None
    between: tuple[float, float] | None

    def record(self) -> dict[str, Any]:
        """Return the suggestion as responses hold it."""
        return {
            "coords": dict(self.target),
            "score": self.score,
            "weight": self.weight,
            "reason": self.reason,
            "axis": self.axis,
            "between": None if self.between is None else list(self.between),
        }


def n_feasible(group: Group) -> int:
    """Return how many coordinates of the full grid of a group can exist [count]."""
    axes = [group.values(axis) for axis in range(len(group.axes))]
    if group.feasible is None:
        return math.prod(len(values) for values in axes)
    return feasible_count(group.feasible, group.axes, axes)


def suggest(group: Group, evidence: Iterable[Evidence], limit: int) -> list[Suggestion]:
    """Return coordinates to measure, the most telling first, as many as the ceiling leaves room.

    Parameters
    ----------
    evidence : iterable of Evidence
        Probes outside the bar.
    limit : int
        Most suggestions.
    """
    room = min(limit, max(0, CEILING - n_feasible(group)))
    best: dict[Coordinate, Suggestion] = {}
    for found in _found(group, evidence):
        known = best.get(found.coordinate)
        if known is None or found.score > known.score:
            best[found.coordinate] = found
    ordered = sorted(best.values(), key=lambda s: (-s.score, -_ratio(s), s.coordinate))
    return ordered[:room]


def _ratio(suggestion: Suggestion) -> float:
    low, high = suggestion.between or (1.0, 1.0)
    return high / low if low > 0 else math.inf


def _found(group: Group, evidence: Iterable[Evidence]) -> Iterator[Suggestion]:
    for probe in evidence:
        score = probe.log_ratio * probe.weight
        if probe.coordinate not in group.by_coordinate:
            if can_exist(group, probe.coordinate):
                target = group.target(probe.coordinate)
                yield Suggestion(probe.coordinate, target, score, probe.weight, FAILING, None, None)
            continue
        axis = probe.axis if probe.axis is not None else _widest_axis(group, probe.coordinate)
        for cell in _cells(group, axis, probe.coordinate[axis]):
            made = _inside(group, probe.coordinate, axis, cell)
            if made is not None:
                yield Suggestion(*made, score, probe.weight, FAILING, group.axes[axis], cell)
    yield from _gaps(group)


def _gaps(group: Group) -> Iterator[Suggestion]:
    middle = tuple(
        group.values(axis)[len(group.values(axis)) // 2] if axis < len(group.axes) else 0.0
        for axis in range(4)
    )
    for axis in group.varying:
        values = [group.field_value(axis, value) for value in group.values(axis)]
        for low, high in pairwise(values):
            made = _inside(group, middle, axis, (low, high))
            if made is not None and (low <= 0 or high / low > _WIDE):
                yield Suggestion(*made, 0.0, 1.0, GAP, group.axes[axis], (low, high))


def _widest_axis(group: Group, coordinate: Coordinate) -> int:
    """Return the axis along which the cells next to a point are widest."""

    def width(axis: int) -> float:
        cells = _cells(group, axis, coordinate[axis])
        return max((high / low if low > 0 else math.inf for low, high in cells), default=0.0)

    return max(group.varying, key=lambda axis: (width(axis), -axis))


def _cells(group: Group, axis: int, value: float) -> list[tuple[float, float]]:
    """Return the cells on both sides of a measured value of an axis, in units of the field."""
    values = group.values(axis)
    place = values.index(value)
    ends = [group.field_value(axis, v) for v in values[max(0, place - 1) : place + 2]]
    return list(pairwise(ends))


def _inside(
    group: Group, coordinate: Coordinate, axis: int, cell: tuple[float, float]
) -> tuple[Coordinate, dict[str, float]] | None:
    """Return the coordinate in the middle of a cell, None when nothing is there to measure."""
    known = [group.field_value(axis, value) for value in group.values(axis)]
    inside = middle_of(*cell, is_whole=all(value == int(value) for value in known))
    if inside is None:
        return None
    target = {**group.target(coordinate), group.axes[axis]: inside}
    stored = group.regime.stored(target)
    if stored is None or stored in group.by_coordinate or not can_exist(group, stored):
        return None
    return stored, target


def plan_csv(group: Group, suggestions: Sequence[Suggestion]) -> str:
    """Return suggestions as a collection plan: kernel, fields, axes, score and reason."""
    text = io.StringIO()
    fields = [name for name, value in group.fields.items() if not isinstance(value, (list, dict))]
    columns = ["kernel", *fields, *group.axes, "score", "reason"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for suggestion in suggestions:
        own = {name: group.fields[name] for name in fields}
        writer.writerow(
            {"kernel": group.kernel_type, **own, **suggestion.target, "score": suggestion.score,
             "reason": suggestion.reason}
        )  # fmt: skip
    return text.getvalue()
