"""Lookups by kernel, regime and coordinate: what operators come down to, without an operator."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlinterp.lookup.catalog import KernelFile, MappedOperator
from sqlinterp.lookup.coordinate import CoordinateSearch, LeafHandler, Outcomes, search_outcomes
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.plan import Candidate, Plan, kernel_policy
from sqlinterp.lookup.regimes import Regime, RegimeError, read_regime
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.paths import Path
from sqlinterp.policy import Policy, run_policy

DISPATCH = "points"


@dataclass(frozen=True)
class PointPlan(Plan):
    """A plan whose place in measured regimes is known from the start."""

    placements: tuple[Placement, ...] = field(default=())


def kernel_regimes(services: Services, kernel: str) -> list[Regime]:
    """Return the regimes of a kernel.

    Raises
    ------
    RegimeError
        If the version has no such kernel, or none of its rows lies on axes.
    """
    catalog = services.catalog
    rows = services.statements.run(
        "lookup.kernel_regime", version_id=catalog.version_id, kernel=kernel
    )
    if rows:
        return [read_regime(row) for row in rows]
    known = catalog.kernel_names
    if kernel not in known:
        raise RegimeError("unknown_kind", f"there is no kernel '{kernel}'", known)
    raise RegimeError("no_points", f"kernel '{kernel}' has no row that lies on axes")


def point_plans(
    services: Services,
    kernel: str,
    regimes: Sequence[Regime],
    coordinates: Sequence[Mapping[str, float] | Sequence[float]],
) -> dict[int, PointPlan]:
    """Return the plan of every coordinate by its number.

    Parameters
    ----------
    regimes : sequence of Regime
        Regimes of one path that may answer, which differ in fields that lookups try in turn.
    coordinates : sequence
        Values by axis name in the unit of the field, or lists of values as they are stored.

    Raises
    ------
    RegimeError
        If a coordinate lacks an axis, has one too many, or a value is no finite number.
    """
    first = regimes[0]
    file = services.catalog.file_of(first.file_id)
    candidate = Candidate(0, file, point_policy(services, file), False)
    plan = PointPlan(OpInvocation(kernel), DISPATCH, candidates=(candidate,), path=first.path)
    plans = {}
    for number, coordinate in enumerate(coordinates):
        values = _values(coordinate, first.axes, number)
        placements = tuple(
            _placement(regime, axes)
            for regime in regimes
            if (axes := _stored(regime, values)) is not None
        )
        problem = None if placements else "coordinate_outside_domain"
        plans[number] = replace(plan, placements=placements, target_problem=problem)
    return plans


def point_policy(services: Services, file: KernelFile) -> Policy:
    """Return the policy under which the points of a kernel are looked up."""
    entry = MappedOperator("", DISPATCH, (file.kernel_type,), 0, {})
    return kernel_policy(services.catalog, entry, file, services.context)


def kernel_context(
    context: QueryContext, kernel: str, policy: Mapping[str, Any] | None
) -> QueryContext:
    """Return the context with more fields of the policy of one kernel.

    Raises
    ------
    UsageError
        If a field is unknown or makes no sense.
    """
    if not policy:
        return context
    told = json.loads(context.policy or "{}")
    blocks = told.setdefault("kernel_overrides", {})
    blocks[kernel] = {**blocks.get(kernel, {}), **policy}
    return replace(context, policy=run_policy(told))


def _values(
    coordinate: Mapping[str, float] | Sequence[float], axes: tuple[str, ...], number: int
) -> Mapping[str, float] | tuple[float, ...]:
    is_named = isinstance(coordinate, Mapping)
    fits = set(coordinate) == set(axes) if is_named else len(coordinate) == len(axes)
    if not fits:
        given = ", ".join(map(str, coordinate))
        what = f"coordinate {number + 1} has ({given}), expected the axes"
        raise RegimeError("bad_request", what, axes)
    values = list(coordinate.values() if isinstance(coordinate, Mapping) else coordinate)
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
        raise RegimeError("bad_request", f"coordinate {number + 1} has a value that is no number")
    try:
        floats = [float(value) for value in values]
    except OverflowError:
        floats = [math.inf]
    if not all(map(math.isfinite, floats)):
        raise RegimeError("bad_request", f"coordinate {number + 1} has a value that is not finite")
    if isinstance(coordinate, Mapping):
        return dict(zip(coordinate, floats, strict=True))
    return tuple(floats)


def _stored(
    regime: Regime, values: Mapping[str, float] | tuple[float, ...]
) -> tuple[float, ...] | None:
    if isinstance(values, Mapping):
        return regime.stored(values)
    return (*values, *(0.0,) * (4 - len(values)))


def _placement(regime: Regime, axes: tuple[float, ...]) -> Placement:
    return Placement(
        file_id=regime.file_id,
        regime_id=regime.regime_id,
        axes=axes,
        is_nd=regime.is_nd,
        measurement_count=regime.measurement_count,
        latency_ranks=regime.latency_ranks,
        distance=0,
        fields=regime.fields,
    )


class PointSearch(CoordinateSearch):
    """Finds targets whose placements their plans bring along."""

    def _located(
        self, path: Path, plans: Mapping[int, Plan], outcomes: Outcomes
    ) -> dict[tuple[int, int], list[Placement]]:
        return {
            (number, 0): list(plan.placements)
            for number, plan in plans.items()
            if isinstance(plan, PointPlan)
        }


class PointHandler(LeafHandler):
    """Answers plans by coordinate: the measured point, else its neighbours."""

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        services = self._services
        search = PointSearch(services.statements, services.catalog, services.aggregation)
        return self.conclude(plans, search_outcomes(services, search, plans))


def point_plan(plan: Plan, entry: Any, services: Services) -> Plan:
    """Refuse an operator: points are asked for by kernel, never by a mapping entry."""
    return replace(plan, miss_reason="path_unavailable:points")
