"""Advances many searches together: every round answers all their requests with few statements."""

from __future__ import annotations

from typing import Any

from sqlinterp.lookup.box_rounds import BoxRounds
from sqlinterp.lookup.clouds import CloudRounds
from sqlinterp.lookup.edge_rounds import EdgeRounds
from sqlinterp.lookup.levels import StoredLevels
from sqlinterp.lookup.placement import BoxRequest, CloudRequest, Request, Solution
from sqlinterp.lookup.solver import Search, Solver
from sqlinterp.lookup.statements import Statements
from sqlinterp.paths import Path


class Rounds:
    """Runs searches of one path to their end.

    Parameters
    ----------
    levels : StoredLevels
        In which regimes measured values are stored by axis group.
    searches : dict
        Solver and search by number.
    """

    def __init__(
        self,
        statements: Statements,
        path: Path,
        aggregation: str,
        levels: StoredLevels,
        searches: dict[int, tuple[Solver, Search]],
    ) -> None:
        self._searches = searches
        max_dims = {number: solver.max_dim for number, (solver, _) in searches.items()}
        self._boxes = BoxRounds(statements, path, aggregation, levels, max_dims)
        self._clouds = CloudRounds(statements, aggregation)
        self._edges = EdgeRounds(statements, path, aggregation)

    def run(self) -> dict[int, Solution | None]:
        """Return the solution of every search by its number, None for those that fail."""
        results: dict[int, Solution | None] = {}
        waiting: dict[int, Request] = {}
        for number in self._searches:
            self._advance(number, None, waiting, results)
        while waiting:
            answers = self._answer(waiting)
            current, waiting = waiting, {}
            for number in current:
                self._advance(number, answers[number], waiting, results)
        return results

    def _advance(
        self,
        number: int,
        answer: Any,
        waiting: dict[int, Request],
        results: dict[int, Solution | None],
    ) -> None:
        try:
            waiting[number] = self._searches[number][1].send(answer)
        except StopIteration as stop:
            results[number] = stop.value

    def _answer(self, waiting: dict[int, Request]) -> dict[int, Any]:
        boxes = {n: r for n, r in waiting.items() if isinstance(r, BoxRequest)}
        clouds = {n: r for n, r in waiting.items() if isinstance(r, CloudRequest)}
        edges = {n: r for n, r in waiting.items() if n not in boxes and n not in clouds}
        answers: dict[int, Any] = {}
        answers.update(self._boxes.answer(boxes))
        if clouds:
            answers.update(self._clouds.answer(clouds))
        if edges:
            answers.update(self._edges.answer(edges))
        return answers
