"""Probes asked through the operators of the mapping, on a copy from which measurements are deleted.

Slower than asking by coordinate; it shows what users of operators get, padded matches, alternate
kernels and other dtypes included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlinterp.fidelity.asking import Calls, line_of
from sqlinterp.fidelity.bench import Bench, opened_copy
from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.predicting import Advance
from sqlinterp.fidelity.probes import Probe, grouped_by
from sqlinterp.fidelity.results import ON_GRID
from sqlinterp.fidelity.schemes import Holdout
from sqlinterp.fidelity.source import Measured
from sqlinterp.lookup.regimes import Regime, spelled
from sqlinterp.model import Answer, QueryContext

_UNTOLD = ("input_formats", "output_dtypes")  # a call need not tell these


class OperatorPredictor:
    """Answers held-out points of one version as the simulator would ask for them."""

    def __init__(self, measured: Measured, database: Path, context: QueryContext) -> None:
        self._measured, self._database, self._context = measured, database, context
        self._families = self._siblings()

    def answers(
        self, probes: Sequence[Probe], advance: Advance | None = None
    ) -> tuple[list[Probe], list[Answer]]:
        """Return the probes and their answers in their order.

        A probe whose coordinate another kernel or dtype has measured is answered from there: it is
        ``on_grid`` then and has no truth, for its answer tells nothing of interpolation.
        """
        answers: dict[int, Answer] = {}
        asked = list(probes)
        with opened_copy(self._database, self._measured.version_key, self._context) as bench:
            wanted = [(probe.group, probe.point) for probe in probes if probe.point is not None]
            calls = Calls(bench, wanted, self._siblings_of)
            rounds = grouped_by(range(len(probes)), lambda i: (probes[i].group, probes[i].holdout))
            for places in rounds.values():
                self._ask(bench, calls, asked, places, answers)
                if advance is not None:
                    advance(asked[places[0]].group.kernel_type, len(answers), len(asked))
        return asked, [answers[place] for place in range(len(asked))]

    def _ask(
        self,
        bench: Bench,
        calls: Calls,
        asked: list[Probe],
        places: list[int],
        answers: dict[int, Answer],
    ) -> None:
        """Ask for probes that leave together."""
        first = asked[places[0]]
        able = []
        for place in places:
            point = asked[place].point
            if point is not None and calls.of(point) is not None:
                able.append(place)
                continue
            reason = "no_call" if point is None else calls.problems[point]
            answers[place] = Answer(first.group.kernel_type, miss_reason=reason)
            asked[place] = replace(asked[place], truth_us=None)
        if not able or first.holdout is None:
            return
        held = self._held(first.group, first.holdout)
        found = [calls.of(p) for place in able if (p := asked[place].point) is not None]
        told = bench.lookup_without(held, [call for call in found if call is not None])
        lines = [line_of(bench.catalog, answer) for answer in told]
        measured = bench.coordinates_of([line for line in lines if line is not None])
        for place, answer, line in zip(able, told, lines, strict=True):
            answers[place] = answer
            others = set() if line is None else {at for _, at in measured.get(line, set())}
            if asked[place].coordinate in others:
                asked[place] = replace(asked[place], region=ON_GRID, truth_us=None)

    def _held(self, group: Group, holdout: Holdout) -> list[tuple[int, Coordinate]]:
        """Return the coordinates that leave, in every regime that a call of the group may mean."""
        leaving = [point.coordinate for point in group.points if holdout.holds(point.coordinate)]
        return [(regime_id, at) for regime_id in self._siblings_of(group) for at in leaving]

    def _siblings_of(self, group: Group) -> list[int]:
        return self._families[_family(group.kernel_type, group.regime)]

    def _siblings(self) -> dict[tuple[str, ...], list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for row, regime in self._measured.regimes():
            key = _family(row["kernel_type"], regime)
            found.setdefault(key, []).append(regime.regime_id)
        return found


def _family(kernel: str, regime: Regime) -> tuple[str, ...]:
    told = {name: value for name, value in regime.columns.items() if name not in _UNTOLD}
    return (kernel, *(f"{name}={spelled(value)}" for name, value in sorted(told.items())))
