"""The children of a composite as plans: by operator through the mapping, or by a named kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.operands import operands_of
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.services import Services
from sqlinterp.model import ChildInvocation, OpInvocation

ATTENTION_DISPATCHES = (
    "attention_special",
    "attention_lightning_indexer",
    "attention_sparse_sharedkv",
)
_QUERY_MODES = (
    *ATTENTION_DISPATCHES,
    "compute",
    "compute_scale",
    "quantized_matmul",
    "elementwise",
    "moe_fused",
    "mtp_projection",
    "scatter_nd_update_mla",
    "communication",
    "cache_postprocess",
    "scatter_cache_write",
    "mlapo_preprocess",
)
_COLLECTIVE = "hcom_"


def composite_entry(operator: str, mapped: MappedOperator | None) -> MappedOperator:
    """Return the entry under which an operator is the sum of its children.

    The caller has decomposed it, so it does not matter how, or whether, the mapping would look
    it up whole; only ``require_all_sub_kernels`` of its entry is kept.
    """
    return MappedOperator(operator, "composite", (), 0, mapped.fields if mapped else {})


def child_name(child: ChildInvocation) -> str:
    """Return how a child is called in answers: its kernel, else its operator."""
    return child.kernel or child.invocation.op or "unnamed"


def child_plan(child: ChildInvocation, parent: Plan, services: Services) -> Plan:
    """Return the plan of one child of a composite."""
    catalog, invocation = services.catalog, child.invocation
    mapped = catalog.operators.get(invocation.op)
    if not invocation.op:
        invocation = replace(invocation, op=child_name(child))
    if invocation.children:
        return services.plan_entry(invocation, composite_entry(invocation.op, mapped))
    if child.kernel is not None:
        entry = _kernel_entry(child, child.kernel, parent.invocation.op, catalog)
        return services.plan_entry(invocation, entry)
    if mapped is None:
        return Plan(invocation, "unmapped", miss_reason="unmapped")
    return services.plan_entry(invocation, mapped)


def _kernel_entry(
    child: ChildInvocation, kernel: str, parent: str, catalog: Catalog
) -> MappedOperator:
    """Return the entry that a mapping would hold for a child given by kernel.

    It bears the name of the parent, whose interpolation policy it shares.
    """
    dispatch = _dispatch(child, kernel, catalog)
    limit = child.tc_input_count or 0
    if dispatch == "compute" and limit == 0:
        limit = _operand_count(child.invocation, catalog)
    fields: dict[str, Any] = {"kernel_type": kernel}
    if child.alternates:
        fields["alternate_kernel_types"] = list(child.alternates)
    if child.query_mode is not None:
        fields["query_mode"] = child.query_mode
    if limit:
        fields["tc_input_count"] = limit
    names = tuple(dict.fromkeys((kernel, *child.alternates)))
    return MappedOperator(parent, dispatch, names, limit, fields)


def _dispatch(child: ChildInvocation, kernel: str, catalog: Catalog) -> str:
    """Return the lookup path of a kernel: the mode asked for, else that of its family.

    Attention kernels are never matched by their operands alone, which do not hold the lengths.
    """
    if child.query_mode is not None:
        return child.query_mode if child.query_mode in _QUERY_MODES else "query_mode_unknown"
    if kernel.startswith(_COLLECTIVE):
        return "communication"
    own = catalog.path_of_kernel(kernel)
    return own if own in ATTENTION_DISPATCHES else "compute"


def _operand_count(invocation: OpInvocation, catalog: Catalog) -> int:
    operands, _ = operands_of(invocation, catalog)
    return len(operands.shapes)
