"""Leaf operators whose base lookup is their own regime: measured coordinates, then neighbours."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.answers import interpolated_answer, miss_answer
from sqlinterp.lookup.boxes import Box, corner_of
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.interpolate import InterpolationSearch, Outcome
from sqlinterp.lookup.placement import Placement, Solution
from sqlinterp.lookup.plan import Candidate, Plan
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer
from sqlinterp.paths import Path

CONFLICT = "duplicate_coordinate_conflict"
_UNMEASURED = "coordinate_not_measured"
_UNMATCHED = "regime_key_unmatched"

Row = dict[str, Any]
Outcomes = dict[int, Outcome]
Match = tuple[Candidate, Placement, Row]


def outcomes_of(services: Services, plans: Mapping[int, Plan]) -> Outcomes:
    """Return what each plan with a kernel comes to: its measured coordinate, else its neighbours.

    Every latency column is searched for the coordinate before any is interpolated. With
    interpolation disabled only measured coordinates are left.

    Source: profiling RFC phase 2, sections 2.2 and 3.3.
    """
    search = CoordinateSearch(services.statements, services.catalog, services.aggregation)
    return search_outcomes(services, search, plans)


def search_outcomes(
    services: Services, search: CoordinateSearch, plans: Mapping[int, Plan]
) -> Outcomes:
    """Return what a search makes of each plan with a kernel, as :func:`outcomes_of` does."""
    usable = {number: plan for number, plan in plans.items() if plan.candidates}
    outcomes, decided = search.measured(usable, services.exact_aggregation)
    if not services.context.disable_interpolation:
        rest = {number: plan for number, plan in usable.items() if number not in decided}
        search.interpolate(rest, outcomes)
    return outcomes


class CoordinateSearch(InterpolationSearch):
    """Finds targets that were measured themselves, on the axes of their path, then the others.

    Targets are placed once for both.
    """

    def __init__(self, statements: Statements, catalog: Catalog, aggregation: str) -> None:
        super().__init__(statements, catalog, aggregation)
        self._placements: dict[tuple[int, int], list[Placement]] = {}

    def measured(
        self, plans: Mapping[int, Plan], aggregation: str
    ) -> tuple[Outcomes, dict[int, list[Match]]]:
        """Return all outcomes, and the points at the coordinates of those that are decided.

        A coordinate whose measurements contradict each other decides too: it is a miss.
        """
        outcomes = {number: Outcome(reason=plan.target_problem) for number, plan in plans.items()}
        decided: dict[int, list[Match]] = defaultdict(list)
        for path, members in _by_path(plans).items():
            self._placements.update(self._located(path, members, outcomes))
            placed = [
                (number, members[number].candidates[position], placement)
                for (number, position), group in self._placements.items()
                if number in members
                for placement in group
            ]
            for number, candidate, placement in placed:
                outcomes[number].attempts.append(_attempt(candidate, placement, path))
            for number in members.keys() - {number for number, _, _ in placed}:
                outcomes[number].reason = outcomes[number].reason or _UNMATCHED
            for place, row in self._points([(n, p) for n, _, p in placed], aggregation):
                number, candidate, placement = placed[place]
                decided[number].append((candidate, placement, row))
        for number, matches in decided.items():
            _decide(outcomes[number], matches, plans[number])
        return outcomes, decided

    def interpolate(self, plans: Mapping[int, Plan], outcomes: Outcomes) -> None:
        """Interpolate targets that were placed before, into their outcomes."""
        for path, members in _by_path(plans).items():
            self._on_path(path, members, outcomes)
        for number in plans:
            outcome = outcomes[number]
            if outcome.solution is None and any(a["status"] == CONFLICT for a in outcome.attempts):
                outcome.reason = CONFLICT  # neighbours were there, only not one latency for each

    def _located(
        self, path: Path, plans: Mapping[int, Plan], outcomes: Outcomes
    ) -> dict[tuple[int, int], list[Placement]]:
        return super()._place(path, plans, outcomes)

    def _place(
        self, path: Path, plans: Mapping[int, Plan], outcomes: Outcomes
    ) -> dict[tuple[int, int], list[Placement]]:
        return {key: group for key, group in self._placements.items() if key[0] in plans}

    def _points(
        self, placements: list[tuple[int, Placement]], aggregation: str
    ) -> list[tuple[int, Row]]:
        """Return (place in the list, point) of every point at the coordinates of placements.

        Placements come with the number of their plan.
        """
        if not placements:
            return []
        targets = [
            {**p.target(place), "target": number} for place, (number, p) in enumerate(placements)
        ]
        rows = self._statements.run(
            "lookup.measured_point", targets=json.dumps(targets), aggregation=aggregation
        )
        return [(row["id"], row) for row in rows]


def _by_path(plans: Mapping[int, Plan]) -> dict[Path, dict[int, Plan]]:
    """Return the plans whose path can see their target, by path."""
    found: dict[Path, dict[int, Plan]] = defaultdict(dict)
    for number, plan in plans.items():
        if plan.path is not None and plan.target_problem is None:
            found[plan.path][number] = plan
    return found


def _attempt(candidate: Candidate, placement: Placement, path: Path) -> Row:
    """Return what a miss tells of a regime that the target belongs to."""
    return {
        "kernel_type": candidate.kernel.kernel_type,
        "path": path.name,
        "status": _UNMEASURED,
        "target": dict(zip(path.axes, placement.axes, strict=False)),
        "regime": placement.fields,
    }


def _decide(outcome: Outcome, matches: list[Match], plan: Plan) -> None:
    """Take the first kernel whose point in its preferred column does not contradict itself.

    Kernels in mapping order, rows of the true dtype before those of a compatible one.
    """
    first: dict[tuple[int, int], Match] = {}
    for match in sorted(matches, key=_order):
        candidate, placement, _ = match
        first.setdefault((placement.distance, candidate.position), match)
    refused, outcome.attempts = [], []
    for candidate, placement, row in first.values():
        reason = _refusal(candidate, row, plan)
        if reason is None:
            outcome.solution, outcome.candidate = _solution(placement, row, plan), candidate
            outcome.reason = None
            return
        refused.append(reason)
        outcome.attempts.append(
            {"kernel_type": candidate.kernel.kernel_type, "status": reason,
             "latency_column": row["latency_column"], "line": row["first_line_number"],
             "filtered_count": row["measurement_count"], "regime": placement.fields}
        )  # fmt: skip
    outcome.reason = refused[0]


def _order(match: Match) -> tuple[Any, ...]:
    candidate, placement, row = match
    preference = (placement.distance, candidate.position, row["latency_rank"])
    return (*preference, row["latency_column"], row["regime_id"])


def _refusal(candidate: Candidate, row: Row, plan: Plan) -> str | None:
    """Return why the measurements of a point are not one answer, None when they are."""
    if row["is_conflicting"] and plan.path is not None and plan.path.refuses_conflicts:
        return CONFLICT
    if candidate.is_unique and row["has_several"]:
        return f"ambiguous_semantic_match:{candidate.kernel.kernel_type}"
    return None


def _solution(placement: Placement, row: Row, plan: Plan) -> Solution:
    corner = corner_of(row)
    axes = plan.path.axes if plan.path else ()
    box = Box(
        regime_id=placement.regime_id,
        group=tuple(range(len(axes))),
        latency_column=row["latency_column"],
        latency_rank=row["latency_rank"],
        lower=corner.axes,
        upper=corner.axes,
        row_count=row["measurement_count"],
        point_count=1,
        corners=[corner],
    )
    return Solution(placement, box, (corner,), corner.latency_us, "exact_coordinate")


class LeafHandler:
    """Answers leaf operators from their own regime, never from operands alone.

    Attributes
    ----------
    coordinate_follows : str or None
        What has missed before a measured coordinate answers; None when that is the base lookup.

    Source: profiling RFC phase 2, sections 3.1 and 7.3, criterion 4.
    """

    coordinate_follows: str | None = None

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        return self.conclude(plans, outcomes_of(self._services, plans))

    def conclude(self, plans: Mapping[int, Plan], outcomes: Outcomes) -> dict[int, Answer]:
        """Return the answers that outcomes amount to, with the rows that the path cannot use."""
        dropped = self._dropped(plans)
        answers = {}
        for number, plan in plans.items():
            outcome = outcomes.get(number)
            rows = [row for c in plan.candidates for row in dropped.get(c.kernel.file_id or 0, ())]
            answer = self._answer(plan, outcome, rows)
            rejected: dict[str, int] = defaultdict(int)
            for row in rows:
                rejected[row["reason"]] += row["row_count"]
            details = {**answer.details, "rejected_rows": dict(rejected)}
            answers[number] = replace(answer, details=details)
        return answers

    def _answer(self, plan: Plan, outcome: Outcome | None, dropped: list[Row]) -> Answer:
        services = self._services
        if outcome is not None and outcome.solution is not None:
            is_exact = outcome.solution.method == "exact_coordinate"
            aggregation = services.exact_aggregation if is_exact else services.aggregation
            answer = interpolated_answer(plan, outcome, services.catalog, aggregation)
            if is_exact:
                answer.details["fallback_from"] = self.coordinate_follows
            return answer
        if outcome is None or not plan.candidates:
            return miss_answer(plan, "csv_not_found", None)
        if outcome.reason == _UNMATCHED and _is_unplaced(dropped):
            outcome.reason = dropped[0]["reason"]
        if outcome.reason == _UNMATCHED and services.context.disable_interpolation:
            outcome.reason = None
        return miss_answer(plan, "shape_mismatch", outcome)

    def _dropped(self, plans: Mapping[int, Plan]) -> dict[int, list[Row]]:
        """Return the rows that the path cannot place, by file."""
        found: dict[int, list[Row]] = defaultdict(list)
        for path, file_ids in _files_by_path(plans.values()).items():
            for row in dropped_rows(self._services, path, file_ids):
                found[row["file_id"]].append(row)
        return found


def dropped_rows(services: Services, path: str, file_ids: Iterable[int]) -> list[Row]:
    """Return the rows of files that a path cannot place, by file and reason, most rows first."""
    asked = {"path": path, "file_ids": sorted(file_ids)}
    return services.catalog.kept(services.statements, "lookup.dropped_row", **asked)


def _is_unplaced(dropped: list[Row]) -> bool:
    """Whether the kernels have rows, but the path can place none of them."""
    return bool(dropped) and not any(row["has_regimes"] for row in dropped)


def _files_by_path(plans: Iterable[Plan]) -> dict[str, set[int]]:
    files: dict[str, set[int]] = defaultdict(set)
    for plan in plans:
        for candidate in plan.candidates:
            if plan.path is not None and candidate.kernel.file_id is not None:
                files[plan.path.name].add(candidate.kernel.file_id)
    return files
