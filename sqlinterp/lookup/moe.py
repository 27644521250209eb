"""Fused MoE operators (DispatchFFNCombine): dispatch, two grouped matmuls and combine in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.answers import exact_answer, miss_answer
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.compute import interpolated_or_missed
from sqlinterp.lookup.coordinate import dropped_rows
from sqlinterp.lookup.moe_arguments import Projection, projected
from sqlinterp.lookup.moe_exact import MoeExactSearch
from sqlinterp.lookup.operands import operands_of
from sqlinterp.lookup.plan import Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer
from sqlinterp.paths import PATHS

_EP_SIZE_MISSING = "ep_size_not_configured"
_PARTIAL_CONFIDENCE = 0.5


def moe_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a fused MoE entry: the primary kernel alone, exactly or on the path of its own."""
    catalog, context = services.catalog, services.context
    plan = with_kernels(plan, entry.kernels[:1], entry, catalog, context)
    projection = projected(plan.invocation, catalog)
    notes: dict[str, Any] = {"ep_size": context.ep_size}
    if isinstance(projection, Projection):
        notes["quant_subtype"] = projection.quant_subtype
    embedded = _embedded_kernels(entry.fields)
    if embedded:
        notes["embedded_parts_not_included"] = embedded
    plan = replace(plan, notes=notes)
    if context.disable_interpolation:
        return _exact_plan(plan, entry, projection, services)
    return _path_plan(plan, projection, services)


def _embedded_kernels(fields: Mapping[str, Any]) -> list[str]:
    """Return the kernels that the entry says run inside the operator besides the fused one."""
    compute = fields.get("embedded_compute")
    parts = list(compute) if isinstance(compute, list) else [compute]
    parts.append(fields.get("embedded_communication"))
    return [
        str(part.get("kernel_type")) if isinstance(part, Mapping) else str(part)
        for part in parts
        if part
    ]


def _exact_plan(
    plan: Plan, entry: MappedOperator, projection: Projection | str, services: Services
) -> Plan:
    """Match the seven inputs if the entry asks for it and they are there, else the arguments."""
    if entry.fields.get("project_full_shape") and isinstance(projection, Projection):
        notes = {**plan.notes, "project_full_shape": True}
        return replace(plan, operands=projection.operands, notes=notes)
    operands, problem = operands_of(plan.invocation, services.catalog)
    operands = operands.cut(entry.input_limit)
    if not operands.shapes:
        problem = "no_tensor_inputs"
    elif "" not in operands.dtypes:
        problem = None
    return replace(plan, operands=operands, input_limit=entry.input_limit, miss_reason=problem)


def _path_plan(plan: Plan, projection: Projection | str, services: Services) -> Plan:
    """Place the seven inputs on the path; base exact lookup sees too little to come first.

    Source: profiling RFC phase 2, sections 3.1 and 4.1.1.
    """
    ep_size = services.context.ep_size
    if ep_size is None:
        return replace(plan, miss_reason=_EP_SIZE_MISSING)
    plan = replace(plan, path=PATHS["moe_fused"])
    if isinstance(projection, str):
        return replace(plan, target_problem=projection)
    enrichment = {"ep_size": ep_size, "runtime_quant_mode": projection.quant_subtype}
    target = Target(projection.operands, plan.invocation.outputs, enrichment)
    return replace(plan, operands=projection.operands, target=target)


class MoeHandler:
    """Answers from the kernel's own regime: a measured coordinate, else between its neighbours.

    With interpolation disabled it answers exact rows as the base lookup does.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        if self._services.context.disable_interpolation:
            return self._exact(plans)
        answers = interpolated_or_missed(self._services, plans)
        self._tell_rejected_rows(plans, answers)
        return answers

    def _exact(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        reasons = self._reasons_without_ep_size(plans)
        usable = {number: plan for number, plan in plans.items() if number not in reasons}
        found = MoeExactSearch(self._services).find(usable)
        answers = {}
        for number, plan in plans.items():
            if number in found:
                answers[number] = self._measured(plan, found[number])
            else:
                mismatch = "shape_mismatch" if plan.candidates else "csv_not_found"
                answers[number] = miss_answer(plan, reasons.get(number, mismatch), None)
        return answers

    def _reasons_without_ep_size(self, plans: Mapping[int, Plan]) -> dict[int, str]:
        """Return the plans that cannot be answered because the size is recorded but not known."""
        if self._services.context.ep_size is not None:
            return {}
        places = {n: c.kernel.file_id for n, plan in plans.items() for c in plan.candidates}
        found = self._services.statements.run(
            "lookup.moe_ep_file", file_ids=sorted({f for f in places.values() if f is not None})
        )
        recorded = {row["file_id"] for row in found}
        return {n: _EP_SIZE_MISSING for n, file_id in places.items() if file_id in recorded}

    def _measured(self, plan: Plan, row: dict[str, Any]) -> Answer:
        """Return the answer of a row; PARTIAL where the entry names more than the fused kernel."""
        answer = exact_answer(plan, row, self._services.exact_aggregation)
        if answer.source is None:
            return answer
        details = {
            **answer.details,
            "query_mode": plan.dispatch,
            **plan.notes,
            "ep_size_is_recorded": row["is_recorded"],
        }
        rule = answer.shape_match_rule
        if rule == "identity" and plan.notes.get("project_full_shape"):
            rule = "projected_full_shape"
        missed = plan.notes.get("embedded_parts_not_included")
        if not missed:
            return replace(answer, shape_match_rule=rule, details=details)
        details |= {"hit_kernels": [answer.kernel_type], "missed_kernels": missed}
        return replace(
            answer, source="PARTIAL", confidence=_PARTIAL_CONFIDENCE, shape_match_rule=rule,
            details=details,
        )  # fmt: skip

    def _tell_rejected_rows(self, plans: Mapping[int, Plan], answers: dict[int, Answer]) -> None:
        """Write into every miss which rows of its file the path cannot use, and why."""
        places = {
            number: plan.candidates[0].kernel.file_id or 0
            for number, plan in plans.items()
            if plan.candidates and answers[number].source is None
        }
        if not places:
            return
        rejected: dict[int, dict[str, int]] = defaultdict(dict)
        for row in dropped_rows(self._services, "moe_fused", set(places.values())):
            rejected[row["file_id"]][row["reason"]] = row["row_count"]
        for number, file_id in places.items():
            details = {**answers[number].details, "rejected_rows": rejected[file_id]}
            answers[number] = replace(answers[number], details=details)
