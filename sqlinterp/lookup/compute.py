"""Compute operators: exact rows by operands, then interpolation along the axes of their family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlinterp.lookup.answers import exact_answer, interpolated_answer, miss_answer
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.operands import operands_of
from sqlinterp.lookup.plan import Plan, kernel_policy, with_kernels
from sqlinterp.lookup.rewriting import rewrite
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer
from sqlinterp.paths import compute_path
from sqlinterp.policy import effective_policy


def compute_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a compute entry: operands and kernels after the entry's rules, and their path."""
    catalog, context = services.catalog, services.context
    operands, problem = operands_of(plan.invocation, catalog)
    if not operands.shapes:
        return replace(plan, miss_reason="no_tensor_inputs")
    rewritten = rewrite(entry, operands.cut(entry.input_limit), context.tp_size)
    first = catalog.file(rewritten.kernels[0]) if rewritten.kernels else None
    primary = kernel_policy(catalog, entry, first, context) if first else effective_policy()
    is_matmul = bool(entry.kernels) and catalog.trait(entry.kernels[0]).is_matmul
    return with_kernels(
        plan, rewritten.kernels, entry, catalog, context,
        operands=rewritten.operands,
        input_limit=entry.input_limit,
        path=compute_path(is_matmul, primary.generic_axis),
        miss_reason=rewritten.miss_reason or problem,
    )  # fmt: skip


class ComputeHandler:
    """Answers exactly where a row matches, else by the lowest usable dimension."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        services = self._services
        aggregation = services.exact_aggregation
        answers = {
            number: exact_answer(plans[number], row, aggregation)
            for number, row in services.exact_search().find(plans).items()
        }
        answers.update(
            interpolated_or_missed(services, {n: p for n, p in plans.items() if n not in answers})
        )
        return answers


def interpolated_or_missed(services: Services, plans: Mapping[int, Plan]) -> dict[int, Answer]:
    """Interpolate plans that have no exact answer; say how far each one got otherwise."""
    outcomes = {}
    if not services.context.disable_interpolation:
        usable = {number: plan for number, plan in plans.items() if plan.candidates}
        outcomes = services.interpolation().find(usable)
    answers = {}
    for number, plan in plans.items():
        outcome = outcomes.pop(number, None)  # what it found takes as much memory as the answer
        if outcome is not None and outcome.solution is not None:
            answers[number] = interpolated_answer(
                plan, outcome, services.catalog, services.aggregation
            )
        else:
            reason = "shape_mismatch" if plan.candidates else "csv_not_found"
            answers[number] = miss_answer(plan, reason, outcome)
    return answers
