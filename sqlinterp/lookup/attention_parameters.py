"""What a lookup of attention needs to know, from a call of an operator or from a child."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Operands
from sqlinterp.model import Argument, OpInvocation, Tensor

_KEY, _SEQ_LENS = 1, 6  # positions in tensor_cast.attention.default; the query comes first
_LARGEST = 2**62
_PHASES = ("prefill", "decode", "mixed")

# CSV column that must be there for each field that a child may require; the columns of all other
# fields are optional, and a blank cell or an absent column agrees with everything.
_REQUIRED_COLUMNS = {
    "sparse_mode": "Runtime sparse_mode",
    "num_kv_heads": "Runtime num_key_value_heads",
    "input_layout": "Runtime input_layout",
    "topk": "Runtime topk",
    "block_size": "Runtime block_size",
}

# Attributes that keyword arguments of their names tell, by type.
_INTEGERS = (
    "batch_size",
    "sparse_mode",
    "num_kv_heads",
    "num_heads",
    "block_size",
    "topk",
    "sparse_block_size",
    "sparse_indices_valid_count",
)
_TEXTS = (
    "input_layout",
    "cache_layout",
    "kv_cache_mode",
    "quant_mode",
    "sparse_indices_pattern",
)
_LISTS = ("actual_seq_lengths", "actual_seq_lengths_kv", "block_table_valid_blocks")


@dataclass(frozen=True)
class AttentionParameters:
    """An attention call in the terms of the CSV; None is what the caller does not tell.

    A direct call tells query, key and the mean of its sequence lengths; SQL derives layout, sparse
    mode and key-value heads from their shapes, for exact lookups and interpolation alike. A child
    of a composite tells them as keyword arguments that bear the names of the attributes (its
    query is its first argument, its key the second one if there is any); see
    :func:`child_parameters`.

    Attributes
    ----------
    query : Tensor
        (tokens, heads, head_dim), (batch, heads, 1, head_dim) or (tokens, heads * head_dim)
        [elements].
    key : Tensor or None
        Keys or the paged cache of keys; its last dim splits a query of rank 2.
    avg_seq_len : float or None
        Mean length of the requests, context included [tokens].
    batch_size : int or None
        Requests [count].
    sparse_mode : int or None
        0 none, 1 all, 2 left-up, 3 right-down causal, 4 band.
    num_kv_heads, num_heads : int or None
        Heads [count].
    input_layout, cache_layout, kv_cache_mode, quant_mode, phase : str or None
        As the ``Runtime`` columns spell them, e.g. ``TND``, ``PA_BSND``, ``paged``, ``decode``.
    block_size, topk, sparse_block_size, sparse_indices_valid_count : int or None
        [tokens].
    sparse_indices_pattern : str or None
        E.g. ``uniform``.
    actual_seq_lengths, actual_seq_lengths_kv, block_table_valid_blocks : tuple of int or None
        Cumulative query offsets [tokens], context of each request [tokens], its cache blocks.
    required : tuple of str
        Attributes without which there is no answer: a None of them, or the lack of its column
        where an exact lookup cannot do without, is a miss that names it.
    """

    query: Tensor
    key: Tensor | None = None
    avg_seq_len: float | None = None
    batch_size: int | None = None
    sparse_mode: int | None = None
    num_kv_heads: int | None = None
    num_heads: int | None = None
    input_layout: str | None = None
    cache_layout: str | None = None
    kv_cache_mode: str | None = None
    quant_mode: str | None = None
    phase: str | None = None
    block_size: int | None = None
    topk: int | None = None
    sparse_block_size: int | None = None
    sparse_indices_valid_count: int | None = None
    sparse_indices_pattern: str | None = None
    actual_seq_lengths: tuple[int, ...] | None = None
    actual_seq_lengths_kv: tuple[int, ...] | None = None
    block_table_valid_blocks: tuple[int, ...] | None = None
    required: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Required attributes that are unknown, sorted; the mean length always is required."""
        needed = {"avg_seq_len", *self.required}
        return sorted(name for name in needed if getattr(self, name, None) is None)

    @property
    def required_columns(self) -> list[str]:
        """CSV columns that must be there besides that of the mean length."""
        return [_REQUIRED_COLUMNS[name] for name in self.required if name in _REQUIRED_COLUMNS]

    def operands(self, catalog: Catalog) -> Operands:
        """Return query and key in the first two slots of the CSV."""
        tensors = [self.query, *([self.key] if self.key is not None else [])]
        dtypes = tuple(catalog.dtype(tensor.dtype) or "" for tensor in tensors)
        return Operands(tuple(t.shape for t in tensors), dtypes, (0,) * len(tensors))

    def enrichment(self) -> dict[str, Any]:
        """Return the known values under the names of the columns of ``measurement``."""
        values = {
            "avg_seq_len": self.avg_seq_len,
            "runtime_avg_seq_len": self.avg_seq_len,
            "runtime_batch_size": self.batch_size,
            "runtime_num_heads": self.num_heads,
            "runtime_num_key_value_heads": self.num_kv_heads,
            "runtime_sparse_mode": self.sparse_mode,
            "runtime_input_layout": self.input_layout,
            "runtime_block_size": self.block_size,
            "runtime_quant_mode": self.quant_mode,
            "runtime_phase": self.phase,
            "runtime_kv_cache_mode": self.kv_cache_mode,
            "runtime_topk": self.topk,
            "runtime_cache_layout": self.cache_layout,
            "runtime_sparse_block_size": self.sparse_block_size,
            "runtime_sparse_indices_pattern": self.sparse_indices_pattern,
            "runtime_sparse_indices_valid_count": self.sparse_indices_valid_count,
            "runtime_actual_seq_lengths_values": _cell(self.actual_seq_lengths),
            "runtime_actual_seq_lengths_kv_values": _cell(self.actual_seq_lengths_kv),
            "runtime_block_table_valid_blocks": _cell(self.block_table_valid_blocks),
        }
        return {column: value for column, value in values.items() if value is not None}


