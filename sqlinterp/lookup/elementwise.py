"""Elementwise operators: by the shape and dtype of their output, exactly or along its dims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.answers import exact_answer, miss_answer
from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.compute import ComputeHandler, compute_plan
from sqlinterp.lookup.coordinate import LeafHandler
from sqlinterp.lookup.operands import operands_of
from sqlinterp.lookup.plan import Candidate, Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, OpInvocation, Tensor
from sqlinterp.paths import PATHS

_PATH = PATHS["elementwise"]

Row = dict[str, Any]


def elementwise_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan an elementwise entry: by its output, or as compute when the call has none.

    Only the primary kernel takes part in the base lookup.

    Source: profiling RFC phase 2, sections 3.1 and 4.2.
    """
    catalog, context = services.catalog, services.context
    operands, problem = operands_of(plan.invocation, catalog)
    operands = operands.cut(entry.input_limit)
    output = _output(plan.invocation)
    if output is None:
        reason = "shape_unavailable" if plan.invocation.outputs else "unavailable"
        if operands.shapes:
            plan = compute_plan(plan, entry, services)
        else:
            plan = with_kernels(plan, entry.kernels, entry, catalog, context)
        return replace(plan, path=_PATH, target_problem=f"elementwise_output_{reason}")
    kernels = entry.kernels[:1] if context.disable_interpolation else entry.kernels
    asked = {"shape": list(output.shape), "dtype": output.dtype}
    return replace(
        with_kernels(plan, kernels, entry, catalog, context),
        operands=operands,
        input_limit=entry.input_limit,
        path=_PATH,
        target=Target(operands, (output,)),
        target_problem=problem or _output_problem(output, catalog),
        notes={"asked_output": asked, "dtype_scaled": False},
    )


def _output(invocation: OpInvocation) -> Tensor | None:
    """Return the first result when it has dims: only then is the operator elementwise."""
    first = invocation.outputs[0] if invocation.outputs else None
    return first if first is not None and first.shape else None


def _output_problem(output: Tensor, catalog: Catalog) -> str | None:
    known = catalog.dtype(output.dtype)
    return None if known else f"dtype_unmapped:outputs[0]:{output.dtype}"


class ElementwiseHandler:
    """Answers at, or between, measured outputs of one regime; calls without output as compute.

    With interpolation disabled it answers by output shape alone, scaled between dtypes if need be.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        own = {n: plan for n, plan in plans.items() if _output(plan.invocation) is not None}
        rest = {n: plan for n, plan in plans.items() if n not in own}
        answers = ComputeHandler(self._services).answer(rest) if rest else {}
        if own and self._services.context.disable_interpolation:
            answers.update(self._base(own))
        elif own:
            answers.update(LeafHandler(self._services).answer(own))
        return answers

    def _base(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Answer from the rows of the primary kernel whose output fits, whatever their inputs."""
        targets = [
            self._target(number, plan, candidate)
            for number, plan in plans.items()
            for candidate in plan.candidates
        ]
        rows = []
        if targets:
            rows = self._services.statements.run(
                "bytes=lookup.elementwise_bytes", "matches=lookup.elementwise_match",
                targets=json.dumps(targets), aggregation=self._services.exact_aggregation,
            )  # fmt: skip
        found = {row["id"]: row for row in rows}
        return {
            number: self._measured(plan, found[number])
            if number in found
            else miss_answer(plan, "elementwise_output_shape_mismatch", None)
            for number, plan in plans.items()
        }

    def _target(self, number: int, plan: Plan, candidate: Candidate) -> Row:
        output = plan.seen.outputs[0]
        return {
            "id": number,
            "file_id": candidate.kernel.file_id,
            "inputs": plan.operands.shapes,
            "output": output.shape,
            "dtype": self._services.catalog.dtype(output.dtype),
        }

    def _measured(self, plan: Plan, row: Row) -> Answer:
        """Return the answer of a row; what was asked and measured are outputs, not inputs."""
        answer = exact_answer(plan, row, self._services.exact_aggregation)
        details = {
            **answer.details,
            "query_mode": plan.dispatch,
            "matched_on": "output",
            "asked_shapes": [list(plan.seen.outputs[0].shape)],
            "measured_shapes": row["measured_shapes"],
            "measured_inputs": row["measured_inputs"],
            "measured_dtype": row["measured_dtype"],
            "dtype_scaled": row["is_scaled"],
        }
        if not row["is_scaled"]:
            return replace(answer, details=details)
        details |= {"dtype_scale": row["dtype_scale"], "raw_latency_us": row["raw_latency_us"]}
        return replace(answer, confidence=0.9, details=details)
