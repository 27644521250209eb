"""Rows and calls of LightningIndexer and SparseFlashAttention for tests: batches of requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from databases_for_tests import kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase

Batch = list[tuple[int, int]]  # [query tokens, KV tokens] of each request

SHAPES = (
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
_CONTEXT = {
    "phase": "",
    "topk": "2048",
    "sparse_mode": "3",
    "input_layout": "TND",
    "cache_layout": "PA_BSND",
    "kv_cache_mode": "paged",
    "block_size": "128",
    "num_heads": "",
    "num_key_value_heads": "1",
    "sparse_block_size": "1",
    "sparse_indices_pattern": "uniform",
    "sparse_indices_valid_count": "2048",
    "metadata_completeness": "complete",
}


def decode(requests: int, context: int = 4096) -> Batch:
    """Requests of one token each over equal contexts."""
    return [(1, context)] * requests


def prefill(*lengths: int) -> Batch:
    """Requests without earlier tokens."""
    return [(length, length) for length in lengths]


def lengths(batch: Batch) -> tuple[list[int], list[int]]:
    """Cumulative query offsets and KV lengths."""
    return list(accumulate(query for query, _ in batch)), [kv for _, kv in batch]


class Kernel:
    """How one kernel writes rows and how its operator is called."""

    def __init__(self, name: str, op: str, mode: str, columns: Iterable[str]) -> None:
        self.name, self.op, self.columns = name, op, list(columns)
        self.entry = {"kernel_type": name, "query_mode": mode}

    def header(self, *without: str, extra: Iterable[str] = ()) -> str:
        names = [f"Runtime {c}" for c in self.columns if c not in without]
        lists = [
            f"Runtime {c}"
            for c in ("actual_seq_lengths_values", "actual_seq_lengths_kv_values")
            if c not in without
        ]
        return ",".join([SHAPES, *lists, *names, *extra, "Average Duration(us)"])

    def row(
        self, shapes: str, batch: Batch, latency: object, without: Iterable[str] = (), **cells: str
    ) -> str:
        """A row; ``shapes`` are the six cells of shapes, dtypes and formats."""
        offsets, kv = lengths(batch)
        given = {**_CONTEXT, **cells}
        lists = {
            "actual_seq_lengths_values": given.get("offsets", ",".join(map(str, offsets))),
            "actual_seq_lengths_kv_values": given.get("kv", ",".join(map(str, kv))),
        }
        values = [f'"{value}"' for name, value in lists.items() if name not in without]
        values += [given[name] for name in self.columns if name not in without]
        values += [given[name] for name in cells if name.startswith("extra")]
        return ",".join([shapes, *values, str(latency)])

    @contextmanager
    def database(
        self,
        folder: Path,
        rows: Iterable[str],
        header: str | None = None,
        entry: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> Iterator[ProfilingDatabase]:
        files = {f"{self.name}.csv": [header or self.header(), *rows]}
        write_version(folder / "v", files, {self.op: {**self.entry, **(entry or {})}}, extra)
        with sqlinterp.open(kept_database(folder / "v"), **context) as database:
            yield database

    def ask(self, folder: Path, rows: Iterable[str], op: dict[str, Any], **given: Any) -> Answer:
        with self.database(folder, rows, **given) as database:
            return database.lookup(op)


INDEXER = Kernel(
    "LightningIndexer",
    "tensor_cast.quant_lightning_indexer.default",
    "attention_lightning_indexer",
    (
        "phase",
        "topk",
        "sparse_mode",
        "input_layout",
        "cache_layout",
        "kv_cache_mode",
        "block_size",
        "num_heads",
        "num_key_value_heads",
        "metadata_completeness",
    ),
)
SPARSE = Kernel(
    "SparseFlashAttention",
    "tensor_cast.sparse_attn_sharedkv.default",
    "attention_sparse_sharedkv",
    (
        *INDEXER.columns[:-1],
        "sparse_block_size",
        "sparse_indices_pattern",
        "sparse_indices_valid_count",
        "metadata_completeness",
    ),
)


def indexer_row(
    batch: Batch,
    latency: object,
    blocks: int = 100,
    *,
    heads: int = 32,
    head_dim: int = 128,
    tail: str = "128,1,128",
    dtypes: str = "DT_BF16;DT_BF16",
    formats: str = "ND;ND",
    topk: int = 2048,
    table: int = 1584,
    query: str | None = None,
    **cells: Any,
) -> str:
    """Query, cache, weights, two lengths and the block table, as in the real files."""
    tokens, requests = sum(q for q, _ in batch), len(batch)
    query = query or f"{tokens},{heads},{head_dim}"
    inputs = f"{query};{blocks},{tail};{tokens},{heads};{requests};{requests};{requests},{table}"
    shapes = (
        f'"{inputs}",{dtypes};DT_BF16;INT32;INT32;INT32,{formats};ND;ND;ND;ND,'
        f'"{tokens},1,{topk};{tokens},1,{topk}",INT32;DT_BF16,ND;ND'
    )
    return INDEXER.row(shapes, batch, latency, **{"topk": str(topk), **cells})


def sparse_row(
    batch: Batch,
    latency: object,
    blocks: int = 100,
    *,
    heads: int = 16,
    head_dim: int = 512,
    tail: str = "128,1,512",
    dtypes: str = "DT_BF16;DT_BF16",
    formats: str = "ND;ND",
    topk: int = 2048,
    table: int = 1584,
    query: str | None = None,
    **cells: Any,
) -> str:
    """Query, cache twice, indices, block table, two lengths and the rotary parts."""
    tokens, requests = sum(q for q, _ in batch), len(batch)
    query = query or f"{tokens},{heads},{head_dim}"
    inputs = (
        f"{query};{blocks},{tail};{blocks},{tail};{tokens},1,{topk};"
        f"{requests},{table};{requests};{requests};{tokens},{heads},64;{blocks},128,1,64"
    )
    first, cache = dtypes.split(";")
    shapes = (
        f'"{inputs}",{dtypes};{cache};INT32;INT32;INT32;INT32;{first};{cache},'
        f'{formats};ND;ND;ND;ND;ND;ND;ND,"{tokens},{heads},{head_dim}",DT_BF16,ND'
    )
    return SPARSE.row(shapes, batch, latency, **{"topk": str(topk), **cells})


TOLD = {
    "sparse_mode": 3,
    "cache_layout": "PA_BSND",
    "kv_cache_mode": "paged",
}
SPARSE_TOLD = {
    **TOLD,
    "topk": 2048,
    "sparse_block_size": 1,
    "sparse_indices_pattern": "uniform",
    "sparse_indices_valid_count": 2048,
}


def told(batch: Batch, base: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Keyword arguments; one that is None is left out."""
    offsets, kv = lengths(batch)
    lists = {"actual_seq_lengths": {"ints": offsets}, "actual_seq_lengths_kv": {"ints": kv}}
    return {k: v for k, v in {**base, **lists, **changes}.items() if v is not None}


