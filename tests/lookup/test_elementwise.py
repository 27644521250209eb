"""Elementwise operators: measured and interpolated output shapes, and the base lookup by output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version
from scipy.interpolate import griddata

import sqlinterp
from sqlinterp.model import Answer

ADD = "aten.add.Tensor"
ENTRY: dict[str, Any] = {"kernel_type": "Add", "query_mode": "elementwise"}
BOTH = {**ENTRY, "alternate_kernel_types": ["AddAiCore"]}
TWO_COLUMNS = f"{MATMUL_HEADER},Profiling Average Duration(us)"
Files = Mapping[str, Sequence[str]]


def row(inputs: str, output: str, latency: object, dtype: str = "DT_BF16", own: str = "") -> str:
    """A CSV row; inputs have ``dtype``, the output ``own`` or the same."""
    count = len(inputs.split(";"))
    dtypes, formats = ";".join([dtype] * count), ";".join(["ND"] * count)
    return f'"{inputs}",{dtypes},{formats},"{output}",{own or dtype},ND,{latency}'


def full(shape: str, latency: object, dtype: str = "DT_BF16") -> str:
    """A row whose two inputs have the shape of the output."""
    return row(f"{shape};{shape}", shape, latency, dtype)


def add(*shape: int, dtype: str = "bfloat16", other: Sequence[int] | None = None) -> dict[str, Any]:
    """``aten.add`` of a tensor and one of the same or another shape."""
    second = shape if other is None else other
    inputs = (tensor(*shape, dtype=dtype), tensor(*second, dtype=dtype))
    return call(ADD, *inputs, outputs=[tensor(*shape, dtype=dtype)])


def database_of(
    folder: Path,
    files: Files | Sequence[str],
    entry: Mapping[str, Any] = ENTRY,
    extra: Mapping[str, Any] | None = None,
    header: str = MATMUL_HEADER,
) -> Path:
    """Ingest rows (of ``Add.csv`` unless named) and return the database file."""
    named = files if isinstance(files, Mapping) else {"Add.csv": files}
    tables = {name: [header, *lines] for name, lines in named.items()}
    write_version(folder / "v", tables, {ADD: dict(entry)}, extra)
    return kept_database(folder / "v")


def ask(database: Path, op: Mapping[str, Any], **context: Any) -> Answer:
    with sqlinterp.open(database, **context) as opened:
        return opened.lookup(dict(op))


def base(database: Path, op: Mapping[str, Any], **context: Any) -> Answer:
    """The answer without interpolation."""
    return ask(database, op, disable_interpolation=True, **context)


GRID = [full("64,512", 10), full("64,1024", 30), full("128,512", 50), full("128,1024", 110)]


class TestDirectShape2D:
    def test_both_dims_vary_and_scipy_gives_the_same_on_the_printed_corners(
        self, tmp_path: Path
    ) -> None:
        answer = ask(database_of(tmp_path, GRID), add(80, 768))
        details = answer.details
        assert answer.shape_match_rule == "interpolated_2d_griddata_linear"
        assert (answer.source, details["axes"]) == ("INTERPOLATED", ["axis_0", "axis_1"])
        corners = details["corner_points"]
        points = np.array([[corner["axis_0"], corner["axis_1"]] for corner in corners])
        values = np.array([corner["latency_us"] for corner in corners])
        assert len(corners) == 4
        assert answer.latency_us == griddata(points, values, np.array([[80, 768]]))[0]
        low, high = details["envelope_us"]
        assert low <= (answer.latency_us or 0) <= high

    def test_the_axes_are_dims_and_not_their_product(self, tmp_path: Path) -> None:
        rows = [row("8,10", "8,10", 10), row("8,20", "8,20", 20), row("12,10", "12,10", 100)]
        op = call(ADD, tensor(8, 15), outputs=[tensor(8, 15)])
        answer = ask(database_of(tmp_path, rows), op)
        assert (answer.latency_us, answer.details["axes"]) == (15, ["axis_1"])

    def test_points_on_one_line_are_no_cell(self, tmp_path: Path) -> None:
        rows = [full("64,512", 10), full("96,768", 20), full("128,1024", 30)]
        answer = ask(database_of(tmp_path, rows), add(80, 700))
        assert answer.miss_reason in ("degenerate_point_cloud", "outside_convex_hull")
        assert answer.details["attempts"][-1]["axes"] == ["axis_0", "axis_1"]


class TestOneDimensionalFallback:
    def test_axis_0_comes_before_axis_1_and_before_both(self, tmp_path: Path) -> None:
        rows = [*GRID, full("96,256", 1), full("96,1024", 9)]
        answer = ask(database_of(tmp_path, rows), add(96, 512))
        assert (answer.latency_us, answer.details["axes"]) == (30, ["axis_0"])

    def test_axis_1_when_no_other_row_has_its_tail(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, GRID), add(64, 768))
        assert (answer.latency_us, answer.details["axes"]) == (20, ["axis_1"])
        assert answer.shape_match_rule == "interpolated_1d_linear"

    def test_above_rank_2_only_axis_0_varies_and_the_tail_is_fixed(self, tmp_path: Path) -> None:
        rows = [full("4,8,64", 10), full("8,8,64", 20), full("4,16,64", 90), full("8,16,64", 95)]
        database = database_of(tmp_path, rows)
        answer = ask(database, add(6, 8, 64))
        assert (answer.latency_us, answer.details["axes"]) == (15, ["axis_0"])
        other = ask(database, add(6, 12, 64))
        assert other.miss_reason == "regime_key_unmatched"
        beyond = ask(database, add(9, 8, 64))
        assert beyond.miss_reason == "outside_axis_boundary"
        tried = [a["axes"] for a in beyond.details["attempts"] if "axes" in a]
        assert tried == [["axis_0"]]

    def test_rank_1_varies_along_axis_0(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, [full("64", 10), full("128", 30)]), add(96))
        assert (answer.latency_us, answer.details["axes"]) == (20, ["axis_0"])

    def test_a_leading_1_is_a_batch_at_rank_3_and_a_row_at_rank_2(self, tmp_path: Path) -> None:
        rows = [full("1,512", 2), full("1,5,512", 10), full("9,512", 18)]
        database = database_of(tmp_path, rows)
        assert ask(database, add(1, 7, 512)).latency_us == 14
        assert ask(database, add(3, 512)).latency_us == 6
        assert ask(database, add(1, 600)).source is None


class TestMaxDimension:
    @pytest.mark.parametrize("scope", ["kernel", "operator", "global"])
    def test_one_dimension_blocks_two_and_leaves_one(self, tmp_path: Path, scope: str) -> None:
        limit = {"max_interpolation_dim": 1}
        entry = {**ENTRY, "interpolation_policy": limit} if scope == "operator" else ENTRY
        policies = {"kernel": {"kernel_overrides": {"Add": limit}}, "global": limit}
        extra = {"interpolation_policy": policies[scope]} if scope in policies else None
        database = database_of(tmp_path, GRID, entry, extra)
        blocked = ask(database, add(80, 768))
        assert blocked.miss_reason == "insufficient_filtered_candidates"
        assert {len(a["axes"]) for a in blocked.details["attempts"] if "axes" in a} == {1}
        assert ask(database, add(96, 512)).latency_us == 30

    def test_zero_disables_the_kernel(self, tmp_path: Path) -> None:
        extra = {
            "interpolation_policy": {"kernel_overrides": {"Add": {"max_interpolation_dim": 0}}}
        }
        answer = ask(database_of(tmp_path, GRID, ENTRY, extra), add(80, 768))
        assert answer.miss_reason == "interpolation_dim_disabled"

    def test_the_ceiling_of_the_path_is_two(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, GRID), add(300, 300))
        assert {len(a["axes"]) for a in answer.details["attempts"] if "axes" in a} == {1, 2}


class TestV013GenericComputeCompatibility:
    @pytest.mark.parametrize(
        ("op", "entry", "file"),
        [
            ("aten.mul.Tensor", {"kernel_type": "Mul"}, "Mul"),
            (
                "aten.div.Tensor",
                {"kernel_type": "Div", "alternate_kernel_types": ["RealDiv"]},
                "RealDiv",
            ),
        ],
    )
    def test_entries_without_a_query_mode_are_plain_compute(
        self, tmp_path: Path, op: str, entry: dict[str, Any], file: str
    ) -> None:
        rows = [MATMUL_HEADER, full("64,512", 10), full("128,512", 30), full("128,1024", 99)]
        write_version(tmp_path / "v", {f"{file}.csv": rows}, {op: entry})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        shapes = (tensor(96, 512), tensor(96, 512))
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            measured = database.lookup(call(op, tensor(64, 512), tensor(64, 512)))
            answer = database.lookup(call(op, *shapes, outputs=[tensor(96, 512)]))
            assert database.dispatch_of(call(op, *shapes)) == "compute"
            beside = database.lookup(
                call(op, tensor(128, 768), tensor(128, 768), outputs=[tensor(128, 768)])
            )
        assert (measured.shape_match_rule, measured.latency_us) == ("identity", 10)
        assert (answer.latency_us, answer.kernel_type) == (20, file)
        assert answer.details["axes"] == ["axis_0"]
        assert "query_mode" not in answer.details
        assert beside.source is None


class TestFullOutputShapeExactCoordinates:
    def test_one_row_is_enough_and_is_named(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, [full("8,512", 7)]), add(8, 512))
        assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 7, 1.0)
        assert answer.shape_match_rule == answer.details["method"] == "exact_coordinate"
        assert answer.details["interpolation_dim"] == 0
        matched = answer.details["corner_points"]
        assert [(p["file"], p["line"], p["axis_0"], p["axis_1"]) for p in matched] == [
            ("Add.csv", 2, 8, 512)
        ]

    def test_the_same_number_of_elements_is_another_coordinate(self, tmp_path: Path) -> None:
        rows = [full("8,512", 7), full("4,1024", 9)]
        assert ask(database_of(tmp_path, rows), add(16, 256)).source is None

    @pytest.mark.parametrize("shape", [(4, 8), (1, 4, 8)])
    def test_a_batch_of_one_is_the_same_coordinate(
        self, tmp_path: Path, shape: tuple[int, ...]
    ) -> None:
        database = database_of(tmp_path, [full("1,4,8", 3)])
        assert ask(database, add(*shape)).source == "MEASURED"

    def test_a_measured_coordinate_in_any_column_beats_an_interpolation(
        self, tmp_path: Path
    ) -> None:
        rows = [f"{full('64,512', 10)},", f"{full('96,512', '')},7", f"{full('128,512', 30)},"]
        answer = ask(database_of(tmp_path, rows, header=TWO_COLUMNS), add(96, 512))
        assert (answer.source, answer.latency_us) == ("MEASURED", 7)

    def test_a_ceiling_of_zero_leaves_measured_coordinates(self, tmp_path: Path) -> None:
        entry = {**ENTRY, "interpolation_policy": {"max_interpolation_dim": 0}}
        assert ask(database_of(tmp_path, GRID, entry), add(64, 512)).latency_us == 10

    def test_equal_outputs_of_other_ranks_are_one_point(self, tmp_path: Path) -> None:
        rows = [full("8,512", 10), full("1,8,512", 20)]
        assert ask(database_of(tmp_path, rows), add(8, 512)).latency_us == 15

    def test_padding_is_no_exact_coordinate(self, tmp_path: Path) -> None:
        database = database_of(tmp_path, [full("63,512", 7)])
        assert ask(database, add(64, 512)).miss_reason == "insufficient_filtered_candidates"
        assert base(database, add(64, 512)).latency_us == 7

    @pytest.mark.parametrize(
        ("aggregation", "expected"), [("mean", 40.0), ("median", 20.0), ("min", 10.0)]
    )
    def test_rows_of_one_coordinate_are_one_point(
        self, tmp_path: Path, aggregation: str, expected: float
    ) -> None:
        rows = [full("8,512", latency) for latency in (90, 10, 20)]
        answer = ask(database_of(tmp_path, rows), add(8, 512), aggregation=aggregation)
        assert answer.latency_us == expected
        assert answer.details["corner_points"][0]["measurement_count"] == 3


class TestBroadcastSignature:
    def test_full_bias_column_and_missing_second_operand_are_never_mixed(
        self, tmp_path: Path
    ) -> None:
        rows = [
            full("64,512", 100), full("128,512", 300),
            row("64,512;512", "64,512", 10), row("128,512;512", "128,512", 30),
            row("64,512;64,1", "64,512", 1), row("128,512;128,1", "128,512", 3),
            row("64,512;1,512", "64,512", 1000), row("128,512;1,512", "128,512", 3000),
            row("64,512", "64,512", 5), row("128,512", "128,512", 7),
        ]  # fmt: skip
        database = database_of(tmp_path, rows)
        second = {(96, 512): 200, (512,): 20, (96, 1): 2, (1, 512): 2000}
        for other, expected in second.items():
            assert ask(database, add(96, 512, other=other)).latency_us == expected
        scalar = call(ADD, tensor(96, 512), 2.0, outputs=[tensor(96, 512)])
        assert ask(database, scalar).latency_us == 6

    def test_a_batch_of_one_on_one_operand_only_changes_nothing(self, tmp_path: Path) -> None:
        rows = [full("16,512", 10), full("32,512", 20)]
        op = call(ADD, tensor(1, 24, 512), tensor(24, 512), outputs=[tensor(1, 24, 512)])
        assert ask(database_of(tmp_path, rows), op).latency_us == 15

    def test_which_way_an_operand_broadcasts_is_in_the_regime(self, tmp_path: Path) -> None:
        answer = ask(
            database_of(tmp_path, [row("8,512;512", "8,512", 3)]), add(8, 512, other=(512,))
        )
        pattern = answer.details["exact_fields"]["broadcast_pattern"]
        assert pattern == [["same", "same"], ["missing", "same"]]

    def test_an_operand_that_shares_the_tokens_grows_with_them(self, tmp_path: Path) -> None:
        rows = [row(f"{n},512;{n},4,128", f"{n},512", n) for n in (64, 128)]
        rows += [row(f"{n},512;7,4,128", f"{n},512", 1000) for n in (64, 128)]
        database = database_of(tmp_path, rows)
        answer = ask(database, add(96, 512, other=(96, 4, 128)))
        assert answer.latency_us == 96
        pattern = answer.details["exact_fields"]["broadcast_pattern"]
        assert pattern == [["same", "same"], ["axis_0", "4", "128"]]
        assert ask(database, add(96, 512, other=(7, 4, 128))).latency_us == 1000
        assert ask(database, add(96, 512, other=(9, 4, 128))).miss_reason == "regime_key_unmatched"


class TestAlternateKernels:
    def test_the_alternate_answers_when_the_primary_cannot(self, tmp_path: Path) -> None:
        files = {"Add.csv": [full("512,512", 1)], "AddAiCore.csv": GRID}
        answer = ask(database_of(tmp_path, files, BOTH), add(96, 512))
        assert (answer.kernel_type, answer.latency_us) == ("AddAiCore", 30)
        assert answer.details["exact_fields"]["kernel_type"] == "AddAiCore"

    def test_the_primary_comes_first_and_kernels_are_never_mixed(self, tmp_path: Path) -> None:
        files = {"Add.csv": GRID[:3], "AddAiCore.csv": [full("32,512", 1), full("120,512", 2)]}
        database = database_of(tmp_path, files, BOTH)
        assert ask(database, add(100, 512)).kernel_type == "Add"
        assert ask(database, add(48, 512)).kernel_type == "AddAiCore"

    def test_a_measured_coordinate_of_an_alternate_beats_an_interpolation(
        self, tmp_path: Path
    ) -> None:
        files = {"Add.csv": GRID, "AddAiCore.csv": [full("96,512", 7)]}
        answer = ask(database_of(tmp_path, files, BOTH), add(96, 512))
        assert (answer.kernel_type, answer.source, answer.latency_us) == (
            "AddAiCore", "MEASURED", 7,
        )  # fmt: skip

    def test_a_primary_without_a_csv_leaves_the_alternate(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, {"AddAiCore.csv": GRID}, BOTH), add(96, 512))
        assert answer.kernel_type == "AddAiCore"

    def test_a_miss_keeps_every_kernel_that_was_tried(self, tmp_path: Path) -> None:
        files = {"Add.csv": GRID, "AddAiCore.csv": [full("4,4,4", 1)]}
        answer = ask(database_of(tmp_path, files, BOTH), add(999, 512))
        assert answer.details["kernels"] == ["Add", "AddAiCore"]
        status = {(a["kernel_type"], a["status"]) for a in answer.details["attempts"]}
        assert ("Add", "outside_axis_boundary") in status
        assert ("AddAiCore", "regime_key_unmatched") in status


class TestCrossDtypeRejection:
    def test_another_output_dtype_is_never_scaled(self, tmp_path: Path) -> None:
        database = database_of(tmp_path, [full("64,512", 10), full("128,512", 30)])
        for dtype in ("float32", "int8", "bool"):
            for tokens in (64, 96):
                answer = ask(database, add(tokens, 512, dtype=dtype))
                assert answer.miss_reason == "regime_key_unmatched", dtype
        assert base(database, add(64, 512, dtype="float32")).latency_us == 20

    def test_input_dtypes_must_be_equal_too(self, tmp_path: Path) -> None:
        rows = [row("64,512;64,512", "64,512", 10, "FLOAT", "DT_BF16")]
        assert ask(database_of(tmp_path, rows), add(64, 512)).source is None

    def test_half_precision_prefers_its_own_rows_and_flags_the_others(self, tmp_path: Path) -> None:
        rows = [full("64,512", 10), full("128,512", 30), full("96,512", 1, "DT_FLOAT16")]
        database = database_of(tmp_path, rows)
        own = ask(database, add(96, 512, dtype="float16"))
        assert own.latency_us == 1 and "dtype_compatible" not in own.details
        other = ask(database, add(112, 512, dtype="float16"))
        assert other.latency_us == 25 and "FLOAT16" in other.details["dtype_compatible"]

    def test_aliases_are_one_dtype(self, tmp_path: Path) -> None:
        rows = [full("64,512", 10, "DT_FLOAT"), full("128,512", 30, "FLOAT")]
        assert ask(database_of(tmp_path, rows), add(96, 512, dtype="float32")).latency_us == 20


class TestLatencySourcePurity:
    rows = (
        f"{full('64,512', 10)},", f"{full('128,512', '')},20", f"{full('256,512', '')},40",
        f"{full('512,512', 80)},",
    )  # fmt: skip

    def test_columns_are_never_mixed_and_the_preferred_one_comes_first(
        self, tmp_path: Path
    ) -> None:
        database = database_of(tmp_path, self.rows, header=TWO_COLUMNS)
        answer = ask(database, add(192, 512))
        assert answer.details["latency_column"] == "Average Duration(us)"
        assert answer.details["boundary"] == {"axis_0": [64, 512]}
        assert answer.latency_us == 30

    def test_another_column_answers_on_its_own(self, tmp_path: Path) -> None:
        database = database_of(tmp_path, self.rows[:3], header=TWO_COLUMNS)
        answer = ask(database, add(192, 512))
        assert (answer.latency_us, answer.details["boundary"]) == (30, {"axis_0": [128, 256]})
        assert answer.details["latency_column"] == "Profiling Average Duration(us)"
        assert ask(database, add(96, 512)).miss_reason == "outside_axis_boundary"


class TestTargetConstructionFailures:
    def test_without_an_output_the_call_is_looked_up_as_compute(self, tmp_path: Path) -> None:
        files = {"AddAiCore.csv": [full("144,512", 4)]}
        database = database_of(tmp_path, files, BOTH)
        measured = call(ADD, tensor(144, 512), tensor(144, 512))
        for answer in (ask(database, measured), base(database, measured)):
            assert (answer.latency_us, answer.shape_match_rule) == (4, "identity")
        other = call(ADD, tensor(145, 512), tensor(145, 512))
        assert ask(database, other).miss_reason == "elementwise_output_unavailable"
        assert base(database, other).miss_reason == "shape_mismatch"

    def test_a_scalar_output_never_interpolates(self, tmp_path: Path) -> None:
        database = database_of(tmp_path, [full("64,512", 1), full("128,512", 3)])
        scalar = call(ADD, tensor(96, 512), tensor(96, 512), outputs=[tensor()])
        assert ask(database, scalar).miss_reason == "elementwise_output_shape_unavailable"
        numbers = call(ADD, tensor(), 2.0, outputs=[tensor()])
        assert ask(database, numbers).miss_reason == "elementwise_output_shape_unavailable"
        assert base(database, numbers).miss_reason == "shape_mismatch"

    def test_unknown_dtypes_are_named(self, tmp_path: Path) -> None:
        database = database_of(tmp_path, GRID)
        output = call(
            ADD, tensor(64, 512), tensor(64, 512), outputs=[tensor(64, 512, dtype="quint8")]
        )
        assert ask(database, output).miss_reason == "dtype_unmapped:outputs[0]:quint8"
        assert base(database, output).miss_reason == "elementwise_output_shape_mismatch"
        operand = call(ADD, tensor(64, 512, dtype="quint8"), 1, outputs=[tensor(64, 512)])
        assert ask(database, operand).miss_reason == "dtype_unmapped:args[0]:quint8"
        assert base(database, operand).latency_us == 10

    def test_a_missing_or_unusable_csv_is_named(self, tmp_path: Path) -> None:
        database = database_of(tmp_path / "a", {})
        assert ask(database, add(64, 512)).miss_reason == "csv_not_found"
        assert base(database, add(64, 512)).miss_reason == "elementwise_output_shape_mismatch"
        pointer = "version https://git-lfs.github.com/spec/v1"
        lines = ["oid sha256:" + "0" * 64, "size 12"]
        broken = database_of(tmp_path / "b", lines, header=pointer)
        assert ask(broken, add(64, 512)).miss_reason == "csv_unavailable:Add.csv"
        assert base(broken, add(64, 512)).miss_reason == "csv_unavailable:Add.csv"


class TestInsufficientCandidates:
    def test_one_row_is_no_bracket(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, [full("64,512", 1)]), add(80, 512))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_two_rows_are_no_cell(self, tmp_path: Path) -> None:
        rows = [full("64,512", 1), full("128,1024", 2)]
        answer = ask(database_of(tmp_path, rows), add(96, 768))
        assert answer.miss_reason == "grid_structure_rejected"


class TestRegimeMismatch:
    @pytest.mark.parametrize(
        "op",
        [
            call(ADD, tensor(96, 512), outputs=[tensor(96, 512)]),
            add(96, 512, other=(512,)),
            add(96, 512, dtype="float32"),
            add(1, 96, 1, 512),
            add(49152),
        ],
        ids=["input count", "broadcast", "dtype", "rank 3", "rank 1"],
    )
    def test_every_field_of_the_regime_must_be_equal(
        self, tmp_path: Path, op: dict[str, Any]
    ) -> None:
        answer = ask(database_of(tmp_path, GRID), op)
        assert answer.miss_reason == "regime_key_unmatched"

    def test_formats_are_never_mixed(self, tmp_path: Path) -> None:
        blocked = full("128,512", 30).replace("ND;ND", "NCHW;NCHW")
        answer = ask(database_of(tmp_path, [full("64,512", 10), blocked]), add(96, 512))
        assert answer.miss_reason == "insufficient_filtered_candidates"


class TestInvalidLatency:
    @pytest.mark.parametrize("latency", ["0", "-3", "nan", "inf", ""])
    def test_such_a_row_is_no_candidate(self, tmp_path: Path, latency: str) -> None:
        rows = [full("64,512", 10), full("96,512", latency), full("128,512", 30)]
        database = database_of(tmp_path, rows)
        answer = ask(database, add(96, 512))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 20)
        assert base(database, add(96, 512)).latency_us != 0


class TestOutOfRange:
    @pytest.mark.parametrize("shape", [(32, 512), (256, 512), (64, 256), (64, 2048)])
    def test_no_axis_is_left(self, tmp_path: Path, shape: tuple[int, int]) -> None:
        answer = ask(database_of(tmp_path, GRID), add(*shape))
        assert (answer.source, answer.miss_reason) == (None, "outside_axis_boundary")

    def test_the_hull_is_not_left_either(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, GRID[:3]), add(120, 1000))
        assert answer.miss_reason == "outside_convex_hull"


class TestSuccessDetails:
    def test_what_an_interpolation_tells(self, tmp_path: Path) -> None:
        answer = ask(database_of(tmp_path, GRID), add(96, 512))
        details = answer.details
        assert answer.kernel_type == "Add"
        expected = {
            "method": "linear_1d", "interpolation_dim": 1, "axes": ["axis_0"],
            "boundary": {"axis_0": [64, 128]}, "target": {"axis_0": 96, "axis_1": 512},
            "raw_count": 4, "filtered_count": 2, "aggregated_count": 2, "dropped_count": 0,
            "fallback_from": "exact_miss", "query_mode": "elementwise",
            "interpolation_path": "elementwise", "dtype_scaled": False,
        }  # fmt: skip
        assert {key: details[key] for key in expected} == expected
        assert [(p["file"], p["line"]) for p in details["corner_points"]] == [
            ("Add.csv", 2), ("Add.csv", 4),
        ]  # fmt: skip
        assert details["exact_fields"] == {
            "kernel_type": "Add", "output_rank": 2, "output_dtype": "DT_BF16", "output_tail": [],
            "input_count": 2, "input_dtypes": ["DT_BF16"] * 2, "input_formats": ["ND"] * 2,
            "broadcast_pattern": [["same", "same"]] * 2, "output_dtypes": ["DT_BF16"],
        }  # fmt: skip


class TestMissDetails:
    def test_what_a_miss_tells(self, tmp_path: Path) -> None:
        no_output = '"64,512;64,512",DT_BF16;DT_BF16,ND;ND,,DT_BF16,ND,9'
        no_dtype = '"64,512;64,512",DT_BF16;DT_BF16,ND;ND,"64,512",,ND,9'
        database = database_of(tmp_path, [*GRID, no_output, no_dtype])
        details = ask(database, add(300, 512)).details
        assert details["asked_output"] == {"shape": [300, 512], "dtype": "bfloat16"}
        assert details["rejected_rows"] == {
            "elementwise_output_dtype_missing": 1, "elementwise_output_shape_unavailable": 1,
        }  # fmt: skip
        assert (details["query_mode"], details["interpolation_path"]) == ("elementwise",) * 2
        measured, *tried = details["attempts"]
        assert measured["status"] == "coordinate_not_measured"
        assert measured["target"] == {"axis_0": 300, "axis_1": 512}
        assert measured["regime"]["broadcast_pattern"] == [["same", "same"]] * 2
        assert [a["axes"] for a in tried] == [["axis_0"], ["axis_1"], ["axis_0", "axis_1"]]
        assert tried[0]["status"] == "outside_axis_boundary"
        with sqlinterp.open(database) as opened:
            found = opened.sql("select reason, row_count from dropped_point order by 1").fetchall()
        assert found == [
            ("elementwise_output_dtype_missing", 1),
            ("elementwise_output_shape_unavailable", 1),
        ]

    def test_an_unmatched_regime_is_shown(self, tmp_path: Path) -> None:
        details = ask(database_of(tmp_path, GRID), add(64, 512, dtype="int8")).details
        (attempt,) = details["attempts"]
        assert attempt["target"] == {"axis_0": 64, "axis_1": 512}
        assert attempt["regime"]["output_dtype"] == "INT8"


class TestBaseLookup:
    """Without interpolation: by the shape of the output, whatever the inputs."""

    @pytest.mark.parametrize(
        ("asked", "measured", "rule"),
        [
            ((144, 512), "144,512", "elementwise"),
            ((1, 144, 512), "144,512", "elementwise"),
            ((144, 512), "1,144,512", "elementwise"),
            ((1, 512), "512", "elementwise"),
            ((2, 72, 512), "144,512", "elementwise"),
            ((144, 512), "130,512", "elementwise+padding"),
            ((144, 512), "1,130,512", "elementwise+padding"),
            ((2, 72, 512), "130,512", "elementwise+padding"),
            ((144, 512), "144,500", "elementwise+padding"),
            ((136, 512), "130,512", "elementwise+padding"),
            ((40, 512), "33,512", None),
            ((2, 72, 512), "1,144,512", None),
            ((130, 512), "144,512", None),
            ((144, 512), "2,72,512", None),
            ((144, 512), "120,512", None),
            ((73728,), "144,512", None),
        ],
    )
    def test_which_outputs_fit(
        self, tmp_path: Path, asked: tuple[int, ...], measured: str, rule: str | None
    ) -> None:
        answer = base(database_of(tmp_path, [row("7,7", measured, 4)]), add(*asked))
        assert answer.shape_match_rule == rule
        if rule is None:
            assert answer.miss_reason == "elementwise_output_shape_mismatch"
            return
        is_padded = rule.endswith("padding")
        assert (answer.source, answer.latency_us) == ("MEASURED", 4)
        assert answer.confidence == (0.9 if is_padded else 1.0)
        assert answer.details["asked_shapes"] == [list(asked)]
        assert answer.details["measured_shapes"] == [[int(dim) for dim in measured.split(",")]]

    @pytest.mark.parametrize(
        ("measured", "asked", "latency", "confidence"),
        [
            ("DT_BF16", "bfloat16", 4.0, 1.0), ("DT_BF16", "float32", 8.0, 0.9),
            ("DT_BF16", "int8", 2.0, 0.9), ("DT_FLOAT", "float32", 4.0, 1.0),
            ("BOOL", "bool", 4.0, 1.0), ("DT_BF16", "bool", None, None),
            ("BOOL", "bfloat16", None, None), ("DT_BF16", "float16", 4.0, 1.0),
            ("DT_FLOAT16", "bfloat16", 4.0, 0.9), ("INT64", "float16", 1.0, 0.9),
            ("DOUBLE", "float32", None, None),
        ],
    )  # fmt: skip
    def test_dtypes_scale_by_bytes(
        self, tmp_path: Path, measured: str, asked: str, latency: float | None,
        confidence: float | None,
    ) -> None:  # fmt: skip
        rows = [row("8,512", "8,512", 4, measured)]
        answer = base(database_of(tmp_path, rows), add(8, 512, dtype=asked))
        assert (answer.latency_us, answer.confidence) == (latency, confidence)
        is_scaled = confidence == 0.9
        assert ("dtype_scale" in answer.details) is is_scaled
        if is_scaled:
            assert answer.details["raw_latency_us"] * answer.details["dtype_scale"] == latency

    def test_an_equal_dtype_beats_a_scaled_one_and_the_nearest_size_is_scaled(
        self, tmp_path: Path
    ) -> None:
        rows = [full("8,512", 40, "FLOAT"), full("8,512", 4), full("8,512", 3, "INT8")]
        database = database_of(tmp_path, rows)
        assert base(database, add(8, 512)).latency_us == 4
        assert base(database, add(8, 512, dtype="int64")).latency_us == 80

    def test_an_equal_dtype_beats_one_of_the_same_size(self, tmp_path: Path) -> None:
        rows = [full("8,512", 4, "FLOAT16"), full("8,512", 9), full("9,512", 6)]
        database = database_of(tmp_path, rows)
        assert base(database, add(8, 512)).latency_us == 9
        assert base(database, add(8, 512, dtype="float16")).latency_us == 4
        other = base(database, add(9, 512, dtype="float16"))
        assert other.latency_us == 6 and "FLOAT16" in other.details["dtype_compatible"]

    def test_padding_ranks_last_and_the_least_padded_row_first(self, tmp_path: Path) -> None:
        rows = [full("1,512", 1), full("60,512", 6), full("40,512", 4)]
        database = database_of(tmp_path / "a", rows)
        answer = base(database, add(64, 512))
        assert (answer.latency_us, answer.details["padding_ratio"]) == (6, 64 / 60)
        database = database_of(tmp_path / "b", [*rows, full("1,64,512", 64, "FLOAT")])
        answer = base(database, add(64, 512))
        assert (answer.latency_us, answer.details["dtype_scale"]) == (32, 0.5)

    def test_an_identical_row_beats_a_relabelled_one(self, tmp_path: Path) -> None:
        rows = [row("7,7", "1,64,512", 1), row("7,7", "64,512", 2)]
        assert base(database_of(tmp_path, rows), add(64, 512)).latency_us == 2

    def test_the_preferred_latency_column_wins(self, tmp_path: Path) -> None:
        rows = [f"{full('8,512', '')},9", f"{full('8,512', 3)},8"]
        database = database_of(tmp_path, rows, header=TWO_COLUMNS)
        assert base(database, add(8, 512), aggregation="first").latency_us == 3

    def test_only_the_primary_kernel_answers(self, tmp_path: Path) -> None:
        files = {"Add.csv": [full("4,4", 1)], "AddAiCore.csv": [full("64,512", 2)]}
        answer = base(database_of(tmp_path, files, BOTH), add(64, 512))
        assert answer.miss_reason == "elementwise_output_shape_mismatch"
        assert answer.details["kernels"] == ["Add"]

    @pytest.mark.parametrize(
        ("aggregation", "expected"),
        [("mean", 40.0), ("median", 20.0), ("min", 10.0), ("first", 90.0), ("reference", 90.0)],
    )
    def test_duplicates_are_one_answer_by_policy(
        self, tmp_path: Path, aggregation: str, expected: float
    ) -> None:
        rows = [full("8,512", latency) for latency in (90, 10, 20)]
        answer = base(database_of(tmp_path, rows), add(8, 512), aggregation=aggregation)
        assert answer.latency_us == expected
        assert (answer.details["raw_count"], answer.details["line"]) == (3, 2)

    def test_equal_inputs_break_a_tie_and_row_order_does_not(self, tmp_path: Path) -> None:
        rows = [row("8,512;512", "8,512", 1), full("8,512", 5), row("8,512;8,1", "8,512", 2)]
        answers = []
        for name, order in (("a", rows), ("b", rows[::-1])):
            database = database_of(tmp_path / name, order)
            assert base(database, add(8, 512)).latency_us == 5
            answers.append(base(database, add(8, 512, other=(1, 512))).latency_us)
        assert answers[0] == answers[1]

    def test_rows_without_an_output_are_skipped(self, tmp_path: Path) -> None:
        rows = ['"8,512;8,512",DT_BF16;DT_BF16,ND;ND,,,,3', full("8,512", 5)]
        assert base(database_of(tmp_path, rows), add(8, 512)).latency_us == 5


@pytest.mark.parametrize("is_disabled", [False, True])
def test_a_batch_answers_like_single_lookups(tmp_path: Path, is_disabled: bool) -> None:
    files = {"Add.csv": [*GRID, full("96,640", 5, "FLOAT")], "AddAiCore.csv": GRID[2:]}
    ops = [add(t, h, dtype=d) for t in (64, 96, 130) for h in (512, 640) for d in ("int8", "half")]
    ops += [add(t, h) for t in (64, 80, 128, 200) for h in (512, 700, 1024)]
    ops += [call(ADD, tensor(64, 512), tensor(64, 512)), add(1, 80, 700), add(2, 32, 512)]
    database = database_of(tmp_path, files, BOTH)
    with sqlinterp.open(database, disable_interpolation=is_disabled) as opened:
        answers = opened.lookup_many(ops)
        assert answers == [opened.lookup(op) for op in ops]
    assert {answer.source for answer in answers} >= {"MEASURED", None}
