"""Lightning indexer: tokens and cache blocks inside one regime, never from operands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import tensor, write_version
from lookup.sparse_attention_cases import (
    INDEXER,
    decode,
    indexer_call,
    indexer_row,
    lengths,
    prefill,
)

import sqlinterp
from sqlinterp.model import Answer

UNMATCHED = "regime_key_unmatched"
PAIR = [indexer_row(decode(2), 20), indexer_row(decode(8), 80)]


def grid(skip: tuple[int, int] | None = None) -> list[str]:
    """Decode batches of 2 and 8 over caches of 100 and 200 blocks, additive latency."""
    return [
        indexer_row(decode(n), 10 * n + blocks, blocks)
        for n in (2, 8)
        for blocks in (100, 200)
        if (n, blocks) != skip
    ]


def policy(**fields: Any) -> dict[str, Any]:
    return {"interpolation_policy": {"kernel_overrides": {"LightningIndexer": fields}}}


def result(answer: Answer) -> tuple[float | None, list[str] | None]:
    """Latency and axes."""
    return answer.latency_us, answer.details.get("axes")


class TestGuardedTwoDimensions:
    def test_tokens_first_then_cache_blocks_then_both(self, tmp_path: Path) -> None:
        with INDEXER.database(tmp_path, grid()) as database:
            assert result(database.lookup(indexer_call(decode(4), 100))) == (140, ["tokens"])
            assert result(database.lookup(indexer_call(decode(2), 150))) == (170, ["cache_blocks"])
            both = database.lookup(indexer_call(decode(4), 150))
            assert result(both) == (pytest.approx(190), ["tokens", "cache_blocks"])
            assert both.shape_match_rule == "interpolated_2d_griddata_linear"

    def test_cache_blocks_vary_with_tokens_fixed(self, tmp_path: Path) -> None:
        rows = [indexer_row(decode(2), 20, 100), indexer_row(decode(4), 99, 200)]
        answer = INDEXER.ask(tmp_path, rows, indexer_call(decode(2), 150))
        assert answer.source is None

    def test_a_target_outside_the_hull_is_a_miss(self, tmp_path: Path) -> None:
        with INDEXER.database(tmp_path, grid(skip=(8, 200))) as database:
            assert database.lookup(indexer_call(decode(4), 120)).source == "INTERPOLATED"
            outside = database.lookup(indexer_call(decode(7), 190))
            assert (outside.latency_us, outside.miss_reason) == (None, "outside_convex_hull")
            beyond = database.lookup(indexer_call(decode(9), 150))
            assert beyond.miss_reason == "outside_axis_boundary"

    @pytest.mark.parametrize(
        ("limit", "reasons"),
        [
            (2, [None, None, None]),
            (1, [None, None, "insufficient_filtered_candidates"]),
            (0, ["interpolation_dim_disabled"] * 3),
        ],
    )
    def test_max_dimension(self, tmp_path: Path, limit: int, reasons: list[str | None]) -> None:
        calls = [indexer_call(decode(n), blocks) for n, blocks in ((4, 100), (2, 150), (4, 150))]
        extra = policy(max_interpolation_dim=limit)
        with INDEXER.database(tmp_path, grid(), extra=extra) as database:
            assert [a.miss_reason for a in database.lookup_many(calls)] == reasons
            assert database.lookup(indexer_call(decode(8), 200)).latency_us == 280  # measured

    def test_tokens_of_a_query_of_rank_4_are_batch_times_sequence(self, tmp_path: Path) -> None:
        layout = {"input_layout": "BSND"}
        rows = [indexer_row(prefill(n, n), n, query=f"2,{n},32,128", **layout) for n in (100, 200)]
        call = indexer_call(prefill(150, 150), query=(2, 150, 32, 128))
        answer = INDEXER.ask(tmp_path, rows, call)
        assert answer.details["target"] == {"tokens": 300.0, "cache_blocks": 100.0}
        assert answer.latency_us == 150


class TestIsolation:
    @pytest.mark.parametrize(
        ("row", "call"),
        [
            ({"dtypes": "INT8;DT_BF16"}, {"dtype": "int8"}),
            ({"dtypes": "DT_BF16;INT8"}, {"cache_dtype": "int8"}),
            ({"tail": "64,1,128", "block_size": "64"}, {"tail": (64, 1, 128)}),
            ({"tail": "128,1,132"}, {"tail": (128, 1, 132)}),
            ({"heads": 64}, {"heads": 64}),
            ({"head_dim": 64}, {"head_dim": 64}),
            ({"topk": 1024}, {"topk": 1024}),
            ({"sparse_mode": "0"}, {"sparse_mode": 0}),
            ({"kv_cache_mode": "flat"}, {"kv_cache_mode": "flat"}),
            ({"phase": "chunked"}, {"phase": "chunked"}),
        ],
    )
    def test_query_cache_and_context_are_regime(
        self, tmp_path: Path, row: dict[str, Any], call: dict[str, Any]
    ) -> None:
        """Query and cache dtype, cache tail, heads, head dim, topk and what the CSV tells."""
        other = [indexer_row(decode(n), 1000 * n, **row) for n in (2, 8)]
        with INDEXER.database(tmp_path, PAIR) as database:
            for batch in (decode(2), decode(4)):
                answer = database.lookup(indexer_call(batch, **call))
                assert (answer.source, answer.miss_reason) == (None, UNMATCHED)
        with INDEXER.database(tmp_path / "both", [*other, *PAIR]) as database:
            assert database.lookup(indexer_call(decode(4))).latency_us == 40
            assert database.lookup(indexer_call(decode(4), **call)).latency_us == 4000

    @pytest.mark.parametrize("formats", ["NCHW;ND", "ND;FRACTAL_NZ"])
    def test_the_first_two_formats_are_regime(self, tmp_path: Path, formats: str) -> None:
        rows = [*PAIR, indexer_row(decode(4), 999, formats=formats)]
        answer = INDEXER.ask(tmp_path, rows, indexer_call(decode(4)))
        assert (answer.latency_us, answer.source) == (40, "INTERPOLATED")

    def test_a_half_precision_query_never_meets_brain_floats_unflagged(
        self, tmp_path: Path
    ) -> None:
        call = indexer_call(decode(4), dtype="float16", cache_dtype="float16")
        answer = INDEXER.ask(tmp_path, PAIR, call)
        assert "FLOAT16" in answer.details["dtype_compatible"]


class TestRequestAndSequenceGroupingIsolation:
    def test_equal_tokens_of_other_requests_are_another_regime(self, tmp_path: Path) -> None:
        batches = {
            10: decode(8),
            20: decode(8, 8192),
            30: prefill(8),
            40: prefill(4, 4),
            50: [(8, 4096)],
            60: [(4, 4096)] * 2,
            70: [(1, 4096)] * 4 + [(1, 8192)] * 4,
            80: [(2, 4096), (6, 4096)],
        }
        rows = [indexer_row(batch, latency) for latency, batch in batches.items()]
        with INDEXER.database(tmp_path, rows) as database:
            for latency, batch in batches.items():
                answer = database.lookup(indexer_call(batch))
                assert (answer.source, answer.latency_us) == ("MEASURED", latency)
            for batch in (decode(8, 4097), [(3, 4096), (5, 4096)], prefill(3, 5)):
                assert database.lookup(indexer_call(batch)).miss_reason == UNMATCHED

    def test_requests_have_no_order(self, tmp_path: Path) -> None:
        rows = [indexer_row([(1, 4096), (5, 8192)], 10)]
        answer = INDEXER.ask(tmp_path, rows, indexer_call([(5, 8192), (1, 4096)]))
        assert answer.latency_us == 10

    @pytest.mark.parametrize(
        ("low", "target", "high", "grows_by"),
        [
            (decode(2), decode(4), decode(8), "request_count"),
            ([(3, 4096)] * 2, [(3, 4096)] * 4, [(3, 4096)] * 8, "request_count"),
            (prefill(200), prefill(400), prefill(800), "query_length"),
            (prefill(50, 100), prefill(100, 200), prefill(200, 400), "query_length"),
            ([(10, 110)], [(20, 120)], [(40, 140)], "query_length"),
            (
                [(1, 50), (1, 90)],
                [(1, 50), (1, 90)] * 2,
                [(1, 90), (1, 50)] * 4,
                "request_count",
            ),
        ],
    )
    def test_tokens_grow_by_longer_queries_or_by_more_requests(
        self, tmp_path: Path, low: Any, target: Any, high: Any, grows_by: str
    ) -> None:
        rows = [indexer_row(low, 10), indexer_row(high, 40)]
        answer = INDEXER.ask(tmp_path, rows, indexer_call(target))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 20)
        assert answer.details["exact_fields"]["request_grouping"]["grows_by"] == grows_by

    @pytest.mark.parametrize(
        ("low", "target", "high"),
        [
            (decode(2), prefill(4), decode(8)),
            ([(2, 100)], [(2, 100)] * 2, [(8, 100)]),  # kv grows with neither
            ([(10, 110)], [(20, 110)], [(40, 110)]),  # fewer earlier tokens
            (prefill(2, 6), prefill(8, 8), prefill(8, 24)),
            (decode(2, 100), decode(4, 200), decode(8, 300)),
            ([(2, 12), (6, 16)], [(4, 14), (8, 18)], [(8, 18), (24, 34)]),  # 1:3 and 1:2
            (
                [(1, 50), (1, 90)],
                [(1, 50), (1, 90), (1, 90), (1, 90)],
                [(1, 50), (1, 90)] * 4,
            ),
        ],
    )
    def test_batches_of_another_kind_are_no_neighbours(
        self, tmp_path: Path, low: Any, target: Any, high: Any
    ) -> None:
        rows = [indexer_row(low, 10), indexer_row(high, 40)]
        answer = INDEXER.ask(tmp_path, rows, indexer_call(target))
        assert (answer.source, answer.latency_us) == (None, None)

    def test_lengths_may_stand_in_the_tensors_of_the_signature(self, tmp_path: Path) -> None:
        offsets, kv = lengths(prefill(4))
        call = indexer_call(prefill(4), actual_seq_lengths=None, actual_seq_lengths_kv=None)
        rows = [indexer_row(prefill(2), 20), indexer_row(prefill(8), 80)]
        with INDEXER.database(tmp_path, rows) as database:
            assert database.lookup(call).source is None
            for values in (offsets, kv):
                held = {**tensor(len(values), dtype="int32"), "values": values}
                call["args"].append(held)
            assert database.lookup(call).latency_us == 40

    def test_both_separators_are_read(self, tmp_path: Path) -> None:
        rows = [indexer_row(decode(2), 10, offsets="1;2", kv="4096; 4096")]
        answer = INDEXER.ask(tmp_path, rows, indexer_call(decode(2)))
        assert answer.latency_us == 10


class TestDuplicateCoordinateRejection:
    CONFLICT = "duplicate_coordinate_conflict"

    def test_rows_that_differ_in_any_recorded_field_are_never_merged(self, tmp_path: Path) -> None:
        rows = [*PAIR, indexer_row(decode(2), 60, table=99)]
        with INDEXER.database(tmp_path, rows) as database:
            for batch in (decode(2), decode(4)):
                answer = database.lookup(indexer_call(batch))
                assert (answer.source, answer.miss_reason) == (None, self.CONFLICT)
            assert database.lookup(indexer_call(decode(8))).latency_us == 80

    def test_repetitions_are_aggregated_unless_the_kernel_demands_one(self, tmp_path: Path) -> None:
        rows = [*PAIR, indexer_row(decode(2), 30)]
        kernel = {"LightningIndexer": {"require_semantic_unique": True}}
        extra = {"query_selection_policy": {"kernel_overrides": kernel}}
        call = indexer_call(decode(2))
        assert INDEXER.ask(tmp_path / "a", rows, call).latency_us == 25
        answer = INDEXER.ask(tmp_path / "b", rows, call, extra=extra)
        assert answer.miss_reason == "ambiguous_semantic_match:LightningIndexer"


class TestRealQuantMapping:
    def test_the_cache_is_found_where_the_signature_has_it(self, tmp_path: Path) -> None:
        quant = indexer_call(decode(4))  # query, scale, weights, cache
        plain = {**quant, "args": [quant["args"][0], quant["args"][3], quant["args"][2]]}
        with INDEXER.database(tmp_path, PAIR) as database:
            assert database.lookup(quant).latency_us == database.lookup(plain).latency_us == 40
            assert database.dispatch_of(quant) == "attention_lightning_indexer"

    def test_scales_of_a_query_of_rank_4_are_no_cache(self, tmp_path: Path) -> None:
        rows = [
            indexer_row(prefill(n, n), n, query=f"2,{n},32,128", input_layout="BSND")
            for n in (100, 200)
        ]
        call = indexer_call(prefill(150, 150), query=(2, 150, 32, 128))
        call["args"].insert(1, tensor(2, 150, 32, 1, dtype="float32"))
        assert INDEXER.ask(tmp_path, rows, call).latency_us == 150


class TestApiPath:
    HEADER = INDEXER.header(extra=["API Path"])

    def rows(self, **apis: int) -> list[str]:
        return [
            indexer_row(decode(n), n * scale, extra_api=api)
            for api, scale in apis.items()
            for n in (2, 8)
        ]

    def test_it_must_match_when_both_sides_have_it(self, tmp_path: Path) -> None:
        rows = self.rows(aclnn=10, triton=1000)
        with INDEXER.database(tmp_path, rows, self.HEADER, {"api_path": "aclnn"}) as database:
            for batch, latency in ((decode(2), 20), (decode(4), 40)):
                answer = database.lookup(indexer_call(batch))
                assert (answer.latency_us, answer.details["api_path"]) == (latency, "aclnn")
            call = indexer_call(decode(4), api_path="triton")
            assert database.lookup(call).latency_us == 4000
            call = indexer_call(decode(4), api_path="other")
            answer = database.lookup(call)
            assert (answer.miss_reason, answer.details["api_path"]) == (UNMATCHED, "other")

    def test_a_csv_without_the_column_needs_none(self, tmp_path: Path) -> None:
        answer = INDEXER.ask(tmp_path, PAIR, indexer_call(decode(4), api_path="aclnn"))
        assert (answer.latency_us, answer.details["exact_fields"]["api_path"]) == (40, None)

    def test_a_mapping_without_it_takes_the_only_one_but_mixes_none(self, tmp_path: Path) -> None:
        call = indexer_call(decode(4))
        alone = INDEXER.ask(tmp_path / "a", self.rows(aclnn=10), call, header=self.HEADER)
        assert alone.latency_us == 40
        rows = self.rows(aclnn=10, triton=10)
        both = INDEXER.ask(tmp_path / "b", rows, call, header=self.HEADER)
        assert (both.source, both.miss_reason) == (None, UNMATCHED)


class TestBaseGenericExactRejection:
    def test_equal_operands_never_answer(self, tmp_path: Path) -> None:
        """All six operands equal a row, but nobody tells the lengths."""
        args = [
            tensor(2, 32, 128),
            tensor(100, 128, 1, 128),
            tensor(2, 32),
            tensor(2, dtype="int32"),
            tensor(2, dtype="int32"),
            tensor(2, 1584, dtype="int32"),
        ]
        call = {"op": INDEXER.op, "args": args, "outputs": [tensor(2, 1, 2048, dtype="int32")]}
        reason = (
            "semantic_context_missing:target:actual_seq_lengths_kv_values,"
            "actual_seq_lengths_values,block_size,cache_layout,kv_cache_mode,"
            "num_key_value_heads,sparse_mode"
        )
        for number, disabled in enumerate((True, False)):
            folder = tmp_path / str(number)
            answer = INDEXER.ask(folder, PAIR, call, disable_interpolation=disabled)
            assert (answer.source, answer.latency_us, answer.miss_reason) == (None, None, reason)
            told_call = {**call, "kwargs": indexer_call(decode(2))["kwargs"]}
            answer = INDEXER.ask(folder, PAIR, told_call, disable_interpolation=disabled)
            assert (answer.source, answer.latency_us) == ("MEASURED", 20)

    def test_disabled_interpolation_leaves_measured_coordinates(self, tmp_path: Path) -> None:
        with INDEXER.database(tmp_path, PAIR, disable_interpolation=True) as database:
            measured = database.lookup(indexer_call(decode(8)))
            assert (measured.source, measured.details["fallback_from"]) == ("MEASURED", None)
            for call in (indexer_call(decode(4)), indexer_call(decode(2), heads=64)):
                assert database.lookup(call).miss_reason == "shape_mismatch"

    def test_rows_of_an_ordinary_kernel_are_not_borrowed(self, tmp_path: Path) -> None:
        header = "Input Shapes,Input Data Types,Input Formats,Average Duration(us)"
        rows = [header, *(f'"{n},7168;7168",DT_BF16;DT_BF16,ND;ND,5' for n in (2, 8))]
        op = {"op": "x.norm.default", "args": [tensor(2, 7168), tensor(7168)]}
        entry = {"kernel_type": "RmsNorm", "query_mode": "attention_lightning_indexer"}
        write_version(tmp_path / "v", {"RmsNorm.csv": rows}, {op["op"]: entry})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            answer = database.lookup(op)
        assert (answer.source, answer.miss_reason) == (None, "cache_shape_unextractable")


class TestTargetConstructionFailures:
    @pytest.mark.parametrize(
        ("args", "reason"),
        [
            ([], "query_not_tensor"),
            ([None, tensor(100, 128, 1, 128)], "query_not_tensor"),
            ([tensor(4, 32, 128)], "cache_shape_unextractable"),
            ([tensor(4, 32, 128), tensor(100, 128, 128)], "cache_shape_unextractable"),
            ([tensor(4, 4096), tensor(100, 128, 1, 128)], "query_shape_unextractable"),
            (
                [tensor(4, 32, 128), tensor(9), tensor(100, 128, 1, 128, dtype="float3")],
                "dtype_unmapped:args[2]:float3",
            ),
        ],
    )
    def test_the_reason_says_what_is_wrong(
        self, tmp_path: Path, args: list[Any], reason: str
    ) -> None:
        call = {**indexer_call(decode(4)), "args": args}
        answer = INDEXER.ask(tmp_path, PAIR, call)
        assert (answer.source, answer.miss_reason) == (None, reason)

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"actual_seq_lengths": None}, "actual_seq_lengths_values"),
            ({"actual_seq_lengths": {"ints": []}}, "actual_seq_lengths_values"),
            ({"actual_seq_lengths": {"ints": [-1, 4]}}, "actual_seq_lengths_values"),
            ({"actual_seq_lengths_kv": "4096"}, "actual_seq_lengths_kv_values"),
            ({"sparse_mode": True, "kv_cache_mode": " "}, "kv_cache_mode,sparse_mode"),
            ({"cache_layout": None}, "block_size,cache_layout,num_key_value_heads"),
        ],
    )
    def test_missing_fields_are_named(
        self, tmp_path: Path, changes: dict[str, Any], reason: str
    ) -> None:
        answer = INDEXER.ask(tmp_path, PAIR, indexer_call(decode(2), **changes))
        assert answer.miss_reason == f"semantic_context_missing:target:{reason}"

    @pytest.mark.parametrize(
        ("offsets", "kv", "reason"),
        [
            ([1, 2, 3], [9, 9, 9], "runtime_query_offsets_invalid"),  # ends before the tokens
            ([3, 1, 2, 4], [9, 9, 9, 9], "runtime_query_offsets_invalid"),
            ([2, 4], [9], "runtime_query_offsets_invalid"),
            ([2, 4], [9, 0], "runtime_workload_unextractable"),
        ],
    )
    def test_lengths_must_make_sense(
        self, tmp_path: Path, offsets: list[int], kv: list[int], reason: str
    ) -> None:
        given = {"actual_seq_lengths": {"ints": offsets}, "actual_seq_lengths_kv": {"ints": kv}}
        answer = INDEXER.ask(tmp_path, PAIR, indexer_call(decode(4), **given))
        assert answer.miss_reason == reason

    def test_topk_comes_from_the_output_and_may_not_contradict_it(self, tmp_path: Path) -> None:
        with INDEXER.database(tmp_path, PAIR) as database:
            call = indexer_call(decode(4))
            assert database.lookup({**call, "outputs": []}).miss_reason == (
                "semantic_context_missing:target:topk"
            )
            stated = indexer_call(decode(4), topk=2048)
            stated["kwargs"]["topk"] = 2048
            assert database.lookup({**stated, "outputs": []}).latency_us == 40
            stated["kwargs"]["topk"] = 1024
            assert database.lookup(stated).miss_reason == "topk_inconsistent"


class TestRowsThatCannotBePlaced:
    @pytest.mark.parametrize(
        ("cells", "reason"),
        [
            ({"metadata_completeness": "legacy"}, "runtime_metadata_incomplete"),
            ({"sparse_mode": ""}, "semantic_context_missing:csv:Runtime sparse_mode"),
            ({"offsets": ""}, "semantic_context_missing:csv:Runtime actual_seq_lengths_values"),
            ({"kv": "1.5"}, "semantic_context_missing:csv:Runtime actual_seq_lengths_kv_values"),
            ({"offsets": "1,9"}, "runtime_query_offsets_invalid"),
        ],
    )
    def test_the_reason_is_counted_and_becomes_the_miss_when_no_row_is_left(
        self, tmp_path: Path, cells: dict[str, Any], reason: str
    ) -> None:
        bad = indexer_row(decode(2), 20, **cells)
        call = indexer_call(decode(2))
        alone = INDEXER.ask(tmp_path / "a", [bad], call)
        assert (alone.source, alone.miss_reason) == (None, reason)
        assert alone.details["rejected_rows"] == {reason: 1}
        beside = INDEXER.ask(tmp_path / "b", [bad, PAIR[1]], indexer_call(decode(8)))
        assert beside.latency_us == 80
        assert beside.details["rejected_rows"] == {reason: 1}

    def test_a_csv_without_the_lengths_names_its_columns(self, tmp_path: Path) -> None:
        without = ("actual_seq_lengths_values", "actual_seq_lengths_kv_values")
        rows = [indexer_row(decode(2), 20, without=without)]
        header = INDEXER.header(*without)
        answer = INDEXER.ask(tmp_path, rows, indexer_call(decode(2)), header=header)
        assert answer.miss_reason == (
            "semantic_context_missing:csv:Runtime actual_seq_lengths_kv_values,"
            "Runtime actual_seq_lengths_values"
        )

    def test_columns_that_the_csv_lacks_are_no_part_of_the_regime(self, tmp_path: Path) -> None:
        without = ("sparse_mode", "kv_cache_mode", "phase", "block_size", "metadata_completeness")
        rows = [indexer_row(decode(n), 10 * n, without=without) for n in (2, 8)]
        call = indexer_call(decode(4), sparse_mode=0, kv_cache_mode=None)
        answer = INDEXER.ask(tmp_path, rows, call, header=INDEXER.header(*without))
        assert answer.latency_us == 40
        assert set(answer.details["exact_fields"]["context"]) == {
            "num_heads",
            "num_key_value_heads",
            "input_layout",
            "cache_layout",
        }


class TestFailureBoundaries:
    def test_too_few_candidates(self, tmp_path: Path) -> None:
        answer = INDEXER.ask(tmp_path, PAIR[:1], indexer_call(decode(4)))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize("latency", ["0", "", "nan"])
    def test_invalid_latency_is_no_neighbour(self, tmp_path: Path, latency: str) -> None:
        rows = [*PAIR, indexer_row(decode(4), latency)]
        assert INDEXER.ask(tmp_path, rows, indexer_call(decode(4))).latency_us == 40

    def test_a_missing_csv_is_told(self, tmp_path: Path) -> None:
        write_version(tmp_path / "v", {}, {INDEXER.op: INDEXER.entry})
        (tmp_path / "v" / "Other.csv").write_text("Input Shapes,Duration(us)\n1,1\n")
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        for disabled in (True, False):
            with sqlinterp.open(tmp_path / "p.duckdb", disable_interpolation=disabled) as database:
                answer = database.lookup(indexer_call(decode(4)))
            assert (answer.source, answer.miss_reason) == (None, "csv_not_found")
            assert answer.details["kernels"] == ["LightningIndexer"]
            assert answer.details["query_mode"] == "attention_lightning_indexer"

    def test_an_unusable_csv_is_named(self, tmp_path: Path) -> None:
        pointer = "version https://git-lfs.github.com/spec/v1"
        write_version(
            tmp_path / "v", {"LightningIndexer.csv": [pointer]}, {INDEXER.op: INDEXER.entry}
        )
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            answer = database.lookup(indexer_call(decode(4)))
        assert answer.miss_reason == "csv_unavailable:LightningIndexer.csv"


class TestDetails:
    def test_success_and_miss_tell_kernel_axes_regime_and_rejected_rows(
        self, tmp_path: Path
    ) -> None:
        rows = [*PAIR, indexer_row(decode(5), 50, metadata_completeness="partial")]
        with INDEXER.database(tmp_path, rows) as database:
            hit = database.lookup(indexer_call(decode(4)))
            miss = database.lookup(indexer_call(decode(9)))
        assert (hit.kernel_type, hit.details["api_path"]) == ("LightningIndexer", None)
        assert hit.details["rejected_rows"] == {"runtime_metadata_incomplete": 1}
        assert hit.details["rejected_rows"] == miss.details["rejected_rows"]
        assert hit.details["interpolation_path"] == "attention_lightning_indexer"
        assert [point["line"] for point in hit.details["corner_points"]] == [2, 3]
        fields = hit.details["exact_fields"]
        assert (fields["cache_tail"], fields["topk"], fields["heads"]) == ([128, 1, 128], 2048, 32)
        assert miss.details["attempts"][0]["target"] == {"tokens": 9.0, "cache_blocks": 100.0}
        assert miss.details["attempts"][0]["regime"]["request_grouping"]["grows_by"]
        axes = {tuple(a["axes"]) for a in miss.details["attempts"] if "axes" in a}
        assert axes == {("tokens",), ("cache_blocks",), ("tokens", "cache_blocks")}


def test_many_are_answered_like_each(tmp_path: Path) -> None:
    batches = [decode(2), decode(4), decode(9), prefill(300), [(1, 4096), (1, 1)]]
    calls = [indexer_call(batch, blocks) for batch in batches for blocks in (100, 150)]
    calls += [indexer_call(decode(4), sparse_mode=None), {"op": INDEXER.op, "args": []}]
    rows = [*grid(), indexer_row(prefill(200), 7), indexer_row(prefill(400), 9)]
    with INDEXER.database(tmp_path, rows) as database:
        together = database.lookup_many(calls)
        assert [a.to_json() for a in together] == [database.lookup(c).to_json() for c in calls]
        assert {a.source for a in together} == {"MEASURED", "INTERPOLATED", None}


def test_answers_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [*grid(), indexer_row(prefill(200), 7), indexer_row(prefill(400), 9)]
    calls = [indexer_call(decode(4), 150), indexer_call(prefill(300)), indexer_call(decode(8), 150)]
    seen = []
    for number, ordered in enumerate((rows, rows[::-1])):
        with INDEXER.database(tmp_path / str(number), ordered) as database:
            seen.append([(a.latency_us, a.details["axes"]) for a in database.lookup_many(calls)])
    assert seen[0] == seen[1]
