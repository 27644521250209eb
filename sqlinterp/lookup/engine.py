"""The one code path of every lookup, for one target and for a million."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlinterp.lookup.answers import (
    exact_answer,
    interpolated_answer,
    miss_answer,
    zero_cost_answer,
)
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.exact import ExactSearch
from sqlinterp.lookup.handlers import HANDLERS
from sqlinterp.lookup.interpolate import InterpolationSearch, Outcome
from sqlinterp.lookup.plan import Plan, make_plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.policy import PRESETS


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause cyclic garbage collection: a batch builds no cycles, and each pass walks all of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_BUILT_IN = ("compute", "zero_cost", "accepted_miss")


class Engine:
    """Answers invocations from one version under one context."""

    def __init__(self, statements: Statements, catalog: Catalog, context: QueryContext) -> None:
        self._statements, self._catalog, self._context = statements, catalog, context
        self._exact_aggregation, self._aggregation = PRESETS[context.aggregation]

    def plan(self, invocation: OpInvocation) -> Plan:
        """Return the plan of one invocation: which path answers it, from which kernels."""
        plan = make_plan(invocation, self._catalog, self._context)
        if (
            plan.miss_reason is None
            and plan.dispatch not in _BUILT_IN
            and plan.dispatch not in HANDLERS
        ):
            return replace(plan, miss_reason=f"path_unavailable:{plan.dispatch}")
        return plan

    def lookup_many(self, invocations: Sequence[OpInvocation]) -> list[Answer]:
        """Answer invocations in order: exact first, then by the lowest usable dimension."""
        with _collection_paused():
            return self._lookup_many(invocations)

    def _lookup_many(self, invocations: Sequence[OpInvocation]) -> list[Answer]:
        answers: dict[int, Answer] = {}
        open_plans: dict[int, Plan] = {}
        handled: dict[str, dict[int, Plan]] = defaultdict(dict)
        for number, invocation in enumerate(invocations):
            plan = self.plan(invocation)
            if plan.dispatch in ("zero_cost", "accepted_miss"):
                answers[number] = zero_cost_answer(plan)
            elif plan.miss_reason is not None:
                answers[number] = miss_answer(plan, plan.miss_reason, None)
            elif plan.dispatch in HANDLERS:
                handled[plan.dispatch][number] = plan
            else:
                open_plans[number] = plan
        for dispatch, plans in handled.items():
            handler = HANDLERS[dispatch](self._statements, self._catalog, self._context)
            answers.update(handler.answer(plans))
        self._answer_exactly(open_plans, answers)
        remaining = {n: plan for n, plan in open_plans.items() if n not in answers}
        outcomes = self._interpolate(remaining)
        for number, plan in remaining.items():
            answers[number] = self._finish(plan, outcomes.get(number))
        return [answers[number] for number in range(len(invocations))]

    def _answer_exactly(self, plans: dict[int, Plan], answers: dict[int, Answer]) -> None:
        search = ExactSearch(self._statements, self._catalog, self._exact_aggregation)
        for number, row in search.find(plans).items():
            answers[number] = exact_answer(plans[number], row, self._exact_aggregation)

    def _interpolate(self, plans: dict[int, Plan]) -> dict[int, Outcome]:
        usable = {number: plan for number, plan in plans.items() if plan.candidates}
        if self._context.disable_interpolation or not usable:
            return {}
        search = InterpolationSearch(self._statements, self._catalog, self._aggregation)
        return search.find(usable)

    def _finish(self, plan: Plan, outcome: Outcome | None) -> Answer:
        if outcome is not None and outcome.solution is not None:
            return interpolated_answer(plan, outcome, self._catalog, self._aggregation)
        return miss_answer(plan, "shape_mismatch" if plan.candidates else "csv_not_found", outcome)
