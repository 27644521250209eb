"""Interpolation and measured coordinates on another engine: what is placed here is found there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlinterp.lookup.coordinate import CONFLICT, CoordinateSearch
from sqlinterp.lookup.extrapolating import Extrapolator
from sqlinterp.lookup.interpolate import STAGES, InterpolationSearch, Outcome, _attempt_fields
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.solver import Solver
from sqlinterp.paths import Path
from sqlinterp.relational.backend import Backend, Relation
from sqlinterp.relational.canonical import TARGET_PLACE
from sqlinterp.relational.places import Found, PlacedSearch

Row = dict[str, Any]
Placements = dict[tuple[int, int], list[Placement]]


class RelationalInterpolation(InterpolationSearch):
    """Interpolates on another engine; what a kernel may extrapolate is left to the connection."""

    def __init__(self, services: Services, backend: Backend) -> None:
        super().__init__(services.statements, services.catalog, services.aggregation)
        self._backend = backend
        self._kept: Placements | None = None

    def find(
        self, plans: Mapping[int, Plan], stages: Sequence[type[Solver]] = STAGES
    ) -> dict[int, Outcome]:
        """Return the outcome of every plan by its number; all paths are searched together."""
        placed = {number: plan for number, plan in plans.items() if _is_placed(plan)}
        outcomes = super().find({n: p for n, p in plans.items() if n not in placed}, stages)
        outcomes.update({number: Outcome(reason="regime_key_unmatched") for number in placed})
        self._search(placed, outcomes, stages)
        return outcomes

    def _search(
        self,
        plans: Mapping[int, Plan],
        outcomes: dict[int, Outcome],
        stages: Sequence[type[Solver]] = STAGES,
    ) -> None:
        """Search plans with a path, into their outcomes."""
        placements: Placements = {}
        by_path: dict[Path, dict[int, Plan]] = defaultdict(dict)
        for number, plan in plans.items():
            if plan.path is not None:
                by_path[plan.path][number] = plan
        for path, members in by_path.items():
            placements.update(self._place(path, members, outcomes))
        if Solver in stages:
            search = PlacedSearch(self._backend, self._aggregation)
            for number, found in search.find(plans, placements).items():
                _record(outcomes[number], plans[number], found)
        self._kept = placements
        for path, members in by_path.items():
            missed = {n: p for n, p in members.items() if _may_extrapolate(p, outcomes[n])}
            if missed:
                self._on_path(path, missed, outcomes, [s for s in stages if s is not Solver])
        self._kept = None

    def _place(
        self, path: Path, plans: Mapping[int, Plan], outcomes: dict[int, Outcome]
    ) -> Placements:
        if self._kept is not None:
            return {key: group for key, group in self._kept.items() if key[0] in plans}
        return super()._place(path, plans, outcomes)


class RelationalCoordinates(RelationalInterpolation, CoordinateSearch):
    """Finds measured coordinates on another engine, and interpolates there."""

    def interpolate(self, plans: Mapping[int, Plan], outcomes: dict[int, Outcome]) -> None:
        """Interpolate targets that were placed before, into their outcomes."""
        placed = {number: plan for number, plan in plans.items() if _is_placed(plan)}
        self._search(placed, outcomes)
        super().interpolate({n: p for n, p in plans.items() if n not in placed}, outcomes)
        for number in placed:
            outcome = outcomes[number]
            if outcome.solution is None and any(a["status"] == CONFLICT for a in outcome.attempts):
                outcome.reason = CONFLICT

    def _points(
        self, placements: list[tuple[int, Placement]], aggregation: str
    ) -> list[tuple[int, Row]]:
        if not placements:
            return []
        rows = [
            (
                place, number, 0, p.distance, p.regime_id, *p.axes,
                False, False, False, False, False, False,
            )
            for place, (number, p) in enumerate(placements)
        ]  # fmt: skip
        relation = Relation(TARGET_PLACE, rows)
        found = self._backend.run("measured_points", aggregation, target_place=relation)
        return [(row["place_id"], row) for row in found]


def _is_placed(plan: Plan) -> bool:
    """Whether the path of a plan can see its target."""
    return plan.path is not None and plan.target_problem is None


def _may_extrapolate(plan: Plan, outcome: Outcome) -> bool:
    """Whether a plan has no solution yet, and a kernel that opts in."""
    allowed = any(Extrapolator.is_allowed(candidate.policy) for candidate in plan.candidates)
    return outcome.solution is None and allowed


def _record(outcome: Outcome, plan: Plan, found: Found) -> None:
    """Note what a search came to, as the searches of the connection do."""
    outcome.attempts += [
        {"kernel_type": plan.candidates[position].kernel.kernel_type, **_attempt_fields(attempt)}
        for position, attempt in found.attempts
    ]
    outcome.reason = found.reason
    if found.solution is not None:
        outcome.solution, outcome.candidate = found.solution, plan.candidates[found.position]
