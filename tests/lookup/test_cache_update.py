"""MLA cache update: arguments in the slots of the CSV, complete cache shape, tokens, alternates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

OP = "tensor_cast.scatter_nd_update_mla.default"
ENTRY = {
    "kernel_type": "ScatterNdUpdate",
    "alternate_kernel_types": ["ScatterNdUpdateAiCore"],
    "query_mode": "scatter_nd_update_mla",
}
CACHE = "1000,128"
TWO_COLUMNS = MATMUL_HEADER + ",Duration(us)"


def row(
    tokens: int,
    latency: object,
    cache: str = CACHE,
    update: str | None = None,
    dtypes: str = "DT_BF16;INT32;DT_BF16",
    formats: str = "ND;ND;ND",
    output: str = "DT_BF16,ND",
) -> str:
    update = update or f"{tokens},{cache.rsplit(',', 1)[1]}"
    return f'"{cache};{tokens},1;{update}",{dtypes},{formats},"{cache}",{output},{latency}'


def update(
    tokens: int, cache: tuple[int, ...] = (1000, 128), dtype: str = "bfloat16", **changes: Any
) -> dict[str, Any]:
    """The operator: (update, cache, index), with an index of rank 1."""
    written = changes.get("written", (tokens, cache[-1]))
    index = changes.get("index", (tokens,))
    return call(
        OP,
        tensor(*written, dtype=dtype),
        tensor(*cache, dtype=dtype),
        tensor(*index, dtype=changes.get("index_dtype", "int32")),
        outputs=[tensor(*cache, dtype=dtype)],
    )


def opened(
    folder: Path,
    primary: Iterable[str],
    alternate: Iterable[str] | None = None,
    extra: dict[str, Any] | None = None,
    header: str = MATMUL_HEADER,
    **context: Any,
) -> sqlinterp.session.ProfilingDatabase:
    files = {"ScatterNdUpdate.csv": [header, *primary]}
    if alternate is not None:
        files["ScatterNdUpdateAiCore.csv"] = [header, *alternate]
    write_version(folder / "v", files, {OP: ENTRY}, extra)
    return sqlinterp.open(kept_database(folder / "v"), **context)


def ask(
    folder: Path,
    primary: Iterable[str],
    op: dict[str, Any],
    alternate: Iterable[str] | None = None,
    **given: Any,
) -> Answer:
    with opened(folder, primary, alternate, **given) as database:
        return database.lookup(op)


class TestArgumentReordering:
    def test_update_cache_index_meet_cache_index_update(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(16, 5)], update(16, index=(16, 1)))
        assert (answer.source, answer.latency_us, answer.shape_match_rule) == (
            "MEASURED",
            5.0,
            "identity",
        )
        assert answer.details["asked_shapes"] == [[1000, 128], [16, 1], [16, 128]]

    def test_the_exact_lookup_is_left_when_interpolation_is_disabled(self, tmp_path: Path) -> None:
        rows = [row(16, 5), row(64, 9)]
        with opened(tmp_path, rows, disable_interpolation=True) as database:
            assert database.lookup(update(16, index=(16, 1))).latency_us == 5
            for op in (update(16), update(32, index=(32, 1))):  # another index shape; no such row
                answer = database.lookup(op)
                assert (answer.source, answer.miss_reason) == (None, "shape_mismatch")

    def test_arguments_in_the_slots_of_the_csv_equal_a_row_but_are_placed_nowhere(
        self, tmp_path: Path
    ) -> None:
        def swapped(tokens: int) -> dict[str, Any]:
            index = tensor(tokens, 1, dtype="int32")
            return call(OP, tensor(1000, 128), index, tensor(tokens, 128))

        with opened(tmp_path, [row(16, 5), row(64, 9)]) as database:
            assert database.lookup(swapped(16)).latency_us == 5
            assert database.lookup(swapped(32)).miss_reason == "scatter_target_unextractable"


class TestCompleteCacheShapeIsolation:
    @pytest.mark.parametrize("cache", [(1008, 128), (992, 128), (1000, 1, 128), (1, 1000, 128)])
    def test_another_capacity_or_rank_is_another_regime(
        self, tmp_path: Path, cache: tuple[int, ...]
    ) -> None:
        rows = [row(16, 5), row(64, 9)]
        with opened(tmp_path, rows) as database:
            assert database.lookup(update(32)).latency_us == pytest.approx(19 / 3)
            for tokens in (16, 32):
                answer = database.lookup(update(tokens, cache))
                assert (answer.source, answer.miss_reason) == (None, "regime_key_unmatched")

    def test_a_row_of_another_capacity_is_no_neighbour(self, tmp_path: Path) -> None:
        rows = [row(16, 5), row(64, 100, "1008,128"), row(128, 13)]
        answer = ask(tmp_path, rows, update(72))
        assert answer.latency_us == 9.0
        assert [point["line"] for point in answer.details["corner_points"]] == [2, 4]

    def test_padding_never_reaches_a_cache(self, tmp_path: Path) -> None:
        op = update(16, (1008, 128), index=(16, 1))
        for number, disabled in enumerate((True, False)):
            folder = tmp_path / str(number)
            answer = ask(folder, [row(16, 5, "1001,128")], op, disable_interpolation=disabled)
            assert answer.source is None


class TestDuplicateProtection:
    CONFLICT = "duplicate_coordinate_conflict"

    def test_equal_rows_are_aggregated_by_policy(self, tmp_path: Path) -> None:
        for rule, latency in (("mean", 6.0), ("min", 5.0)):
            answer = ask(tmp_path / rule, [row(16, 5), row(16, 7)], update(16), aggregation=rule)
            assert (answer.source, answer.latency_us) == ("MEASURED", latency)

    def test_rows_that_differ_otherwise_and_in_latency_are_refused(self, tmp_path: Path) -> None:
        rows = [row(16, 5), row(16, 7, update="16,1,128"), row(64, 9)]
        with opened(tmp_path, rows) as database:
            for op in (update(16), update(32)):  # at the coordinate, and beside it
                answer = database.lookup(op)
                assert (answer.source, answer.miss_reason) == (None, self.CONFLICT)
            assert database.lookup(update(16, index=(16, 1))).latency_us == 5  # equals one row

    def test_equal_operands_with_other_outputs_are_refused_exactly_too(
        self, tmp_path: Path
    ) -> None:
        rows = [row(16, 5), row(16, 7, output="DT_BF16,NCHW")]
        for number, disabled in enumerate((True, False)):
            folder = tmp_path / str(number)
            op = update(16, index=(16, 1))
            answer = ask(folder, rows, op, disable_interpolation=disabled)
            assert (answer.source, answer.miss_reason) == (None, self.CONFLICT)
            assert answer.details["attempts"][-1]["status"] == self.CONFLICT

    def test_the_same_latency_is_no_conflict(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(16, 5), row(16, 5, update="16,1,128")], update(16))
        assert answer.latency_us == 5

    def test_a_kernel_that_demands_one_latency_refuses_repetitions(self, tmp_path: Path) -> None:
        kernel = {"ScatterNdUpdate": {"require_semantic_unique": True}}
        extra = {"query_selection_policy": {"kernel_overrides": kernel}}
        for op in (update(16), update(16, index=(16, 1))):
            folder = tmp_path / str(len(op["args"][2]["shape"]))
            answer = ask(folder, [row(16, 5), row(16, 7)], op, extra=extra)
            assert answer.miss_reason == "ambiguous_semantic_match:ScatterNdUpdate"


class TestOneDimensionalInterpolation:
    @pytest.mark.parametrize("tokens", [17, 32, 63])
    def test_tokens_are_linear_between_their_neighbours(self, tmp_path: Path, tokens: int) -> None:
        rows = [row(128, 100), row(64, 9), row(16, 5), row(1, 200)]
        answer = ask(tmp_path, rows, update(tokens))
        assert answer.latency_us == pytest.approx(5 + (tokens - 16) / 48 * 4, rel=1e-12)
        assert (answer.source, answer.shape_match_rule) == (
            "INTERPOLATED",
            "interpolated_1d_linear",
        )

    def test_tokens_of_higher_ranks_are_the_product_of_all_dims_but_the_last(
        self, tmp_path: Path
    ) -> None:
        rows = [row(16, 5, update="4,4,128"), row(64, 9, update="64,1,128")]
        answer = ask(tmp_path, rows, update(40, written=(2, 20, 128)))
        assert answer.details["target"] == {"tokens": 40.0}
        assert answer.latency_us == 7.0

    def test_max_dimension_of_zero_leaves_measured_coordinates(self, tmp_path: Path) -> None:
        kernel = {"ScatterNdUpdate": {"max_interpolation_dim": 0}}
        extra = {"interpolation_policy": {"kernel_overrides": kernel}}
        with opened(tmp_path, [row(16, 5), row(64, 9)], extra=extra) as database:
            assert database.lookup(update(32)).miss_reason == "interpolation_dim_disabled"
            assert database.lookup(update(16)).source == "MEASURED"


class TestAlternateKernel:
    def test_it_is_tried_after_the_primary_kernel_misses(self, tmp_path: Path) -> None:
        with opened(tmp_path, [row(16, 5), row(64, 9)], [row(16, 50), row(128, 90)]) as database:
            inside = database.lookup(update(32))
            assert (inside.kernel_type, inside.latency_us) == ("ScatterNdUpdate", 19 / 3)
            beyond = database.lookup(update(72))
            assert (beyond.kernel_type, beyond.latency_us) == ("ScatterNdUpdateAiCore", 70.0)

    def test_its_equal_row_comes_before_an_interpolation_of_the_primary(
        self, tmp_path: Path
    ) -> None:
        op = update(32, index=(32, 1))
        answer = ask(tmp_path, [row(16, 5), row(64, 9)], op, [row(32, 50)])
        assert (answer.kernel_type, answer.shape_match_rule) == (
            "ScatterNdUpdateAiCore",
            "identity",
        )

    def test_it_serves_where_the_primary_has_no_file(self, tmp_path: Path) -> None:
        files = {"ScatterNdUpdateAiCore.csv": [MATMUL_HEADER, row(16, 5)]}
        write_version(tmp_path / "v", files, {OP: ENTRY})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            assert database.lookup(update(16)).kernel_type == "ScatterNdUpdateAiCore"


class TestSpecializedExact:
    def test_one_row_of_the_regime_is_measured(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(16, 5)], update(16))
        assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 5.0, 1.0)
        assert answer.shape_match_rule == answer.details["method"] == "exact_coordinate"
        assert answer.details["corner_points"][0]["line"] == 2

    def test_a_coordinate_in_a_lesser_column_comes_before_interpolation(
        self, tmp_path: Path
    ) -> None:
        rows = [row(16, "5,"), row(64, "9,"), row(32, ",50")]
        with opened(tmp_path, rows, header=TWO_COLUMNS) as database:
            assert database.lookup(update(32)).latency_us == 50
            assert database.lookup(update(40)).latency_us == 7  # one column, never both


class TestTargetConstructionFailures:
    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            ([tensor(16, 128), tensor(1000, 128)], "scatter_target_unextractable"),
            ([tensor(16, 128), tensor(1000, 128), tensor(16)], "scatter_target_unextractable"),
            ([3, None], "no_tensor_inputs"),
            (
                [
                    tensor(16, 128, dtype="complex99"),
                    tensor(1000, 128),
                    tensor(16, dtype="int32"),
                ],
                "dtype_unmapped:args[0]:complex99",
            ),
        ],
    )
    def test_the_reason_says_what_is_wrong(
        self, tmp_path: Path, arguments: list[Any], reason: str
    ) -> None:
        answer = ask(tmp_path, [row(16, 5)], call(OP, *arguments))
        assert (answer.source, answer.miss_reason) == (None, reason)

    def test_rows_with_more_or_fewer_operands_have_no_place(self, tmp_path: Path) -> None:
        odd = f'"{CACHE};16,1",DT_BF16;INT32,ND;ND,"{CACHE}",DT_BF16,ND,5'
        answer = ask(tmp_path, [odd], update(16))
        assert answer.miss_reason == "scatter_shape_unextractable"
        assert answer.details["rejected_rows"] == {"scatter_shape_unextractable": 1}


class TestRegimeMismatch:
    @pytest.mark.parametrize(
        "op",
        [
            update(32, dtype="float32"),
            update(32, index_dtype="int64"),
            update(32, written=(32, 64)),
        ],
    )
    def test_dtypes_and_update_tail_must_be_equal(self, tmp_path: Path, op: dict[str, Any]) -> None:
        answer = ask(tmp_path, [row(16, 5), row(64, 9)], op)
        assert (answer.source, answer.miss_reason) == (None, "regime_key_unmatched")

    @pytest.mark.parametrize("tokens", [16, 32])
    def test_update_and_cache_keep_their_own_dtypes(self, tmp_path: Path, tokens: int) -> None:
        mixed = "INT8;INT32;DT_BF16"  # cache, index, update
        rows = [row(16, 5, dtypes=mixed), row(64, 9, dtypes=mixed)]
        index = tensor(tokens, 1, dtype="int32")
        written, cache = tensor(tokens, 128), tensor(1000, 128, dtype="int8")
        with opened(tmp_path, rows) as database:
            assert database.lookup(call(OP, written, cache, index)).source is not None
            swapped = call(OP, {**written, "dtype": "int8"}, {**cache, "dtype": "bfloat16"}, index)
            assert database.lookup(swapped).miss_reason == "regime_key_unmatched"

    @pytest.mark.parametrize("formats", ["FRACTAL_NZ;ND;ND", "ND;NCHW;ND", "ND;ND;NCHW"])
    def test_every_input_format_is_in_the_regime(self, tmp_path: Path, formats: str) -> None:
        rows = [row(16, 5), row(32, 100, formats=formats), row(64, 9)]
        for index in ((32,), (32, 1)):
            answer = ask(tmp_path / str(len(index)), rows, update(32, index=index))
            assert (answer.source, answer.latency_us) == ("INTERPOLATED", pytest.approx(19 / 3))

    def test_half_precision_uses_its_own_rows_and_flags_the_others(self, tmp_path: Path) -> None:
        half = "FLOAT16;INT32;FLOAT16"
        rows = [row(16, 5), row(64, 9), row(16, 50, dtypes=half)]
        with opened(tmp_path, rows) as database:
            for index in ((16,), (16, 1)):
                own = database.lookup(update(16, dtype="float16", index=index))
                assert own.latency_us == 50 and "dtype_compatible" not in own.details
            for index in ((64,), (64, 1)):
                other = database.lookup(update(64, dtype="float16", index=index))
                assert other.latency_us == 9
                assert "FLOAT16" in other.details["dtype_compatible"]


class TestFailureBoundaries:
    def test_one_row_that_is_not_the_target_is_not_enough(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(16, 5)], update(17))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize("latency", ["0", "", "nan", "-1", "inf"])
    def test_a_row_without_a_valid_latency_is_no_neighbour(
        self, tmp_path: Path, latency: str
    ) -> None:
        rows = [row(16, 5), row(32, latency), row(64, 9)]
        answer = ask(tmp_path, rows, update(32))
        assert answer.latency_us == pytest.approx(19 / 3)

    @pytest.mark.parametrize("tokens", [15, 65])
    def test_nothing_is_extrapolated(self, tmp_path: Path, tokens: int) -> None:
        answer = ask(tmp_path, [row(16, 5), row(64, 9)], update(tokens))
        assert (answer.latency_us, answer.miss_reason) == (None, "outside_axis_boundary")

    def test_a_missing_csv_is_named(self, tmp_path: Path) -> None:
        write_version(tmp_path / "v", {"K.csv": [MATMUL_HEADER, row(16, 5)]}, {OP: ENTRY})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            answer = database.lookup(update(16))
        assert answer.miss_reason == "csv_not_found"
        assert answer.details["kernels"] == ["ScatterNdUpdate", "ScatterNdUpdateAiCore"]


class TestDetails:
    def test_a_success_says_where_the_number_comes_from(self, tmp_path: Path) -> None:
        details = ask(tmp_path, [row(16, 5), row(64, 9)], update(32)).details
        assert details["exact_fields"]["cache_shape"] == [1000, 128]
        assert details["exact_fields"]["update_tail"] == 128
        assert details["exact_fields"]["input_formats"] == ["ND", "ND", "ND"]
        assert details["boundary"] == {"tokens": [16.0, 64.0]}
        assert (details["axes"], details["method"]) == (["tokens"], "linear_1d")
        assert (details["interpolation_dim"], details["filtered_count"]) == (1, 2)
        assert details["query_mode"] == details["interpolation_path"] == "scatter_nd_update_mla"
        assert [p["file"] for p in details["corner_points"]] == ["ScatterNdUpdate.csv"] * 2

    def test_a_miss_says_how_far_it_got(self, tmp_path: Path) -> None:
        rows = [row(16, 5), row(64, 9)]
        details = ask(tmp_path, rows, update(65), [row(16, 5, "9,128")]).details
        by_kernel = {(a["kernel_type"], a["status"]): a for a in details["attempts"]}
        placed = by_kernel["ScatterNdUpdate", "coordinate_not_measured"]
        assert placed["target"] == {"tokens": 65.0}
        assert placed["regime"]["cache_shape"] == [1000, 128]
        assert by_kernel["ScatterNdUpdate", "outside_axis_boundary"]["filtered_count"] == 2
        assert ("ScatterNdUpdateAiCore", "regime_key_unmatched") in by_kernel


def test_many_are_answered_like_each(tmp_path: Path) -> None:
    rows = [row(16, 5), row(64, 9), row(16, 7, update="16,1,128"), row(128, 13)]
    ops = [update(t, index=i) for t in (8, 16, 32, 72, 100) for i in ((t,), (t, 1))]
    ops += [update(32, (9, 128)), call(OP, tensor(1), tensor(2)), call(OP, 3)]
    with opened(tmp_path, rows, [row(100, 11)]) as database:
        together = database.lookup_many(ops)
        assert [a.to_json() for a in together] == [database.lookup(op).to_json() for op in ops]
        assert {a.source for a in together} == {"MEASURED", "INTERPOLATED", None}
