"""Quantised matmul on the smallest databases: M, K, N vary; dtypes, packing and outputs do not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

INT8 = "tensor_cast.static_quant_linear.default"
INT4 = "tensor_cast.static_quant_linear_int4.default"
FP8, MXFP4 = "tensor_cast.fp8_linear.default", "tensor_cast.mxfp4_linear.default"
KERNEL = "QuantBatchMatmulV3"
ENTRY: dict[str, Any] = {
    "kernel_type": KERNEL,
    "compute_subcategory": "quantized_matmul",
    "tc_input_count": 2,
}


def row(m: int, k: int, n: int, latency: object, weight: str | None = None, **cells: str) -> str:
    """A row with a scale as third input; ``weight`` is the stored shape, (K, N) unless given."""
    dtypes = cells.get("dtypes", "INT8;INT8;FLOAT")
    formats = cells.get("formats", "ND;ND;ND")
    output = cells.get("output", f'"{m},{n}",DT_BF16,ND')
    return f'"{m},{k};{weight or f"{k},{n}"};{n}",{dtypes},{formats},{output},{latency}'


def nz_row(m: int, k: int, n: int, latency: object) -> str:
    blocks = f"{-(-k // 32)},{-(-n // 16)},16,32"
    return row(m, k, n, latency, blocks, formats="ND;FRACTAL_NZ;ND")


def linear(
    m: int, k: int, n: int, weight: tuple[int, ...] | None = None, **kinds: str
) -> dict[str, Any]:
    """A quantised linear layer; ``weight`` is the shape as the model stores it."""
    dtype = kinds.get("dtype", "int8")
    weights = tensor(*(weight or (k, n)), dtype=kinds.get("weight_dtype", dtype))
    inputs = (tensor(m, k, dtype=dtype), weights, tensor(n, dtype="float"), None)
    result = tensor(m, n, dtype=kinds.get("output", "bfloat16"))
    return call(kinds.get("op", INT8), *inputs, outputs=[result])


def ask(
    folder: Path,
    rows: Iterable[str],
    op: dict[str, Any],
    entry: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
    **context: Any,
) -> Answer:
    """Ingest the rows and answer one invocation."""
    files = {f"{KERNEL}.csv": [MATMUL_HEADER, *rows]}
    write_version(folder / "v", files, {op["op"]: {**ENTRY, **(entry or {})}}, extra)
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        answer = database.lookup(op)
        assert database.lookup_many([op, op]) == [answer, answer]
    return answer


def policy(**fields: Any) -> dict[str, Any]:
    return {"interpolation_policy": {"kernel_overrides": {KERNEL: fields}}}


GRID = [row(m, k, n, m + k + n) for m in (10, 20) for k in (32, 64) for n in (64, 96)]
LINE = [row(m, 32, 64, m) for m in (10, 30)]


class TestQuantBatchMatmul3D:
    @pytest.mark.parametrize(
        ("target", "axes"),
        [((15, 32, 64), ["M"]), ((10, 48, 64), ["K"]), ((10, 32, 80), ["N"]),
         ((15, 48, 64), ["M", "K"]), ((15, 32, 80), ["M", "N"]), ((10, 48, 80), ["K", "N"]),
         ((15, 48, 80), ["M", "K", "N"])],
    )  # fmt: skip
    def test_the_lowest_dimension_wins(
        self, tmp_path: Path, target: tuple[int, int, int], axes: list[str]
    ) -> None:
        answer = ask(tmp_path, GRID, linear(*target))
        assert (answer.source, answer.details["axes"]) == ("INTERPOLATED", axes)
        assert answer.latency_us == pytest.approx(sum(target), rel=1e-12)

    @pytest.mark.parametrize("weight", [(32, 64), (64, 32)])
    def test_weights_may_be_transposed_on_either_side(
        self, tmp_path: Path, weight: tuple[int, int]
    ) -> None:
        rows = [row(10, 32, 64, 10, "64,32"), row(30, 32, 64, 30)]
        assert ask(tmp_path, rows, linear(15, 32, 64, weight)).latency_us == 15

    def test_max_dimension(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, linear(15, 48, 64), extra=policy(max_interpolation_dim=1))
        assert answer.miss_reason == "insufficient_filtered_candidates"
        tried = [attempt for attempt in answer.details["attempts"] if "axes" in attempt]
        assert [attempt["axes"] for attempt in tried] == [["M"], ["K"], ["N"]]


class TestTcInputCount:
    def test_scales_take_no_part(self, tmp_path: Path) -> None:
        rows = [row(10, 32, 64, 10), row(30, 32, 64, 30, dtypes="INT8;INT8;DT_BF16")]
        answer = ask(tmp_path, rows, linear(15, 32, 64))
        assert answer.latency_us == 15
        assert answer.details["exact_fields"]["input_count"] == 2

    def test_without_it_all_inputs_must_agree(self, tmp_path: Path) -> None:
        rows = [row(10, 32, 64, 10), row(30, 32, 64, 30, dtypes="INT8;INT8;DT_BF16")]
        answer = ask(tmp_path / "a", rows, linear(15, 32, 64), {"tc_input_count": None})
        assert answer.miss_reason == "insufficient_filtered_candidates"
        answer = ask(tmp_path / "b", LINE, linear(15, 32, 64), {"tc_input_count": None})
        assert answer.latency_us == 15


class TestNoINT8Reuse:
    """Rows of INT8 inputs serve INT8 calls with unpacked weights only."""

    @pytest.mark.parametrize(
        "op",
        [
            linear(10, 32, 64, op=FP8, dtype="float8_e4m3fn"),
            linear(15, 32, 64, op=FP8, dtype="float8_e4m3fn"),
            linear(15, 32, 64, op=FP8, dtype="int8", weight_dtype="float8_e4m3fn"),
            linear(15, 32, 64, op=MXFP4, dtype="float4_e2m1fn_x2"),
            linear(15, 32, 64, (32, 32), op=MXFP4, dtype="uint8"),
            linear(15, 32, 64, (32, 32), op=INT4),
            linear(10, 32, 64, (16, 64), op=INT4),
            linear(15, 32, 64, (32, 8), op=INT4, weight_dtype="int32"),
        ],
    )
    def test_never_for_fp8_mxfp4_or_packed_int4(self, tmp_path: Path, op: dict[str, Any]) -> None:
        assert ask(tmp_path, LINE, op).miss_reason == "regime_key_unmatched"

    def test_packed_rows_answer_packed_calls_with_n_of_the_output(self, tmp_path: Path) -> None:
        packed = [row(m, 32, n, m + n, f"32,{n // 2}") for m in (10, 30) for n in (64, 128)]
        plain = [row(m, 32, 32, 1) for m in (10, 30)]
        answer = ask(tmp_path, packed + plain, linear(15, 32, 96, (32, 48), op=INT4))
        assert answer.latency_us == pytest.approx(15 + 96)
        assert answer.details["target"] == {"M": 15.0, "K": 32.0, "N": 96.0}
        assert answer.details["exact_fields"]["weight_packing"] == 2

    def test_fp8_rows_serve_fp8_calls(self, tmp_path: Path) -> None:
        dtypes = "FLOAT8_E4M3FN;DT_FLOAT8_E4M3FN;FLOAT"
        rows = [row(m, 32, 64, m, dtypes=dtypes) for m in (10, 30)]
        answer = ask(tmp_path, rows, linear(15, 32, 64, op=FP8, dtype="float8_e4m3fn"))
        assert answer.latency_us == 15


class TestOutputSignature:
    @pytest.mark.parametrize("dtype", ["float", "int32", "int8"])
    def test_another_output_dtype_is_another_regime(self, tmp_path: Path, dtype: str) -> None:
        answer = ask(tmp_path, LINE, linear(15, 32, 64, output=dtype))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_a_second_output_is_another_regime(self, tmp_path: Path) -> None:
        op = linear(15, 32, 64)
        op["outputs"].append(tensor(15, dtype="float"))
        assert ask(tmp_path, LINE, op).miss_reason == "regime_key_unmatched"

    def test_float16_results_use_their_own_rows_first_and_flag_the_others(
        self, tmp_path: Path
    ) -> None:
        own = [row(m, 32, 64, 7, output=f'"{m},64",FLOAT16,ND') for m in (10, 30)]
        op = linear(15, 32, 64, output="float16")
        answer = ask(tmp_path / "a", own + LINE, op)
        assert answer.latency_us == 7 and "dtype_compatible" not in answer.details
        for name, rows in (("b", LINE), ("c", [*own[:1], *LINE])):
            answer = ask(tmp_path / name, rows, op)
            assert answer.latency_us == 15 and "FLOAT16" in answer.details["dtype_compatible"]

    def test_float16_rows_never_serve_bfloat16(self, tmp_path: Path) -> None:
        rows = [row(m, 32, 64, 7, output=f'"{m},64",FLOAT16,ND') for m in (10, 30)]
        assert ask(tmp_path, rows, linear(15, 32, 64)).miss_reason == "regime_key_unmatched"

    @pytest.mark.parametrize("output", ['"",DT_BF16,ND', '"30,64",,ND', '"30,64",DT_BF16,'])
    def test_a_row_without_its_whole_signature_has_no_place(
        self, tmp_path: Path, output: str
    ) -> None:
        rows = [LINE[0], row(30, 32, 64, 30, output=output)]
        answer = ask(tmp_path, rows, linear(15, 32, 64))
        assert answer.miss_reason == "insufficient_filtered_candidates"
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            found = database.sql("select distinct reason from dropped_point where path = $path",
                                 {"path": "quantized_matmul"}).fetchall()  # fmt: skip
        assert found == [("output_signature_missing",)]


class TestInputFormats:
    NZ = tuple(nz_row(m, 64, 32, 2 * m) for m in (10, 30))
    ND = tuple(row(m, 64, 32, m) for m in (10, 30))

    def test_without_a_declaration_nd_comes_first(self, tmp_path: Path) -> None:
        op = linear(15, 64, 32)
        assert ask(tmp_path / "a", [*self.NZ, *self.ND], op).latency_us == 15
        answer = ask(tmp_path / "b", self.NZ, op)
        assert answer.latency_us == 30
        assert answer.details["exact_fields"]["input_formats"] == ["ND", "FRACTAL_NZ"]

    @pytest.mark.parametrize(
        ("declared", "latency"), [(["ND", "ND"], 15), (["ND", "FRACTAL_NZ"], 30)]
    )
    def test_a_declaration_decides(
        self, tmp_path: Path, declared: list[str], latency: float
    ) -> None:
        entry = {"expected_input_formats": declared}
        answer = ask(tmp_path, [*self.NZ, *self.ND], linear(15, 64, 32), entry)
        assert answer.latency_us == latency
        assert answer.details["expected_input_formats"] == declared

    def test_rows_of_another_format_do_not_serve_it(self, tmp_path: Path) -> None:
        entry = {"expected_input_formats": ["ND", "FRACTAL_NZ"]}
        for m in (10, 15):
            answer = ask(tmp_path / str(m), self.ND, linear(m, 64, 32), entry)
            assert answer.miss_reason == "regime_key_unmatched"

    @pytest.mark.parametrize("declared", [["ND"], ["ND", "ND", "ND"], ["ND", ""], "ND;ND", [1, 2]])
    def test_a_declaration_that_makes_no_sense_is_named(
        self, tmp_path: Path, declared: Any
    ) -> None:
        entry = {"expected_input_formats": declared}
        answer = ask(tmp_path, self.ND, linear(15, 64, 32), entry)
        assert answer.miss_reason == "expected_input_formats_invalid"

    def test_fractal_blocks_round_k_and_n_up(self, tmp_path: Path) -> None:
        rows = [nz_row(m, 100, 40, m) for m in (10, 30)]
        answer = ask(tmp_path, rows, linear(15, 100, 40))
        assert (answer.latency_us, answer.details["target"]["N"]) == (15, 40.0)


class TestSpecializedExact:
    def test_one_row_is_enough_for_its_coordinate(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, LINE[:1], linear(10, 32, 64))
        assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 10, 1.0)
        assert answer.details["method"] == answer.shape_match_rule == "exact_coordinate"
        (point,) = answer.details["corner_points"]
        assert (point["file"], point["line"]) == (f"{KERNEL}.csv", 2)

    def test_no_row_is_padded_to_the_target(self, tmp_path: Path) -> None:
        answer = ask(tmp_path / "a", LINE, linear(16, 32, 64))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 16)
        base = ask(tmp_path / "b", LINE, linear(16, 32, 64), disable_interpolation=True)
        assert (base.shape_match_rule, base.latency_us) == ("padding", 10)

    def test_without_interpolation_inputs_decide_alone(self, tmp_path: Path) -> None:
        op = linear(10, 32, 64, output="float")
        base = ask(tmp_path, LINE, op, disable_interpolation=True)
        assert (base.source, base.shape_match_rule) == ("MEASURED", "identity")


class TestMisses:
    @pytest.mark.parametrize(
        ("op", "reason"),
        [
            ({**linear(15, 32, 64), "outputs": []}, "output_signature_missing"),
            ({**linear(15, 32, 64), "outputs": [tensor(16, 64)]}, "matmul_axes_unextractable"),
            (linear(15, 32, 64, (33, 64)), "matmul_axes_unextractable"),
            (linear(0, 32, 64), "matmul_axes_unextractable"),
            (call(INT8, tensor(1, 15, 32, dtype="int8"), tensor(32, 64, dtype="int8"),
                  outputs=[tensor(1, 15, 64)]), "matmul_axes_unextractable"),
            (call(INT8, tensor(15, 32, dtype="int8"), outputs=[tensor(15, 64)]),
             "input_shapes_lt_2"),
            (linear(15, 32, 64, dtype="complex99"), "dtype_unmapped:args[0]:complex99"),
        ],
    )  # fmt: skip
    def test_target_construction_failures(
        self, tmp_path: Path, op: dict[str, Any], reason: str
    ) -> None:
        assert ask(tmp_path, LINE, op).miss_reason == reason

    def test_insufficient_candidates(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, LINE[:1], linear(15, 32, 64))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_regime_mismatch(self, tmp_path: Path) -> None:
        rows = [row(m, 32, 64, m, dtypes="INT8;INT4;FLOAT") for m in (10, 30)]
        assert ask(tmp_path, rows, linear(15, 32, 64)).miss_reason == "regime_key_unmatched"

    @pytest.mark.parametrize("latency", ["0", "-3", "nan", "inf", ""])
    def test_invalid_latency_is_no_candidate(self, tmp_path: Path, latency: str) -> None:
        answer = ask(tmp_path, [LINE[0], row(30, 32, 64, latency)], linear(15, 32, 64))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize("m", [9, 31])
    def test_out_of_range(self, tmp_path: Path, m: int) -> None:
        answer = ask(tmp_path, LINE, linear(m, 32, 64))
        assert (answer.source, answer.miss_reason) == (None, "outside_axis_boundary")

    def test_a_missing_file(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, LINE, linear(15, 32, 64), {"kernel_type": "Absent"})
        assert (answer.miss_reason, answer.details["kernels"]) == ("csv_not_found", ["Absent"])

    def test_miss_details(self, tmp_path: Path) -> None:
        details = ask(tmp_path, LINE, linear(15, 32, 64, output="float")).details
        assert details["interpolation_path"] == details["compute_subcategory"]
        assert details["rejected_rows"] == {}
        (attempt,) = details["attempts"]
        assert attempt["target"] == {"M": 15.0, "K": 32.0, "N": 64.0}
        assert attempt["regime"]["output_dtypes"] == ["FLOAT"]


def test_success_details(tmp_path: Path) -> None:
    details = ask(tmp_path, LINE, linear(15, 32, 64)).details
    assert details["interpolation_path"] == details["compute_subcategory"] == "quantized_matmul"
    assert (details["method"], details["boundary"]) == ("linear_1d", {"M": [10.0, 30.0]})
    assert [p["line"] for p in details["corner_points"]] == [2, 3]
    assert details["exact_fields"] == {
        "kernel_type": KERNEL, "input_count": 2, "input_dtypes": ["INT8", "INT8"],
        "weight_packing": 1, "output_count": 1, "output_dtypes": ["DT_BF16"],
        "output_formats": ["ND"], "input_formats": ["ND", "ND"],
    }  # fmt: skip
    assert details["fallback_from"] == "exact_miss"
