"""Advances many searches together: every round answers all their requests with few statements."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from sqlinterp.certified_cell import NearestQuestion, SupportQuestion
from sqlinterp.lookup.boxes import AXES, Box, Corner, corner_of, group_row, numbered, read_boxes
from sqlinterp.lookup.edge_rounds import EdgeRounds
from sqlinterp.lookup.octants import Surroundings, are_neighbours
from sqlinterp.lookup.placement import BoxRequest, CloudRequest, Request, Solution
from sqlinterp.lookup.solver import Search, Solver
from sqlinterp.lookup.statements import Statements
from sqlinterp.paths import Path

_SMALL_BATCH = 16

Row = dict[str, Any]


class Rounds:
    """Runs searches of one path to their end."""

    def __init__(self, statements: Statements, path: Path, aggregation: str) -> None:
        self._statements, self._path, self._aggregation = statements, path, aggregation
        self._boxes: dict[tuple[int, int], list[Box]] = {}
        self._around: Surroundings | None = None

    def run(self, searches: dict[int, tuple[Solver, Search]]) -> dict[int, Solution | None]:
        """Return the solution of every search by its number, None for those that fail."""
        results: dict[int, Solution | None] = {}
        self._boxes, self._around = {}, None
        waiting: dict[int, Request] = {}
        for number, (_, search) in searches.items():
            self._advance(number, search, None, waiting, results)
        while waiting:
            answers = self._answer(waiting, searches)
            current, waiting = waiting, {}
            for number in current:
                self._advance(number, searches[number][1], answers[number], waiting, results)
        return results

    @staticmethod
    def _advance(
        number: int,
        search: Search,
        answer: Any,
        waiting: dict[int, Request],
        results: dict[int, Solution | None],
    ) -> None:
        try:
            waiting[number] = search.send(answer)
        except StopIteration as stop:
            results[number] = stop.value

    def _answer(
        self,
        waiting: dict[int, Request],
        searches: dict[int, tuple[Solver, Search]],
    ) -> dict[int, Any]:
        boxes = {n: r for n, r in waiting.items() if isinstance(r, BoxRequest)}
        clouds = {n: r for n, r in waiting.items() if isinstance(r, CloudRequest)}
        edges = {n: r for n, r in waiting.items() if n not in boxes and n not in clouds}
        answers: dict[int, Any] = {}
        by_dimension: dict[int, dict[int, BoxRequest]] = defaultdict(dict)
        for number, request in boxes.items():
            by_dimension[request.dimension][number] = request
        for dimension, requests in by_dimension.items():
            self._fetch_boxes(dimension, requests, searches)
            for number in requests:
                answers[number] = self._boxes.get((number, dimension), [])
        if clouds:
            answers.update(self._fetch_clouds(clouds))
        if edges:
            rounds = EdgeRounds(self._statements, self._path, self._aggregation)
            answers.update(rounds.answer(edges))
        return answers

    def _fetch_boxes(
        self,
        dimension: int,
        requests: dict[int, BoxRequest],
        searches: dict[int, tuple[Solver, Search]],
    ) -> None:
        """Fetch the boxes of one dimension, of all dimensions when there are few targets."""
        missing = {n: r for n, r in requests.items() if (n, dimension) not in self._boxes}
        if not missing:
            return
        if len(searches) == 1 and all(are_neighbours(r.placements) for r in missing.values()):
            for number, request in missing.items():
                self._boxes[number, dimension] = self._boxes_around(number, request)
            return
        top = max(searches[number][0].max_dim for number in missing)
        dimensions = range(dimension, top + 1) if len(missing) <= _SMALL_BATCH else [dimension]
        groups = [group for d in dimensions for group in self._path.groups(d)]
        targets = [p.target(n) for n, request in missing.items() for p in request.placements]
        rows = self._statements.run(
            "lookup.neighbours",
            targets=json.dumps(targets),
            groups=json.dumps([group_row(i, group) for i, group in enumerate(groups)]),
            aggregation=self._aggregation,
        )
        found = read_boxes(rows, groups)
        for number in missing:
            for d in dimensions:
                own = [box for box in found.get(number, []) if len(box.group) == d]
                self._boxes[number, d] = own

    def _boxes_around(self, number: int, request: BoxRequest) -> list[Box]:
        """Return the boxes of a single target, for which less has to be planned."""
        if self._around is None:
            self._around = Surroundings(
                self._statements, number, request.placements, self._aggregation
            )
        return self._around.boxes(self._path.groups(request.dimension))

    def _fetch_clouds(self, requests: dict[int, CloudRequest]) -> dict[int, list[Corner]]:
        kinds: dict[str, list[Row]] = defaultdict(list)
        for number, request in requests.items():
            query, question = _cloud_question(number, request)
            kinds[query].append(question)
        answers: dict[int, list[Corner]] = {number: [] for number in requests}
        for query, questions in kinds.items():
            rows = self._statements.run(
                query, questions=json.dumps(questions), aggregation=self._aggregation
            )
            for row in rows:
                answers[row["id"]].append(corner_of(row))
        return answers


def _cloud_question(number: int, request: CloudRequest) -> tuple[str, Row]:
    group = request.box.group
    asked: Row = {
        "id": number,
        "regime_id": request.box.regime_id,
        "latency_column": request.box.latency_column,
        "is_curved": request.is_curved,
        **numbered("v", (axis - 1 in group for axis in AXES)),
        **numbered("t", request.axes),
    }
    question = request.question
    if isinstance(question, SupportQuestion):
        return "lookup.cloud_support", {**asked, **_vector(group, question.direction)}
    if isinstance(question, NearestQuestion):
        sphere = {"radius": float(question.radius), "limit": question.limit}
        return "lookup.cloud_nearest", {**asked, **_vector(group, question.centre), **sphere}
    return "lookup.cloud_seed", asked


def _vector(group: tuple[int, ...], values: Any) -> Row:
    full = [0.0, 0.0, 0.0, 0.0]
    for axis, value in zip(group, values, strict=True):
        full[axis] = float(value)
    return numbered("c", full)
