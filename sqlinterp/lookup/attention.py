"""Attention over a dense KV cache (FusedInferAttentionScore): exactly, else along seq and batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.answers import interpolated_answer, miss_answer
from sqlinterp.lookup.attention_exact import (
    CONFIDENCE,
    AttentionSearch,
    ExactOutcome,
    measured_answer,
)
from sqlinterp.lookup.attention_parameters import (
    AttentionParameters,
    child_parameters,
    direct_parameters,
    is_child,
)
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.extrapolating import Extrapolator
from sqlinterp.lookup.interpolate import Outcome
from sqlinterp.lookup.plan import Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.solver import Solver
from sqlinterp.model import Answer
from sqlinterp.paths import PATHS, Path

# Regimes are searched with as many query tokens first; what an exact lookup accepts besides, more
# or fewer tokens in the same blocks and a sequence length within 16 tokens, comes after.
_SEARCHES = ("attention_equal_tokens", "attention_padded_tokens", "attention_near_seq")
_REGIME_KEYS = ("sparse_mode", "num_kv_heads", "input_layout", "quant_mode", "phase")
_QUANT_MODE = "runtime_quant_mode"


def attention_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan an attention entry from the call's arguments, or from those of a composite's child."""
    invocation = plan.invocation
    read = child_parameters if is_child(invocation) else direct_parameters
    parameters = read(invocation, services.catalog)
    plan = with_kernels(plan, entry.kernels, entry, services.catalog, services.context)
    if isinstance(parameters, str):
        return replace(plan, miss_reason=parameters)
    return attention_plan_from(parameters, plan, entry, services)


def attention_plan_from(
    parameters: AttentionParameters, plan: Plan, entry: MappedOperator, services: Services
) -> Plan:
    """Return a plan with kernels completed by what an attention lookup needs to know."""
    operands = parameters.operands(services.catalog)
    told = entry.fields.get("quant_mode")
    if isinstance(told, str):
        parameters = replace(parameters, quant_mode=told)
    overrides = {
        candidate.kernel.kernel_type: {_QUANT_MODE: candidate.policy.quant_mode}
        for candidate in plan.candidates
        if candidate.policy.quant_mode is not None
    }
    missing = ",".join(parameters.missing)
    notes: dict[str, Any] = {"query_mode": "attention_special"}
    if parameters.required_columns:
        notes["required_columns"] = parameters.required_columns
    return replace(
        plan,
        operands=operands,
        input_limit=entry.input_limit,
        path=PATHS["attention_special"],
        target=Target(operands, plan.invocation.outputs, parameters.enrichment(), overrides),
        miss_reason=f"semantic_context_missing:target:{missing}" if missing else None,
        notes={**plan.notes, **notes},
    )


