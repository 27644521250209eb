"""Composites: the sum of the children that the caller gives, or of what the mapping names."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.children import ATTENTION_DISPATCHES, child_name, child_plan
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.static_composite import StaticComposites, static_plan
from sqlinterp.model import Answer

Row = dict[str, Any]

# Operators whose parts depend on values that only their caller knows: phase, lengths, shards.
_DECOMPOSED = {
    f"tensor_cast.{name}.default"
    for name in (
        "multihead_latent_attention",
        "multihead_latent_attention_quant",
        "mla_sparse_attention",
        "mla_sparse_attention_quant",
        "mlapo",
        "mlapo_quant",
        "dsa_indexer",
    )
}
_SOURCES = ("MEASURED", "INTERPOLATED", "EXTRAPOLATED")  # the weakest of the parts is the whole's
_CONFIDENCE = {"MEASURED": 0.8, "INTERPOLATED": 0.75}
_FITTED_DISPATCHES = ("communication", "mlapo_preprocess")


def composite_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a composite: children if there are any, else the static kernels of its entry."""
    if plan.invocation.children:
        return plan
    if entry.fields.get("decomposer") or entry.operator in _DECOMPOSED:
        return replace(plan, miss_reason="decomposition_unavailable")
    if not entry.fields.get("sub_kernels"):
        return replace(plan, miss_reason="no_sub_kernels")
    return static_plan(plan, entry, services)


class CompositeHandler:
    """Answers composites by one set-based pass over the children of all of them."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        static = {n: plan for n, plan in plans.items() if not plan.invocation.children}
        answers = StaticComposites(self._services).answer(static) if static else {}
        for number, parts in self._parts(plans).items():
            answers[number] = _total(plans[number], parts)
        return answers

    def _parts(self, plans: Mapping[int, Plan]) -> dict[int, list[_Part]]:
        """Return the answered children of every composite, in the order of the call."""
        children = [
            (number, child_name(child), child_plan(child, plan, self._services))
            for number, plan in plans.items()
            for child in plan.invocation.children
        ]
        if not children:
            return {}
        answers = self._services.answer_plans({i: plan for i, (_, _, plan) in enumerate(children)})
        parts: dict[int, list[_Part]] = defaultdict(list)
        for place, (number, name, plan) in enumerate(children):
            parts[number].append(_Part(name, plan, answers[place]))
        return parts


@dataclass(frozen=True)
class _Part:
    """A child and its answer."""

    name: str
    plan: Plan
    answer: Answer

    @property
    def is_hit(self) -> bool:
        """Whether the child is answered completely."""
        return self.answer.source in _SOURCES

    @property
    def is_exact(self) -> bool:
        """Whether the exact lookup answers the child, the fits that belong to it included."""
        if self.plan.dispatch == "composite":
            return self.is_hit and not self.answer.details.get("fallback_from")
        is_fitted = self.plan.dispatch in _FITTED_DISPATCHES
        return self.is_hit and (is_fitted or self.answer.source == "MEASURED")

    @property
    def is_attention(self) -> bool:
        """Whether the child is an attention kernel."""
        return self.plan.dispatch in ATTENTION_DISPATCHES

    @property
    def leaf_count(self) -> int:
        """Leaves below the child, itself included when it is one."""
        return int(self._of_composite("leaf_count", 1))

    @property
    def hit_count(self) -> int:
        """Leaves whose latency is in that of the child."""
        if self.is_hit:
            return self.leaf_count
        return 0 if self.answer.source is None else int(self._of_composite("hit_count", 0))

    @property
    def missing(self) -> list[Row]:
        """Name and reason of what the latency of the child lacks."""
        if self.is_hit:
            return []
        own = [{"name": self.name, "miss_reason": self.answer.miss_reason}]
        below: list[Row] = self._of_composite("missing", own)
        return own if self.answer.source is None else below

    def _of_composite(self, key: str, otherwise: Any) -> Any:
        """Return a detail that only the sum of further children has."""
        is_composite = self.plan.dispatch == "composite"
        return self.answer.details.get(key, otherwise) if is_composite else otherwise

    def fields(self) -> Row:
        """Return what the details of the sum tell of the child."""
        answer = self.answer
        fields: Row = {
            "name": self.name,
            "op": self.plan.invocation.op,
            "dispatch": self.plan.dispatch,
            "kernel_type": answer.kernel_type,
            "source": answer.source,
            "latency_us": answer.latency_us,
            "confidence": answer.confidence,
            "shape_match_rule": answer.shape_match_rule,
            "miss_reason": answer.miss_reason,
        }
        for key in ("method", "file", "line"):
            if key in answer.details:
                fields[key] = answer.details[key]
        fields["details"] = answer.details
        return fields


def _total(plan: Plan, parts: Sequence[_Part]) -> Answer:
    """Return the sum of the children, PARTIAL when some are missing."""
    missing = [row for part in parts for row in part.missing]
    details = _details(plan, parts, missing)
    if missing and (reason := _full_miss(plan, parts, missing)) is not None:
        return Answer(plan.invocation.op, miss_reason=reason, details=details)
    op = plan.invocation.op
    total = math.fsum(part.answer.latency_us or 0.0 for part in parts)
    if missing:
        reason = _names(missing)
        confidence = details["hit_count"] / details["leaf_count"]
        return Answer(op, "PARTIAL", total, confidence, miss_reason=reason, details=details)
    source = max((part.answer.source or "" for part in parts), key=_SOURCES.index)
    is_exact = all(part.is_exact for part in parts)
    details["fallback_from"] = None if is_exact else _fallback(plan, parts)
    return Answer(
        op=op,
        source=source,
        latency_us=total,
        confidence=_CONFIDENCE.get(source, 0.5) if is_exact else 0.5,
        kernel_type=",".join(part.answer.kernel_type or part.name for part in parts),
        shape_match_rule=None if is_exact else f"{source.lower()}_composite",
        details=details,
    )


def _full_miss(plan: Plan, parts: Sequence[_Part], missing: Sequence[Row]) -> str | None:
    """Return why a sum that lacks something is no answer at all, None when it is PARTIAL."""
    for part in parts:
        if part.is_attention and part.answer.source is None:
            return f"attention_sub_kernel_miss:{part.name}:{part.answer.miss_reason}"
    has_value = any(part.answer.latency_us is not None for part in parts)
    if not has_value or plan.fields.get("require_all_sub_kernels"):
        return _names(missing)
    return None


def _names(missing: Sequence[Row]) -> str:
    return f"sub_kernel_miss:{','.join(row['name'] for row in missing)}"


def _fallback(plan: Plan, parts: Sequence[_Part]) -> str:
    """Return what exact lookups alone would have given: a partial sum, or a miss."""
    exact = [part for part in parts if part.is_exact]
    lacks_attention = any(part.is_attention for part in parts if not part.is_exact)
    if not exact or lacks_attention or plan.fields.get("require_all_sub_kernels"):
        return "exact_miss"
    return "partial"


def _details(plan: Plan, parts: Sequence[_Part], missing: Sequence[Row]) -> Row:
    return {
        "method": "sum_of_children",
        "composite": True,
        "sub_kernels": [part.fields() for part in parts],
        "missing": list(missing),
        "hit_count": sum(part.hit_count for part in parts),
        "leaf_count": sum(part.leaf_count for part in parts),
        "measured_us": math.fsum(
            part.answer.latency_us or 0.0 for part in parts if part.answer.source == "MEASURED"
        ),
        "require_all_sub_kernels": bool(plan.fields.get("require_all_sub_kernels")),
    }
