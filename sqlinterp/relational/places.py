"""Searches on the axes of paths from a relation of placed targets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.estimates import with_estimates
from sqlinterp.lookup.placement import Placement, Solution
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.solver import Attempt, Solver, furthest
from sqlinterp.relational.backend import Backend, Relation
from sqlinterp.relational.canonical import TARGET_PLACE
from sqlinterp.relational.cells import CELL_PLACE, NO_POINTS, read_outcome

Row = dict[str, Any]
# Kernel, regimes by how well their dtype fits, latency rank, dimension, regime, axes: what a lookup
# tries first is least.
Order = tuple[Any, ...]


@dataclass(frozen=True)
class Found:
    """What a search came to for one target: the solution of a kernel, or the attempts of all.

    Attributes
    ----------
    position : int
        Kernel of the solution, or of the last attempts.
    reason : str or None
        The furthest status of the last kernel, None with a solution.
    attempts : list of (int, Attempt)
        Kernel and attempt; of every regime all axis groups of one and more axes.
    """

    position: int
    solution: Solution | None
    reason: str | None
    attempts: tuple[tuple[int, Attempt], ...] = ()


@dataclass(frozen=True)
class _Place:
    """A target on the axes of one regime, under the policy of one kernel."""

    number: int
    position: int
    distance: int
    placement: Placement
    solver: Solver

    @property
    def free(self) -> tuple[int, ...]:
        """Axes that may vary."""
        allowed = {group[0] for group in self.solver.groups(1)}
        return tuple(sorted(allowed - self.placement.fixed_axes))

    @property
    def columns(self) -> tuple[Any, ...]:
        """Regime, coordinates, which axes may vary, and whether conflicts are refused."""
        varies = (axis in self.free for axis in range(4))
        own, refuses = self.placement, self.solver.path.refuses_conflicts
        return own.regime_id, *own.axes, *varies, refuses

    def stage(self, rank: int) -> Order:
        """Return the place of a latency rank in the order of the search."""
        return self.position, self.distance, rank

    def order(self, rank: int, group: tuple[int, ...]) -> Order:
        """Return the place of an answer in the order of the search."""
        own = self.placement
        regime = (not own.is_nd, -own.measurement_count, own.regime_id)
        return *self.stage(rank), len(group), *regime, group


# A place with its solution, or with the attempts as lists.
Searched = tuple[_Place, Solution | list[list[Any]]]


class PlacedSearch:
    """Searches many placed targets, of any path, with the queries of an engine."""

    def __init__(self, backend: Backend, aggregation: str) -> None:
        self._backend, self._aggregation = backend, aggregation

    def find(
        self, plans: Mapping[int, Plan], placements: Mapping[tuple[int, int], Sequence[Placement]]
    ) -> dict[int, Found]:
        """Return what every target with a place comes to: one axis first, then cells.

        A cell is only asked for where a lookup would try it before the answer along one axis.
        """
        places, disabled = self._places(plans, placements)
        lines = self._lines(places)
        cells = self._cells(places, lines)
        return {
            number: _found(lines.get(number), cells.get(number, []), disabled.get(number, []))
            for number in {place.number for place in places} | disabled.keys()
        }

    def _places(
        self, plans: Mapping[int, Plan], placements: Mapping[tuple[int, int], Sequence[Placement]]
    ) -> tuple[list[_Place], dict[int, list[tuple[int, Attempt]]]]:
        """Return the places of all targets, and the attempts that a policy forbids."""
        places: list[_Place] = []
        disabled: dict[int, list[tuple[int, Attempt]]] = defaultdict(list)
        for (number, position), own in placements.items():
            solver = _solver(plans[number], position)
            if solver.max_dim == 0:
                attempt = Attempt(list(solver.path.axes), 0, "interpolation_dim_disabled")
                disabled[number].append((position, attempt))
                continue
            ranks = sorted({placement.rank for placement in own})
            places += [_Place(number, position, ranks.index(p.rank), p, solver) for p in own]
        return places, disabled

    def _lines(self, places: Sequence[_Place]) -> dict[int, tuple[Order, Solution]]:
        """Return the answer of every target that a single axis answers, and its order."""
        rows = [
            (place_id, place.number, place.position, place.distance, *place.columns,
             place.solver.policy.method == "bracket_consensus")
            for place_id, place in enumerate(places)
        ]  # fmt: skip
        if not rows:
            return {}
        relation = Relation(TARGET_PLACE, rows)
        by_target: dict[int, list[Row]] = defaultdict(list)
        for row in self._backend.run("axis_estimates", self._aggregation, target_place=relation):
            by_target[row["target_id"]].append(row)
        return {
            number: _line_answer(places[own[0]["place_id"]], own)
            for number, own in by_target.items()
        }

    def _cells(
        self, places: Sequence[_Place], lines: Mapping[int, tuple[Order, Solution]]
    ) -> dict[int, list[Searched]]:
        """Return what the cells of targets come to where they count before their line.

        The first kernel of every target is asked first, the others only where it has no answer.
        """
        rows: dict[int, tuple[Any, ...]] = {}
        for place_id, place in enumerate(places):
            before = lines[place.number][0][:3] if place.number in lines else None
            limit = _rank_limit(place, before)
            if before is None or (limit != 0 and place.solver.max_dim > 1):
                policy = place.solver.policy
                rows[place_id] = (
                    place_id, *place.columns, place.solver.max_dim, policy.method, limit
                )  # fmt: skip
        first: dict[int, int] = {}
        for place in (places[place_id] for place_id in rows):
            first[place.number] = min(place.position, first.get(place.number, place.position))
        found: dict[int, list[Searched]] = defaultdict(list)
        solved: set[int] = set()
        for is_first in (True, False):
            asked = [
                row
                for place_id, row in rows.items()
                if (places[place_id].position == first[places[place_id].number]) is is_first
                and places[place_id].number not in solved
            ]
            for row in self._solved(asked):
                place = places[row["place_id"]]
                outcome = read_outcome(row, place.placement)
                found[place.number].append((place, outcome))
                if isinstance(outcome, Solution):
                    solved.add(place.number)
        return found

    def _solved(self, rows: Sequence[tuple[Any, ...]]) -> list[Row]:
        if not rows:
            return []
        return self._backend.cells(Relation(CELL_PLACE, rows), self._aggregation)


def _solver(plan: Plan, position: int) -> Solver:
    if plan.path is None:
        raise ValueError("the plan has no path, so it has no place")
    return Solver(plan.path, plan.candidates[position].policy)


def _rank_limit(place: _Place, before: Order | None) -> int | None:
    """Return from which latency rank on a place comes after a stage; None when it never does.

    0 leaves nothing of it.
    """
    if before is None or place.stage(0)[:2] < before[:2]:
        return None
    if place.stage(0)[:2] > before[:2]:
        return 0
    return int(before[2])


def _line_answer(place: _Place, rows: Iterable[Row]) -> tuple[Order, Solution]:
    """Return the solution that the estimates of one target amount to, the preferred axis first."""
    ordered = sorted(rows, key=lambda row: int(row["choice"]))
    boxes = [_line_box(place.placement, row) for row in ordered]
    first, box = ordered[0], boxes[0]
    is_exact = first["lower_x"] == first["upper_x"]
    method = "exact_coordinate" if is_exact else "linear_1d"
    solution = Solution(
        place.placement, box, tuple(box.corners), float(first["latency_us"]), method
    )
    order = place.order(box.latency_rank, box.group)
    in_order = sorted(boxes, key=lambda one: one.group)
    return order, with_estimates(solution, in_order, False, place.solver.policy.method)


def _line_box(placement: Placement, row: Row) -> Box:
    axis = row["axis"] - 1
    sides = [
        tuple(
            row[f"{side}_x"] if place == axis else value
            for place, value in enumerate(placement.axes)
        )
        for side in ("lower", "upper")
    ]
    corners = [
        Corner(axes, row[f"{side}_us"], row[f"{side}_line_number"], row[f"{side}_count"])
        for side, axes in zip(("lower", "upper"), sides, strict=True)
    ]
    if sides[0] == sides[1]:
        corners.pop()
    return Box(
        placement.regime_id, (axis,), row["latency_column"], row["latency_rank"], sides[0],
        sides[1], int(row["row_count"]), int(row["point_count"]), corners,
    )  # fmt: skip


def _found(
    line: tuple[Order, Solution] | None,
    cells: Iterable[Searched],
    disabled: Iterable[tuple[int, Attempt]],
) -> Found:
    """Return what comes first in the order of the search, or how far it got."""
    answers = [line] if line is not None else []
    attempts: list[tuple[Order, Attempt]] = [((position,), a) for position, a in disabled]
    for place, outcome in cells:
        if isinstance(outcome, Solution):
            answers.append((place.order(outcome.box.latency_rank, outcome.box.group), outcome))
        else:
            attempts += _attempts(place, outcome)
    if answers:
        order, solution = min(answers, key=lambda answer: answer[0])
        return Found(order[0], solution, None)
    ordered = [(order[0], attempt) for order, attempt in sorted(attempts, key=lambda a: a[0])]
    if not ordered:
        return Found(0, None, NO_POINTS)
    last = ordered[-1][0]
    reason = furthest([attempt for position, attempt in ordered if position == last])
    return Found(last, None, reason, tuple(ordered))


def _attempts(place: _Place, outcome: Iterable[Sequence[Any]]) -> Iterator[tuple[Order, Attempt]]:
    names = place.solver.path.axes
    for rank, axes, status, column, rows, points in outcome:
        group = tuple(axes)
        attempt = Attempt([names[axis] for axis in group], len(group), status, column, rows, points)
        attempt.regime_id = place.placement.regime_id
        yield place.order(rank, group), attempt
