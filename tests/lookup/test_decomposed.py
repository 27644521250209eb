"""Operators that their caller decomposes: MLA decode and prefill, sparse indexer, MLA preprocess.

The children are the sub-queries that a simulator makes of the operators. Source: case 20 of the
exact lookup rules, the recorded answers mla_04 and hand_li_through_dsa_indexer_exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

MLA = "tensor_cast.multihead_latent_attention.default"
INDEXER = "tensor_cast.dsa_indexer.default"
MLAPO = "tensor_cast.mlapo.default"
SHORT_HEADER = MATMUL_HEADER.replace("Average Duration(us)", "Duration(us)")
DECOMPOSED = {"composite": True, "decomposer": True}


def child(kernel: str, *args: Any, **fields: Any) -> dict[str, Any]:
    """A child for a named kernel."""
    return {"kernel": kernel, "args": list(args), **fields}


def ask(
    folder: Path,
    files: Mapping[str, Sequence[str]],
    op: str,
    children: Sequence[dict[str, Any]],
    entry: Mapping[str, Any] = DECOMPOSED,
    **context: Any,
) -> Answer:
    """Answer an operator with children from a database of the files, header lines included."""
    write_version(
        folder / "v", {f"{name}.csv": lines for name, lines in files.items()}, {op: entry}
    )
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        return database.lookup({**call(op), "children": list(children)})


def rules(answer: Answer) -> list[tuple[str, str]]:
    """Kernel and rule of every child that has an answer."""
    return [
        (part["kernel_type"], part["shape_match_rule"])
        for part in answer.details["sub_kernels"]
        if part["source"] is not None
    ]


DECODE_FILES = {
    "BatchMatMulV2": [
        MATMUL_HEADER, '"8,24,96;8,96,256",DT_BF16;DT_BF16,ND;ND,"1",DT_BF16,ND,6.5'
    ],
    "FusedInferAttentionScore": [
        "Input Shapes,Input Data Types,Duration(us),avg_seq_len",
        '"24,8,1,256;50,1,64,256",DT_BF16;DT_BF16,71.25,3000',
    ],
}  # fmt: skip
LAST_OF_DECODE = [
    MATMUL_HEADER, '"8,24,256;8,256,96",DT_BF16;DT_BF16,ND;ND,"1",DT_BF16,ND,5.75'
]  # fmt: skip
DECODE = [
    child("BatchMatMulV2", tensor(8, 24, 96), tensor(8, 96, 256), alternates=["BatchMatMulNd"],
          tc_input_count=2),
    child("FusedInferAttentionScore", tensor(24, 8, 256), query_mode="attention_special",
          kwargs={"avg_seq_len": 3000, "sparse_mode": 0, "num_kv_heads": 1}),
    child("TransposeBatchMatMul", tensor(8, 24, 256), tensor(8, 256, 96)),
]  # fmt: skip


@pytest.mark.parametrize("disable_interpolation", [True, False])
def test_mla_decode_is_partial_without_its_last_kernel(
    tmp_path: Path, disable_interpolation: bool
) -> None:
    context = {"disable_interpolation": disable_interpolation}
    answer = ask(tmp_path, DECODE_FILES, MLA, DECODE, **context)
    assert (answer.source, answer.latency_us) == ("PARTIAL", 77.75)
    assert answer.confidence == pytest.approx(2 / 3)
    assert rules(answer) == [
        ("BatchMatMulV2", "identity"),
        ("FusedInferAttentionScore", "attention"),
    ]
    missing = [{"name": "TransposeBatchMatMul", "miss_reason": "csv_not_found"}]
    assert answer.details["missing"] == missing


def test_mla_decode_sums_its_three_kernels(tmp_path: Path) -> None:
    files = {**DECODE_FILES, "TransposeBatchMatMul": LAST_OF_DECODE}
    answer = ask(tmp_path, files, MLA, DECODE)
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 83.5, 0.8)
    kernels = "BatchMatMulV2,FusedInferAttentionScore,TransposeBatchMatMul"
    assert answer.kernel_type == kernels


def test_mla_decode_without_its_attention_is_a_miss(tmp_path: Path) -> None:
    files = {
        "BatchMatMulV2": DECODE_FILES["BatchMatMulV2"],
        "TransposeBatchMatMul": LAST_OF_DECODE,
    }
    answer = ask(tmp_path, files, MLA, DECODE)
    assert answer.source is None
    reason = "attention_sub_kernel_miss:FusedInferAttentionScore:csv_not_found"
    assert answer.miss_reason == reason


def test_mla_decode_interpolates_its_attention(tmp_path: Path) -> None:
    header = (
        f"{SHORT_HEADER},Runtime avg_seq_len,Runtime sparse_mode,Runtime num_key_value_heads,"
        "Runtime input_layout"
    )
    shapes = '"2,4,1,128;32,1,128,128",DT_BF16;DT_BF16,ND;ND,"2,4,1,128",DT_BF16,ND'
    files = {
        "BatchMatMulV2": [
            SHORT_HEADER, '"4,2,64;4,64,128",DT_BF16;DT_BF16,ND;ND,"4,2,128",DT_BF16,ND,2'
        ],
        "TransposeBatchMatMul": [
            SHORT_HEADER, '"4,2,128;4,128,64",DT_BF16;DT_BF16,ND;ND,"4,2,64",DT_BF16,ND,4'
        ],
        "FusedInferAttentionScore": [
            header, f"{shapes},30,1000,0,1,BNSD_NBSD", f"{shapes},40,2000,0,1,BNSD_NBSD"
        ],
    }  # fmt: skip
    children = [
        child("BatchMatMulV2", tensor(4, 2, 64), tensor(4, 64, 128), tc_input_count=2),
        child("FusedInferAttentionScore", tensor(2, 4, 128), query_mode="attention_special",
              kwargs={"avg_seq_len": 1500, "sparse_mode": 0, "num_kv_heads": 1}),
        child("TransposeBatchMatMul", tensor(4, 2, 128), tensor(4, 128, 64)),
    ]  # fmt: skip
    answer = ask(tmp_path, files, MLA, children)
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 41)
    assert answer.shape_match_rule == "interpolated_composite"
    assert answer.details["fallback_from"] == "exact_miss"


def test_mla_prefill_is_its_projection_and_its_attention(tmp_path: Path) -> None:
    files = {
        "MatMulV2": [
            SHORT_HEADER, '"1024,512;2048,512",DT_BF16;DT_BF16,ND;ND,"1024,2048",DT_BF16,ND,11.5'
        ],
        "FusedInferAttentionScore": [
            f"{SHORT_HEADER},Runtime avg_seq_len,Runtime sparse_mode,"
            "Runtime num_key_value_heads,Runtime input_layout",
            '"1024,8,128;1024,8,128",DT_BF16;DT_BF16,ND;ND,"1024,8,128",DT_BF16,ND,24.5,1024,3,8,TND',
        ],
    }  # fmt: skip
    children = [
        child("MatMulV2", tensor(1024, 512), tensor(512, 2048), tc_input_count=2),
        child("FusedInferAttentionScore", tensor(1024, 8, 128), query_mode="attention_special",
              kwargs={"avg_seq_len": 1024, "sparse_mode": 3, "num_kv_heads": 8}),
    ]  # fmt: skip
    answer = ask(tmp_path, files, MLA, children)
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 36, 0.8)
    assert answer.kernel_type == "MatMulV2,FusedInferAttentionScore"
    assert rules(answer) == [("MatMulV2", "transpose"), ("FusedInferAttentionScore", "attention")]


INDEXER_FILES = {
    "MatMulV2": [
        SHORT_HEADER,
        '"2,64;16,64",DT_BF16;DT_BF16,ND;ND,"2,16",DT_BF16,ND,1',
        '"2,64;4,64",DT_BF16;DT_BF16,ND;ND,"2,4",DT_BF16,ND,2',
        '"2,32;32,64",DT_BF16;DT_BF16,ND;ND,"2,64",DT_BF16,ND,4',
    ],
    "LayerNormV3": [
        SHORT_HEADER, '"2,16;16;16",FLOAT;FLOAT;FLOAT,ND;ND;ND,"2,16",FLOAT,ND,8'
    ],
    "Cast": [SHORT_HEADER, '"2,16",DT_BF16,ND,"2,16",FLOAT,ND,16'],
    "ScatterNdUpdate": [
        SHORT_HEADER, '"2048,16;2,1;2,16",DT_BF16;INT32;DT_BF16,ND;ND;ND,"2048,16",DT_BF16,ND,64'
    ],
    "LightningIndexer": [
        f"{SHORT_HEADER},Runtime actual_seq_lengths_values,Runtime actual_seq_lengths_kv_values,"
        "Runtime sparse_mode,Runtime num_key_value_heads,Runtime input_layout,Runtime topk,"
        "Runtime block_size,Runtime num_heads,Runtime cache_layout,Runtime kv_cache_mode,"
        "Runtime avg_seq_len",
        '"2,4,16;64,128,1,16",DT_BF16;DT_BF16,ND;ND,"2,1,2048",INT32,ND,100,"1,2","2000,2000",'
        "3,1,TND,2048,128,4,PA_BSND,paged,2000",
    ],
}  # fmt: skip
INDEXER_CHILDREN = [
    child("MatMulV2", tensor(2, 64), tensor(16, 64), tc_input_count=2),
    child("LayerNormV3", tensor(2, 16, dtype="float32"), tensor(16, dtype="float32"),
          tensor(16, dtype="float32"), tc_input_count=3),
    child("Cast", tensor(2, 16), tc_input_count=1),
    child("Cast", tensor(2, 16), tc_input_count=1),
    child("MatMulV2", tensor(2, 64), tensor(4, 64)),
    child("MatMulV2", tensor(2, 32), tensor(32, 64), tc_input_count=2),
    child("ScatterNdUpdate", tensor(999, 16), tensor(2, 1, dtype="int32"), tensor(2, 16),
          alternates=["ScatterNdUpdateAiCore"], query_mode="scatter_cache_write"),
    child("LightningIndexer", tensor(2, 4, 16), tensor(64, 128, 1, 16),
          alternates=["LightningIndexerVllm"], query_mode="attention_lightning_indexer",
          kwargs={"actual_seq_lengths_values": {"ints": [1, 2]},
                  "actual_seq_lengths_kv_values": {"ints": [2000, 2000]}, "sparse_mode": 3,
                  "num_kv_heads": 1, "num_heads": 4, "input_layout": "TND", "topk": 2048,
                  "block_size": 128, "cache_layout": "PA_BSND", "kv_cache_mode": "paged"}),
]  # fmt: skip


def test_the_indexer_sums_eight_kernels(tmp_path: Path) -> None:
    answer = ask(tmp_path, INDEXER_FILES, INDEXER, INDEXER_CHILDREN)
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 211, 0.8)
    assert answer.kernel_type == (
        "MatMulV2,LayerNormV3,Cast,Cast,MatMulV2,MatMulV2,ScatterNdUpdate,LightningIndexer"
    )
    assert rules(answer)[6] == ("ScatterNdUpdate", "scatter_cache_pool_dim0_agnostic")


def test_an_indexer_without_its_cache_write_is_partial(tmp_path: Path) -> None:
    files = {name: lines for name, lines in INDEXER_FILES.items() if name != "ScatterNdUpdate"}
    answer = ask(tmp_path, files, INDEXER, INDEXER_CHILDREN)
    assert (answer.source, answer.latency_us, answer.confidence) == ("PARTIAL", 147, 7 / 8)
    assert answer.miss_reason == "sub_kernel_miss:ScatterNdUpdate"


# Caches: rows with any number of blocks answer.

CACHE_ROW = (
    '"4,1,1,576;512;4,1,1,64;4,1,1,64;4;777,128,1,64;777,128,1,512",'
    "DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT64;DT_BF16;DT_BF16,ND;ND;ND;ND;ND;ND;ND,1,DT_BF16,ND"
)


def cache_update(
    tokens: int = 4, block: int = 128, rope: Any = None, slots: str = "int64", latent: int = 576
) -> dict[str, Any]:
    """The query of a KV cache update."""
    rope = rope or tensor(7, block, 1, 64)
    return child(
        "KvRmsNormRopeCache", tensor(tokens, 1, 1, latent), tensor(512), tensor(tokens, 1, 1, 64),
        tensor(tokens, 1, 1, 64), tensor(tokens, dtype=slots), rope, tensor(7, block, 1, 512),
        query_mode="cache_postprocess",
    )  # fmt: skip


def ask_cache(
    folder: Path, op: dict[str, Any], rows: Sequence[str], name: str = "KvRmsNormRopeCache"
) -> dict[str, Any]:
    """What became of one child."""
    answer = ask(folder, {name: [MATMUL_HEADER, *rows]}, MLAPO, [op])
    part: dict[str, Any] = answer.details["sub_kernels"][0]
    return part


def test_a_cache_update_does_not_mind_the_number_of_blocks(tmp_path: Path) -> None:
    part = ask_cache(tmp_path, cache_update(), [f"{CACHE_ROW},5.5", f"{CACHE_ROW},6.5"])
    assert (part["source"], part["latency_us"]) == ("MEASURED", 6)
    assert part["shape_match_rule"] == "cache_pool_dim0_agnostic"
    assert (part["file"], part["line"]) == ("KvRmsNormRopeCache.csv", 2)


@pytest.mark.parametrize(
    "op",
    [
        cache_update(tokens=5),
        cache_update(block=64),
        cache_update(slots="int32"),
        cache_update(latent=577),
        cache_update(rope=tensor(7, 128, 64)),
    ],
)
def test_a_cache_update_minds_everything_else(tmp_path: Path, op: dict[str, Any]) -> None:
    part = ask_cache(tmp_path, op, [f"{CACHE_ROW},5.5"])
    assert part["miss_reason"] == "semantic_key_mismatch:cache_postprocess"


def test_a_cache_update_needs_plain_formats(tmp_path: Path) -> None:
    fractal = CACHE_ROW.replace("ND;ND;ND;ND;ND;ND;ND", "ND;ND;ND;ND;ND;ND;NCHW")
    part = ask_cache(tmp_path, cache_update(), [f"{fractal},5.5"])
    assert part["miss_reason"] == "semantic_key_mismatch:cache_postprocess"


SCATTER_ROW = '"{0},16;{1},1;{1},16",DT_BF16;INT32;DT_BF16,ND;ND;ND,"{0},16",DT_BF16,ND'


def scatter(tokens: int, lines: int = 2048) -> dict[str, Any]:
    """The query of a scattered cache write."""
    operands = tensor(lines, 16), tensor(tokens, 1, dtype="int32"), tensor(tokens, 16)
    return child("ScatterNdUpdate", *operands, query_mode="scatter_cache_write")


def test_a_scattered_write_does_not_mind_the_number_of_lines(tmp_path: Path) -> None:
    rows = [SCATTER_ROW.format(2048, 2) + ",64", SCATTER_ROW.format(2048, 4) + ",80"]
    part = ask_cache(tmp_path / "a", scatter(2, 999), rows, "ScatterNdUpdate")
    assert (part["source"], part["latency_us"]) == ("MEASURED", 64)
    part = ask_cache(tmp_path / "b", scatter(3), rows, "ScatterNdUpdate")
    assert (part["source"], part["latency_us"]) == ("INTERPOLATED", 72)
    part = ask_cache(tmp_path / "c", scatter(3, 999), rows, "ScatterNdUpdate")
    assert part["source"] is None


def test_a_scattered_write_returns_its_cache(tmp_path: Path) -> None:
    other = SCATTER_ROW.format(2048, 2).replace('"2048,16",DT_BF16,ND', '"2,16",DT_BF16,ND')
    answer = ask(
        tmp_path, {"ScatterNdUpdate": [MATMUL_HEADER, f"{other},64"]}, MLAPO, [scatter(2)],
        disable_interpolation=True,
    )  # fmt: skip
    part = answer.details["sub_kernels"][0]
    assert part["miss_reason"] == "semantic_key_mismatch:scatter_cache_write"


# The fused preprocess kernel.

FUSED = "mla_preprocess_0_mix_aic"
FUSED_FIELDS: dict[str, Any] = {
    "hidden_size": 64, "local_num_heads": 2, "q_lora_rank": 32, "kv_lora_rank": 16,
    "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "block_size": 128, "cache_mode": "krope_ctkv",
    "quant_mode": "per_tensor_quant_asymm", "weight_format": "FRACTAL_NZ",
    "enable_inner_out": True, "weight_quantized": True,
}  # fmt: skip
FUSED_HEADER = ",".join(
    [SHORT_HEADER, "Runtime num_tokens", *(f"Runtime {name}" for name in FUSED_FIELDS),
     "Runtime metadata_completeness"]
)  # fmt: skip


def fused_row(tokens: int, latency: float, completeness: str = "complete", hidden: int = 64) -> str:
    """A row of the fused kernel, laid out as its fields say; F = 32 + 16 + 4, Q = 2 * (8 + 4)."""
    inputs = [
        f"{tokens},{hidden}", "1,2,52,32", "52", "32", "32", "1,1,24,32", "24", "16", f"{tokens},4",
        f"{tokens},4", "2,8,16", "1,128,1,16", "1,128,1,4", f"{tokens}", "1", "1", "52", "1", "1",
        "24", "1", "1",
    ]  # fmt: skip
    outputs = [f"{tokens},2,16", "1,128,1,16", f"{tokens},2,4", "1,128,1,4", f"{tokens},32"]
    dtypes = ["INT8" if slot in (1, 5) else "DT_BF16" for slot in range(22)]
    formats = ["FRACTAL_NZ" if slot in (1, 5) else "ND" for slot in range(22)]
    cells = [
        ";".join(part) for part in (inputs, dtypes, formats, outputs, ["DT_BF16"] * 5, ["ND"] * 5)
    ]
    fields = ",".join(str(value) for value in FUSED_FIELDS.values())
    quoted = ",".join(f'"{cell}"' for cell in cells)
    return f"{quoted},{latency},{tokens},{fields},{completeness}"


def ask_fused(folder: Path, rows: Sequence[str], tokens: int, **changes: Any) -> Answer:
    """Answer one call of the fused kernel."""
    fields = {**FUSED_FIELDS, "num_tokens": tokens, "dtype": "bfloat16", **changes}
    op = child(FUSED, query_mode="mlapo_preprocess", kwargs=fields)
    files = {FUSED: [FUSED_HEADER, *rows]}
    return ask(folder, files, MLAPO, [op], disable_interpolation=True)


def test_the_fused_kernel_is_measured_or_bounded_in_its_tokens(tmp_path: Path) -> None:
    rows = [fused_row(4, 10), fused_row(8, 20), fused_row(6, 99, "legacy"), fused_row(64, 50)]
    exact = ask_fused(tmp_path / "a", rows, 8)
    assert (exact.source, exact.latency_us, exact.confidence) == ("MEASURED", 20, 0.8)
    assert rules(exact) == [(FUSED, "mlapo_runtime_exact")]
    between = ask_fused(tmp_path / "b", rows, 6)
    assert (between.source, between.latency_us, between.confidence) == ("INTERPOLATED", 15, 0.75)
    assert rules(between) == [(FUSED, "mlapo_num_tokens_bounded_interpolation")]
    corners = between.details["sub_kernels"][0]["details"]["corner_points"]
    assert [(corner["num_tokens"], corner["line"]) for corner in corners] == [(4, 2), (8, 3)]


@pytest.mark.parametrize(
    ("tokens", "changes", "reason"),
    [
        (65, {}, "shape_mismatch:mlapo_preprocess:bounded_interpolation_only"),
        (1025, {}, "semantic_key_mismatch:mlapo_preprocess:num_tokens_out_of_range"),
        (8, {"hidden_size": 65}, "semantic_key_mismatch:mlapo_preprocess:fractal_nz_alignment"),
        (8, {"dtype": "float32"}, "semantic_key_mismatch:mlapo_preprocess:dtype"),
        (8, {"local_num_heads": 3}, "semantic_key_mismatch:mlapo_preprocess"),
        (8, {"weight_format": "ND"}, "semantic_key_mismatch:mlapo_preprocess"),
        (8, {"cache_mode": None}, "semantic_context_missing:target:cache_mode"),
    ],
)
def test_misses_of_the_fused_kernel(
    tmp_path: Path, tokens: int, changes: dict[str, Any], reason: str
) -> None:
    rows = [fused_row(4, 10), fused_row(64, 20)]
    answer = ask_fused(tmp_path, rows, tokens, **changes)
    assert answer.miss_reason == f"sub_kernel_miss:{FUSED}"
    assert answer.details["missing"] == [{"name": FUSED, "miss_reason": reason}]


def test_rows_of_the_fused_kernel_must_be_laid_out_as_their_fields_say(tmp_path: Path) -> None:
    answer = ask_fused(tmp_path, [fused_row(8, 10, hidden=96)], 8)
    reason = "semantic_key_mismatch:mlapo_preprocess"
    assert answer.details["missing"] == [{"name": FUSED, "miss_reason": reason}]


def test_a_fused_kernel_without_runtime_columns_is_named_as_such(tmp_path: Path) -> None:
    op = child(FUSED, query_mode="mlapo_preprocess",
               kwargs={**FUSED_FIELDS, "num_tokens": 4, "dtype": "bfloat16"})  # fmt: skip
    answer = ask(tmp_path, DECODE_FILES | {FUSED: [MATMUL_HEADER, LAST_OF_DECODE[1]]}, MLAPO, [op])
    reason = answer.details["missing"][0]["miss_reason"]
    assert reason.startswith("semantic_context_missing:csv:Runtime block_size,Runtime cache_mode,")


@pytest.mark.parametrize("entry", [DECOMPOSED, {"composite": True, "sub_kernels": ["MatMulV2"]}])
@pytest.mark.parametrize("op", [MLA, INDEXER, MLAPO])
def test_without_children_they_are_clean_misses(
    tmp_path: Path, op: str, entry: Mapping[str, Any]
) -> None:
    write_version(tmp_path / "v", {"MatMulV2.csv": INDEXER_FILES["MatMulV2"]}, {op: entry})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answer = database.lookup(call(op, tensor(2, 64), tensor(16, 64)))
    assert (answer.source, answer.miss_reason) == (None, "decomposition_unavailable")