class AttentionHandler:
    """Answers by the nearest row of equal meaning, else along the axes of the regime."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        services = self._services
        found = AttentionSearch(services).find(plans)
        answers = {
            number: measured_answer(plans[number], outcome.row, services.exact_aggregation)
            for number, outcome in found.items()
            if outcome.row is not None and outcome.is_answer
        }
        rest = {number: plan for number, plan in plans.items() if number not in answers}
        outcomes: dict[int, Outcome] = {}
        if not services.context.disable_interpolation:
            outcomes = self._interpolated({n: p for n, p in rest.items() if p.candidates})
        for number, plan in rest.items():
            answers[number] = self._conclusion(plan, found[number], outcomes.get(number))
        return answers

    def _interpolated(self, plans: Mapping[int, Plan]) -> dict[int, Outcome]:
        """Return what interpolation comes to, search by search until there is an answer."""
        outcomes: dict[int, Outcome] = {}
        waiting = dict(plans)
        for search in _SEARCHES:
            for is_told in (True, False):
                path = _path(search, is_told)
                asked = {
                    number: replace(plan, path=path)
                    for number, plan in waiting.items()
                    if (_batch(plan) is not None) is is_told
                }
                found = self._services.interpolation().find(asked, (Solver,)) if asked else {}
                for number, outcome in found.items():
                    outcomes[number] = _joined(outcomes.get(number), outcome)
            waiting = {n: plan for n, plan in waiting.items() if _is_open(outcomes[n])}
        self._extrapolate(plans, outcomes)
        return outcomes

    def _extrapolate(self, plans: Mapping[int, Plan], outcomes: dict[int, Outcome]) -> None:
        """Go beyond the range where no search interpolates and the kernel opts in."""
        for search in _SEARCHES:
            asked = {
                number: replace(plan, path=_path(search, _batch(plan) is not None))
                for number, plan in plans.items()
                if outcomes[number].solution is None
                and any(Extrapolator.is_allowed(candidate.policy) for candidate in plan.candidates)
            }
            for is_told in (True, False):
                own = {
                    n: plan for n, plan in asked.items() if (_batch(plan) is not None) is is_told
                }
                found = self._services.interpolation().find(own, (Extrapolator,)) if own else {}
                for number, outcome in found.items():
                    outcomes[number] = _extended(outcomes[number], outcome)

    def _conclusion(self, plan: Plan, exact: ExactOutcome, outcome: Outcome | None) -> Answer:
        """Return the interpolated answer, or the miss that says how far the lookup got.

        A coordinate whose rows are what makes the exact lookup ambiguous stays ambiguous.
        """
        services = self._services
        solution = outcome.solution if outcome is not None else None
        if outcome is None or solution is None:
            answer = miss_answer(plan, exact.reason, outcome)
            return answer if exact.row is None else replace(answer, miss_reason=exact.reason)
        is_exact = solution.method == "exact_coordinate"
        if is_exact and exact.row is not None and solution.points[0].measurement_count > 1:
            return miss_answer(plan, exact.reason, None)
        answer = interpolated_answer(plan, outcome, services.catalog, services.aggregation)
        details = _details(plan, answer, exact)
        rule = answer.shape_match_rule
        if is_exact and "padding_ratio" in details:
            rule = f"{rule}+padding"
        confidence = min(answer.confidence or 0.0, CONFIDENCE)
        return replace(answer, confidence=confidence, shape_match_rule=rule, details=details)


def _batch(plan: Plan) -> int | None:
    """Return the requests of a call as told, else of a query of rank 4, None when unknown."""
    shape = plan.operands.shapes[0]
    told: int | None = plan.seen.enrichment.get("runtime_batch_size")
    return told if told is not None or len(shape) != 4 else shape[0]


def _path(search: str, tells_batch: bool) -> Path:
    """Return the path with the steps that find the regimes of one search."""
    path = PATHS["attention_special"]
    # Near lengths, and the batch of a target that does not tell it, are found among the points.
    reads_points = search == "attention_near_seq" or not tells_batch
    steps: tuple[str, ...] = ("matches=lookup.attention_regime",)
    if not tells_batch:
        steps = (
            "shared_regimes=lookup.attention_regime",
            "matches=lookup.attention_constant_batch",
        )
    steps = (*steps, f"regimes=lookup.{search}")
    fields = () if reads_points else path.regime_fields
    return replace(path, regime_steps=steps, regime_fields=fields)


def _is_open(outcome: Outcome) -> bool:
    """Whether regimes of other token counts may still answer: some share the target's meaning."""
    return outcome.solution is None and any(
        "axes" in attempt or attempt["status"] == "q_tokens_unmeasured"
        for attempt in outcome.attempts
    )


def _joined(earlier: Outcome | None, later: Outcome) -> Outcome:
    """Return one outcome of two searches; the reason is that of the one that came further."""
    if earlier is None:
        return later
    attempts = earlier.attempts + [attempt for attempt in later.attempts if "axes" in attempt]
    if later.solution is None and _reach(later) <= _reach(earlier):
        return replace(earlier, attempts=attempts)
    return replace(later, attempts=attempts)


def _extended(inside: Outcome, beyond: Outcome) -> Outcome:
    """Return what became of a plan inside the range with what became of it beyond."""
    refused = [attempt for attempt in beyond.attempts if "extrapolation" in attempt]
    attempts = inside.attempts + refused
    if beyond.solution is None and not refused:
        return inside
    return replace(beyond, attempts=attempts)


def _reach(outcome: Outcome) -> int:
    return max((attempt.get("interpolation_dim", 0) for attempt in outcome.attempts), default=0)


def _details(plan: Plan, answer: Answer, exact: ExactOutcome) -> dict[str, Any]:
    """Return the details of an interpolated answer in the terms of attention.

    Source: profiling RFC phase 1, section 7.
    """
    details = dict(answer.details)
    details["confidence"] = min(details["confidence"], CONFIDENCE)
    if "batch_axis_status" in details:
        for place in (details["target"], *details["corner_points"]):
            place["batch"] = place["batch"] or None
    fields = details["exact_fields"] = _flat(details["exact_fields"])
    details["attention_axes"] = {
        **details["target"],
        "seq": details.get("asked_seq", details["target"]["seq"]),
        "batch": _batch(plan),
    }
    details["regime_keys"] = {name: fields.get(name) for name in _REGIME_KEYS}
    details["exact_miss_reason"] = exact.reason
    told = plan.seen.kernel_enrichment.get(answer.kernel_type or "", plan.seen.enrichment)
    if told.get(_QUANT_MODE) is not None and fields.get("quant_mode") is None:
        details["quant_mode_unknown_in_csv"] = told[_QUANT_MODE]
    return details


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a regime in one level, those that rows do not tell left out."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        flat.update(value if isinstance(value, Mapping) else {name: value})
    return {name: value for name, value in flat.items() if value is not None}
