"""Lightning indexer and sparse attention over a shared KV cache, as leaf operators.

Their operands do not tell how the tokens are spread over requests nor how long the context is, so
the call has to: ``actual_seq_lengths`` (cumulative query offsets [tokens]) and
``actual_seq_lengths_kv`` (KV length of each request [tokens]) as keyword arguments, or as the
values of the first two integer tensors of rank 1. The other keyword arguments bear the names of
the CSV columns after ``Runtime``: phase, topk, sparse_mode, input_layout, cache_layout,
kv_cache_mode, block_size, num_heads, num_key_value_heads, sparse_block_size,
sparse_indices_pattern, sparse_indices_valid_count; ``api_path`` may also stand in the mapping.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.operands import Operands
from sqlinterp.lookup.plan import Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Argument, Tensor
from sqlinterp.paths import PATHS

# Column of the table measurement, and the keyword arguments that may give it.
_INTEGERS = {
    "runtime_topk": ("topk",),
    "runtime_num_heads": ("num_heads",),
    "runtime_num_key_value_heads": ("num_key_value_heads", "num_kv_heads"),
    "runtime_sparse_mode": ("sparse_mode",),
    "runtime_block_size": ("block_size",),
    "runtime_sparse_block_size": ("sparse_block_size",),
    "runtime_sparse_indices_valid_count": ("sparse_indices_valid_count",),
}
_TEXTS = {
    "runtime_phase": ("phase",),
    "runtime_input_layout": ("input_layout",),
    "runtime_cache_layout": ("cache_layout",),
    "runtime_kv_cache_mode": ("kv_cache_mode",),
    "runtime_sparse_indices_pattern": ("sparse_indices_pattern",),
}
_LENGTHS = {
    "runtime_actual_seq_lengths_values": ("actual_seq_lengths", "actual_seq_lengths_values"),
    "runtime_actual_seq_lengths_kv_values": (
        "actual_seq_lengths_kv",
        "actual_seq_lengths_kv_values",
    ),
}
_INDEX_DTYPES = ("INT32", "INT64")
_LARGEST = 2**62


def sparse_attention_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a lightning indexer or a sparse attention: query and cache first, whatever their slots.

    Source: profiling RFC phase 2, sections 4.3.1 and 4.3.2.
    """
    catalog, invocation = services.catalog, plan.invocation
    plan = with_kernels(plan, entry.kernels, entry, catalog, services.context)
    plan = replace(plan, path=PATHS[entry.dispatch], input_limit=entry.input_limit)
    api_path = None
    if entry.dispatch == "attention_lightning_indexer":
        told = invocation.kwargs.get("api_path")
        api_path = _text(told) or _text(entry.fields.get("api_path"))
        plan = replace(plan, notes={**plan.notes, "api_path": api_path})
    placed = [(i, a) for i, a in enumerate(_flat(invocation.args)) if _is_operand(a)]
    if not placed or placed[0][0] > 0:
        return replace(plan, target_problem="query_not_tensor")
    query = placed[0][1]
    cache = next((place for place in placed[1:] if _is_cache(place[1], query, catalog)), None)
    if cache is None:
        return replace(plan, target_problem="cache_shape_unextractable")
    unmapped = [(i, t.dtype) for i, t in (placed[0], cache) if catalog.dtype(t.dtype) is None]
    tensors = [tensor for _, tensor in placed]
    operands = _operands([query, cache[1], *(t for i, t in placed[1:] if i != cache[0])], catalog)
    enrichment = _enrichment(invocation.kwargs, tensors, catalog)
    if api_path is not None:
        enrichment["extra_json"] = json.dumps({"API Path": api_path})
    return replace(
        plan,
        operands=operands,
        target=Target(operands, invocation.outputs, enrichment),
        target_problem=f"dtype_unmapped:args[{unmapped[0][0]}]:{unmapped[0][1]}"
        if unmapped
        else None,
    )


def _flat(arguments: Iterable[Argument]) -> Iterable[Argument]:
    for argument in arguments:
        if isinstance(argument, list):
            yield from argument
        else:
            yield argument


def _is_operand(argument: Argument) -> bool:
    return isinstance(argument, Tensor) and len(argument.shape) > 0


def _is_cache(tensor: Tensor, query: Tensor, catalog: Catalog) -> bool:
    """Whether a tensor is the paged cache: (blocks, block size, heads, head dim).

    Operators hold it in different slots, behind weights or scales of the query; what goes with the
    tokens of the query starts with its first dims. Index tensors are no cache.
    """
    if catalog.dtype(tensor.dtype) in _INDEX_DTYPES or len(tensor.shape) != 4:
        return False
    return len(query.shape) < 4 or tensor.shape[:2] != query.shape[:2]


def _operands(tensors: list[Tensor], catalog: Catalog) -> Operands:
    return Operands(
        tuple(tensor.shape for tensor in tensors),
        tuple(catalog.dtype(tensor.dtype) or "" for tensor in tensors),
        (0,) * len(tensors),
    )


def _enrichment(
    kwargs: Mapping[str, Argument], tensors: list[Tensor], catalog: Catalog
) -> dict[str, Any]:
    """Return what the call tells of the columns of ``measurement``; what makes no sense is left."""
    told: dict[str, Any] = {}
    for column, names in _INTEGERS.items():
        told[column] = _first(_integer, kwargs, names)
    for column, names in _TEXTS.items():
        told[column] = _first(_text, kwargs, names)
    positional = _positional_lengths(tensors, catalog)
    for column, names in _LENGTHS.items():
        values = _first(_integers, kwargs, names) or positional.get(column)
        told[column] = None if values is None else ",".join(map(str, values))
    return {column: value for column, value in told.items() if value is not None}


def _first(
    read: Callable[[Argument], Any], kwargs: Mapping[str, Argument], names: Iterable[str]
) -> Any:
    """Return the first argument of the names that makes sense, None when there is none."""
    values = (read(kwargs.get(name)) for name in names)
    return next((value for value in values if value is not None), None)


def _positional_lengths(tensors: list[Tensor], catalog: Catalog) -> dict[str, tuple[int, ...]]:
    """Return the lengths that two integer tensors of rank 1 hold, in the order of the CSV."""
    held = [
        tensor.values
        for tensor in tensors
        if len(tensor.shape) == 1
        and tensor.values is not None
        and catalog.dtype(tensor.dtype) in _INDEX_DTYPES
    ]
    return dict(zip(_LENGTHS, held, strict=True)) if len(held) == len(_LENGTHS) else {}


def _integer(value: Argument) -> int | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and abs(value) < _LARGEST else None


def _integers(value: Argument) -> tuple[int, ...] | None:
    if isinstance(value, Tensor):
        return value.values
    if not isinstance(value, (list, tuple)) or not value:
        return None
    found = tuple(_integer(item) for item in value)
    return None if None in found else tuple(item for item in found if item is not None)


def _text(value: Argument) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
