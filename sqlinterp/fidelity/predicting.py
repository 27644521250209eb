"""What the production lookup says of probes, without what it may not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext

from sqlinterp.errors import DatabaseError
from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.probes import Probe, grouped_by
from sqlinterp.fidelity.schemes import Holdout
from sqlinterp.fidelity.source import Measured
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.points import point_plans
from sqlinterp.model import Answer, QueryContext
from sqlinterp.parts import parts

Advance = Callable[[str, int, int], None]
Hidden = Mapping[int, frozenset[Coordinate]]

_BATCH = 1000  # targets of one statement


class Predictor:
    """Answers probes of one version under one context.

    Parameters
    ----------
    groups : mapping, optional
        Groups to ask instead of those of the probes, by ``group_id``: the same regimes in another
        version or of another kernel. A probe without one is a miss.
    version_key : str, optional
        The version that those groups belong to.
    """

    def __init__(
        self,
        measured: Measured,
        context: QueryContext,
        groups: Mapping[str, Group] | None = None,
        version_key: str | None = None,
    ) -> None:
        self._measured = measured
        self._services = measured.services(context, version_key)
        self._groups = groups

    def answers(
        self, probes: Sequence[Probe], hidden: Hidden | None = None, advance: Advance | None = None
    ) -> list[Answer]:
        """Return the answers of probes in their order.

        Parameters
        ----------
        hidden : mapping, optional
            Coordinates of regimes that no probe may see besides.
        advance : callable, optional
            Called with kernel, probes done and probes in all.
        """
        answers: dict[int, Answer] = {}
        for places, extra in self._rounds(probes):
            told = {**(hidden or {})}
            for regime_id, coordinates in extra.items():
                told[regime_id] = told.get(regime_id, frozenset()) | coordinates
            with self._measured.hiding(told) if told else nullcontext():
                for batch in parts(places, _BATCH):
                    answers.update(self._answered(probes, batch))
                    if advance is not None:
                        kernel = probes[batch[-1]].group.kernel_type
                        advance(kernel, len(answers), len(probes))
        return [answers[place] for place in range(len(probes))]

    def _rounds(self, probes: Sequence[Probe]) -> Iterator[tuple[list[int], Hidden]]:
        """Yield places of probes that are asked together, with what is hidden from all of them.

        Hold-outs that are told by ranges differ from target to target and share a round. The n-th
        hold-outs of all groups that are told by their points make up one round.
        """
        shared: dict[int, list[Holdout]] = {}
        rounds: dict[int, list[int]] = {}
        hidden: dict[int, dict[int, frozenset[Coordinate]]] = {}
        for place, probe in enumerate(probes):
            holdout, number = probe.holdout, 0
            if holdout is not None and holdout.coordinates is not None:
                regime_id = self._asked(probe.group).regime.regime_id
                own = shared.setdefault(regime_id, [])
                if holdout not in own:
                    own.append(holdout)
                number = own.index(holdout) + 1
                hidden.setdefault(number, {})[regime_id] = holdout.coordinates
            rounds.setdefault(number, []).append(place)
        for number, places in sorted(rounds.items()):
            by_path = grouped_by(places, lambda place: probes[place].group.path)
            for own_places in by_path.values():
                yield own_places, hidden.get(number, {})

    def _asked(self, group: Group) -> Group:
        return group if self._groups is None else self._groups.get(group.group_id, group)

    def _answered(self, probes: Sequence[Probe], places: Sequence[int]) -> dict[int, Answer]:
        plans, holdouts = self._plans([probes[place] for place in places])
        with self._measured.without(holdouts):
            answers = self._services.answer_plans(plans)
        found = {}
        for number, place in enumerate(places):
            answer = answers.get(number)
            if answer is None:
                answer = Answer(probes[place].group.kernel_type, miss_reason="group_not_measured")
            _check_leak(answer, probes[place])
            found[place] = answer
        return found

    def _plans(self, probes: Sequence[Probe]) -> tuple[dict[int, Plan], list[Holdout | None]]:
        """Return the plans of probes by their number, and what each may not see."""
        plans: dict[int, Plan] = {}
        own_places = grouped_by(range(len(probes)), lambda i: probes[i].group.regime.regime_id)
        for numbers in own_places.values():
            group = probes[numbers[0]].group
            if self._groups is not None and group.group_id not in self._groups:
                continue
            asked = self._asked(group)
            count = len(asked.axes)
            coordinates = [probes[number].coordinate[:count] for number in numbers]
            made = point_plans(self._services, asked.kernel_type, [asked.regime], coordinates)
            plans.update({number: made[i] for i, number in enumerate(numbers)})
        return plans, [_restricting(probe.holdout) for probe in probes]


def _restricting(holdout: Holdout | None) -> Holdout | None:
    return None if holdout is None or holdout.coordinates is not None else holdout


def _check_leak(answer: Answer, probe: Probe) -> None:
    """Make sure that no held-out point is among those that an answer names.

    Raises
    ------
    DatabaseError
        If one is: the figures would be worth nothing.
    """
    if probe.holdout is None:
        return
    axes = probe.group.axes
    for corner in answer.details.get("corner_points") or ():
        used = tuple(corner[name] for name in axes) + (0.0,) * (4 - len(axes))
        if probe.holdout.holds(used):
            raise DatabaseError(
                f"a hold-out leaked: {probe.holdout.name} was asked for and used",
                todo="Report it; the figures of this run are worth nothing.",
            )
