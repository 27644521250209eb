"""Multi-token-prediction projections: rows of their own kernel, else the compute entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

OP = "tensor_cast.static_quant_linear.default"
ENTRY = {
    "kernel_type": "QuantBatchMatmulV3",
    "tc_input_count": 2,
    "query_mode": "mtp_projection",
    "mtp_projection_kernel_type": "MatMulV2",
}


def row(shapes: str, latency: object, dtype: str = "DT_BF16", output: str = "DT_BF16") -> str:
    m, n = shapes.split(",")[0], shapes.split(",")[-1]
    return f'"{shapes}",{dtype};{dtype},ND;ND,"{m},{n}",{output},ND,{latency}'


def quant_row(m: int, latency: object, k: int = 1024) -> str:
    return row(f"{m},{k};{k},512", latency, "INT8")


def linear(
    m: int = 144,
    k: int = 1024,
    weight: tuple[int, ...] = (1024, 512),
    output: tuple[int, ...] | None = (144, 512),
    dtype: str = "bfloat16",
) -> dict[str, Any]:
    """A W8A8 linear layer that writes a dtype of its own."""
    outputs = [] if output is None else [tensor(*output, dtype=dtype)]
    inputs = (tensor(m, k, dtype="int8"), tensor(*weight, dtype="int8"))
    return call(OP, *inputs, tensor(512, dtype="float32"), outputs=outputs)


def ask(
    folder: Path,
    files: dict[str, list[str]],
    op: dict[str, Any],
    entry: dict[str, Any] = ENTRY,
    extra: dict[str, Any] | None = None,
    **context: Any,
) -> Answer:
    tables = {
        name: lines if name == "Pointer.csv" else [MATMUL_HEADER, *lines]
        for name, lines in files.items()
    }
    write_version(folder / "v", tables, {OP: entry}, extra)
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        answer = database.lookup(op)
        assert database.lookup_many([op, op]) == [answer, answer]
        return answer


BOTH = {
    "MatMulV2.csv": [row("144,1024;1024,512", 7)],
    "QuantBatchMatmulV3.csv": [quant_row(144, 3)],
}


@pytest.mark.parametrize("disabled", [True, False])
def test_a_projection_is_measured_on_its_own_kernel(tmp_path: Path, disabled: bool) -> None:
    answer = ask(tmp_path, BOTH, linear(), disable_interpolation=disabled)
    found = (answer.source, answer.kernel_type, answer.latency_us, answer.shape_match_rule)
    assert found == ("MEASURED", "MatMulV2", 7, "identity")
    assert (answer.details["file"], answer.details["line"]) == ("MatMulV2.csv", 2)
    assert answer.details["query_mode"] == "mtp_projection"
    assert answer.details["asked_shapes"] == [[144, 1024], [1024, 512]]


@pytest.mark.parametrize(
    ("dtype", "latency"), [("bfloat16", 7.0), ("float16", 8.0), ("float32", 9.0)]
)
def test_both_inputs_take_the_dtype_of_the_output(
    tmp_path: Path, dtype: str, latency: float
) -> None:
    names = {"DT_BF16": 7, "FLOAT16": 8, "FLOAT": 9}
    rows = [row("144,1024;1024,512", us, name, name) for name, us in names.items()]
    assert ask(tmp_path, {"MatMulV2.csv": rows}, linear(dtype=dtype)).latency_us == latency


def test_only_two_inputs_of_a_longer_row_take_part(tmp_path: Path) -> None:
    line = row("144,1024;1024,512;512", 7).replace(
        "DT_BF16;DT_BF16,ND;ND", "DT_BF16;DT_BF16;FLOAT,ND;ND;ND"
    )
    assert ask(tmp_path, {"MatMulV2.csv": [line]}, linear()).latency_us == 7


def test_the_weight_may_lie_either_way(tmp_path: Path) -> None:
    answer = ask(tmp_path, BOTH, linear(weight=(512, 1024)))
    assert (answer.latency_us, answer.shape_match_rule) == (7, "transpose")


def test_a_padded_row_says_so(tmp_path: Path) -> None:
    answer = ask(tmp_path, {"MatMulV2.csv": [row("130,1024;1024,512", 7)]}, linear())
    assert (answer.shape_match_rule, answer.confidence) == ("padding", 0.9)


@pytest.mark.parametrize(
    "op",
    [
        linear(output=None),
        linear(output=(144, 511)),
        linear(output=(143, 512)),
        linear(output=(1, 144, 512)),
        linear(dtype="complex99"),
        linear(weight=(1024, 512, 1)),
    ],
)
def test_other_calls_are_compute(tmp_path: Path, op: dict[str, Any]) -> None:
    answer = ask(tmp_path, BOTH, op, disable_interpolation=True)
    assert answer.kernel_type != "MatMulV2"
    assert (answer.latency_us == 3) is (op["args"][1]["shape"] == [1024, 512])


def test_a_layer_that_does_not_halve_is_compute(tmp_path: Path) -> None:
    files = {
        "MatMulV2.csv": [row("144,768;768,512", 7)],
        "QuantBatchMatmulV3.csv": [quant_row(144, 3, 768)],
    }
    op = linear(k=768, weight=(768, 512))
    assert ask(tmp_path, files, op, disable_interpolation=True).latency_us == 3


@pytest.mark.parametrize("kernel", [None, 7, ["MatMulV2"]])
def test_an_entry_without_a_kernel_for_projections_is_compute(tmp_path: Path, kernel: Any) -> None:
    entry = {**ENTRY, "mtp_projection_kernel_type": kernel}
    assert ask(tmp_path, BOTH, linear(), entry, disable_interpolation=True).latency_us == 3


@pytest.mark.parametrize(
    ("rows", "reason"),
    [({"MatMulV2.csv": [row("9,1024;1024,512", 7)]}, "shape_mismatch"), ({}, "csv_not_found")],
)
def test_without_a_row_the_primary_kernel_answers(
    tmp_path: Path, rows: dict[str, list[str]], reason: str
) -> None:
    files = {**rows, "QuantBatchMatmulV3.csv": [quant_row(144, 3)]}
    answer = ask(tmp_path, files, linear(), disable_interpolation=True)
    assert (answer.kernel_type, answer.latency_us) == ("QuantBatchMatmulV3", 3)
    assert answer.details["mtp_projection"] == {"kernels": ["MatMulV2"], "reason": reason}


def test_an_ambiguous_projection_falls_back_too(tmp_path: Path) -> None:
    files = {**BOTH, "MatMulV2.csv": [row("144,1024;1024,512", us) for us in (7, 8)]}
    unique = {"kernel_overrides": {"MatMulV2": {"require_semantic_unique": True}}}
    extra = {"query_selection_policy": unique}
    answer = ask(tmp_path, files, linear(), extra=extra, disable_interpolation=True)
    assert answer.latency_us == 3
    assert answer.details["mtp_projection"]["reason"] == "ambiguous_semantic_match:MatMulV2"


@pytest.mark.parametrize("subcategory", [{}, {"compute_subcategory": "quantized_matmul"}])
def test_the_fallback_interpolates_as_the_entry_does(
    tmp_path: Path, subcategory: dict[str, Any]
) -> None:
    files = {"QuantBatchMatmulV3.csv": [quant_row(100, 10), quant_row(200, 30)]}
    op = linear(m=150, output=(150, 512))
    answer = ask(tmp_path, files, op, {**ENTRY, **subcategory})
    found = (answer.source, answer.latency_us, answer.kernel_type)
    assert found == ("INTERPOLATED", 20, "QuantBatchMatmulV3")


def test_an_unknown_subcategory_fails_closed(tmp_path: Path) -> None:
    entry = {**ENTRY, "compute_subcategory": "mystery"}
    answer = ask(tmp_path, BOTH, linear(output=None), entry)
    assert answer.miss_reason == "compute_subcategory_unknown"


def test_a_miss_names_both_kernels(tmp_path: Path) -> None:
    answer = ask(tmp_path, {"MatMulV2.csv": [row("9,1024;1024,512", 7)]}, linear())
    assert (answer.source, answer.miss_reason) == (None, "csv_not_found")
    assert answer.details["kernels"] == ["QuantBatchMatmulV3"]
    assert answer.details["mtp_projection"]["kernels"] == ["MatMulV2"]


def test_an_unusable_file_of_the_projection_is_named(tmp_path: Path) -> None:
    entry = {**ENTRY, "mtp_projection_kernel_type": "Pointer"}
    files = {"Pointer.csv": ["version https://git-lfs.github.com/spec/v1"]}
    answer = ask(tmp_path / "a", files, linear(), entry)
    assert answer.miss_reason == "csv_unavailable:Pointer.csv"
    files["QuantBatchMatmulV3.csv"] = [quant_row(144, 3)]
    answer = ask(tmp_path / "b", files, linear(), entry, disable_interpolation=True)
    assert (answer.latency_us, answer.miss_reason) == (3, None)


def test_projections_and_other_layers_share_a_batch(tmp_path: Path) -> None:
    write_version(
        tmp_path / "v",
        {name: [MATMUL_HEADER, *lines] for name, lines in BOTH.items()},
        {OP: ENTRY},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [linear(), linear(output=None), linear(m=9, output=(9, 512)), linear()]
    with sqlinterp.open(tmp_path / "p.duckdb", disable_interpolation=True) as database:
        answers = database.lookup_many(calls)
        assert answers == [database.lookup(op) for op in calls]
    assert [a.latency_us for a in answers] == [7, 3, None, 7]
