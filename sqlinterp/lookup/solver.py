"""The search for an interpolation of one target, as a generator that asks for data.

It yields requests for boxes and clouds and is sent the answers, so that many searches advance
together and every round is one statement, however many targets there are.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlinterp.certified_cell import Cell, NoCell, Question, certified_cell
from sqlinterp.interpolation import griddata_linear, linear_interp, multilinear, validate_latency
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.paths import Path
from sqlinterp.policy import Policy


@dataclass(frozen=True)
class Placement:
    """A target on the axes of one measured regime.

    Attributes
    ----------
    axes : tuple of float
        Target coordinates, 0 on unused axes.
    distance : int
        0 for the true dtype, 1 when FLOAT16 is answered by DT_BF16 rows.
    """

    file_id: int
    regime_id: int
    axes: tuple[float, ...]
    is_nd: bool
    measurement_count: int
    latency_ranks: tuple[int, ...]
    distance: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class BoxRequest:
    """Asks for the boxes of all placements in the axis groups of one dimension."""

    placements: tuple[Placement, ...]
    dimension: int


@dataclass(frozen=True)
class CloudRequest:
    """Asks for points of the cloud of a box; ``question`` None asks for the orthant seeds."""

    box: Box
    axes: tuple[float, ...]
    question: Question | None


@dataclass(frozen=True)
class Solution:
    """An interpolated or exactly measured coordinate."""

    placement: Placement
    box: Box
    points: tuple[Corner, ...]
    latency_us: float
    method: str


@dataclass
class Attempt:
    """What became of one axis group."""

    axes: list[str]
    dimension: int
    status: str
    latency_column: str | None = None
    row_count: int = 0
    point_count: int = 0
    regime_id: int | None = None


_PROGRESS = (
    "interpolation_dim_disabled",
    "insufficient_filtered_candidates",
    "outside_axis_boundary",
    "grid_structure_rejected",
    "degenerate_point_cloud",
    "outside_convex_hull",
    "duplicate_coordinate_conflict",
)


def furthest(attempts: list[Attempt]) -> str:
    """Return the status of the attempt that came furthest: highest dimension, then progress."""
    order = {status: place for place, status in enumerate(_PROGRESS)}
    best = max(attempts, key=lambda a: (a.dimension, order.get(a.status, len(order))))
    return best.status


Search = Generator[BoxRequest | CloudRequest, Any, Solution | None]


@dataclass
class Solver:
    """Searches the placements of one kernel, lowest dimension first, column by column."""

    path: Path
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def max_dim(self) -> int:
        """Largest number of axes that may vary together."""
        return min(self.path.max_dim, self.policy.max_interpolation_dim)

    def search(self, placements: tuple[Placement, ...]) -> Search:
        """Yield requests until an answer is found; return it, or None after every attempt."""
        if self.max_dim == 0:
            self.attempts.append(Attempt(list(self.path.axes), 0, "interpolation_dim_disabled"))
            return None
        for distance in sorted({placement.distance for placement in placements}):
            chosen = tuple(p for p in placements if p.distance == distance)
            solution = yield from self._by_column(chosen)
            if solution is not None:
                return solution
        return None

    def _by_column(self, placements: tuple[Placement, ...]) -> Search:
        known: dict[int, list[Box]] = {}
        for rank in sorted({rank for p in placements for rank in p.latency_ranks}):
            for dimension in range(1, self.max_dim + 1):
                if dimension not in known:
                    known[dimension] = yield BoxRequest(placements, dimension)
                boxes = [box for box in known[dimension] if box.latency_rank == rank]
                solution = yield from self._in_dimension(placements, boxes, dimension)
                if solution is not None:
                    return solution
        return None

    def _in_dimension(
        self, placements: tuple[Placement, ...], boxes: list[Box], dimension: int
    ) -> Search:
        by_key = {(box.regime_id, box.group): box for box in boxes}
        ordered = sorted(placements, key=lambda p: (not p.is_nd, -p.measurement_count, p.regime_id))
        for placement in ordered:
            for group in self.groups(dimension):
                box = by_key.get((placement.regime_id, group))
                solution = yield from self._attempt(placement, group, box)
                if solution is not None:
                    return solution
        return None

    def groups(self, dimension: int) -> list[tuple[int, ...]]:
        """Return the axis groups of a dimension that the policy allows."""
        allowed = self.policy.axes
        return [
            group
            for group in self.path.groups(dimension)
            if allowed is None or all(self.path.axes[axis] in allowed for axis in group)
        ]

    def _attempt(self, placement: Placement, group: tuple[int, ...], box: Box | None) -> Search:
        attempt = Attempt([self.path.axes[axis] for axis in group], len(group), "")
        attempt.regime_id = placement.regime_id
        self.attempts.append(attempt)
        if box is None:
            attempt.status = "insufficient_filtered_candidates"
            return None
        attempt.latency_column = box.latency_column
        attempt.row_count, attempt.point_count = box.row_count, box.point_count
        outcome = yield from self._evaluate(placement, box)
        if isinstance(outcome, Solution):
            if not self.path.refuses_conflicts or not any(p.is_conflicting for p in outcome.points):
                return outcome
            outcome = "duplicate_coordinate_conflict"
        attempt.status = outcome
        return None

    def _evaluate(
        self, placement: Placement, box: Box
    ) -> Generator[CloudRequest, Any, Solution | str]:
        exact = next((corner for corner in box.corners if corner.axes == placement.axes), None)
        if exact is not None:
            return Solution(placement, box, (exact,), exact.latency_us, "exact_coordinate")
        status = _structure(box, len(box.group))
        if status is not None:
            return status
        if len(box.group) == 1:
            return _on_line(placement, box)
        if self.policy.method == "multilinear":
            solution = _on_full_box(placement, box)
            if solution is not None:
                return solution
        solution_or_reason = _in_cell(placement, box, tuple(box.corners))
        if isinstance(solution_or_reason, Solution):
            return solution_or_reason
        return (yield from _certified(placement, box))


def _structure(box: Box, dimension: int) -> str | None:
    """Return why a box cannot be evaluated, None when it can be tried."""
    if box.row_count < 2:
        return "insufficient_filtered_candidates"
    if not box.is_bracketed:
        return "outside_axis_boundary"
    if box.point_count < dimension + 1:
        return "grid_structure_rejected"
    return None


def _on_line(placement: Placement, box: Box) -> Solution | str:
    axis = box.group[0]
    low, high = box.corners[0], box.corners[-1]
    latency = linear_interp(
        placement.axes[axis], low.axes[axis], low.latency_us, high.axes[axis], high.latency_us
    )
    if not validate_latency(latency):
        return "latency_guard_rejected"
    return Solution(placement, box, (low, high), latency, "linear_1d")


def _on_full_box(placement: Placement, box: Box) -> Solution | None:
    """Multilinear value of a box with all corners; None when one is missing or it is flat."""
    group = box.group
    bounds = [box.bounds(axis) for axis in group]
    if len(box.corners) != 2 ** len(group) or any(low == high for low, high in bounds):
        return None
    latency = multilinear(
        np.array([low for low, _ in bounds]),
        np.array([high for _, high in bounds]),
        np.array([corner.latency_us for corner in box.corners]),
        np.array([placement.axes[axis] for axis in group]),
    )
    return Solution(placement, box, tuple(box.corners), latency, "multilinear")


def _in_cell(placement: Placement, box: Box, points: tuple[Corner, ...]) -> Solution | str:
    """Value that scipy's griddata gives on the points, which are in ascending order."""
    group = list(box.group)
    if len(points) < len(group) + 1:
        return "grid_structure_rejected"
    result = griddata_linear(
        np.array([[point.axes[axis] for axis in group] for point in points]),
        np.array([point.latency_us for point in points]),
        np.array([[placement.axes[axis] for axis in group]]),
    )
    if result.reasons[0] is not None:
        return result.reasons[0]
    return Solution(placement, box, points, float(result.latencies[0]), "griddata_linear")


def _certified(placement: Placement, box: Box) -> Generator[CloudRequest, Any, Solution | str]:
    """Find the Delaunay cell by single questions when corners of the box are missing."""
    group = list(box.group)
    known: dict[tuple[float, ...], Corner] = {}

    def coordinates(points: list[Corner]) -> Any:
        for point in points:
            known[tuple(point.axes[axis] for axis in group)] = point
        return np.array([[point.axes[axis] for axis in group] for point in points])

    seeds = yield CloudRequest(box, placement.axes, None)
    search = certified_cell(np.array([placement.axes[axis] for axis in group]), coordinates(seeds))
    try:
        question = next(search)
        while True:
            answer = yield CloudRequest(box, placement.axes, question)
            question = search.send(coordinates(answer))
    except StopIteration as stop:
        outcome: Cell | NoCell = stop.value
    if isinstance(outcome, NoCell):
        return outcome.reason
    points = tuple(known[tuple(float(x) for x in point)] for point in outcome.points)
    return _in_cell(placement, box, points)
