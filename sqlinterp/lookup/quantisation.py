"""Quantisation and quantised matmul, which answer from a regime of their own.

An exact lookup compares inputs only. It cannot tell a symmetric from an asymmetric quantisation,
nor a packed weight from a plain one, so both ask for a measured coordinate of their regime first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.compute import ComputeHandler, compute_plan
from sqlinterp.lookup.coordinate import LeafHandler
from sqlinterp.lookup.plan import Plan, Target
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer
from sqlinterp.paths import PATHS

_SCALE_FIELDS = ("scale_mode", "block_size", "auxiliary_modes")


def compute_scale_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a dynamic quantisation: DynamicQuant, DynamicBlockQuant and their alternates.

    Source: profiling RFC phase 2, section 4.4.2.
    """
    return replace(compute_plan(plan, entry, services), path=PATHS["compute_scale"])


def quantized_matmul_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a quantised linear layer; declared input formats must equal those of the rows.

    Source: profiling RFC phase 2, section 4.4.2.
    """
    plan = replace(compute_plan(plan, entry, services), path=PATHS["quantized_matmul"])
    declared = entry.fields.get("expected_input_formats")
    if declared is None:
        return plan
    plan = replace(plan, notes={**plan.notes, "expected_input_formats": declared})
    if not _is_format_list(declared, len(plan.operands.shapes)):
        return replace(plan, target_problem="expected_input_formats_invalid")
    formats = [name.strip() for name in declared]
    target = Target(plan.operands, plan.invocation.outputs, {"operand_formats": formats})
    return replace(plan, target=target)


def _is_format_list(declared: object, count: int) -> bool:
    return (
        isinstance(declared, list)
        and len(declared) == count
        and all(isinstance(name, str) and name.strip() for name in declared)
    )


class OwnRegimeHandler(LeafHandler):
    """Answers from the regime of the path: a measured coordinate, else between its neighbours.

    With interpolation disabled it answers like any compute operator, from rows with equal inputs.

    Source: profiling RFC phase 2, sections 3.1 and 3.3.
    """

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        if self._services.context.disable_interpolation:
            return ComputeHandler(self._services).answer(plans)
        answers = super().answer(plans)
        return {number: _with_scale_fields(answer) for number, answer in answers.items()}


def _with_scale_fields(answer: Answer) -> Answer:
    """Lift what a reader asks first out of the regime: how the scales were laid out."""
    regime = answer.details.get("exact_fields", {})
    found = {name: regime[name] for name in _SCALE_FIELDS if name in regime}
    return replace(answer, details={**answer.details, **found}) if found else answer
