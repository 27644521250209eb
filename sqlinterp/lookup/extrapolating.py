"""The search beyond the measured range, for kernels whose policy opts in and for misses only.

Like the search inside, it is a generator that asks for data, so that many targets advance together.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.extrapolation import (
    REASONS,
    Edge,
    EdgePoint,
    Extrapolation,
    Refusal,
    Rule,
    extrapolate,
    opening_refusal,
    split_of,
)
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.evaluation import evaluate
from sqlinterp.lookup.placement import (
    EdgeRequest,
    Placement,
    PlaneRequest,
    ProbeRequest,
    Request,
    Solution,
    Survey,
)
from sqlinterp.lookup.solver import Attempt, Search, Solver
from sqlinterp.policy import Policy


@dataclass(frozen=True)
class _Curve:
    """The edge of one axis, and the measured points behind each of its points."""

    edge: Edge
    corners: tuple[tuple[Corner, ...], ...]


Curved = Generator[Request, Any, _Curve]
# Value of the axis, latency [us], and the measured points behind it.
_Measured = tuple[float, float, tuple[Corner, ...]]


def furthest_refusal(attempts: Sequence[Attempt]) -> str:
    """Return the reason that came furthest through the guards."""
    return max((attempt.status for attempt in attempts), key=REASONS.index)


class Extrapolator(Solver):
    """Searches the placements of one kernel beyond the ends of their axes."""

    @staticmethod
    def is_allowed(policy: Policy) -> bool:
        """Whether the kernel opts in, and may vary any axis at all."""
        return bool(policy.extrapolation) and policy.max_interpolation_dim > 0

    def search(self, placements: tuple[Placement, ...]) -> Search:
        """Yield requests until a rule gives a latency; return it, or None with the refusals."""
        everything = tuple({placement.regime_id: placement for placement in placements}.values())
        surveys = yield EdgeRequest(everything)
        for placement, survey in _in_order(placements, surveys):
            for rule in self.policy.extrapolation:
                for axes in self._ways_out(placement, survey):
                    solution = yield from self._apply(rule, placement, survey, axes)
                    if solution is not None:
                        return solution
        return None

    def _ways_out(self, placement: Placement, survey: Survey) -> list[tuple[int, ...]]:
        """Return the axes beyond whose range the target lies, or the lines that end before it."""
        out = tuple(
            axis
            for axis in range(len(self.path.axes))
            if not survey.lower[axis] <= placement.axes[axis] <= survey.upper[axis]
        )
        return [out] if out else [(axis,) for axis in sorted(survey.lines)]

    def _apply(
        self, rule: Rule, placement: Placement, survey: Survey, axes: tuple[int, ...]
    ) -> Generator[Request, Any, Solution | None]:
        curves = tuple(_Curve(self._bare_edge(placement, survey, axis), ()) for axis in axes)
        target = self._named(placement.axes)
        found: Extrapolation | Refusal | None
        found = opening_refusal(rule, target, tuple(curve.edge for curve in curves))
        if not placement.fixed_axes.isdisjoint(axes) or not all(map(self.path.is_plain, axes)):
            found = Refusal("not_allowed", {"form": rule.form, "is_fixed_or_transformed": True})
        rest: Solution | None = None
        if found is None:
            curves = yield from self._curves(placement, survey, axes)
            if rule.form == "split" and curves[0].edge.points:
                rest = yield from self._rest(placement, survey, curves[0].edge)
            found = _outcome(rule, target, curves, rest)
        if isinstance(found, Extrapolation):
            return self._solution(placement, survey, curves, found, rest)
        self._refuse(survey, axes, curves, found)
        return None

    def _curves(
        self, placement: Placement, survey: Survey, axes: tuple[int, ...]
    ) -> Generator[Request, Any, tuple[_Curve, ...]]:
        """Return the edge of every axis that is left, all at one corner."""
        if len(axes) == 1:
            return ((yield from self._curve(placement, survey, axes[0])),)
        corner = _moved(placement, {axis: survey.upper[axis] for axis in axes})
        curves = []
        for axis in axes:
            beside = _moved(corner, {axis: placement.axes[axis]})
            surveys = yield EdgeRequest((beside,))
            own = surveys[survey.regime_id, survey.latency_rank]
            curves.append((yield from self._curve(beside, own, axis)))
        held = [curve.edge.held for curve in curves]
        if any(one != held[0] for one in held):  # the corner itself is not there
            return tuple(_Curve(replace(curve.edge, points=()), ()) for curve in curves)
        return tuple(curves)

    def _curve(self, placement: Placement, survey: Survey, axis: int) -> Curved:
        """Return the edge of an axis along the line of the target, or across measured planes."""
        line, points = survey.lines.get(axis), list[_Measured]()
        if line:
            points = [(corner.axes[axis], corner.latency_us, (corner,)) for corner in line]
            return self._curve_of(placement, survey, axis, points)
        edge = self._bare_edge(placement, survey, axis)
        if len(self.path.axes) > 1:
            for value in (yield PlaneRequest(survey, axis, edge.is_upper)):
                if points and _is_enough(points[0][0], value, len(points), edge.is_upper):
                    break
                beside = _moved(placement, {axis: value})
                solution = yield from self._inside(beside, survey, axis)
                if solution is not None:
                    points.append((value, solution.latency_us, solution.points))
        return self._curve_of(placement, survey, axis, points)

    def _inside(
        self, placement: Placement, survey: Survey, axis: int | None
    ) -> Generator[Request, Any, Solution | None]:
        """Return the interpolation of a coordinate along all axes but one."""
        boxes = yield ProbeRequest(placement)
        own = {box.group: box for box in boxes if box.latency_rank == survey.latency_rank}
        for dimension in range(1, self.max_dim + 1):
            for group in self.groups(dimension):
                if axis in group or not placement.fixed_axes.isdisjoint(group) or group not in own:
                    continue
                found = yield from evaluate(
                    placement, own[group], self.policy.method, self.is_curved
                )
                if isinstance(found, Solution) and self.is_sound(found.points):
                    return found
        return None

    def _rest(
        self, placement: Placement, survey: Survey, edge: Edge
    ) -> Generator[Request, Any, Solution | None]:
        """Return the interpolation of what is left after whole multiples of the edge."""
        axis = self.path.axes.index(edge.axis)
        _, rest = split_of(placement.axes[axis], edge.points[0].value)
        if not rest:
            return None
        return (yield from self._inside(_moved(placement, {axis: rest}), survey, None))

    def _named(self, axes: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.path.axes, axes, strict=False))

    def _bare_edge(self, placement: Placement, survey: Survey, axis: int) -> Edge:
        """Return an edge whose points are not known yet."""
        line = survey.lines.get(axis)
        end = line[0].axes[axis] if line else survey.upper[axis]
        return Edge(self.path.axes[axis], placement.axes[axis] > end, {}, ())

    def _curve_of(
        self,
        placement: Placement,
        survey: Survey,
        axis: int,
        points: Sequence[_Measured],
    ) -> _Curve:
        edge = self._bare_edge(placement, survey, axis)
        sound = [point for point in points if self.is_sound(point[2])]
        if not sound:
            return _Curve(edge, ())
        held = self._named(_moved(placement, {axis: sound[0][0]}).axes)
        found = tuple(
            EdgePoint(value, latency, max(corner.spread for corner in corners))
            for value, latency, corners in sound
        )
        corners = tuple(corners for _, _, corners in sound)
        return _Curve(replace(edge, held=held, points=found), corners)

    def _refuse(
        self, survey: Survey, axes: tuple[int, ...], curves: Sequence[_Curve], refusal: Refusal
    ) -> None:
        names = [self.path.axes[axis] for axis in axes]
        attempt = Attempt(names, len(axes), refusal.reason, survey.latency_column)
        attempt.regime_id, attempt.extrapolation = survey.regime_id, dict(refusal.facts)
        attempt.point_count = sum(len(curve.edge.points) for curve in curves)
        behind = {c.axes: c for curve in curves for corners in curve.corners for c in corners}
        attempt.row_count = sum(corner.measurement_count for corner in behind.values())
        self.attempts.append(attempt)

    def _solution(
        self,
        placement: Placement,
        survey: Survey,
        curves: Sequence[_Curve],
        found: Extrapolation,
        rest: Solution | None,
    ) -> Solution:
        behind = [corner for place in found.places for corner in curves[0].corners[place]]
        used = {corner.axes: corner for corner in (*behind, *(rest.points if rest else ()))}
        ends = {self.path.axes.index(curve.edge.axis): curve.edge for curve in curves}
        box = Box(
            regime_id=survey.regime_id,
            group=tuple(ends),
            latency_column=survey.latency_column,
            latency_rank=survey.latency_rank,
            lower=_side(ends, is_upper=True),
            upper=_side(ends, is_upper=False),
            row_count=sum(corner.measurement_count for corner in used.values()),
            point_count=sum(len(edge.points) for edge in ends.values()),
        )
        points = tuple(used[axes] for axes in sorted(used))
        form = str(found.facts["form"])
        return Solution(placement, box, points, found.latency_us, form, extrapolation=found)


def _in_order(
    placements: Iterable[Placement], surveys: Mapping[tuple[int, int], Survey]
) -> list[tuple[Placement, Survey]]:
    """Return placements with their surveys in the order in which interpolation searches them."""
    pairs = [
        (placement, survey)
        for placement in placements
        for rank in placement.latency_ranks
        if (survey := surveys.get((placement.regime_id, rank))) is not None
    ]
    return sorted(
        pairs,
        key=lambda pair: (
            pair[0].rank, pair[1].latency_rank, not pair[0].is_nd, -pair[0].measurement_count,
            pair[0].regime_id,
        ),
    )  # fmt: skip


def _moved(placement: Placement, values: Mapping[int, float]) -> Placement:
    """Return a placement with other values on some axes."""
    axes = tuple(values.get(place, value) for place, value in enumerate(placement.axes))
    return replace(placement, axes=axes)


def _is_enough(end: float, value: float, count: int, is_upper: bool) -> bool:
    """Whether the planes so far reach from the end of the axis as far inwards as is asked for."""
    return value < end / 2 if is_upper else count == 2


def _side(edges: Mapping[int, Edge], is_upper: bool) -> tuple[float | None, ...]:
    """Return the ends that bound a target from one side, None where nothing was measured."""
    return tuple(
        edges[axis].points[0].value if axis in edges and edges[axis].is_upper is is_upper else None
        for axis in range(4)
    )


def _outcome(
    rule: Rule, target: Mapping[str, float], curves: Sequence[_Curve], rest: Solution | None
) -> Extrapolation | Refusal:
    """Return what the rule makes of the edges; a remainder that nothing answers is below all."""
    edges = tuple(curve.edge for curve in curves)
    if rule.form == "split" and edges[0].points and rest is None:
        first = edges[0]
        _, remainder = split_of(target[first.axis], first.points[0].value)
        if remainder:
            facts = {"form": rule.form, "axes_out": [first.axis], "remainder": remainder}
            return Refusal("below_min", facts)
    return extrapolate(rule, target, edges, rest.latency_us if rest else None)
