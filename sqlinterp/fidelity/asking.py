"""Calls for points, checked: the lookup answers each from the measurements of its own point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlinterp.fidelity.bench import Bench
from sqlinterp.fidelity.grid import Group, Point
from sqlinterp.fidelity.rebuild import PATHS_WITH_CALLS, call_of
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.model import Answer, OpInvocation

Asked = dict[Point, tuple[Group, OpInvocation]]


class Calls:
    """The calls that ask for points, for those points that some operator asks for.

    A call is one that the lookup answers from its own point while nothing is held out; whatever
    else becomes of it would tell nothing of the point.

    Parameters
    ----------
    siblings : callable
        Returns the regimes that a call of a group may mean; a row of any of them is its own.

    Attributes
    ----------
    problems : dict
        Why points have no call.
    """

    def __init__(
        self,
        bench: Bench,
        wanted: Sequence[tuple[Group, Point]],
        siblings: Callable[[Group], Sequence[int]],
    ) -> None:
        self._bench, self._siblings = bench, siblings
        self._calls: dict[Point, OpInvocation] = {}
        self.problems: dict[Point, str] = {}
        self._operators: dict[tuple[str, str, int], list[str]] = {}
        self._find(self._rebuilt(dict.fromkeys(wanted)))

    def of(self, point: Point) -> OpInvocation | None:
        """Return the call that asks for a point, None when there is none."""
        return self._calls.get(point)

    def _rebuilt(self, wanted: dict[tuple[Group, Point], None]) -> Asked:
        """Return the calls that rows tell, their operators still open."""
        names = self._bench.torch_names()
        ids = sorted({point.row_id for _, point in wanted})
        rows = {row["row_id"]: row for row in self._bench.run("measured_rows", row_ids=ids)}
        asked: Asked = {}
        for group, point in wanted:
            if group.path not in PATHS_WITH_CALLS:
                self.problems[point] = "path_without_calls"
                continue
            call = call_of(group, point.coordinate, rows[point.row_id], names)
            if isinstance(call, str):
                self.problems[point] = call
            else:
                asked[point] = group, call
        return asked

    def _find(self, asked: Asked) -> None:
        """Try the operators of each kernel in turn until one answers from the point itself."""
        turn = 0
        while asked:
            tried: Asked = {}
            for point, (group, call) in asked.items():
                operators = self._operators_of(group, call)
                if turn < len(operators):
                    tried[point] = group, replace(call, op=operators[turn])
                else:
                    reason = "not_answered_by_its_own_point" if operators else "no_operator"
                    self.problems[point] = reason
            answers = self._bench.engine.lookup_many([call for _, call in tried.values()])
            asked = self._rejected(tried, answers)
            turn += 1

    def _rejected(self, tried: Asked, answers: list[Answer]) -> Asked:
        """Keep the calls that were answered from their own point; return the others."""
        lines = {
            point: line
            for point, answer in zip(tried, answers, strict=True)
            if (line := line_of(self._bench.catalog, answer)) is not None
        }
        places = self._bench.coordinates_of(lines.values())
        rejected: Asked = {}
        for point, (group, call) in tried.items():
            found = places.get(lines[point], set()) if point in lines else set()
            if any((regime_id, point.coordinate) in found for regime_id in self._siblings(group)):
                self._calls[point] = call
            else:
                rejected[point] = group, call
        return rejected

    def _operators_of(self, group: Group, call: OpInvocation) -> list[str]:
        """Return the operators that look for a group's kernel on its path, closest first."""
        key = (group.kernel_type, group.path, group.regime.input_limit)
        if key not in self._operators:
            entries = [
                entry
                for entry in self._bench.catalog.operators.values()
                if group.kernel_type in entry.kernels
                and self._is_placed(entry.operator, group, call)
            ]
            entries.sort(key=lambda e: (e.kernels.index(group.kernel_type), e.operator))
            self._operators[key] = [entry.operator for entry in entries]
        return self._operators[key]

    def _is_placed(self, operator: str, group: Group, call: OpInvocation) -> bool:
        plan = self._bench.engine.plan(replace(call, op=operator))
        path = None if plan.path is None else plan.path.name
        return path == group.path and plan.input_limit == group.regime.input_limit


def line_of(catalog: Catalog, answer: Answer) -> tuple[int, int] | None:
    """Return file and line of the one measured coordinate that an answer is, None for others."""
    details = answer.details
    line = details.get("line")
    if details.get("method") == "exact_coordinate":
        line = details["corner_points"][0]["line"]
    if answer.source != "MEASURED" or line is None or answer.kernel_type is None:
        return None
    file_id = catalog.file(answer.kernel_type).file_id
    return None if file_id is None else (file_id, line)
