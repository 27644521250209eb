"""Sparse attention over a shared KV cache: tokens only, and only from a leaf that tells all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import tensor, write_version
from lookup.sparse_attention_cases import (
    SPARSE,
    SPARSE_TOLD,
    Batch,
    decode,
    lengths,
    prefill,
    sparse_call,
    sparse_row,
)

import sqlinterp

UNMATCHED = "regime_key_unmatched"
PAIR = [sparse_row(decode(2), 20), sparse_row(decode(8), 80)]


class TestCanonicalLeafContract:
    @pytest.mark.parametrize(
        ("missing", "named"),
        [
            ("actual_seq_lengths", "actual_seq_lengths_values"),
            ("actual_seq_lengths_kv", "actual_seq_lengths_kv_values"),
            ("topk", "topk"),
            ("sparse_mode", "sparse_mode"),
            ("kv_cache_mode", "kv_cache_mode"),
            ("sparse_block_size", "sparse_block_size"),
            ("sparse_indices_pattern", "sparse_indices_pattern"),
            ("sparse_indices_valid_count", "sparse_indices_valid_count"),
            ("cache_layout", "block_size,cache_layout,num_key_value_heads"),
        ],
    )
    def test_a_leaf_that_lacks_a_field_misses_and_names_it(
        self, tmp_path: Path, missing: str, named: str
    ) -> None:
        reason = f"semantic_context_missing:target:{named}"
        with SPARSE.database(tmp_path, PAIR) as database:
            for batch in (decode(2), decode(4)):
                answer = database.lookup(sparse_call(batch, **{missing: None}))
                assert (answer.source, answer.miss_reason) == (None, reason)

    @pytest.mark.parametrize(
        "column",
        [
            "actual_seq_lengths_values",
            "actual_seq_lengths_kv_values",
            "sparse_mode",
            "cache_layout",
            "kv_cache_mode",
            "sparse_block_size",
            "sparse_indices_pattern",
            "sparse_indices_valid_count",
        ],
    )
    def test_a_csv_that_lacks_a_column_misses_and_names_it(
        self, tmp_path: Path, column: str
    ) -> None:
        rows = [sparse_row(decode(n), 10 * n, without=[column]) for n in (2, 8)]
        answer = SPARSE.ask(tmp_path, rows, sparse_call(decode(4)), header=SPARSE.header(column))
        reason = f"semantic_context_missing:csv:Runtime {column}"
        assert (answer.source, answer.miss_reason) == (None, reason)
        assert answer.details["rejected_rows"] == {reason: 2}

    @pytest.mark.parametrize("cell", ["sparse_mode", "sparse_indices_pattern", "kv", "offsets"])
    def test_a_blank_cell_rejects_its_row(self, tmp_path: Path, cell: str) -> None:
        column = {"kv": "actual_seq_lengths_kv_values", "offsets": "actual_seq_lengths_values"}
        rows = [*PAIR, sparse_row(decode(4), 999, **{cell: ""})]
        answer = SPARSE.ask(tmp_path, rows, sparse_call(decode(4)))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 40)
        reason = f"semantic_context_missing:csv:Runtime {column.get(cell, cell)}"
        assert answer.details["rejected_rows"] == {reason: 1}

    def test_metadata_must_be_complete(self, tmp_path: Path) -> None:
        rows = [sparse_row(decode(2), 20, metadata_completeness="legacy")]
        answer = SPARSE.ask(tmp_path, rows, sparse_call(decode(2)))
        assert (answer.source, answer.miss_reason) == (None, "runtime_metadata_incomplete")

    def test_indices_may_tell_topk_on_both_sides(self, tmp_path: Path) -> None:
        rows = [sparse_row(decode(n), 10 * n, without=["topk"]) for n in (2, 8)]
        call = sparse_call(decode(4), topk=None)
        call["args"] += [tensor(100, 128, 1, 512), tensor(4, 1, 2048, dtype="int32")]
        with SPARSE.database(tmp_path, rows, SPARSE.header("topk")) as database:
            assert database.lookup(call).latency_us == 40
            call["args"][-1] = tensor(4, 1, 1024, dtype="int32")
            assert database.lookup(call).miss_reason == UNMATCHED
            call["kwargs"]["topk"] = 2048
            assert database.lookup(call).miss_reason == "topk_inconsistent"

    def test_lengths_may_stand_in_the_tensors_of_the_signature(self, tmp_path: Path) -> None:
        call = sparse_call(decode(4), actual_seq_lengths=None, actual_seq_lengths_kv=None)
        for values in lengths(decode(4)):
            call["args"].append({**tensor(4, dtype="int32"), "values": values})
        assert SPARSE.ask(tmp_path, PAIR, call).latency_us == 40


class TestTokenOnlyOneDimension:
    @pytest.mark.parametrize(
        ("low", "target", "high"),
        [
            (decode(2), decode(4), decode(8)),
            ([(3, 4096)] * 2, [(3, 4096)] * 4, [(3, 4096)] * 8),
            (prefill(2048), prefill(4096), prefill(8192)),
            ([(128, 8320)], [(256, 8448)], [(512, 8704)]),
        ],
    )
    def test_tokens_are_linear_between_batches_of_one_kind(
        self, tmp_path: Path, low: Batch, target: Batch, high: Batch
    ) -> None:
        rows = [sparse_row(low, 10), sparse_row(high, 40)]
        answer = SPARSE.ask(tmp_path, rows, sparse_call(target))
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 20)
        assert answer.shape_match_rule == "interpolated_1d_linear"
        assert answer.details["axes"] == ["tokens"]

    def test_cache_blocks_are_no_axis(self, tmp_path: Path) -> None:
        rows = [sparse_row(decode(n), n, blocks) for n in (2, 8) for blocks in (100, 200)]
        with SPARSE.database(tmp_path, rows) as database:
            assert database.lookup(sparse_call(decode(4), 200)).latency_us == 4
            for batch in (decode(2), decode(4)):
                answer = database.lookup(sparse_call(batch, 150))
                assert (answer.source, answer.miss_reason) == (None, UNMATCHED)

    def test_tokens_of_a_query_of_rank_4_are_batch_times_sequence(self, tmp_path: Path) -> None:
        layout = {"input_layout": "BSND"}
        rows = [sparse_row(prefill(n, n), n, query=f"2,{n},16,512", **layout) for n in (100, 200)]
        call = sparse_call(prefill(150, 150), query=(2, 150, 16, 512))
        answer = SPARSE.ask(tmp_path, rows, call)
        assert answer.details["target"] == {"tokens": 300.0}
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 150)

    def test_max_dimension_of_zero_leaves_measured_coordinates(self, tmp_path: Path) -> None:
        kernel = {"SparseFlashAttention": {"max_interpolation_dim": 0}}
        extra = {"interpolation_policy": {"kernel_overrides": kernel}}
        with SPARSE.database(tmp_path, PAIR, extra=extra) as database:
            reason = database.lookup(sparse_call(decode(4))).miss_reason
            assert reason == "interpolation_dim_disabled"
            assert database.lookup(sparse_call(decode(8))).source == "MEASURED"


class TestIsolation:
    @pytest.mark.parametrize(
        ("row", "call"),
        [
            ({"dtypes": "INT8;DT_BF16"}, {"dtype": "int8"}),
            ({"dtypes": "DT_BF16;INT8"}, {"cache_dtype": "int8"}),
            ({"blocks": 101}, {"blocks": 101}),
            ({"tail": "128,1,576"}, {"tail": (128, 1, 576)}),
            ({"heads": 64}, {"heads": 64}),
            ({"topk": 1024}, {"topk": 1024}),
            ({"phase": "chunked"}, {"phase": "chunked"}),
            ({"sparse_mode": "0"}, {"sparse_mode": 0}),
            ({"sparse_indices_pattern": "local"}, {"sparse_indices_pattern": "local"}),
            ({"sparse_indices_valid_count": "512"}, {"sparse_indices_valid_count": 512}),
            ({"sparse_block_size": "64"}, {"sparse_block_size": 64}),
        ],
    )
    def test_everything_that_is_told_is_regime(
        self, tmp_path: Path, row: dict[str, Any], call: dict[str, Any]
    ) -> None:
        """Query and cache dtype, full cache shape, selected topk, sparse phase and the rest."""
        other = [sparse_row(decode(n), 1000 * n, **row) for n in (2, 8)]
        with SPARSE.database(tmp_path, PAIR) as database:
            for batch in (decode(2), decode(4)):
                answer = database.lookup(sparse_call(batch, **call))
                assert (answer.source, answer.miss_reason) == (None, UNMATCHED)
        with SPARSE.database(tmp_path / "both", [*other, *PAIR]) as database:
            assert database.lookup(sparse_call(decode(4))).latency_us == 40
            assert database.lookup(sparse_call(decode(4), **call)).latency_us == 4000

    @pytest.mark.parametrize("formats", ["NCHW;ND", "ND;NCHW"])
    def test_the_first_two_formats_are_regime(self, tmp_path: Path, formats: str) -> None:
        rows = [*PAIR, sparse_row(decode(4), 999, formats=formats)]
        assert SPARSE.ask(tmp_path, rows, sparse_call(decode(4))).latency_us == 40

    def test_request_and_sequence_grouping_is_regime(self, tmp_path: Path) -> None:
        batches = {
            10: decode(8),
            20: decode(8, 8192),
            30: prefill(8),
            40: [(8, 4096)],
            50: [(1, 4096)] * 4 + [(1, 8192)] * 4,
            60: [(2, 4096), (6, 4096)],
        }
        rows = [sparse_row(batch, latency) for latency, batch in batches.items()]
        with SPARSE.database(tmp_path, rows) as database:
            for latency, batch in batches.items():
                answer = database.lookup(sparse_call(batch))
                assert (answer.source, answer.latency_us) == ("MEASURED", latency)
            for batch in (decode(8, 4097), [(4, 4096), (4, 4096)]):
                assert database.lookup(sparse_call(batch)).miss_reason == UNMATCHED

    def test_rows_of_other_attention_kernels_are_not_borrowed(self, tmp_path: Path) -> None:
        rows = [SPARSE.header(), *PAIR]
        write_version(tmp_path / "v", {"LightningIndexer.csv": rows}, {SPARSE.op: SPARSE.entry})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            assert database.lookup(sparse_call(decode(2))).miss_reason == "csv_not_found"


class TestDuplicateCoordinates:
    def test_they_are_never_merged_across_semantics(self, tmp_path: Path) -> None:
        rows = [*PAIR, sparse_row(decode(2), 60, table=99)]
        for rule in ("mean", "median", "min", "first"):
            with SPARSE.database(tmp_path / rule, rows, aggregation=rule) as database:
                for batch in (decode(2), decode(4)):
                    answer = database.lookup(sparse_call(batch))
                    assert (answer.source, answer.latency_us) == (None, None)
                    assert answer.miss_reason == "duplicate_coordinate_conflict"

    def test_repetitions_of_one_row_are_aggregated(self, tmp_path: Path) -> None:
        rows = [*PAIR, sparse_row(decode(2), 30)]
        assert SPARSE.ask(tmp_path, rows, sparse_call(decode(2))).latency_us == 25


class TestFailsClosed:
    def test_equal_operands_never_answer(self, tmp_path: Path) -> None:
        """A base lookup by operands would answer here, and generic compute would interpolate."""
        shapes = "Input Shapes,Input Data Types,Input Formats,Average Duration(us)"
        rows = [f'"{n},4,512;64,128,1,512",DT_BF16;DT_BF16,ND;ND,{n}' for n in (100, 200)]
        for number, disabled in enumerate((True, False)):
            with SPARSE.database(
                tmp_path / str(number), rows, shapes, disable_interpolation=disabled
            ) as database:
                for tokens in (100, 150):
                    args = [tensor(tokens, 4, 512), tensor(64, 128, 1, 512)]
                    answer = database.lookup({"op": SPARSE.op, "args": args})
                    assert (answer.source, answer.latency_us) == (None, None)
                    assert (answer.miss_reason or "").startswith("semantic_context_missing:csv:")

    def test_disabled_interpolation_leaves_measured_coordinates(self, tmp_path: Path) -> None:
        with SPARSE.database(tmp_path, PAIR, disable_interpolation=True) as database:
            assert database.lookup(sparse_call(decode(2))).latency_us == 20
            assert database.lookup(sparse_call(decode(4))).miss_reason == "shape_mismatch"
            lacking = database.lookup(sparse_call(decode(2), sparse_mode=None))
            assert lacking.miss_reason == "semantic_context_missing:target:sparse_mode"

    @pytest.mark.parametrize(
        ("args", "reason"),
        [
            ([3], "query_not_tensor"),
            ([tensor(4, 16, 512)], "cache_shape_unextractable"),
            (
                [tensor(4, 16, 512), tensor(4, 1, 2048, 1, dtype="int32")],
                "cache_shape_unextractable",
            ),
            ([tensor(4, 512), tensor(100, 128, 1, 512)], "query_shape_unextractable"),
            ([tensor(0, 16, 512), tensor(100, 128, 1, 512)], "query_shape_unextractable"),
        ],
    )
    def test_a_target_that_cannot_be_built_says_why(
        self, tmp_path: Path, args: list[Any], reason: str
    ) -> None:
        answer = SPARSE.ask(tmp_path, PAIR, {**sparse_call(decode(4)), "args": args})
        assert (answer.source, answer.miss_reason) == (None, reason)

    def test_lengths_that_contradict_the_tokens(self, tmp_path: Path) -> None:
        call = sparse_call(decode(4), actual_seq_lengths={"ints": [1, 2, 3, 5]})
        answer = SPARSE.ask(tmp_path, PAIR, call)
        assert answer.miss_reason == "runtime_query_offsets_invalid"

    def test_too_few_rows_and_nothing_beyond_them(self, tmp_path: Path) -> None:
        with SPARSE.database(tmp_path, PAIR) as database:
            assert database.lookup(sparse_call(decode(9))).miss_reason == "outside_axis_boundary"
            assert database.lookup(sparse_call(decode(1))).miss_reason == "outside_axis_boundary"
        answer = SPARSE.ask(tmp_path / "one", PAIR[:1], sparse_call(decode(4)))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize("latency", ["0", "", "inf"])
    def test_invalid_latency_is_no_neighbour(self, tmp_path: Path, latency: str) -> None:
        rows = [*PAIR, sparse_row(decode(4), latency)]
        assert SPARSE.ask(tmp_path, rows, sparse_call(decode(4))).latency_us == 40


class TestSpecializedExact:
    def test_one_measured_row_is_enough(self, tmp_path: Path) -> None:
        answer = SPARSE.ask(tmp_path, PAIR[:1], sparse_call(decode(2)))
        assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 20, 1.0)
        assert answer.shape_match_rule == answer.details["method"] == "exact_coordinate"
        assert (answer.details["corner_points"][0]["line"], answer.details["axes"]) == (
            2,
            ["tokens"],
        )

    def test_details_of_success_and_miss(self, tmp_path: Path) -> None:
        with SPARSE.database(tmp_path, PAIR) as database:
            hit, miss = database.lookup_many([sparse_call(decode(n)) for n in (4, 9)])
        fields = hit.details["exact_fields"]
        assert fields["cache_shape"] == [100, 128, 1, 512]
        assert (fields["phase"], fields["topk"], fields["heads"]) == ("decode", 2048, 16)
        told = {name: str(value) for name, value in SPARSE_TOLD.items() if name != "topk"}
        assert told.items() <= fields["context"].items()
        assert hit.details["query_mode"] == "attention_sparse_sharedkv"
        assert (hit.details["fallback_from"], hit.details["filtered_count"]) == ("exact_miss", 2)
        assert miss.details["attempts"][0]["target"] == {"tokens": 9.0}
        assert miss.details["attempts"][-1]["status"] == "outside_axis_boundary"
        assert miss.details["rejected_rows"] == {}


def test_many_are_answered_like_each(tmp_path: Path) -> None:
    batches = [decode(2), decode(4), decode(9), prefill(3000), [(1, 4096), (1, 1)]]
    calls = [sparse_call(batch) for batch in batches]
    calls += [sparse_call(decode(4), topk=None), {"op": SPARSE.op, "args": []}]
    rows = [*PAIR, sparse_row(prefill(2048), 7), sparse_row(prefill(4096), 9)]
    with SPARSE.database(tmp_path, rows) as database:
        together = database.lookup_many(calls)
        assert [a.to_json() for a in together] == [database.lookup(c).to_json() for c in calls]
        assert {a.source for a in together} == {"MEASURED", "INTERPOLATED", None}
