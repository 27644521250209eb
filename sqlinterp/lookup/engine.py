"""The one code path of every lookup, for one target and for a million."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlinterp.lookup.answers import miss_answer, zero_cost_answer
from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.children import composite_entry
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.routes import ROUTES
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, OpInvocation, QueryContext


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause cyclic garbage collection: a batch builds no cycles, and each pass walks all of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_DECLARED = ("zero_cost", "accepted_miss")
_BLANK = Plan(OpInvocation(""), "")  # altered for every target, which is cheaper than made anew


class Engine:
    """Answers invocations from one version under one context."""

    def __init__(self, statements: Statements, catalog: Catalog, context: QueryContext) -> None:
        self._catalog = catalog
        self._services = Services(statements, catalog, context, self.plan_entry, self.answer_plans)

    @property
    def catalog(self) -> Catalog:
        """What the version knows."""
        return self._catalog

    @property
    def services(self) -> Services:
        """What planners and handlers work with."""
        return self._services

    def plan(self, invocation: OpInvocation) -> Plan:
        """Return the plan of one invocation: which path answers it, from which kernels."""
        entry = self._catalog.operators.get(invocation.op)
        if invocation.children:
            entry = composite_entry(invocation.op, entry)
        if entry is None:
            return Plan(invocation, "unmapped", miss_reason="unmapped")
        return self.plan_entry(invocation, entry)

    def plan_entry(self, invocation: OpInvocation, entry: MappedOperator) -> Plan:
        """Return the plan of an invocation under an entry of the mapping, or one like it."""
        plan = _BLANK.altered(invocation=invocation, dispatch=entry.dispatch, fields=entry.fields)
        if entry.dispatch in _DECLARED:
            return plan
        route = ROUTES.get(entry.dispatch)
        if route is not None:
            return route.plan(plan, entry, self._services)
        if entry.dispatch.endswith("_unknown"):
            return replace(plan, miss_reason=entry.dispatch)
        return replace(plan, miss_reason=f"path_unavailable:{entry.dispatch}")

    def lookup_many(self, invocations: Sequence[OpInvocation]) -> list[Answer]:
        """Answer invocations in order: exact first, then by the lowest usable dimension."""
        with collection_paused():
            plans = {number: self.plan(invocation) for number, invocation in enumerate(invocations)}
            answers = self.answer_plans(plans)
            return [answers[number] for number in range(len(invocations))]

    def answer_plans(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Answer plans of any dispatch, all plans of one dispatch together."""
        answers: dict[int, Answer] = {}
        routed: dict[str, dict[int, Plan]] = defaultdict(dict)
        for number, plan in plans.items():
            if plan.dispatch in _DECLARED:
                answers[number] = zero_cost_answer(plan)
            elif plan.miss_reason is not None:
                answers[number] = miss_answer(plan, plan.miss_reason, None)
            else:
                routed[plan.dispatch][number] = plan
        for dispatch, members in routed.items():
            answers.update(ROUTES[dispatch].handler(self._services).answer(members))
        return answers
