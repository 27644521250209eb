"""Static composites: one of several compute kernels, plus the collectives that the entry names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.lookup.answers import exact_answer, miss_answer
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.collectives import CommunicationResult, CommunicationSearch
from sqlinterp.lookup.communication_terms import Term, communication_terms, is_collective
from sqlinterp.lookup.operands import Operands, operands_of
from sqlinterp.lookup.plan import Plan, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, Tensor

Row = dict[str, Any]
_MATMUL_OPERANDS = 2


def static_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan the compute part of a static composite: its kernels are alternatives of one query."""
    catalog = services.catalog
    names = [name for name in entry.fields["sub_kernels"] if not is_collective(name)]
    if not names:
        return replace(plan, miss_reason="no_sub_kernels")
    operands = operands_of(plan.invocation, catalog)[0].cut(entry.input_limit)
    if not operands.shapes:
        return replace(plan, miss_reason="no_tensor_inputs")
    plan = with_kernels(plan, dict.fromkeys(names), entry, catalog, services.context)
    return replace(plan, operands=operands, input_limit=entry.input_limit)


@dataclass(frozen=True)
class _Compute:
    """The compute part of a composite as it matched, or its miss."""

    answer: Answer
    quality: int = 0


class StaticComposites:
    """Answers static composites: all compute parts together, then all collectives together.

    The compute part is looked up exactly only: composites with collectives are outside of what
    interpolation covers.

    Source: profiling RFC phase 2, section 3.4.2.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        computed = self._computed(plans)
        terms = {
            number: communication_terms(plans[number], self._services.context)
            for number, compute in computed.items()
            if compute.source is not None
        }
        results = self._communicated({n: own for n, own in terms.items() if isinstance(own, list)})
        answers = {}
        for number, compute in computed.items():
            problem = terms.get(number)
            if isinstance(problem, str):
                details = _details(compute, [])
                answers[number] = Answer(compute.op, miss_reason=problem, details=details)
            else:
                answers[number] = _sum(compute, results.get(number, []))
        return answers

    def _computed(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answers of the compute parts."""
        aggregation = self._services.exact_aggregation
        search = self._services.exact_search()
        found = {
            number: _Compute(exact_answer(plans[number], row, aggregation), row["quality"])
            for number, row in search.find(plans).items()
        }
        without_bias = {n: bare for n, p in plans.items() if (bare := _without_bias(p)) is not None}
        rows = search.find(without_bias) if without_bias else {}
        for number, row in rows.items():
            if number not in found or row["quality"] < found[number].quality:
                answer = exact_answer(without_bias[number], row, aggregation)
                answer.details["ignored"] = "bias"
                found[number] = _Compute(answer, row["quality"])
        answers = {number: compute.answer for number, compute in found.items()}
        answers.update(self._missed({n: p for n, p in plans.items() if n not in answers}))
        return answers

    def _missed(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Say why no row matched: no CSV of the first kernel, no row of that many operands, shapes.

        Source: exact lookup rules of static composites.
        """
        if not plans:
            return {}
        files = {c.kernel.file_id for plan in plans.values() for c in plan.candidates}
        rows = self._services.statements.run("lookup.operand_count", file_ids=sorted(files))
        counts = {row["file_id"]: row["operand_counts"] for row in rows}
        return {n: miss_answer(plan, _reason(plan, counts), None) for n, plan in plans.items()}

    def _communicated(
        self, terms: Mapping[int, Sequence[Term]]
    ) -> dict[int, list[tuple[Term, CommunicationResult]]]:
        """Return the results of the terms of every plan, in their order."""
        places = [(number, term) for number, own in terms.items() for term in own]
        requests = {i: t.request for i, (_, t) in enumerate(places) if t.request is not None}
        found = CommunicationSearch(self._services).find(requests) if requests else {}
        results: dict[int, list[tuple[Term, CommunicationResult]]] = {n: [] for n in terms}
        for place, (number, term) in enumerate(places):
            missed = CommunicationResult(None, None, term.problem)
            results[number].append((term, found.get(place, missed)))
        return results


def _without_bias(plan: Plan) -> Plan | None:
    """Return the plan of the two matrices alone when a bias of the size of a row follows them."""
    operands, arguments = plan.operands, plan.invocation.args
    bias = arguments[2] if len(arguments) > _MATMUL_OPERANDS else None
    if plan.input_limit or not isinstance(bias, Tensor) or len(operands.shapes) < 3:
        return None
    if len(operands.shapes[1]) < 2 or bias.shape != operands.shapes[1][-1:]:
        return None
    if not any(is_collective(name) for name in plan.fields.get("sub_kernels", ())):
        return None
    matrices: Operands = operands.cut(_MATMUL_OPERANDS)
    return replace(plan, operands=matrices)


def _reason(plan: Plan, counts: Mapping[int, Sequence[int]]) -> str:
    first = next(name for name in plan.fields["sub_kernels"] if not is_collective(name))
    loaded = {candidate.kernel.kernel_type for candidate in plan.candidates}
    if first not in loaded:
        return "csv_not_found"
    limit = plan.input_limit
    known = {
        min(count, limit) if limit else count
        for candidate in plan.candidates
        for count in counts.get(candidate.kernel.file_id or 0, ())
    }
    asked = {len(plan.operands.shapes)}
    if (bare := _without_bias(plan)) is not None:
        asked.add(len(bare.operands.shapes))
    return "shape_mismatch" if known & asked or not known else "input_count_mismatch"


def _sum(compute: Answer, terms: Sequence[tuple[Term, CommunicationResult]]) -> Answer:
    """Return the compute part plus every collective; one that is missing is a miss of the whole."""
    if compute.source is None:
        return compute
    details = _details(compute, terms)
    op = compute.op
    for _, result in terms:
        if result.source is None:
            is_unusable = result.kernel.status not in ("loaded", "absent")
            unusable = f"csv_unavailable:{result.kernel.file_name}"
            reason = unusable if is_unusable else "comm_sub_kernel_miss"
            return Answer(op, miss_reason=reason, details=details)
    latencies = [compute.latency_us, *(result.latency_us for _, result in terms)]
    is_fitted = any(result.source == "INTERPOLATED" for _, result in terms)
    return Answer(
        op=op,
        source="INTERPOLATED" if is_fitted else "MEASURED",
        latency_us=math.fsum(latency or 0.0 for latency in latencies),
        confidence=0.9 if terms else 0.8,
        kernel_type=compute.kernel_type,
        details=details,
    )


def _details(compute: Answer, terms: Sequence[tuple[Term, CommunicationResult]]) -> Row:
    parts: list[Row] = [
        {
            "name": compute.kernel_type,
            "source": compute.source,
            "latency_us": compute.latency_us,
            "shape_match_rule": compute.shape_match_rule,
            "miss_reason": None,
            "file": compute.details["file"],
            "line": compute.details["line"],
            "details": compute.details,
        }
    ]
    return {
        "method": "sum_of_compute_and_communication",
        "composite": True,
        "sub_kernels": parts + [_communication_fields(*term) for term in terms],
        "communication_variant": next((t.variant for t, _ in terms if t.variant), None),
    }


def _communication_fields(term: Term, result: CommunicationResult) -> Row:
    fields: Row = {
        "name": term.kernel_type,
        "source": result.source,
        "latency_us": result.latency_us,
        "shape_match_rule": None if result.source is None else "comm",
        "miss_reason": result.miss_reason,
    }
    for key in ("file", "line"):
        if key in result.details:
            fields[key] = result.details[key]
    if term.variant is not None:
        fields["in_place_of"] = term.source_kernel
    fields["details"] = result.details
    return fields
