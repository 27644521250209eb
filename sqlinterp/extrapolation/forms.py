"""The forms of growth above a measured range: one gives the latency, another one checks it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sqlinterp.extrapolation.edges import Edge
from sqlinterp.extrapolation.rules import Rule
from sqlinterp.extrapolation.work import Work

_SECOND = {"hold_rate": "octave_secant", "product": "octave_secant"}


def split_of(value: float, edge: float) -> tuple[int, float]:
    """Return how often an edge fits into a value, and what is left of it.

    >>> split_of(1000.0, 400.0)
    (2, 200.0)
    """
    times = math.floor(value / edge)
    return times, value - times * edge


class Forms:
    """The latencies that the forms give at one target.

    Attributes
    ----------
    edges : tuple of Edge
        The edges beyond which the target lies, all at one corner.
    edge_us : float
        Latency at the corner [us].
    work : Work
        The declared work whose rate is the flattest, the axis itself when none is declared.
    ratio : float
        Work of the target over that of the corner, NaN where it is unknown.
    facts : dict
        Numbers of the form besides its latency.
    """

    def __init__(self, rule: Rule, target: Mapping[str, float], edges: tuple[Edge, ...]) -> None:
        self.edges, self.edge_us = edges, edges[0].points[0].latency_us
        self._form, self._target = rule.form, target
        self.work = min(rule.works or (_axis_work(edges[0].axis),), key=self._variation)
        self.ratio = self.work.at(target) / self.work.at(edges[0].held)
        self.facts: dict[str, Any] = {}

    @property
    def second_form(self) -> str:
        """The form that the latency is compared with."""
        return _SECOND.get(self._form, "hold_rate")

    @property
    def rate_variation(self) -> float:
        """Greatest over least rate in the top octaves, infinite where it is unknown."""
        return self._variation(self.work)

    @property
    def places(self) -> tuple[int, ...]:
        """Places of the points of the edge that are in the latency."""
        count = len(self.edges[0].points)
        if self._form == "alpha_beta":
            return tuple(range(count))
        return (0, count - 1) if self._form == "octave_secant" else (0,)

    def latencies(self, remainder_us: float | None) -> tuple[float, float]:
        """Return the latency by the rule's form, and by the second form [us].

        ``remainder_us`` is the latency of what is left after whole edges, for ``split``.
        """
        edge, form = self.edges[0], self._form
        held = self.edge_us * self.ratio
        if form == "hold_rate":
            return held, self._secant(edge)
        if form == "product":
            grown = [self._secant(own) / self.edge_us for own in self.edges]
            return held, self.edge_us * math.prod(grown)
        if form == "octave_secant":
            return self._secant(edge), held
        if form == "alpha_beta":
            return self._fit(edge), held
        times, rest = split_of(self._target[edge.axis], edge.points[0].value)
        self.facts |= {"launches": times, "remainder": rest, "remainder_us": remainder_us or 0.0}
        return times * self.edge_us + (remainder_us or 0.0), held

    def _secant(self, edge: Edge) -> float:
        """Return the latency on the line through the edge and the point an octave below it."""
        last, first = edge.points[0], edge.points[-1]
        top, low = self._work_at(edge, last.value), self._work_at(edge, first.value)
        if not top > low:
            return math.nan
        slope = (last.latency_us - first.latency_us) / (top - low)
        return last.latency_us + slope * (self._work_at(edge, self._target[edge.axis]) - top)

    def _fit(self, edge: Edge) -> float:
        """Return the latency on the least-squares line of the top octave: alpha + beta * work."""
        works = [self._work_at(edge, point.value) for point in edge.points]
        latencies = [point.latency_us for point in edge.points]
        mean_work, mean_us = math.fsum(works) / len(works), math.fsum(latencies) / len(works)
        square = math.fsum((work - mean_work) ** 2 for work in works)
        if not square > 0:
            return math.nan
        shared = math.fsum(
            (work - mean_work) * (us - mean_us) for work, us in zip(works, latencies, strict=True)
        )
        beta = shared / square
        alpha = mean_us - beta * mean_work
        self.facts |= {"alpha_us": alpha, "beta_us_per_work": beta}
        return alpha + beta * self._work_at(edge, self._target[edge.axis])

    def _variation(self, work: Work) -> float:
        """Return the greatest over the least rate in the top octaves, infinite where unknown."""
        factors = []
        for edge in self.edges:
            rates = [
                work.at({**edge.held, edge.axis: point.value}) / point.latency_us
                for point in edge.points
            ]
            is_known = all(0 < rate < math.inf for rate in rates)
            factors.append(max(rates) / min(rates) if is_known else math.inf)
        return max(factors)

    def _work_at(self, edge: Edge, value: float) -> float:
        return self.work.at({**edge.held, edge.axis: value})


def _axis_work(axis: str) -> Work:
    return Work(axis, frozenset((axis,)), lambda axes: axes[axis])
