"""The search for an interpolation of one target, as a generator that asks for data.

It yields requests for boxes and clouds and is sent the answers, so that many searches advance
together and every round is one statement, however many targets there are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.estimates import with_estimates
from sqlinterp.lookup.evaluation import evaluate
from sqlinterp.lookup.placement import BoxRequest, Placement, Request, Solution
from sqlinterp.paths import Path
from sqlinterp.policy import Policy

__all__ = ["Attempt", "Placement", "Search", "Solution", "Solver", "furthest"]


@dataclass(slots=True)
class Attempt:
    """What became of one axis group."""

    axes: list[str]
    dimension: int
    status: str
    latency_column: str | None = None
    row_count: int = 0
    point_count: int = 0
    regime_id: int | None = None
    extrapolation: dict[str, Any] | None = None


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


Search = Generator[Request, Any, Solution | None]


@dataclass
class Solver:
    """Searches the placements of one kernel, lowest dimension first, column by column."""

    path: Path
    policy: Policy
    attempts: list[Attempt] = field(default_factory=list)

    @staticmethod
    def is_allowed(policy: Policy) -> bool:
        """Whether there is anything to search under a policy."""
        return True

    @property
    def is_curved(self) -> bool:
        """Whether latencies are taken as linear in the root of the sequence length."""
        return self.policy.axis_transform == "sqrt" and self.path.axes[0] == "seq"

    @property
    def max_dim(self) -> int:
        """Largest number of axes that may vary together."""
        return min(self.path.max_dim, self.policy.max_interpolation_dim)

    def search(self, placements: tuple[Placement, ...]) -> Search:
        """Yield requests until an answer is found; return it, or None after every attempt."""
        if self.max_dim == 0:
            self.attempts.append(Attempt(list(self.path.axes), 0, "interpolation_dim_disabled"))
            return None
        if len(placements) == 1:  # as nearly all targets have
            return (yield from self._by_column(placements, placements))
        everything = tuple({placement.regime_id: placement for placement in placements}.values())
        for rank in sorted({placement.rank for placement in placements}):
            chosen = tuple(p for p in placements if p.rank == rank)
            solution = yield from self._by_column(chosen, everything)
            if solution is not None:
                return solution
        return None

    def _by_column(
        self, placements: tuple[Placement, ...], everything: tuple[Placement, ...]
    ) -> Search:
        """Search the chosen placements; boxes are asked for once for all, then kept."""
        known: dict[int, list[Box]] = {}
        for rank in sorted({rank for p in placements for rank in p.latency_ranks}):
            for dimension in range(1, self.max_dim + 1):
                if dimension not in known:
                    known[dimension] = yield BoxRequest(everything, dimension)
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
        groups = self.groups(dimension)
        for placement in ordered:
            for group in groups:
                if not placement.fixed_axes.isdisjoint(group):
                    continue
                box = by_key.get((placement.regime_id, group))
                solution = yield from self._attempt(placement, group, box)
                if solution is not None and dimension == 1:
                    return self._compared(solution, by_key)
                if solution is not None:
                    return solution
        return None

    def _compared(self, solution: Solution, boxes: Mapping[Any, Box]) -> Solution:
        """Return the answer of one axis with what the other axes say of the same target."""
        placement, allowed = solution.placement, self.policy.axes
        brackets = []
        for axis, name in enumerate(self.path.axes):
            box = boxes.get((placement.regime_id, (axis,)))
            if box is None or not box.is_bracketed or axis in placement.fixed_axes:
                continue
            if (allowed is None or name in allowed) and self.is_sound(box.corners):
                brackets.append(box)
        if len(brackets) < 2:
            return solution
        return with_estimates(solution, brackets, self.is_curved, self.policy.method)

    def groups(self, dimension: int) -> Sequence[tuple[int, ...]]:
        """Return the axis groups of a dimension that the policy allows."""
        allowed = self.policy.axes
        if allowed is None:
            return self.path.groups(dimension)
        return [
            group
            for group in self.path.groups(dimension)
            if all(self.path.axes[axis] in allowed for axis in group)
        ]

    def is_sound(self, points: Iterable[Corner]) -> bool:
        """Whether no point has contradicting measurements that the path refuses to merge."""
        return not self.path.refuses_conflicts or not any(p.is_conflicting for p in points)

    def _attempt(self, placement: Placement, group: tuple[int, ...], box: Box | None) -> Search:
        attempt = Attempt([self.path.axes[axis] for axis in group], len(group), "")
        attempt.regime_id = placement.regime_id
        self.attempts.append(attempt)
        if box is None:
            attempt.status = "insufficient_filtered_candidates"
            return None
        attempt.latency_column = box.latency_column
        attempt.row_count, attempt.point_count = box.row_count, box.point_count
        outcome = yield from evaluate(placement, box, self.policy.method, self.is_curved)
        if isinstance(outcome, Solution):
            if self.is_sound(outcome.points):
                return outcome
            outcome = "duplicate_coordinate_conflict"
        attempt.status = outcome
        return None
