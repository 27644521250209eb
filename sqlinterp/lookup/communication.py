"""Collectives of their own: bytes, group and tier of a call, looked up in the collective's CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.lookup.answers import miss_answer
from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.collectives import (
    DEFAULT_METHOD,
    CommunicationRequest,
    CommunicationResult,
    CommunicationSearch,
    tensor_bytes,
    tier_of,
)
from sqlinterp.lookup.operands import Operands
from sqlinterp.lookup.plan import Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, OpInvocation, Tensor

_SPLIT_BY_THE_GROUP = "tensor_cast.reduce_scatter.default"


@dataclass(frozen=True)
class _Call:
    """What a collective's arguments say: the message, and the ranks that take part."""

    message: Tensor
    message_bytes: int
    group: tuple[int, ...]


def communication_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a collective: only its primary kernel counts, on the tier that its group spans."""
    catalog, context = services.catalog, services.context
    if not entry.kernels:
        return replace(plan, miss_reason="unmapped")
    plan = with_kernels(plan, entry.kernels[:1], entry, catalog, context)
    call = _read_call(plan.invocation)
    if isinstance(call, str):
        return replace(plan, miss_reason=call)
    message = call.message
    operands = Operands((message.shape,), (catalog.dtype(message.dtype) or "",), (0,))
    measured = {
        "message_bytes": call.message_bytes,
        "num_devices": len(call.group),
        "topology_tier": tier_of(call.group, context.comm_grid),
    }
    return replace(
        plan,
        operands=operands,
        target=Target(operands, plan.invocation.outputs, measured),
        notes={"interpolation_method": _method(entry, entry.kernels[0], catalog)},
    )


def _read_call(invocation: OpInvocation) -> _Call | str:
    """Return what the arguments say, or the reason of the miss.

    The first argument is the local message and the last one the group; reduce-scatter measures
    its message after it was split over the group.
    """
    arguments = invocation.args
    if len(arguments) < 2 or not isinstance(arguments[0], Tensor):
        return "invalid_args"
    group, message = arguments[-1], arguments[0]
    if not isinstance(group, (list, tuple)) or not group or not all(map(_is_rank, group)):
        return "invalid_args"
    size = tensor_bytes(message.shape, message.dtype)
    if size is None:
        return f"dtype_unmapped:args[0]:{message.dtype}"
    if invocation.op == _SPLIT_BY_THE_GROUP:
        size //= len(group)
    return _Call(message, size, tuple(group))


def _is_rank(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _method(entry: MappedOperator, kernel: str, catalog: Catalog) -> str:
    """Return how to estimate between measured sizes: kernel, entry, operator, global policy."""
    layers = (
        catalog.policy("kernel", kernel),
        entry.fields,
        catalog.policy("operator", entry.operator),
        catalog.policy("global", "*"),
    )
    for layer in layers:
        method = layer.get("interpolation_method")
        if method is not None:
            return str(method)
    return DEFAULT_METHOD


class CommunicationHandler:
    """Answers collectives; their fit is no fallback that could be switched off.

    Source: profiling RFC phase 1, sections 5.1 and 9: communication is owned by the base lookup.
    """

    def __init__(self, services: Services) -> None:
        self._search = CommunicationSearch(services)

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        results = self._search.find({number: _request(plan) for number, plan in plans.items()})
        return {number: _answer(plans[number], result) for number, result in results.items()}


def _request(plan: Plan) -> CommunicationRequest:
    measured = plan.seen.enrichment
    return CommunicationRequest(
        kernel_type=plan.kernel_names[0],
        message_bytes=measured["message_bytes"],
        num_devices=measured["num_devices"],
        tier=measured["topology_tier"],
        method=plan.notes["interpolation_method"],
    )


def _answer(plan: Plan, result: CommunicationResult) -> Answer:
    if result.miss_reason is not None:
        miss = miss_answer(plan, result.miss_reason, None)
        details = {**miss.details, **result.details}
        return replace(miss, miss_reason=result.miss_reason, details=details)
    policy = plan.candidates[0].policy
    return Answer(
        op=plan.invocation.op,
        source=result.source,
        latency_us=result.latency_us,
        confidence=result.confidence,
        kernel_type=result.kernel.kernel_type,
        shape_match_rule="comm",
        details={**result.details, "policy_hash": policy.sha256},
    )
