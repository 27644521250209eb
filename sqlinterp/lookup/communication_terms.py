"""The collectives of a static composite: message, group and kernel of each, from its arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.lookup.collectives import (
    DEFAULT_METHOD,
    METHODS,
    CommunicationRequest,
    element_size,
    tier_of,
)
from sqlinterp.lookup.plan import Plan
from sqlinterp.model import OpInvocation, QueryContext, Tensor

_COLLECTIVE = "hcom_"
_VARIANT = "sequence_parallel"
_BYTES_MODES = ("full_output", "per_rank_output")
_GROUP_TYPES = (None, "tensor_parallel")
# The result of a multiplication of these is 2 bytes wide, whatever the activation's own width.
_QUANTIZED = ("int8", "uint8", "float8_e4m3fn", "float8_e5m2")
_DEQUANTIZED_BYTES = 2


@dataclass(frozen=True)
class Term:
    """One collective of a composite.

    Attributes
    ----------
    kernel_type, source_kernel : str
        The collective that runs, and the one that the entry names.
    request : CommunicationRequest or None
        What is asked for, None when the arguments do not say it.
    problem : str or None
        Why they do not.
    variant : str or None
        The runtime variant that replaced the named collective.
    """

    kernel_type: str
    source_kernel: str
    request: CommunicationRequest | None
    problem: str | None = None
    variant: str | None = None


@dataclass(frozen=True)
class _Message:
    """The result of the multiplication, which the group exchanges."""

    size_bytes: int
    group: tuple[int, ...]


def is_collective(kernel: str) -> bool:
    """Whether a sub-kernel of a static composite is a collective."""
    return kernel.startswith(_COLLECTIVE)


def communication_terms(plan: Plan, context: QueryContext) -> list[Term] | str:
    """Return the collectives of a composite in order, or why its entry is of no use.

    Source: exact lookup rules of static composites; under sequence parallelism
    ``runtime_comm_variants`` replaces one collective by another.
    """
    names = [name for name in plan.fields["sub_kernels"] if is_collective(name)]
    message = _message(plan.invocation)
    variant = None
    variants = plan.fields.get("runtime_comm_variants")
    if context.sequence_parallel and variants is not None:
        rule = variants.get(_VARIANT) if isinstance(variants, Mapping) else variants
        if rule is not None:
            if not _is_sound(rule):
                return "invalid_runtime_comm_variant"
            if rule["source_kernel_type"] not in names:
                return "runtime_comm_variant_source_missing"
            variant = rule
    if variant is not None and not _is_group_of(variant, message, context):
        return "invalid_runtime_comm_variant"
    return [_term(name, message, variant, context) for name in names]


def _is_sound(rule: Any) -> bool:
    """Whether a variant says which collective stands for which, and how large its message is."""
    return (
        isinstance(rule, Mapping)
        and isinstance(rule.get("source_kernel_type"), str)
        and isinstance(rule.get("kernel_type"), str)
        and is_collective(rule["kernel_type"])
        and rule.get("message_bytes_mode") in _BYTES_MODES
        and rule.get("group_type") in _GROUP_TYPES
        and rule.get("interpolation_method", DEFAULT_METHOD) in METHODS
    )


def _is_group_of(rule: Mapping[str, Any], message: _Message | str, context: QueryContext) -> bool:
    if rule.get("group_type") is None or isinstance(message, str):
        return True
    return len(message.group) == context.tp_size


def _term(
    name: str,
    message: _Message | str,
    rule: Mapping[str, Any] | None,
    context: QueryContext,
) -> Term:
    own = rule if rule is not None and rule["source_kernel_type"] == name else None
    kernel = name if own is None else str(own["kernel_type"])
    variant = None if own is None else _VARIANT
    if isinstance(message, str):
        return Term(kernel, name, None, message, variant)
    size, devices = message.size_bytes, len(message.group)
    if own is not None and own["message_bytes_mode"] == "per_rank_output":
        if devices < 2:
            return Term(kernel, name, None, "invalid_per_rank_output_group_size", variant)
        if size % devices:
            problem = f"nondivisible_per_rank_output:bytes={size};devices={devices}"
            return Term(kernel, name, None, problem, variant)
        size //= devices
    method = DEFAULT_METHOD if own is None else own.get("interpolation_method", DEFAULT_METHOD)
    tier = tier_of(message.group, context.comm_grid)
    return Term(
        kernel, name, CommunicationRequest(kernel, size, devices, tier, method), None, variant
    )


def _message(invocation: OpInvocation) -> _Message | str:
    """Return the message, or the reason why the arguments do not determine it.

    Leading dims of the activation are tokens: they are flattened before bytes are counted.
    """
    arguments = invocation.args
    if len(arguments) < 3:
        return "invalid_args"
    activation, weight, group = arguments[0], arguments[1], arguments[-1]
    if not isinstance(activation, Tensor) or not isinstance(weight, Tensor):
        return "invalid_args"
    if len(activation.shape) < 2 or len(weight.shape) < 2 or not _is_group(group):
        return "invalid_args"
    if activation.dtype in _QUANTIZED:
        size: int | None = _DEQUANTIZED_BYTES
    else:
        size = element_size(activation.dtype)
    if size is None:
        return f"dtype_unmapped:args[0]:{activation.dtype}"
    elements = math.prod(activation.shape[:-1]) * weight.shape[-1]
    return _Message(elements * size, tuple(group))


def _is_group(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(rank, int) and not isinstance(rank, bool) for rank in value)
    )
