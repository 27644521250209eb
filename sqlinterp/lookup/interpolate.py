"""Interpolated lookups: targets on the axes of their path, kernel by kernel."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.cells import Cell, cells_of, texts_of
from sqlinterp.lookup.extrapolating import Extrapolator, furthest_refusal
from sqlinterp.lookup.plan import Candidate, Plan, Target
from sqlinterp.lookup.rounds import Rounds
from sqlinterp.lookup.solver import Attempt, Placement, Solution, Solver, furthest
from sqlinterp.lookup.statements import Statements
from sqlinterp.parts import parts
from sqlinterp.paths import Path

Row = dict[str, Any]
# What rows of regimes have of the target, unless it decides which regimes they are.
_TARGET_FIELDS = ("item_id", "axis_1", "axis_2", "axis_3", "axis_4", "reason")
# The database takes twenty times the memory of the text of all that it places together, and a
# search takes more than the answer that it leaves.
_PLACED_TOGETHER, _SEARCHED_TOGETHER = 10_000, 20_000
STAGES: tuple[type[Solver], ...] = (Solver, Extrapolator)


@dataclass(slots=True)
class Outcome:
    """What interpolation found for one plan.

    Attributes
    ----------
    reason : str or None
        Why there is no solution.
    attempts : list of dict
        Every kernel and axis group that was tried.
    """

    solution: Solution | None = None
    candidate: Candidate | None = None
    reason: str | None = None
    attempts: list[Row] = field(default_factory=list)


class InterpolationSearch:
    """Interpolates many plans, set-based, one path at a time; then extrapolates where allowed."""

    def __init__(self, statements: Statements, catalog: Catalog, aggregation: str) -> None:
        self._statements, self._catalog, self._aggregation = statements, catalog, aggregation

    def find(
        self, plans: Mapping[int, Plan], stages: Sequence[type[Solver]] = STAGES
    ) -> dict[int, Outcome]:
        """Return the outcome of every plan by its number."""
        outcomes = {number: Outcome(reason="regime_key_unmatched") for number in plans}
        by_path: dict[str, dict[int, Plan]] = defaultdict(dict)
        for number, plan in plans.items():
            if plan.path is None:
                outcomes[number].reason = "interpolation_path_unavailable"
            elif plan.target_problem is not None:
                outcomes[number].reason = plan.target_problem
            else:
                by_path[plan.path.name][number] = plan
        for members in by_path.values():
            path = next(iter(members.values())).path
            if path is not None:
                self._on_path(path, members, outcomes, stages)
        return outcomes

    def _on_path(
        self,
        path: Path,
        plans: Mapping[int, Plan],
        outcomes: dict[int, Outcome],
        stages: Sequence[type[Solver]] = STAGES,
    ) -> None:
        """Search stage by stage: what any kernel interpolates, no kernel extrapolates."""
        placements = self._place(path, plans, outcomes)
        for stage in stages:
            for position in range(max(len(plan.candidates) for plan in plans.values())):
                wanted = {
                    number: (plan.candidates[position], placements[number, position])
                    for number, plan in plans.items()
                    if (number, position) in placements
                    and outcomes[number].solution is None
                    and stage.is_allowed(plan.candidates[position].policy)
                }
                # Regimes lie one after the other, so that each part reads points of its own.
                ordered = sorted(wanted, key=lambda number: wanted[number][1][0].regime_id)
                for part in parts(ordered, _SEARCHED_TOGETHER):
                    self._search_kernel(path, stage, {n: wanted[n] for n in part}, outcomes)

    def _search_kernel(
        self,
        path: Path,
        stage: type[Solver],
        wanted: Mapping[int, tuple[Candidate, list[Placement]]],
        outcomes: dict[int, Outcome],
    ) -> None:
        """Search one kernel of each plan in a stage, into their outcomes."""
        solvers = {}
        for number, (candidate, own) in wanted.items():
            solver = stage(path, candidate.policy)
            solvers[number] = (solver, solver.search(tuple(own)))
        known = (self._aggregation, self._catalog.levels)
        for number, solution in Rounds(self._statements, path, *known, solvers).run().items():
            attempts = solvers[number][0].attempts
            _record(outcomes[number], wanted[number][0], solution, attempts)

    def _place(
        self, path: Path, plans: Mapping[int, Plan], outcomes: dict[int, Outcome]
    ) -> dict[tuple[int, int], list[Placement]]:
        """Put targets on the axes of the path and find the regimes that they belong to."""
        placements: dict[tuple[int, int], list[Placement]] = defaultdict(list)
        regimes: dict[int, Row] = {}
        cells = list(cells_of(self._catalog, path, plans))
        placed = (self._regimes_of_cells(path, own) for own in parts(cells, _PLACED_TOGETHER))
        for cell, row in chain.from_iterable(placed):
            key = (cell.number, cell.candidate.position)
            has_place = row["reason"] is None and row["regime_id"] is not None
            if has_place and _has_formats(cell.target, row):
                fields = regimes.get(row["regime_id"])
                if fields is None:
                    fields = regimes[row["regime_id"]] = _regime_fields(row)
                placements[key].append(_placement(row, cell, fields))
            elif cell.distance == 0 and key not in placements:
                _note_unplaced(outcomes[cell.number], cell.candidate, row, path)
        return placements

    def _regimes_of_cells(self, path: Path, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Row]]:
        texts = texts_of(self._catalog, cells)
        if path.is_enriched:
            files = {cell.candidate.kernel.file_id or 0 for cell in cells}
            texts["columns"] = json.dumps({i: self._catalog.file_of(i).columns for i in files})
        return ((cells[row["item_id"]], row) for row in self._regimes(path, texts))

    def _regimes(self, path: Path, texts: Mapping[str, str]) -> list[Row]:
        """Return the place of each target on the axes, with each regime that it belongs to.

        A few targets are placed by a statement of its own, which reads no table and so is planned
        once; for many of them that would only copy them twice.
        """
        statements = self._statements
        place = (f"cells={path.target_cells}", f"placed={path.query}")
        if not statements.is_short(*texts.values()):
            return statements.run(*place, *path.regime_steps, path=path.name, **texts)
        placed = sorted(statements.evaluate(*place, **texts), key=itemgetter("item_id"))
        if path.regime_fields:
            return self._known_regimes(path, placed)
        return self._matched(path, placed)

    def _matched(self, path: Path, placed: list[Row]) -> list[Row]:
        """Return placed targets with each regime that they belong to."""
        steps = ("placed=lookup.placed_target", *path.regime_steps)
        return self._statements.run(*steps, placed=json.dumps(placed), path=path.name)

    def _known_regimes(self, path: Path, placed: list[Row]) -> list[Row]:
        """Return the same where some fields of a target decide, asking for each only once."""
        kept = self._catalog.kept_rows
        asked = (*path.regime_steps, path.name)
        keys = [(*asked, *map(row.get, path.regime_fields)) for row in placed]
        known = {key: found for key in keys if (found := kept.get(key)) is not None}
        unknown = {key: row for key, row in zip(keys, placed, strict=True) if key not in known}
        if unknown:
            for key, regimes in zip(unknown, self._regimes_of(path, unknown), strict=True):
                known[key] = kept.put(key, regimes)
        own = _own_fields(path)
        return [
            {**{name: row[name] for name in own}, **regime}
            for key, row in zip(keys, placed, strict=True)
            for regime in known[key]
        ]

    def _regimes_of(self, path: Path, placed: Mapping[Any, Row]) -> Iterable[list[Row]]:
        """Return the regimes of each placed target, by key, without what is the target's own."""
        if len(placed) == 1 and len(path.regime_steps) == 1:
            [row] = placed.values()
            asked = {"path": path.name, **{name: row[name] for name in path.regime_fields}}
            regimes = self._statements.run("lookup.regime_of_one", **asked)
            return [regimes or [{"regime_key": asked["regime_key"], "regime_id": None}]]
        targets = [{**row, "item_id": number} for number, row in enumerate(placed.values())]
        found: dict[int, list[Row]] = {number: [] for number in range(len(targets))}
        own = _own_fields(path)
        for row in self._matched(path, targets):
            found[row["item_id"]].append({name: row[name] for name in row if name not in own})
        return found.values()


