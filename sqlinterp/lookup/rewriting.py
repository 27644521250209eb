"""Rules of a compute entry that change its kernels or operands before matching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.operands import Operands, Shape

_RULES = frozenset(
    {"degenerate_bmm_kernel_type", "kernel_types_by_input_rank", "tp_linear_projection"}
)


class Rewritten(NamedTuple):
    """Kernels and operands after the entry's rules, or why they do not apply."""

    kernels: tuple[str, ...]
    operands: Operands
    miss_reason: str | None = None


def rewrite(entry: MappedOperator, operands: Operands, tp_size: int | None) -> Rewritten:
    """Apply ``degenerate_bmm_kernel_type``, ``kernel_types_by_input_rank``, TP projection.

    Source: exact lookup rules, compute-only target rewriting.
    """
    if _RULES.isdisjoint(entry.fields):
        return Rewritten(entry.kernels, operands)
    kernels = _by_rank(entry, operands, entry.kernels + _degenerate(entry, operands))
    rule = entry.fields.get("tp_linear_projection")
    if rule is None:
        return Rewritten(kernels, operands)
    projected = _project(rule, operands, tp_size)
    if isinstance(projected, str):
        return Rewritten(kernels, operands, projected)
    return Rewritten(kernels, projected)


def _degenerate(entry: MappedOperator, operands: Operands) -> tuple[str, ...]:
    kernel = entry.fields.get("degenerate_bmm_kernel_type")
    if not isinstance(kernel, str) or len(operands.shapes) != 2 or kernel in entry.kernels:
        return ()
    left, right = operands.shapes
    is_outer = left == (1, 32, 1) and len(right) == 3 and right[:2] == (1, 1) and right[2] > 0
    return (kernel,) if is_outer else ()


def _by_rank(
    entry: MappedOperator, operands: Operands, kernels: tuple[str, ...]
) -> tuple[str, ...]:
    table = entry.fields.get("kernel_types_by_input_rank")
    if not isinstance(table, Mapping) or not operands.shapes:
        return kernels
    preferred = table.get(str(len(operands.shapes[0])), [])
    known = [name for name in preferred if name in kernels] if isinstance(preferred, list) else []
    return tuple(dict.fromkeys([*known, *kernels]))


def _project(rule: Any, operands: Operands, tp_size: int | None) -> Operands | str:
    dims = rule.get("logical_global_dims") if isinstance(rule, Mapping) else None
    axis = rule.get("shard_axis") if isinstance(rule, Mapping) else None
    shapes = operands.shapes
    is_sound = (
        axis in ("input", "output")
        and isinstance(dims, list)
        and all(isinstance(dim, int) and dim > 0 for dim in dims)
        and isinstance(rule, Mapping)
        and rule.get("otherwise") == "physical_local"
    )
    if not is_sound or len(shapes) < 2 or len(shapes[0]) < 2 or len(shapes[1]) != 2:
        return "invalid_tp_linear_projection_rule"
    visible = shapes[0][-1] if axis == "input" else shapes[1][1]
    if visible not in (dims or []) or tp_size == 1:
        return operands
    is_consistent = shapes[1][0] == shapes[0][-1]
    if tp_size is None or tp_size < 1 or not is_consistent or visible % tp_size:
        return f"tp_projection_invalid:logical_dim={visible};shard_axis={axis};tp_size={tp_size}"
    return _sharded(operands, axis == "input", visible // tp_size)


def _sharded(operands: Operands, is_input: bool, local: int) -> Operands:
    activation, weight, *rest = operands.shapes
    sharded: tuple[Shape, Shape] = (activation, (weight[0], local))
    if is_input:
        sharded = ((*activation[:-1], local), (local, weight[1]))
    return operands._replace(shapes=(*sharded, *rest))
