"""Projections of multi-token prediction, which run as plain matmuls whatever the model is in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlinterp.lookup.answers import exact_answer
from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.operands import Operands, operands_of
from sqlinterp.lookup.plan import Plan, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, OpInvocation

_OPERANDS = 2
_SUBCATEGORIES = (None, "compute_scale", "quantized_matmul")


@dataclass(frozen=True)
class MtpPlan(Plan):
    """A projection, and what the entry would plan if it named no projection kernel."""

    fallback: Plan | None = None


def mtp_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a projection on its own kernel, or the compute entry when the call is none."""
    fallback = services.plan_entry(plan.invocation, _without_mode(entry))
    kernel = entry.fields.get("mtp_projection_kernel_type")
    operands = projection_operands(plan.invocation, services.catalog)
    if operands is None or not isinstance(kernel, str):
        return fallback
    plan = with_kernels(plan, [kernel], entry, services.catalog, services.context)
    return MtpPlan(
        invocation=plan.invocation,
        dispatch=plan.dispatch,
        operands=operands,
        candidates=plan.candidates,
        unavailable=plan.unavailable,
        input_limit=_OPERANDS,
        fields=plan.fields,
        fallback=fallback,
    )


def _without_mode(entry: MappedOperator) -> MappedOperator:
    """Return the entry under the compute dispatch that its subcategory selects."""
    subcategory = entry.fields.get("compute_subcategory")
    if subcategory not in _SUBCATEGORIES:
        return replace(entry, dispatch="compute_subcategory_unknown")
    return replace(entry, dispatch=subcategory or "compute")


def projection_operands(invocation: OpInvocation, catalog: Catalog) -> Operands | None:
    """Return activation and weight with the dtype of the output, None for other calls.

    A projection reads (M, 2H) and writes (M, H): the hidden state and the embedding of a token
    side by side, brought back to the hidden size H by a weight of (2H, H) or (H, 2H).
    """
    operands, _ = operands_of(invocation, catalog)
    if len(operands.shapes) < _OPERANDS or not invocation.outputs:
        return None
    output = invocation.outputs[0]
    dtype = catalog.dtype(output.dtype)
    activation, weight = operands.shapes[:_OPERANDS]
    if dtype is None or len(activation) != 2 or len(output.shape) != 2:
        return None
    rows, hidden = output.shape
    if activation != (rows, 2 * hidden) or sorted(weight) != [hidden, 2 * hidden]:
        return None
    return Operands((activation, weight), (dtype,) * _OPERANDS, (0,) * _OPERANDS)


class MtpHandler:
    """Answers from exact rows of the projection's kernel, else as the compute entry does."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        services = self._services
        measured = {
            number: exact_answer(plans[number], row, services.exact_aggregation)
            for number, row in services.exact_search().find(plans).items()
        }
        answers = {
            number: replace(answer, details={**answer.details, "query_mode": "mtp_projection"})
            for number, answer in measured.items()
            if answer.source is not None
        }
        fallbacks = {
            number: plan.fallback
            for number, plan in plans.items()
            if number not in answers and isinstance(plan, MtpPlan) and plan.fallback is not None
        }
        for number, answer in services.answer_plans(fallbacks).items():
            missed = measured[number].miss_reason if number in measured else None
            answers[number] = _told(answer, plans[number], missed)
        return answers


def _told(answer: Answer, plan: Plan, reason: str | None) -> Answer:
    """Say why the projection's kernel had no answer; an unusable file of it is a miss's reason."""
    unusable = [kernel for kernel in plan.unavailable if kernel.status != "absent"]
    if unusable:
        reason = f"csv_unavailable:{unusable[0].file_name}"
    elif reason is None:
        reason = "shape_mismatch" if plan.candidates else "csv_not_found"
    note = {"kernels": plan.kernel_names, "reason": reason}
    answer = replace(answer, details={**answer.details, "mtp_projection": note})
    if answer.source is None and unusable:
        return replace(answer, miss_reason=reason)
    return answer