def _has_formats(target: Target, row: Row) -> bool:
    """Whether the regime is stored as the target says; most targets may use any format."""
    declared = target.enrichment.get("operand_formats")
    return declared is None or row["input_formats"] == ";".join(declared)


def _own_fields(path: Path) -> list[str]:
    return [name for name in _TARGET_FIELDS if name not in path.regime_fields]


def _regime_fields(row: Row) -> Row:
    """Return the discrete fields of a regime as a reader wants them."""
    fields: Row = json.loads(row["regime_key"])
    if not any(fields.get("input_gaps", [])):
        fields.pop("input_gaps", None)
    fields["input_formats"] = row["input_formats"].split(";")
    fields["output_dtypes"] = row["output_dtypes"].split(";") if row["output_dtypes"] else []
    return fields


def _placement(row: Row, cell: Cell, fields: Row) -> Placement:
    return Placement(
        file_id=cell.candidate.kernel.file_id or 0,
        regime_id=row["regime_id"],
        axes=(row["axis_1"], row["axis_2"], row["axis_3"], row["axis_4"]),
        is_nd=row["is_nd"],
        measurement_count=row["measurement_count"],
        latency_ranks=tuple(row["latency_ranks"]),
        distance=cell.distance,
        fields=fields,
        preference=tuple(row.get("preference") or ()),
        fixed_axes=frozenset(row.get("fixed_axes") or ()),
        notes={key: value for key, value in (row.get("notes") or {}).items() if value is not None},
    )


def _note_unplaced(outcome: Outcome, candidate: Candidate, row: Row, path: Path) -> None:
    status = row["reason"] or "regime_key_unmatched"
    attempt: Row = {
        "kernel_type": candidate.kernel.kernel_type,
        "path": path.name,
        "status": status,
    }
    if row["reason"] is None:
        attempt["target"] = dict(
            zip(path.axes, (row[f"axis_{i}"] for i in (1, 2, 3, 4)), strict=False)
        )
        attempt["regime"] = json.loads(row["regime_key"])
    else:
        outcome.reason = row["reason"]
    outcome.attempts.append(attempt)


def _record(
    outcome: Outcome, candidate: Candidate, solution: Solution | None, attempts: list[Attempt]
) -> None:
    kernel = candidate.kernel.kernel_type
    outcome.attempts += [
        {"kernel_type": kernel, **_attempt_fields(a)} for a in attempts if a.status
    ]
    if solution is not None:
        outcome.solution, outcome.candidate, outcome.reason = solution, candidate, None
    elif attempts and attempts[0].extrapolation is not None:
        outcome.reason = furthest_refusal(attempts)
    elif attempts:
        outcome.reason = furthest(attempts)


def _attempt_fields(attempt: Attempt) -> Row:
    fields: Row = {
        "axes": attempt.axes,
        "interpolation_dim": attempt.dimension,
        "status": attempt.status,
        "latency_column": attempt.latency_column,
        "filtered_count": attempt.row_count,
        "aggregated_count": attempt.point_count,
    }
    if attempt.extrapolation is not None:
        fields["extrapolation"] = attempt.extrapolation
    return fields
