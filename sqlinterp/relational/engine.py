"""The production engine with the leaves that portable SQL answers moved to another engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.compute import ComputeHandler
from sqlinterp.lookup.coordinate import LeafHandler, search_outcomes
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.exact import ExactSearch
from sqlinterp.lookup.interpolate import InterpolationSearch
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.quantisation import OwnRegimeHandler
from sqlinterp.lookup.services import Handler, Services
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, QueryContext
from sqlinterp.relational.backend import Backend
from sqlinterp.relational.keys import RelationalExact
from sqlinterp.relational.search import RelationalCoordinates, RelationalInterpolation

# Dispatches whose lookups are portable; what else there is needs SQL of its own.
PORTABLE = ("compute", "compute_scale", "quantized_matmul", "elementwise")


@dataclass(frozen=True)
class RelationalServices(Services):
    """Services whose searches run on another engine."""

    backend: Backend

    def exact_search(self) -> ExactSearch:
        """Return the search for rows whose operands equal the target's."""
        return RelationalExact(self.statements, self.catalog, self.exact_aggregation, self.backend)

    def interpolation(self) -> InterpolationSearch:
        """Return the search for neighbours of a target."""
        return RelationalInterpolation(self, self.backend)


class _RelationalLeaf(LeafHandler):
    """Answers leaves from their own regime, at and between coordinates that the engine finds."""

    _services: RelationalServices

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        search = RelationalCoordinates(self._services, self._services.backend)
        return self.conclude(plans, search_outcomes(self._services, search, plans))


class _RelationalOwnRegime(OwnRegimeHandler, _RelationalLeaf):
    """Answers quantisation, quantised matmul, and elementwise operators by their output."""


class RelationalEngine(Engine):
    """Plans as the production engine does; portable leaves are answered by a backend.

    Leaves of composites are such leaves too. ``details.answered_on`` of every answer that was
    looked up says where: the name of the backend, or ``driver`` for the connection.
    """

    def __init__(
        self,
        statements: Statements,
        catalog: Catalog,
        context: QueryContext,
        backend: Backend,
        name: str,
    ) -> None:
        super().__init__(statements, catalog, context)
        own = self.services
        self._relational = RelationalServices(
            own.statements, own.catalog, own.context, own.plan_entry, own.answer_plans, backend
        )
        self._name = name

    def answer_plans(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Answer plans of any dispatch, all plans of one dispatch together."""
        portable: dict[str, dict[int, Plan]] = defaultdict(dict)
        for number, plan in plans.items():
            if plan.miss_reason is None and self._is_portable(plan):
                portable[_family(plan)][number] = plan
        moved = {number for members in portable.values() for number in members}
        rest = {number: plan for number, plan in plans.items() if number not in moved}
        answers = super().answer_plans(rest)
        asked = [number for number, plan in rest.items() if plan.miss_reason is None]
        answers.update({number: _placed(answers[number], "driver") for number in asked})
        for family, members in portable.items():
            found = self._handler(family).answer(members)
            for number, answer in found.items():
                is_beyond = answer.source == "EXTRAPOLATED"
                answers[number] = _placed(answer, "driver" if is_beyond else self._name)
        return answers

    def _is_portable(self, plan: Plan) -> bool:
        """Whether portable SQL answers a plan: elementwise by output shape alone needs its own."""
        is_base = self.services.context.disable_interpolation and _family(plan) == "leaf"
        return plan.dispatch in PORTABLE and not (is_base and plan.dispatch == "elementwise")

    def _handler(self, family: str) -> Handler:
        if family == "compute":
            return ComputeHandler(self._relational)
        return _RelationalOwnRegime(self._relational)


def _family(plan: Plan) -> str:
    """Return whose handler answers: leaves have a regime of their own, with results at least."""
    if plan.dispatch == "compute" or (plan.dispatch == "elementwise" and plan.target is None):
        return "compute"
    return "leaf"


def _placed(answer: Answer, name: str) -> Answer:
    return replace(answer, details={**answer.details, "answered_on": name})