def indexer_call(
    batch: Batch,
    blocks: int = 100,
    *,
    dtype: str = "bfloat16",
    cache_dtype: str = "bfloat16",
    heads: int = 32,
    head_dim: int = 128,
    tail: tuple[int, ...] = (128, 1, 128),
    topk: int = 2048,
    query: tuple[int, ...] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """The quantised operator: scales and weights stand between the query and the cache."""
    tokens = sum(q for q, _ in batch)
    args = [
        tensor(*(query or (tokens, heads, head_dim)), dtype=dtype),
        tensor(tokens, heads, dtype="float32"),
        tensor(tokens, heads),
        tensor(blocks, *tail, dtype=cache_dtype),
    ]
    output = tensor(tokens, 1, topk, dtype="int32")
    return {
        "op": INDEXER.op,
        "args": args,
        "kwargs": told(batch, TOLD, **kwargs),
        "outputs": [output],
    }


def sparse_call(
    batch: Batch,
    blocks: int = 100,
    *,
    dtype: str = "bfloat16",
    cache_dtype: str = "bfloat16",
    heads: int = 16,
    tail: tuple[int, ...] = (128, 1, 512),
    query: tuple[int, ...] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """The canonical leaf: query, shared cache and everything that the rows tell."""
    tokens = sum(q for q, _ in batch)
    args = [
        tensor(*(query or (tokens, heads, 512)), dtype=dtype),
        tensor(blocks, *tail, dtype=cache_dtype),
    ]
    return {
        "op": SPARSE.op,
        "args": args,
        "kwargs": told(batch, SPARSE_TOLD, **kwargs),
        "outputs": [tensor(tokens, heads, 512, dtype=dtype)],
    }
