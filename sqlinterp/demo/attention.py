"""Cases of the kernels whose rows carry Runtime columns: attention and its preprocessing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from sqlinterp.demo.axes import TOKENS, axis
from sqlinterp.demo.domains import Case

_TP_HEADS = ((4, 1), (8, 1), (16, 2), (32, 4), (64, 8))
_SEQ_PREFILL = (4096, 512, 1024, 2048, 3592, 3072, 4112, 4608, 5120, 6144)
_SEQ_DECODE = (4096, 1024, 2048, 5120, 3593, 3072, 4224, 4352, 4608, 4864, 5376, 5632)
_BATCH_DECODE = (16, 32, 4, 1, 8, 24, 2, 12)
_KV_CONTEXT = (2560, 10240, 40001, 5120, 20480, 1024, 61440, 30720, 15360, 7680, 3840)
_SPARSE_BATCH = (1, 34, 16, 4, 9, 64, 2, 8, 32, 12, 48, 24)
_BLOCK = 128


@dataclass(frozen=True)
class _Scene:
    """A batch of equal requests: ``queries`` new tokens each over a context of ``context``."""

    batch: int
    queries: int
    context: int

    @property
    def tokens(self) -> int:
        return self.batch * self.queries


def _runtime(values: Mapping[str, object]) -> dict[str, str]:
    return {f"Runtime {name}": str(text) for name, text in values.items()}


def _repeat(number: int, times: int) -> str:
    return ",".join([str(number)] * times)


def _cumulative(step: int, times: int) -> str:
    return ",".join(str(step * i) for i in range(1, times + 1))


def _blocks(scene: _Scene) -> str:
    return _repeat(-(-scene.context // _BLOCK), scene.batch)


def _grid(
    count: int, variants: int, batches: Sequence[int], contexts: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield (variant, batch, context) of complete rectangles, about ``count`` in all."""
    each = max(min(count, 6), -(-count // variants))
    side = min(max(1, isqrt(each)), 64)
    rows, columns = axis(batches, side, 96), axis(contexts, -(-each // side), 65536)
    for variant in range(variants):
        for batch in rows:
            for context in columns:
                yield variant, batch, context


def _fia_extras(scene: _Scene, heads: int, groups: int) -> dict[str, object]:
    return {
        "source_profile": "synthetic_demo",
        "actual_seq_lengths_shape": scene.batch,
        "actual_seq_lengths_values": _cumulative(scene.queries, scene.batch),
        "actual_seq_lengths_kv_shape": scene.batch,
        "actual_seq_lengths_kv_values": _repeat(scene.context, scene.batch),
        "avg_seq_len": f"{scene.context:.6f}",
        "block_table_shape": f"{scene.batch},512",
        "block_table_valid_blocks": _blocks(scene),
        "num_heads": heads,
        "num_key_value_heads": groups,
        "sparse_mode": 3,
        "input_layout": "TND",
        "block_size": _BLOCK,
        "attn_state": "paged_runtime",
        "kv_cache_mode": "paged_cache_pool",
        "metadata_completeness": "runtime_values",
    }


def _fia_case(scene: _Scene, heads: int, groups: int, changes: Mapping[str, object]) -> Case:
    names = {"T": scene.tokens, "N": heads, "G": groups, "A": scene.context, "B": scene.batch}
    return Case(names, _runtime({**_fia_extras(scene, heads, groups), **changes}))


def fia_decode(count: int) -> Iterator[Case]:
    """Yield paged decode scenes; the batch shifts the average length, so no two rows tie."""
    for which, batch, context in _grid(count, len(_TP_HEADS), _BATCH_DECODE, _SEQ_DECODE):
        heads, groups = _TP_HEADS[which]
        yield _fia_case(_Scene(batch, 1, context + batch.bit_length()), heads, groups, {})


def fia_prefill(count: int) -> Iterator[Case]:
    """Yield causal prefill scenes without a paged cache."""
    for which, batch, context in _grid(count, len(_TP_HEADS), (1, 4, 2, 8), _SEQ_PREFILL):
        heads, groups = _TP_HEADS[which]
        scene = _Scene(batch, context, context)
        if scene.tokens <= 65536:
            changes = {
                "actual_seq_lengths_kv_values": _cumulative(context, batch),
                "block_table_shape": "",
                "block_table_valid_blocks": "",
                "attn_state": "prefill_no_cache",
                "kv_cache_mode": "non_paged_direct",
            }
            yield _fia_case(scene, heads, groups, changes)


def fia_mla(count: int) -> Iterator[Case]:
    """Yield decode scenes of latent attention: one key-value head of 512 + 64."""
    shards = (16, 128, 64, 32)
    for which, batch, context in _grid(count, len(shards), (1, 4, 8, 12, 2, 16), _SEQ_DECODE):
        scene = _Scene(batch, 1, context + batch.bit_length())
        changes = {
            "actual_seq_lengths_shape": "",
            "actual_seq_lengths_values": "",
            "sparse_mode": 0,
            "input_layout": "BNSD_NBSD",
            "attn_state": "mla_paged_runtime",
        }
        yield _fia_case(scene, shards[which], 1, changes)


_MODES = (("decode", 1), ("mixed", 3), ("prefill", 0), ("mixed", 256))


def _sparse_scenes(count: int, variants: int) -> Iterator[tuple[int, str, _Scene]]:
    per_mode = -(-count // len(_MODES))
    for phase, queries in _MODES:
        contexts = _KV_CONTEXT if queries else (1024, 256, 4096, 2048, 512, 8192, 128)
        batches = _SPARSE_BATCH if queries in (1, 3) else (1, 2, 4, 8)
        for which, batch, context in _grid(per_mode, variants, batches, contexts):
            scene = _Scene(batch, queries or context, context + (queries == 3) * 2)
            if scene.tokens <= 32768:
                yield which, phase, scene


def _sparse_extras(scene: _Scene, phase: str, heads: int) -> dict[str, object]:
    extras = _fia_extras(scene, heads, 1)
    del extras["attn_state"]
    return {
        **extras,
        "phase": phase,
        "block_table_shape": f"{scene.batch},1584",
        "topk": 2048,
        "cache_layout": "PA_BSND",
        "kv_cache_mode": "paged",
        "batch_size": scene.batch,
        "metadata_completeness": "complete",
    }


def _sparse_case(prefix: str, scene: _Scene, heads: int, extras: dict[str, object]) -> Case:
    names = {
        "T": scene.tokens,
        "N": heads,
        "B": scene.batch,
        "A": scene.context,
        "V": min(2048, scene.context),
    }
    text = f"{prefix} {sorted(names.items())} {extras['phase']}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Case(names, _runtime({**extras, "case_id": f"{prefix}_{digest}"}))


def sparse(count: int) -> Iterator[Case]:
    """Yield SparseFlashAttention scenes: decode, three-token decode, prefill and chunks."""
    shards = (16, 64, 4, 2)
    for which, phase, scene in _sparse_scenes(count, len(shards)):
        extras = {
            **_sparse_extras(scene, phase, shards[which]),
            "sparse_block_size": 1,
            "sparse_indices_pattern": "uniform",
            "sparse_indices_valid_count": min(2048, scene.context),
        }
        yield _sparse_case("sfa", scene, shards[which], extras)


def indexer(count: int) -> Iterator[Case]:
    """Yield LightningIndexer scenes with 32 index heads."""
    for _, phase, scene in _sparse_scenes(count, 1):
        yield _sparse_case("li", scene, 32, _sparse_extras(scene, phase, 32))


def preprocess(count: int) -> Iterator[Case]:
    """Yield fused MLA preprocessing of 1 to 1024 tokens."""
    models = ((6144, 2048, 192), (7168, 1536, 128))
    shards = [(heads, *model) for heads in (16, 4, 8, 32, 64) for model in models]
    length = max(4, min(35, -(-count // 2)), -(-count // len(shards)))
    for heads, hidden, rank, nope in shards[: -(-count // length)]:
        for tokens in axis(TOKENS, length, 1024):
            values = {
                "num_tokens": tokens,
                "hidden_size": hidden,
                "local_num_heads": heads,
                "q_lora_rank": rank,
                "kv_lora_rank": 512,
                "qk_nope_head_dim": nope,
                "qk_rope_head_dim": 64,
                "block_size": _BLOCK,
                "cache_mode": "krope_ctkv",
                "quant_mode": "per_tensor_quant_asymm",
                "weight_format": "FRACTAL_NZ",
                "enable_inner_out": "true",
                "weight_quantized": "true",
                "metadata_completeness": "complete",
            }
            names = {"T": tokens, "H": hidden, "N": heads, "Q": rank, "P": nope}
            yield Case(names, _runtime(values))


SCENES: dict[str, Callable[[int], Iterator[Case]]] = {
    "fia_decode": fia_decode,
    "fia_prefill": fia_prefill,
    "fia_mla": fia_mla,
    "sparse": sparse,
    "indexer": indexer,
    "preprocess": preprocess,
}
