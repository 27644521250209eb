"""Exact lookups on the smallest databases: which row answers, and what the answer says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import (
    MATMUL_HEADER,
    call,
    kept_database,
    matmul_call,
    tensor,
    write_version,
)

import sqlinterp
from sqlinterp.model import Answer

MM = "aten.mm.default"


def row(
    shapes: str, latency: object, dtypes: str = "DT_BF16;DT_BF16", formats: str = "ND;ND"
) -> str:
    return f'"{shapes}",{dtypes},{formats},"1",DT_BF16,ND,{latency}'


def ask(
    folder: Path,
    files: dict[str, list[str]],
    entry: Any,
    op: dict[str, Any],
    extra: dict[str, Any] | None = None,
    **context: Any,
) -> Answer:
    """Ingest the rows and answer one invocation, exactly only unless the context says otherwise."""
    tables = {name: [MATMUL_HEADER, *lines] for name, lines in files.items()}
    write_version(folder / "v", tables, {op["op"]: entry}, extra)
    context.setdefault("disable_interpolation", True)
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        return database.lookup(op)


def test_padding_is_never_hidden_by_another_rule(tmp_path: Path) -> None:
    rows = [row("130,512;256,512", 10), row("144,512;256,512", 20)]
    answer = ask(tmp_path, {"MatMulV2.csv": rows}, "MatMulV2", matmul_call(144, 512, 256))
    assert (answer.latency_us, answer.shape_match_rule, answer.confidence) == (20, "transpose", 1.0)


def test_a_padded_answer_says_so_and_the_least_padded_row_wins(tmp_path: Path) -> None:
    rows = [row("1,512;512,256", 10), row("63,512;512,256", 20), row("50,512;512,256", 30)]
    answer = ask(tmp_path, {"MatMulV2.csv": rows}, "MatMulV2", matmul_call(64, 512, 256))
    assert (answer.latency_us, answer.shape_match_rule, answer.confidence) == (20, "padding", 0.9)
    assert answer.details["measured_shapes"] == [[63, 512], [512, 256]]
    assert answer.details["asked_shapes"] == [[64, 512], [512, 256]]


@pytest.mark.parametrize(
    ("asked", "measured", "fits"),
    [(16, 1, True), (64, 33, True), (48, 33, True), (136, 130, True), (72, 65, True),
     (128, 65, True), (48, 17, False), (40, 33, False), (24, 17, False), (130, 136, False)],
)  # fmt: skip
def test_which_dims_pad(tmp_path: Path, asked: int, measured: int, fits: bool) -> None:
    rows = [row(f"{measured},512;512,256", 10)]
    answer = ask(tmp_path, {"MatMulV2.csv": rows}, "MatMulV2", matmul_call(asked, 512, 256))
    assert (answer.shape_match_rule == "padding") is fits
    assert (answer.miss_reason == "shape_mismatch") is not fits


def test_an_identical_row_of_an_alternate_beats_a_relabelled_one_of_the_primary(
    tmp_path: Path,
) -> None:
    files = {"MatMulV2.csv": [row("4,512;256,512", 10)], "MatMulV3.csv": [row("4,512;512,256", 20)]}
    entry = {"kernel_type": "MatMulV2", "alternate_kernel_types": ["MatMulV3"]}
    answer = ask(tmp_path, files, entry, matmul_call(4, 512, 256))
    assert (answer.kernel_type, answer.latency_us) == ("MatMulV3", 20)


def test_an_empty_slot_needs_an_absent_argument(tmp_path: Path) -> None:
    rows = [row("4,8;;8,2", 10, "DT_BF16;DT_UNDEFINED;DT_BF16", "ND;NULL;ND")]
    op = call("x.op.default", tensor(4, 8), tensor(8, 2))
    assert ask(tmp_path / "a", {"K.csv": rows}, "K", op).miss_reason == "shape_mismatch"
    op = call("x.op.default", tensor(4, 8), None, tensor(8, 2))
    assert ask(tmp_path / "b", {"K.csv": rows}, "K", op).latency_us == 10


def test_trailing_empty_slots_are_ignored(tmp_path: Path) -> None:
    rows = [row("4,8;8;", 10, "DT_BF16;DT_BF16;DT_UNDEFINED", "ND;ND;NULL")]
    op = call("x.op.default", tensor(4, 8), tensor(8))
    assert ask(tmp_path, {"K.csv": rows}, "K", op).latency_us == 10


def test_half_precision_prefers_its_own_rows_and_flags_the_others(tmp_path: Path) -> None:
    bf16, fp16 = row("4,8;8,2", 10), row("4,8;8,2", 20, "DT_FP16;FLOAT16")
    op = matmul_call(4, 8, 2, "float16")
    own = ask(tmp_path / "a", {"MatMulV3.csv": [bf16, fp16]}, "MatMulV3", op)
    assert own.latency_us == 20 and "dtype_compatible" not in own.details
    other = ask(tmp_path / "b", {"MatMulV3.csv": [bf16]}, "MatMulV3", op)
    assert other.latency_us == 10 and "FLOAT16" in other.details["dtype_compatible"]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("mean", 40.0), ("median", 20.0), ("min", 10.0), ("first", 90.0), ("reference", 90.0)],
)
def test_duplicates_are_one_answer_by_policy(
    tmp_path: Path, aggregation: str, expected: float
) -> None:
    rows = [row("4,8;8,2", latency) for latency in (90, 10, 20)]
    op = matmul_call(4, 8, 2)
    answer = ask(tmp_path, {"K.csv": rows}, "K", op, aggregation=aggregation)
    assert answer.latency_us == expected
    assert (answer.details["raw_count"], answer.details["aggregated_count"]) == (3, 1)
    assert (answer.details["latency_min_us"], answer.details["latency_max_us"]) == (10, 90)


@pytest.mark.parametrize(
    ("aggregation", "expected"), [("mean", 20.0), ("median", 20.0), ("min", 10.0), ("first", 20.0)]
)
def test_latencies_that_equal_the_mean_are_answered_though_not_stored_again(
    tmp_path: Path, aggregation: str, expected: float
) -> None:
    rows = [row("4,8;8,2", latency) for latency in (20, 10, 30)] + [row("8,8;8,2", 7)]
    op = matmul_call(4, 8, 2)
    answer = ask(tmp_path / "a", {"K.csv": rows}, "K", op, aggregation=aggregation)
    assert answer.latency_us == expected
    assert (answer.details["latency_min_us"], answer.details["latency_max_us"]) == (10, 30)
    op = matmul_call(8, 8, 2)
    single = ask(tmp_path / "b", {"K.csv": rows}, "K", op, aggregation=aggregation)
    assert (single.latency_us, single.details["latency_min_us"]) == (7, 7)
    assert single.details["latency_max_us"] == 7


def test_a_kernel_that_demands_one_latency_refuses_two(tmp_path: Path) -> None:
    rows = [row("4,8;8,2", 10), row("4,8;8,2", 11)]
    extra = {
        "query_selection_policy": {"kernel_overrides": {"K": {"require_semantic_unique": True}}}
    }
    answer = ask(tmp_path, {"K.csv": rows}, "K", matmul_call(4, 8, 2), extra)
    assert answer.miss_reason == "ambiguous_semantic_match:K"


def test_tc_input_count_cuts_both_sides(tmp_path: Path) -> None:
    rows = [row("4,8;8,2;2;4", 10, "INT8;INT8;DT_BF16;FLOAT", "ND;ND;ND;ND")]
    inputs = (tensor(4, 8, dtype="int8"), tensor(8, 2, dtype="int8"), tensor(2))
    op = call("x.quant.default", *inputs)
    entry = {"kernel_type": "QuantBatchMatmulV3", "tc_input_count": 2}
    assert ask(tmp_path / "a", {"QuantBatchMatmulV3.csv": rows}, entry, op).latency_us == 10
    whole = ask(tmp_path / "b", {"QuantBatchMatmulV3.csv": rows}, "QuantBatchMatmulV3", op)
    assert whole.miss_reason == "shape_mismatch"


@pytest.mark.parametrize(
    ("tp_size", "latency", "reason"),
    [(8, 10.0, None), (1, None, "shape_mismatch"),
     (None, None, "tp_projection_invalid:logical_dim=16384;shard_axis=input;tp_size=None"),
     (3, None, "tp_projection_invalid:logical_dim=16384;shard_axis=input;tp_size=3")],
)  # fmt: skip
def test_tensor_parallel_projection(
    tmp_path: Path, tp_size: int | None, latency: float | None, reason: str | None
) -> None:
    rule = {"shard_axis": "input", "logical_global_dims": [16384], "otherwise": "physical_local"}
    entry = {"kernel_type": "MatMulV2", "tp_linear_projection": rule}
    rows = {"MatMulV2.csv": [row("144,2048;2048,512", 10)]}
    answer = ask(tmp_path, rows, entry, matmul_call(144, 16384, 512), tp_size=tp_size)
    assert (answer.latency_us, answer.miss_reason) == (latency, reason)


@pytest.mark.parametrize(
    ("kernel", "shapes", "inputs", "rule"),
    [
        ("RmsNorm", "12,512;512", (tensor(3, 4, 512), tensor(512)), "flatten_3d"),
        ("AscendQuantV2", "3,512", (tensor(3, 4, 128),), "merge_last_dims"),
        ("SwiGlu", "4,64", (tensor(4, 32), tensor(4, 32)), "identity"),
        ("Index", "5,1", (tensor(1, 5),), "singleton_axis_transpose"),
        ("GroupedMatmul", "4,8;2,6,8", (tensor(4, 8), tensor(2, 8, 6)), "batched_transpose"),
        ("_triton_rope", "9,8,4;9,3,4", (tensor(1, 3, 9, 4), tensor(1, 8, 9, 4)), "batch_strip"),
        ("RmsNorm", "6,64;64", (tensor(1, 6, 64), tensor(64)), "batch_strip"),
    ],
)  # fmt: skip
def test_rules_of_kernel_families(
    tmp_path: Path, kernel: str, shapes: str, inputs: tuple[Any, ...], rule: str
) -> None:
    op = call("x.op.default", *inputs)
    dtypes = ";".join(["DT_BF16"] * (shapes.count(";") + 1))
    formats = ";".join(["ND"] * (shapes.count(";") + 1))
    answer = ask(tmp_path, {f"{kernel}.csv": [row(shapes, 10, dtypes, formats)]}, kernel, op)
    assert (answer.latency_us, answer.shape_match_rule) == (10, rule)


def test_fractal_weights_are_restored(tmp_path: Path) -> None:
    rows = [row("16,5120;320,48,16,16", 10, formats="ND;FRACTAL_NZ")]
    answer = ask(tmp_path, {"MatMulV2.csv": rows}, "MatMulV2", matmul_call(16, 5120, 768))
    assert (answer.latency_us, answer.shape_match_rule) == (10, "identity")


@pytest.mark.parametrize(
    ("entry", "op", "source", "rule", "reason"),
    [
        ({"zero_cost": True}, MM, "MEASURED", "zero_cost", None),
        ({"accepted_miss": "by design"}, MM, "MEASURED", "accepted_miss", None),
        (
            {"kernel_type": "K", "query_mode": "telepathy"},
            MM,
            None,
            None,
            "query_mode_unknown",
        ),
        ({"kernel_type": "Absent"}, MM, None, None, "csv_not_found"),
    ],
)
def test_other_dispatch(
    tmp_path: Path,
    entry: dict[str, Any],
    op: str,
    source: str | None,
    rule: str | None,
    reason: str | None,
) -> None:
    answer = ask(
        tmp_path, {"K.csv": [row("4,8;8,2", 10)]}, entry, call(op, tensor(4, 8), tensor(8, 2))
    )
    assert (answer.source, answer.shape_match_rule, answer.miss_reason) == (source, rule, reason)
    assert answer.latency_us == (0.0 if source else None)


def test_misses_name_what_is_wrong(tmp_path: Path) -> None:
    rows = {"K.csv": [row("4,8;8,2", 10)]}
    unknown = ask(tmp_path / "a", rows, "K", call("x.op.default", tensor(4, 8, dtype="complex99")))
    assert unknown.miss_reason == "dtype_unmapped:args[0]:complex99"
    nothing = ask(tmp_path / "b", rows, "K", call("x.op.default", 3, None))
    assert nothing.miss_reason == "no_tensor_inputs"
    with sqlinterp.open(tmp_path / "b" / "p.duckdb") as database:
        assert database.lookup(call("x.other.default")).miss_reason == "unmapped"


def test_an_unusable_file_is_named_but_another_kernel_may_answer(tmp_path: Path) -> None:
    write_version(
        tmp_path / "v",
        {
            "Good.csv": [MATMUL_HEADER, row("4,8;8,2", 10)],
            "Bad.csv": ["version https://git-lfs.github.com/spec/v1"],
        },
        {MM: {"kernel_type": "Bad", "alternate_kernel_types": ["Good"]}},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        assert database.lookup(matmul_call(4, 8, 2)).latency_us == 10
        assert database.lookup(matmul_call(5, 8, 2)).miss_reason == "csv_unavailable:Bad.csv"
