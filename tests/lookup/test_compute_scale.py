"""Dynamic quantisation on the smallest databases: M and K vary, the output signature never does."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

SYMMETRIC = "tensor_cast.dynamic_quantize_symmetric.default"
ASYMMETRIC = "tensor_cast.dynamic_quantize_asymmetric.default"
BLOCK = "tensor_cast.dynamic_quantize_mxfp4.default"
ENTRY = {"kernel_type": "DynamicQuant", "compute_subcategory": "compute_scale"}
BLOCK_ENTRY = {**ENTRY, "kernel_type": "DynamicBlockQuant"}
OPERATORS = {SYMMETRIC: ENTRY, ASYMMETRIC: ENTRY, BLOCK: BLOCK_ENTRY}


def row(m: int, k: int, latency: object, scale: str | None = None, dtype: str = "DT_BF16") -> str:
    """A symmetric row; ``scale`` is the shape of the scale, per token unless given."""
    shapes = f"{m},{k};{m if scale is None else scale}"
    return f'"{m},{k}",{dtype},ND,"{shapes}",INT8;FLOAT,ND;ND,{latency}'


def asymmetric_row(m: int, k: int, latency: object) -> str:
    return f'"{m},{k}",DT_BF16,ND,"{m},{k};{m};{m}",INT8;FLOAT;INT32,ND;ND;ND,{latency}'


def block_row(m: int, k: int, latency: object, block: int = 32) -> str:
    shapes = f"{m},{k};{-(-k // block)}"
    return f'"{m},{k}",DT_BF16,ND,"{shapes}",FLOAT4_E2M1;FLOAT8_E8M0,ND;ND,{latency}'


def quantise(
    *shape: int, scale: tuple[int, ...] | None = None, dtype: str = "bfloat16", **kinds: Any
) -> dict[str, Any]:
    """A call with a quantised result, a scale and, for the asymmetric operator, an offset."""
    op = kinds.get("op", SYMMETRIC)
    rows = (*shape[:-1], 1) if scale is None else scale
    outputs = [tensor(*shape, dtype="int8"), tensor(*rows, dtype=kinds.get("scale_dtype", "float"))]
    if op == ASYMMETRIC:
        outputs.append(tensor(*rows, dtype="int32"))
    return call(op, tensor(*shape, dtype=dtype), {"ints": [-1]}, outputs=outputs)


def block_quantise(m: int, k: int, groups: int) -> dict[str, Any]:
    outputs = [tensor(m, k, dtype="float4_e2m1fn_x2"), tensor(groups, dtype="float8_e8m0fnu")]
    return call(BLOCK, tensor(m, k), {"ints": [-1]}, outputs=outputs)


def ask(
    folder: Path,
    rows: Iterable[str],
    op: dict[str, Any],
    kernel: str = "DynamicQuant",
    header: str = MATMUL_HEADER,
    **given: Any,
) -> Answer:
    """Ingest the rows of one kernel and answer one invocation."""
    operators = {**OPERATORS, op["op"]: given.pop("entry", OPERATORS[op["op"]])}
    extra = given.pop("extra", None)
    write_version(folder / "v", {f"{kernel}.csv": [header, *rows]}, operators, extra)
    with sqlinterp.open(kept_database(folder / "v"), **given) as database:
        answer = database.lookup(op)
        assert database.lookup_many([op, op]) == [answer, answer]
    return answer


def policy(kernel: str, **fields: Any) -> dict[str, Any]:
    return {"interpolation_policy": {"kernel_overrides": {kernel: fields}}}


def tried_axes(answer: Answer) -> list[list[str]]:
    """The axis groups that were tried, in order."""
    return [attempt["axes"] for attempt in answer.details["attempts"] if "axes" in attempt]


GRID = [row(m, k, m + k / 64) for m in (100, 200) for k in (64, 128)]


class TestDynamicQuant2D:
    @pytest.mark.parametrize(
        ("shape", "axes", "latency", "rule"),
        [
            ((150, 64), ["M"], 151.0, "interpolated_1d_linear"),
            ((100, 96), ["K"], 101.5, "interpolated_1d_linear"),
            ((150, 96), ["M", "K"], 151.5, "interpolated_2d_griddata_linear"),
        ],
    )
    def test_m_then_k_then_both(
        self, tmp_path: Path, shape: tuple[int, int], axes: list[str], latency: float, rule: str
    ) -> None:
        answer = ask(tmp_path, GRID, quantise(*shape))
        assert (answer.source, answer.shape_match_rule) == ("INTERPOLATED", rule)
        assert answer.details["axes"] == axes
        assert answer.latency_us == pytest.approx(latency, rel=1e-12)

    def test_m_is_the_product_of_all_dims_but_the_last(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, quantise(2, 75, 64))
        assert answer.details["target"] == {"M": 150.0, "K": 64.0}
        assert answer.latency_us == pytest.approx(151.0)

    def test_inputs_beyond_tc_input_count_do_not_matter(self, tmp_path: Path) -> None:
        rows = [
            f'"{m},64;7",DT_BF16;DT_BF16,ND;ND,"{m},64;{m}",INT8;FLOAT,ND;ND,{m}' for m in (10, 20)
        ]
        cut = ask(tmp_path / "a", rows, quantise(15, 64), entry={**ENTRY, "tc_input_count": 1})
        assert cut.latency_us == 15
        whole = ask(tmp_path / "b", rows, quantise(15, 64))
        assert whole.miss_reason == "regime_key_unmatched"

    def test_a_smooth_scale_grows_with_k_and_is_never_mixed_with_none(self, tmp_path: Path) -> None:
        rows = [
            f'"10,{k};{k}",DT_BF16;DT_BF16,ND;ND,"10,{k};10",INT8;FLOAT,ND;ND,{k}'
            for k in (64, 128)
        ] + [row(10, k, 1) for k in (64, 128)]
        op = quantise(10, 96)
        assert ask(tmp_path / "a", rows, op).latency_us == 1
        op["args"] = [tensor(10, 96), tensor(96)]
        assert ask(tmp_path / "b", rows, op).latency_us == 96


class TestOutputSignature:
    def test_a_symmetric_row_never_serves_an_asymmetric_call(self, tmp_path: Path) -> None:
        for shape in ((100, 64), (150, 64)):
            answer = ask(tmp_path / str(shape[0]), GRID, quantise(*shape, op=ASYMMETRIC))
            assert answer.miss_reason == "regime_key_unmatched"

    def test_nor_the_other_way_round(self, tmp_path: Path) -> None:
        rows = [asymmetric_row(m, 64, m) for m in (100, 200)]
        assert ask(tmp_path / "a", rows, quantise(150, 64, op=ASYMMETRIC)).latency_us == 150
        symmetric = ask(tmp_path / "b", rows, quantise(150, 64))
        assert symmetric.miss_reason == "regime_key_unmatched"

    def test_both_in_one_file_answer_their_own(self, tmp_path: Path) -> None:
        rows = [asymmetric_row(m, 64, 7) for m in (100, 200)] + GRID
        assert ask(tmp_path / "a", rows, quantise(150, 64, op=ASYMMETRIC)).latency_us == 7
        assert ask(tmp_path / "b", rows, quantise(150, 64)).latency_us == 151

    def test_the_dtype_of_the_scale_is_part_of_it(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, quantise(150, 64, scale_dtype="bfloat16"))
        assert answer.miss_reason == "regime_key_unmatched"
        assert answer.details["attempts"][0]["regime"]["output_dtypes"] == ["INT8", "DT_BF16"]

    @pytest.mark.parametrize(
        ("before", "after"), [("ND;ND", "ND;FRACTAL_NZ"), ("DT_BF16,ND,", "DT_BF16,NCHW,")]
    )
    def test_another_format_is_another_regime(
        self, tmp_path: Path, before: str, after: str
    ) -> None:
        rows = [line.replace(before, after) for line in GRID]
        assert ask(tmp_path, rows, quantise(150, 64)).miss_reason == "regime_key_unmatched"

    def test_a_trailing_empty_output_is_none(self, tmp_path: Path) -> None:
        rows = [
            f'"{m},64",DT_BF16,ND,"{m},64;{m};",INT8;FLOAT;DT_UNDEFINED,ND;ND;NULL,{m}'
            for m in (10, 20)
        ]
        assert ask(tmp_path, rows, quantise(15, 64)).latency_us == 15


class TestScaleMode:
    @pytest.mark.parametrize(
        ("stored", "asked", "mode"),
        [("()", (), "per_tensor"), ("64", (64,), "per_channel"), (None, (150,), "per_token"),
         (None, (150, 1), "per_token"), ("1,64", (64,), "per_channel")],
    )  # fmt: skip
    def test_the_shape_of_the_scale_tells_the_mode(
        self, tmp_path: Path, stored: str | None, asked: tuple[int, ...], mode: str
    ) -> None:
        rows = [row(m, 64, m, stored) for m in (100, 200)]
        answer = ask(tmp_path, rows, quantise(150, 64, scale=asked))
        assert answer.latency_us == 150
        assert answer.details["scale_mode"] == mode
        assert answer.details["auxiliary_modes"] == [mode]

    @pytest.mark.parametrize("asked", [(), (64,), (150,)])
    def test_modes_are_never_mixed(self, tmp_path: Path, asked: tuple[int, ...]) -> None:
        own = {(): "()", (64,): "64", (150,): None}
        rows = [row(m, 64, m, own[s]) for s in own if s != asked for m in (100, 200)]
        answer = ask(tmp_path, rows, quantise(150, 64, scale=asked))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_a_square_input_is_quantised_per_token(self, tmp_path: Path) -> None:
        rows = [row(m, 64, m) for m in (32, 64)]
        assert ask(tmp_path, rows, quantise(64, 64, scale=(64,))).latency_us == 64

    def test_one_scale_of_rank_1_says_nothing(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, quantise(150, 64, scale=(1,)))
        assert answer.miss_reason == "compute_scale_mode_unextractable"


class TestFP16:
    def test_float16_rows_answer_under_any_alias(self, tmp_path: Path) -> None:
        rows = [row(m, 64, m, dtype=name) for m, name in ((10, "FLOAT16"), (20, "DT_FLOAT16"))]
        answer = ask(tmp_path, rows, quantise(15, 64, dtype="float16"))
        assert answer.latency_us == 15
        assert answer.details["exact_fields"]["input_dtypes"] == ["FLOAT16"]

    @pytest.mark.parametrize(("stored", "asked"), [("DT_BF16", "float16"), ("FLOAT16", "bfloat16")])
    def test_float16_and_bfloat16_never_serve_each_other(
        self, tmp_path: Path, stored: str, asked: str
    ) -> None:
        rows = [row(m, 64, m, dtype=stored) for m in (10, 15, 20)]
        answer = ask(tmp_path, rows, quantise(15, 64, dtype=asked))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_without_interpolation_the_exact_lookup_decides(self, tmp_path: Path) -> None:
        op = quantise(10, 64, dtype="float16")
        answer = ask(tmp_path, [row(10, 64, 3)], op, disable_interpolation=True)
        assert answer.latency_us == 3 and "FLOAT16" in answer.details["dtype_compatible"]


class TestSpecializedExact:
    def test_one_row_is_enough_for_its_coordinate(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(100, 64, 11)], quantise(4, 25, 64))
        assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 11, 1.0)
        assert answer.details["method"] == "exact_coordinate"
        (point,) = answer.details["corner_points"]
        assert (point["file"], point["line"]) == ("DynamicQuant.csv", 2)

    def test_no_row_is_padded_to_the_target(self, tmp_path: Path) -> None:
        rows = [row(14, 64, 14), row(18, 64, 18)]
        answer = ask(tmp_path / "a", rows, quantise(16, 64))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 16)
        base = ask(tmp_path / "b", rows, quantise(16, 64), disable_interpolation=True)
        assert (base.shape_match_rule, base.latency_us) == ("padding", 14)

    def test_without_interpolation_inputs_decide_alone(self, tmp_path: Path) -> None:
        op = quantise(100, 64, op=ASYMMETRIC)
        base = ask(tmp_path, GRID, op, disable_interpolation=True)
        assert (base.source, base.shape_match_rule) == ("MEASURED", "identity")

    def test_a_measured_coordinate_of_any_column_comes_before_interpolation(
        self, tmp_path: Path
    ) -> None:
        rows = [row(10, 64, "10,"), row(20, 64, "20,"), row(15, 64, ",99")]
        header = MATMUL_HEADER + ",Duration(us)"
        answer = ask(tmp_path, rows, quantise(15, 64), header=header)
        assert (answer.source, answer.latency_us) == ("MEASURED", 99)
        assert answer.details["latency_column"] == "Duration(us)"

    @pytest.mark.parametrize(
        ("aggregation", "latency"), [("mean", 40), ("median", 20), ("min", 10)]
    )
    def test_duplicates_are_aggregated_by_policy(
        self, tmp_path: Path, aggregation: str, latency: float
    ) -> None:
        rows = [row(100, 64, value) for value in (90, 10, 20)]
        answer = ask(tmp_path, rows, quantise(100, 64), aggregation=aggregation)
        assert (answer.source, answer.latency_us) == ("MEASURED", latency)
        assert answer.details["corner_points"][0]["measurement_count"] == 3

    def test_alternates_are_tried_in_order(self, tmp_path: Path) -> None:
        entry = {**ENTRY, "kernel_type": "Absent", "alternate_kernel_types": ["DynamicQuant"]}
        answer = ask(tmp_path, GRID, quantise(150, 64), entry=entry)
        assert (answer.kernel_type, answer.latency_us) == ("DynamicQuant", 151)


class TestMaxDimension:
    def test_one_dimension_at_most(self, tmp_path: Path) -> None:
        limit = policy("DynamicQuant", max_interpolation_dim=1)
        blocked = ask(tmp_path / "a", GRID, quantise(150, 96), extra=limit)
        assert blocked.miss_reason == "insufficient_filtered_candidates"
        assert tried_axes(blocked) == [["M"], ["K"]]
        assert ask(tmp_path / "b", GRID, quantise(150, 64), extra=limit).latency_us == 151

    def test_none_at_all(self, tmp_path: Path) -> None:
        limit = policy("DynamicQuant", max_interpolation_dim=0)
        answer = ask(tmp_path / "a", GRID, quantise(150, 64), extra=limit)
        assert answer.miss_reason == "interpolation_dim_disabled"
        measured = ask(tmp_path / "b", GRID, quantise(100, 64), extra=limit)
        assert (measured.source, measured.latency_us) == ("MEASURED", 101)


class TestDynamicBlockQuantMode:
    ROWS = tuple(block_row(m, k, m + k) for m in (10, 20) for k in (64, 128))

    @pytest.mark.parametrize(("m", "k"), [(15, 64), (10, 96), (15, 96)])
    def test_the_block_size_is_fixed_while_m_and_k_vary(
        self, tmp_path: Path, m: int, k: int
    ) -> None:
        op = block_quantise(m, k, k // 32)
        answer = ask(tmp_path, self.ROWS, op, "DynamicBlockQuant")
        assert answer.latency_us == pytest.approx(m + k)
        assert (answer.details["scale_mode"], answer.details["block_size"]) == ("per_block", 32)

    def test_another_block_size_is_another_regime(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, self.ROWS, block_quantise(10, 64, 1), "DynamicBlockQuant")
        assert answer.miss_reason == "regime_key_unmatched"
        assert answer.details["attempts"][0]["regime"]["block_size"] == 64

    def test_only_that_kernel_has_blocks(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(15, 64, 1, "4")], quantise(15, 64, scale=(4,)))
        assert answer.miss_reason == "compute_scale_mode_unextractable"

    def test_without_its_file_it_is_a_stable_miss(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, block_quantise(10, 64, 2))
        assert answer.miss_reason == "csv_not_found"
        assert answer.details["kernels"] == ["DynamicBlockQuant"]


class TestMisses:
    @pytest.mark.parametrize(
        ("op", "reason"),
        [
            (call(SYMMETRIC, tensor(150, 64)), "compute_scale_outputs_lt_2"),
            (call(SYMMETRIC, tensor(150, 64), outputs=[tensor(150, 64)]),
             "compute_scale_outputs_lt_2"),
            (call(SYMMETRIC, tensor(150, 64), outputs=[tensor(75, 128), tensor(150)]),
             "quant_output_shape_mismatch"),
            (quantise(0, 64), "compute_scale_axes_unextractable"),
            (quantise(150, 64, dtype="complex99"), "dtype_unmapped:args[0]:complex99"),
            (call(SYMMETRIC, 3), "no_tensor_inputs"),
        ],
    )  # fmt: skip
    def test_target_construction_failures(
        self, tmp_path: Path, op: dict[str, Any], reason: str
    ) -> None:
        assert ask(tmp_path, GRID, op).miss_reason == reason

    def test_insufficient_candidates(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(100, 64, 1)], quantise(150, 64))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_regime_mismatch(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, GRID, quantise(150, 64, dtype="float"))
        assert answer.miss_reason == "regime_key_unmatched"

    @pytest.mark.parametrize("latency", ["0", "-3", "nan", "inf", ""])
    def test_invalid_latency_is_no_candidate(self, tmp_path: Path, latency: str) -> None:
        rows = [row(100, 64, 10), row(200, 64, latency)]
        answer = ask(tmp_path, rows, quantise(150, 64))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_latency_columns_are_never_mixed(self, tmp_path: Path) -> None:
        header = MATMUL_HEADER + ",Duration(us)"
        rows = [row(100, 64, "10,"), row(200, 64, ",20")]
        answer = ask(tmp_path / "a", rows, quantise(150, 64), header=header)
        assert answer.miss_reason == "insufficient_filtered_candidates"
        rows.append(row(100, 64, ",12"))
        answer = ask(tmp_path / "b", rows, quantise(150, 64), header=header)
        assert (answer.latency_us, answer.details["latency_column"]) == (16, "Duration(us)")

    @pytest.mark.parametrize("m", [99, 201])
    def test_out_of_range(self, tmp_path: Path, m: int) -> None:
        answer = ask(tmp_path, GRID, quantise(m, 64))
        assert (answer.source, answer.miss_reason) == (None, "outside_axis_boundary")

    def test_rows_without_a_place_are_counted_by_reason(self, tmp_path: Path) -> None:
        rows = [
            row(10, 64, 1, "3"),
            '"10,64",DT_BF16,ND,"10,64",INT8,ND,1',
            '"10,64",DT_BF16,ND,"5,64;10",INT8;FLOAT,ND;ND,1',
            '"10,64",DT_BF16,ND,"10,64;10",INT8,ND;ND,1',
            '"10,64",DT_BF16,ND,"10,64;10",INT8;FLOAT,,1',
        ]
        ask(tmp_path, rows, quantise(15, 64))
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            found = database.sql("select distinct reason from dropped_point order by all")
            reasons = [reason for (reason,) in found.fetchall()]
        assert reasons == [
            "compute_scale_mode_unextractable", "compute_scale_outputs_lt_2",
            "output_dtypes_mismatch", "output_formats_mismatch", "quant_output_shape_mismatch",
        ]  # fmt: skip

    def test_miss_details(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [*GRID, row(10, 64, 1, "3")], quantise(300, 64))
        details = answer.details
        assert details["interpolation_path"] == details["compute_subcategory"] == "compute_scale"
        assert details["kernels"] == ["DynamicQuant"]
        assert details["rejected_rows"] == {"compute_scale_mode_unextractable": 1}
        assert tried_axes(answer) == [["M"], ["K"], ["M", "K"]]
        placed, along_m, *_ = details["attempts"]
        assert placed["target"] == {"M": 300.0, "K": 64.0}
        assert placed["regime"]["scale_mode"] == "per_token"
        assert (along_m["status"], along_m["filtered_count"]) == ("outside_axis_boundary", 2)


def test_success_details(tmp_path: Path) -> None:
    details = ask(tmp_path, GRID, quantise(150, 96)).details
    assert details["interpolation_path"] == details["compute_subcategory"] == "compute_scale"
    assert details["boundary"] == {"M": [100.0, 200.0], "K": [64.0, 128.0]}
    assert [p["line"] for p in details["corner_points"]] == [2, 3, 4, 5]
    assert details["exact_fields"] == {
        "kernel_type": "DynamicQuant", "input_count": 1, "input_dtypes": ["DT_BF16"],
        "input_formats": ["ND"], "other_inputs": [], "output_count": 2,
        "output_dtypes": ["INT8", "FLOAT"], "output_formats": ["ND", "ND"],
        "scale_mode": "per_token", "block_size": None, "auxiliary_modes": ["per_token"],
    }  # fmt: skip
    assert details["raw_count"] == details["filtered_count"] == 4
    assert len(details["policy_hash"]) == 64
