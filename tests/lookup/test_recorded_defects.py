"""The defects D1 to D26 of the recorded implementation: what we decided, on the smallest input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, kept_database, matmul_call, tensor, write_version

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.model import Answer

HEADER = (
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
    "Average Duration(us)"
)
COMM_HEADER = "message_bytes,num_devices,topology_tier,dtype,Average Duration(us),bandwidth_gbps"
ATTENTION_HEADER = (
    f"{HEADER},Runtime avg_seq_len,Runtime sparse_mode,Runtime num_key_value_heads,"
    "Runtime input_layout,Runtime phase,Runtime actual_seq_lengths_kv_values"
)
MM, ADD, ATTENTION = "aten.mm.default", "aten.add.Tensor", "tensor_cast.attention.default"
ALL_REDUCE, MC2 = "tensor_cast.all_reduce.default", "tensor_cast.matmul_all_reduce.default"
GRID = ((2, 4), (0, 1))
ATTENTION_ENTRY = {
    ATTENTION: {"kernel_type": "FusedInferAttentionScore", "query_mode": "attention_special"}
}


def row(shapes: str, latency: object, dtypes: str = "DT_BF16;DT_BF16", outputs: str = "1") -> str:
    formats = ";".join("ND" for _ in shapes.split(";"))
    output_dtypes = "DT_BF16"
    return f'"{shapes}",{dtypes},{formats},"{outputs}",{output_dtypes},ND,{latency}'


def attention_row(
    seq: object, latency: object, tokens: int = 1, extra: str = "3,2,TND,,", tail: str = ""
) -> str:
    shapes = f"{tokens},4,128;9,2,128;9,2,128"
    cells = f'"{shapes}",DT_BF16;DT_BF16;DT_BF16,ND;ND;ND,"{tokens},4,128",DT_BF16,ND'
    return f"{cells},{latency},{seq},{extra}{tail}"


def attention_call(seq: int, tokens: int = 1, **kwargs: Any) -> dict[str, Any]:
    lengths = {"shape": [1], "dtype": "int64", "values": [seq]}
    key = tensor(9, 2, 128)
    op = call(ATTENTION, tensor(tokens, 4, 128), key, key, None, None, None, lengths)
    op["kwargs"] = kwargs
    return op


def ask(
    folder: Path,
    files: dict[str, list[str]],
    operators: dict[str, Any],
    *ops: dict[str, Any],
    extra: dict[str, Any] | None = None,
    **context: Any,
) -> list[Answer]:
    """Ingest a version and answer the invocations, exactly only unless the context says so."""
    write_version(folder / "d" / "b" / "v", files, operators, extra)
    context.setdefault("disable_interpolation", True)
    with sqlinterp.open(kept_database(folder / "d"), "v", **context) as database:
        return database.lookup_many(ops)


def test_d1_padding_is_not_hidden_by_a_transposed_weight(tmp_path: Path) -> None:
    rows = [HEADER, row("130,512;256,512", 10), row("144,512;256,512", 20)]
    (answer,) = ask(tmp_path, {"MatMulV2.csv": rows}, {MM: "MatMulV2"}, matmul_call(144, 512, 256))
    assert (answer.latency_us, answer.shape_match_rule) == (20, "transpose")


def test_d2_the_least_padded_row_answers_with_less_confidence(tmp_path: Path) -> None:
    rows = [HEADER, row("1,512;512,256", 10), row("63,512;512,256", 20)]
    (answer,) = ask(tmp_path, {"MatMulV2.csv": rows}, {MM: "MatMulV2"}, matmul_call(64, 512, 256))
    assert (answer.latency_us, answer.shape_match_rule, answer.confidence) == (20, "padding", 0.9)


def test_d3_elementwise_prefers_the_true_dtype_to_the_first_row(tmp_path: Path) -> None:
    wide = '"144,512;144,512",FLOAT;FLOAT,ND;ND,"144,512",FLOAT,ND,40'
    true = '"144,512;144,512",DT_BF16;DT_BF16,ND;ND,"144,512",DT_BF16,ND,4'
    op = call(ADD, tensor(144, 512), tensor(144, 512), outputs=[tensor(144, 512)])
    entry = {ADD: {"kernel_type": "Add", "query_mode": "elementwise"}}
    (answer,) = ask(tmp_path, {"Add.csv": [HEADER, wide, true]}, entry, op)
    assert (answer.latency_us, answer.confidence) == (4, 1.0)


def test_d4_equal_tokens_beat_padded_ones_in_attention(tmp_path: Path) -> None:
    rows = [ATTENTION_HEADER, attention_row(4096, 5, 120), attention_row(4096, 6, 128)]
    files = {"FusedInferAttentionScore.csv": rows}
    (answer,) = ask(tmp_path, files, ATTENTION_ENTRY, attention_call(4096, 128))
    assert answer.latency_us == 6


def test_d5_a_gap_in_the_sequence_length_is_told(tmp_path: Path) -> None:
    files = {"FusedInferAttentionScore.csv": [ATTENTION_HEADER, attention_row(4096, 5)]}
    (answer,) = ask(tmp_path, files, ATTENTION_ENTRY, attention_call(4112))
    assert answer.source == "MEASURED"
    assert "4096" in str(answer.details) and "16" in str(answer.details)


def test_d6_an_empty_slot_keeps_its_dtype_in_step(tmp_path: Path) -> None:
    wrong = '"144,512;;512,256",DT_BF16;DT_BF16;INT8,ND;ND;ND,"1",DT_BF16,ND,10'
    right = '"144,512;;512,256",DT_BF16;DT_UNDEFINED;DT_BF16,ND;NULL;ND,"1",DT_BF16,ND,20'
    op = call(MM, tensor(144, 512), None, tensor(512, 256))
    files = {"MatMulV2.csv": [HEADER, wrong, right]}
    with_gap, without = ask(tmp_path, files, {MM: "MatMulV2"}, op, matmul_call(144, 512, 256))
    assert with_gap.latency_us == 20
    assert without.miss_reason == "shape_mismatch"


def test_d7_every_spelling_of_half_precision_is_reachable(tmp_path: Path) -> None:
    rows = [HEADER, row("4,8;8,2", 10), row("4,8;8,2", 20, "FLOAT16;DT_FLOAT16")]
    op = matmul_call(4, 8, 2, "float16")
    (answer,) = ask(tmp_path, {"MatMulV3.csv": rows}, {MM: "MatMulV3"}, op)
    assert answer.latency_us == 20


def test_d8_a_static_composite_takes_one_compute_alternative(tmp_path: Path) -> None:
    name = "tensor_cast.rms_norm_dynamic_quant.default"
    entry = {name: {"composite": True, "sub_kernels": ["RmsNorm", "DynamicQuant"]}}
    files = {
        "RmsNorm.csv": [HEADER, row("8,16", 3, "DT_BF16")],
        "DynamicQuant.csv": [HEADER, row("8,16", 100, "DT_BF16")],
    }
    (answer,) = ask(tmp_path, files, entry, call(name, tensor(8, 16)))
    assert (answer.latency_us, answer.kernel_type) == (3, "RmsNorm")


def test_d9_a_fused_kernel_tells_which_embedded_parts_are_not_in_its_number(
    tmp_path: Path,
) -> None:
    name = "tensor_cast.moe.default"
    parts = {"embedded_communication": {"kernel_type": "hcom_alltoallv_"}}
    entry = {name: {"kernel_type": "DispatchFFNCombine", "query_mode": "moe_fused", **parts}}
    files = {"DispatchFFNCombine.csv": [f"{HEADER},EP Size", row("8,16", 3, "DT_BF16") + ",8"]}
    (answer,) = ask(tmp_path, files, entry, call(name, tensor(8, 16)), ep_size=8)
    assert (answer.source, answer.latency_us) == ("PARTIAL", 3)
    assert answer.details["missed_kernels"] == ["hcom_alltoallv_"]


def mc2(*arguments: Any) -> dict[str, Any]:
    return call(MC2, *arguments, {"ints": [0, 1]})


def mc2_answers(folder: Path, *ops: dict[str, Any]) -> list[Answer]:
    entry = {MC2: {"composite": True, "sub_kernels": ["MatMulV2", "hcom_allReduce_"]}}
    files = {
        "MatMulV2.csv": [HEADER, row("144,512;512,256", 20)],
        "hcom_allReduce_.csv": [COMM_HEADER, "73728,2,0,bf16,5,1", "512,2,0,bf16,1,1"],
    }
    return ask(folder, files, entry, *ops)


def test_d10_a_rank_three_activation_is_flattened_before_its_bytes_are_counted(
    tmp_path: Path,
) -> None:
    flat, batched = mc2_answers(
        tmp_path,
        mc2(tensor(144, 512), tensor(512, 256)),
        mc2(tensor(1, 144, 512), tensor(512, 256)),
    )
    assert flat.latency_us == batched.latency_us == 25


def test_d11_a_rank_three_activation_is_projected_along_its_last_dim(tmp_path: Path) -> None:
    rule = {"shard_axis": "input", "logical_global_dims": [4096], "otherwise": "physical_local"}
    entry = {MM: {"kernel_type": "MatMulV2", "tp_linear_projection": rule}}
    files = {"MatMulV2.csv": [HEADER, row("144,512;512,256", 20), row("144,2048;2048,256", 50)]}
    local = call(MM, tensor(1, 144, 512), tensor(512, 256))
    logical = call(MM, tensor(1, 144, 4096), tensor(4096, 256))
    answers = ask(tmp_path, files, entry, local, logical, tp_size=2)
    assert [answer.latency_us for answer in answers] == [20, 50]


def test_d12_a_bias_does_not_defeat_a_fused_matmul(tmp_path: Path) -> None:
    (answer,) = mc2_answers(tmp_path, mc2(tensor(144, 512), tensor(512, 256), tensor(256)))
    assert answer.latency_us == 25


def test_d13_stripping_a_batch_of_one_leaves_transposition_possible(tmp_path: Path) -> None:
    files = {"MatMulV2.csv": [HEADER, row("8,1;256,1", 10)]}
    (thin,) = ask(tmp_path / "a", files, {MM: "MatMulV2"}, matmul_call(8, 1, 256))
    files = {"GroupedMatmul.csv": [HEADER, row("8,512;1,256,512", 20)]}
    op = call(MM, tensor(8, 512), tensor(1, 512, 256))
    (grouped,) = ask(tmp_path / "b", files, {MM: "GroupedMatmul"}, op)
    assert [thin.latency_us, grouped.latency_us] == [10, 20]


def test_d14_swiglu_halves_must_be_equal(tmp_path: Path) -> None:
    name = "tensor_cast.swiglu.default"
    files = {"SwiGlu.csv": [HEADER, row("144,1024", 4, "DT_BF16")]}
    halves = call(name, tensor(144, 512), tensor(144, 512))
    uneven = call(name, tensor(144, 24), tensor(144, 1000))
    answers = ask(tmp_path, files, {name: "SwiGlu"}, halves, uneven)
    assert [answer.latency_us for answer in answers] == [4, None]


def test_d15_a_quantised_child_asks_for_the_dtype_that_it_has(tmp_path: Path) -> None:
    files = {"QuantBatchMatmulV3.csv": [HEADER, row("8,64,16;8,16,32", 6, "INT8;INT8")]}
    inputs = [tensor(8, 64, 16, dtype="int8"), tensor(8, 16, 32, dtype="int8")]
    child = {"kernel": "QuantBatchMatmulV3", "args": inputs, "tc_input_count": 2}
    op = {**call("tensor_cast.multihead_latent_attention_quant.default"), "children": [child]}
    entry = {op["op"]: {"composite": True, "decomposer": True}}
    (answer,) = ask(tmp_path, files, entry, op)
    assert (answer.source, answer.latency_us) == ("MEASURED", 6)


def test_d16_a_blank_layout_matches_no_known_one(tmp_path: Path) -> None:
    rows = [ATTENTION_HEADER, attention_row(4096, 5, extra="3,2,,,")]
    files = {"FusedInferAttentionScore.csv": rows}
    (answer,) = ask(tmp_path, files, ATTENTION_ENTRY, attention_call(4096))
    assert answer.source is None


@pytest.mark.parametrize("other", ["", attention_row(9, 1)])
def test_d17_lists_are_compared_as_lists_whatever_other_rows_hold(
    tmp_path: Path, other: str
) -> None:
    rows = [
        ATTENTION_HEADER,
        attention_row(4096, 5, extra='3,2,TND,,"4090"'),
        *([other] * bool(other)),
    ]
    files = {"FusedInferAttentionScore.csv": rows}
    child = {
        "kernel": "FusedInferAttentionScore",
        "query_mode": "attention_special",
        "args": [tensor(1, 4, 128)],
        "kwargs": {
            "avg_seq_len": 4096, "sparse_mode": 3, "num_kv_heads": 2, "input_layout": "TND",
            "actual_seq_lengths_kv": {"ints": [4096]},
        },
    }  # fmt: skip
    op = {**call("x.attention.default"), "children": [child]}
    (answer,) = ask(tmp_path, files, {"x.attention.default": {"composite": True}}, op)
    assert answer.source is None


def test_d18_the_phase_filters_when_both_sides_know_it(tmp_path: Path) -> None:
    rows = [ATTENTION_HEADER, attention_row(4096, 5, extra="3,2,TND,decode,")]
    files = {"FusedInferAttentionScore.csv": rows}
    calls = [attention_call(4096, phase=phase) for phase in ("decode", "prefill")]
    answers = ask(tmp_path, files, ATTENTION_ENTRY, *calls)
    assert [answer.latency_us for answer in answers] == [5, None]


def test_d19_a_quoted_dtype_cell_is_read_alike_everywhere(tmp_path: Path) -> None:
    line = attention_row(4096, 5).replace(
        "DT_BF16;DT_BF16;DT_BF16", '"""DT_BF16;DT_BF16;DT_BF16"""'
    )
    files = {"FusedInferAttentionScore.csv": [ATTENTION_HEADER, line]}
    (answer,) = ask(tmp_path, files, ATTENTION_ENTRY, attention_call(4096))
    assert answer.latency_us == 5


def test_d20_nothing_matches_vacuously(tmp_path: Path) -> None:
    files = {"K.csv": [HEADER, row("4,8;8,2", 10)]}
    entry = {"x.a.default": {"kernel_type": "K", "tc_input_count": 0}, "x.b.default": "K"}
    cut, empty = ask(
        tmp_path, files, entry, call("x.a.default", tensor(1, 1)), call("x.b.default", 3)
    )
    assert cut.source is None and empty.miss_reason == "no_tensor_inputs"


def test_d21_a_fraction_where_an_integer_belongs_rejects_the_row(tmp_path: Path) -> None:
    files = {"K.csv": [f"{HEADER},EP Size", row("4,8;8,2", 10) + ",8.9"]}
    ask(tmp_path, files, {MM: "K"}, matmul_call(4, 8, 2))
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        found = database.sql("select column_name, reason from rejected_row").fetchall()
    assert found == [("EP Size", "not_an_integer")]


def test_d22_tiers_are_never_mixed(tmp_path: Path) -> None:
    files = {"hcom_allReduce_.csv": [COMM_HEADER, "1000,2,0,bf16,5,1", "1000,2,1,bf16,9,1"]}
    entry = {ALL_REDUCE: {"kernel_type": "hcom_allReduce_", "category": "communication"}}
    op = call(ALL_REDUCE, tensor(500), "sum", {"ints": [0, 1]})
    (without,) = ask(tmp_path / "a", files, entry, op)
    (with_grid,) = ask(tmp_path / "b", files, entry, op, comm_grid=GRID)
    assert without.miss_reason == "topology_tier_unknown"
    assert with_grid.latency_us == 9


def test_d23_a_missing_communication_folder_is_a_warning(tmp_path: Path) -> None:
    files = {"K.csv": [HEADER, row("4,8;8,2", 10)]}
    extra = {"communication_data_ref": "../../hccl/v9"}
    ask(tmp_path, files, {MM: "K"}, matmul_call(4, 8, 2), extra=extra)
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        found = database.sql("select severity, column_name from source_issue").fetchall()
    assert ("warning", "communication_data_ref") in found


def test_d24_a_miss_reason_belongs_to_its_own_lookup(tmp_path: Path) -> None:
    operators = {"x.zero.default": {"zero_cost": True}}
    missed, free = ask(tmp_path, {}, operators, call("x.unmapped.default"), call("x.zero.default"))
    assert (missed.miss_reason, free.miss_reason) == ("unmapped", None)


def test_d25_a_partial_sum_says_what_is_missing(tmp_path: Path) -> None:
    files = {"K.csv": [HEADER, row("4,8;8,2", 10)]}
    operators = {MM: "K", "x.absent.default": "Absent", "x.both.default": {"composite": True}}
    children = [matmul_call(4, 8, 2), call("x.absent.default", tensor(4, 4))]
    (answer,) = ask(tmp_path, files, operators, {**call("x.both.default"), "children": children})
    assert (answer.source, answer.latency_us, answer.confidence) == ("PARTIAL", 10, 0.5)
    assert answer.miss_reason == "sub_kernel_miss:x.absent.default"
    assert "csv_not_found" in str(answer.details)


def test_d26_the_latency_column_decides_after_the_kernel(tmp_path: Path) -> None:
    slow = HEADER.replace("Average Duration", "Duration")
    files = {"A.csv": [slow, row("4,8;8,2", 8)], "B.csv": [HEADER, row("4,8;8,2", 3)]}
    entry = {MM: {"kernel_type": "A", "alternate_kernel_types": ["B"]}}
    (answer,) = ask(tmp_path, files, entry, matmul_call(4, 8, 2))
    assert (answer.kernel_type, answer.latency_us) == ("A", 8)


def test_a_malformed_invocation_is_a_bad_request_not_a_number(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"args\[0\]"):
        ask(tmp_path, {}, {MM: "K"}, call(MM, {"shape": [-1], "dtype": "bfloat16"}))