def is_child(invocation: OpInvocation) -> bool:
    """Whether an invocation tells its parameters as a child of a composite does."""
    return "avg_seq_len" in invocation.kwargs or "required" in invocation.kwargs


def direct_parameters(invocation: OpInvocation, catalog: Catalog) -> AttentionParameters | str:
    """Return the parameters of a call of an attention operator, or why it has none.

    The call holds query, key and sequence lengths at positions 0, 1 and 6. ``quant_mode``,
    ``phase`` and ``is_decode_values`` may be keyword arguments.
    """
    args = invocation.args
    if len(args) <= _SEQ_LENS:
        return "insufficient_args"
    query, key, lengths = args[0], args[_KEY], args[_SEQ_LENS]
    if not isinstance(query, Tensor) or not query.shape:
        return "query_not_tensor"
    if catalog.dtype(query.dtype) is None:
        return "dtype_unmapped"
    if not isinstance(lengths, Tensor):
        return "missing_seq_lens"
    values = lengths.values
    if not values or min(values) < 0 or max(values) > _LARGEST:
        return "invalid_seq_lens"
    return AttentionParameters(
        query=query,
        key=key if isinstance(key, Tensor) else None,
        avg_seq_len=_mean(values),
        batch_size=None if len(query.shape) == 4 else len(values),
        quant_mode=_text(invocation.kwargs, "quant_mode"),
        phase=_phase(invocation.kwargs),
    )


def child_parameters(invocation: OpInvocation, catalog: Catalog) -> AttentionParameters | str:
    """Return the parameters that a child of a composite passes, or why it has none.

    The first argument is the query, the second one, if any, the key. Keyword arguments, all
    optional but ``avg_seq_len``: avg_seq_len (number), batch_size, sparse_mode, num_kv_heads,
    num_heads, topk, block_size, sparse_block_size, sparse_indices_valid_count (integers),
    input_layout, cache_layout, kv_cache_mode, quant_mode, phase, sparse_indices_pattern (text),
    actual_seq_lengths, actual_seq_lengths_kv, block_table_valid_blocks (``{"ints": [...]}``) and
    required (list of names of these). A value of another type counts as not told.
    """
    args, kwargs = invocation.args, invocation.kwargs
    query = args[0] if args else None
    key = args[_KEY] if len(args) > _KEY else None
    if not isinstance(query, Tensor) or not query.shape:
        return "query_not_tensor"
    if catalog.dtype(query.dtype) is None:
        return "dtype_unmapped"
    fields: dict[str, Any] = {
        **{name: _integer(kwargs, name) for name in _INTEGERS},
        **{name: _text(kwargs, name) for name in _TEXTS},
        **{name: _integers(kwargs, name) for name in _LISTS},
    }
    return AttentionParameters(
        query=query,
        key=key if isinstance(key, Tensor) else None,
        avg_seq_len=_number(kwargs.get("avg_seq_len")),
        phase=_phase(kwargs),
        required=_names(kwargs.get("required")),
        **fields,
    )


def _mean(lengths: tuple[int, ...]) -> float:
    """Return the mean length as single-precision tensors give it [tokens]."""
    return float(np.mean(np.array(lengths, dtype=np.float32)))


def _cell(values: tuple[int, ...] | None) -> str | None:
    """Return integers as a Runtime list cell holds them."""
    return None if values is None else ",".join(map(str, values))


def _phase(kwargs: Mapping[str, Argument]) -> str | None:
    """Return the phase as told, else what the flags of the requests come to."""
    told = _text(kwargs, "phase")
    flags = kwargs.get("is_decode_values")
    if told in _PHASES:
        return told
    if not isinstance(flags, (list, tuple)) or not flags:
        return None
    if not all(isinstance(flag, bool) for flag in flags):
        return None
    return "mixed" if len(set(flags)) > 1 else "decode" if flags[0] else "prefill"


def _number(value: Argument) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < _LARGEST else None


def _integer(kwargs: Mapping[str, Argument], name: str) -> int | None:
    value = kwargs.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) < _LARGEST else None


def _integers(kwargs: Mapping[str, Argument], name: str) -> tuple[int, ...] | None:
    value = kwargs.get(name)
    if isinstance(value, Tensor):
        value = value.values
    if not isinstance(value, (list, tuple)):
        return None
    is_list = all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    return tuple(value) if value and is_list else None


def _text(kwargs: Mapping[str, Argument], name: str) -> str | None:
    value = kwargs.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _names(value: Argument) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()
