"""Exact attention lookups: which row answers a call, and what the answer says of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, tensor
from lookup.attention_support import (
    ATTENTION,
    KERNEL,
    UNIQUE,
    attention_call,
    child_call,
    exact,
    ingested,
    row,
    shaped,
)

import sqlinterp


def at(seq: int) -> dict[str, Any]:
    """A call over 16 requests of one length."""
    return attention_call(lengths=[seq] * 16)


def test_the_nearest_length_within_a_block_answers_and_the_gap_is_told(tmp_path: Path) -> None:
    rows = [row(10, 1000), row(20, 1012), row(30, 1040)]
    answer = exact(tmp_path, rows, at(1008))
    assert (answer.latency_us, answer.source, answer.confidence) == (20, "MEASURED", 0.9)
    assert answer.shape_match_rule == "attention"
    details = answer.details
    assert (details["avg_seq_len"], details["measured_avg_seq_len"]) == (1008, 1012)
    assert (details["seq_gap"], details["line"]) == (4, 3)
    assert (details["sparse_mode"], details["num_kv_heads"]) == (3, 2)
    assert (details["input_layout"], details["latency_column"]) == ("TND", "Average Duration(us)")


@pytest.mark.parametrize(("asked", "is_hit"), [(1040, True), (1041, False), (1008, True)])
def test_a_gap_of_more_than_16_tokens_is_a_miss(tmp_path: Path, asked: int, is_hit: bool) -> None:
    answer = exact(tmp_path, [row(10, 1024)], at(asked))
    assert (answer.miss_reason is None) is is_hit
    assert is_hit or answer.miss_reason == "shape_mismatch"


def test_lengths_are_means_in_whole_tokens(tmp_path: Path) -> None:
    answer = exact(tmp_path, [row(10, 1039.75)], attention_call(lengths=[1023] * 15 + [1024]))
    assert answer.latency_us == 10  # 1039 against 1023
    assert answer.details["measured_avg_seq_len"] == 1039.75
    assert (answer.details["avg_seq_len"], answer.details["seq_gap"]) == (1023, 16)


def test_the_nearest_length_within_16_tokens_is_found_wherever_it_is(tmp_path: Path) -> None:
    measured = [0, 15, 31, 32, 33, 96.75, 500, 520, 2**20]
    lengths = [*range(130), *range(470, 540), 2**20 - 17, 2**20 - 16, 2**20 + 16, 2**20 + 17]
    path = ingested(tmp_path, [row(10 + place, seq) for place, seq in enumerate(measured)])
    near = {asked: min(abs(math.trunc(seq) - asked) for seq in measured) for asked in lengths}
    with sqlinterp.open(path, disable_interpolation=True) as database:
        answers = database.lookup_many([at(asked) for asked in lengths])
        assert answers == [database.lookup(at(asked)) for asked in lengths]
    gaps = [answer.details.get("seq_gap") for answer in answers]
    assert gaps == [near[asked] if near[asked] <= 16 else None for asked in lengths]


@pytest.mark.parametrize("asked", [(16, 8, 128), (16, 1024)])
@pytest.mark.parametrize("measured", [(16, 8, 128), (16, 1024)])
def test_a_query_of_rank_2_is_split_by_the_head_dim_of_the_key(
    tmp_path: Path, asked: tuple[int, ...], measured: tuple[int, ...]
) -> None:
    answer = exact(tmp_path, [shaped(10, 1024, measured)], attention_call(query=asked))
    assert (answer.latency_us, answer.details["q_tokens"]) == (10, 16)


def test_a_query_that_cannot_be_split_is_named(tmp_path: Path) -> None:
    answer = exact(tmp_path, [row(10)], attention_call(query=(16, 1000)))
    assert answer.miss_reason == "q_shape_normalize_failed"


def bnsd(latency: object, **changes: Any) -> dict[str, Any]:
    """A decode row of rank 4: one query token of each request."""
    fields = {"runtime_input_layout": "BNSD_NBSD", "runtime_sparse_mode": 0, **changes}
    shapes = "16,8,1,128;16,2,1024,128;16,2,1024,128"
    return {**row(latency, **fields), "Input Shapes": shapes}


def test_a_query_of_rank_4_has_its_own_layout_mode_and_head_dim(tmp_path: Path) -> None:
    op = attention_call(query=(16, 8, 1, 128), key=(16, 2, 1024, 128))
    answer = exact(tmp_path / "a", [bnsd(10)], op)
    assert (answer.latency_us, answer.details["input_layout"]) == (10, "BNSD_NBSD")
    assert (answer.details["sparse_mode"], answer.details["num_kv_heads"]) == (0, 2)
    wrong = [bnsd(10, runtime_num_key_value_heads=1024), bnsd(10, runtime_sparse_mode=3)]
    assert exact(tmp_path / "b", wrong, op).miss_reason == "shape_mismatch"


@pytest.mark.parametrize(
    ("asked", "measured", "fits"),
    [(16, 1, True), (1, 16, True), (64, 33, True), (33, 64, True), (136, 130, True),
     (130, 136, True), (48, 17, False), (17, 48, False), (40, 33, False)],
)  # fmt: skip
def test_tokens_of_one_block_serve_each_other(
    tmp_path: Path, asked: int, measured: int, fits: bool
) -> None:
    op = attention_call(query=(asked, 8, 128))
    answer = exact(tmp_path, [shaped(10, 1024, (measured, 8, 128))], op)
    assert (answer.latency_us == 10) is fits
    if fits:
        assert (answer.shape_match_rule, answer.confidence) == ("attention+padding", 0.9)
        assert answer.details["padding_ratio"] == max(asked, measured) / min(asked, measured)
        assert answer.details["measured_q_tokens"] == measured


def test_equal_tokens_beat_padded_ones_and_the_least_padded_beats_the_rest(tmp_path: Path) -> None:
    padded = [shaped(10, 1024, (9, 8, 128)), shaped(20, 1024, (15, 8, 128))]
    answer = exact(tmp_path / "a", [*padded, row(30, 1040)], attention_call())
    assert (answer.latency_us, answer.shape_match_rule) == (30, "attention")
    answer = exact(tmp_path / "b", [*padded, shaped(40, 1024, (17, 8, 128))], attention_call())
    assert (answer.latency_us, answer.shape_match_rule) == (20, "attention+padding")


@pytest.mark.parametrize(
    "change",
    [{"runtime_sparse_mode": 0}, {"runtime_num_key_value_heads": 4},
     {"runtime_input_layout": "BSH"}, {"runtime_sparse_mode": ""},
     {"runtime_num_key_value_heads": ""}, {"runtime_input_layout": ""},
     {"runtime_avg_seq_len": ""}, {"runtime_avg_seq_len": -1}],
)  # fmt: skip
def test_a_row_that_differs_or_is_blank_in_what_it_means_is_no_answer(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    unrelated = shaped(99, 1024, (512, 8, 128))  # keeps every column in the file
    assert exact(tmp_path, [row(10, **change), unrelated], attention_call()).miss_reason == (
        "shape_mismatch"
    )


@pytest.mark.parametrize("column", ["runtime_sparse_mode", "runtime_num_key_value_heads",
                                    "runtime_input_layout"])  # fmt: skip
def test_a_column_that_the_csv_does_not_have_is_not_compared(tmp_path: Path, column: str) -> None:
    answer = exact(tmp_path, [row(10, **{column: None})], attention_call())
    assert answer.latency_us == 10


def test_old_csvs_answer_by_their_bare_column(tmp_path: Path) -> None:
    raw = {"runtime_avg_seq_len": None, "runtime_sparse_mode": None,
           "runtime_num_key_value_heads": None, "runtime_input_layout": None}  # fmt: skip
    old = {**row(10, **raw), "avg_seq_len": 1024}
    unknown = {**row(20, **raw), "avg_seq_len": -1}
    assert exact(tmp_path / "a", [unknown, old], attention_call()).latency_us == 10
    reason = exact(tmp_path / "b", [row(10, **raw)], attention_call()).miss_reason
    assert reason == "semantic_context_missing:csv:Runtime avg_seq_len"


def test_rows_that_say_they_are_complete_come_first_within_half_a_token(tmp_path: Path) -> None:
    column = "runtime_metadata_completeness"
    rows = [row(10, **{column: "legacy"}), row(20, **{column: ""}), row(30, **{column: "complete"})]
    assert exact(tmp_path / "a", rows, attention_call()).latency_us == 30
    rows = [row(10, **{column: "legacy"}), row(30, 1025, **{column: "runtime_values"})]
    assert exact(tmp_path / "b", rows, attention_call()).latency_us == 10


def test_the_phase_filters_when_both_sides_know_it(tmp_path: Path) -> None:
    rows = [row(10, runtime_phase="decode"), row(20, runtime_phase="prefill")]
    prefill = attention_call(phase="prefill")
    assert exact(tmp_path / "a", rows, prefill, aggregation="first").latency_us == 20
    flags = attention_call(is_decode_values={"bools": [True, True]})
    assert exact(tmp_path / "b", rows[::-1], flags).latency_us == 10
    assert exact(tmp_path / "c", rows, attention_call(), aggregation="first").latency_us == 10
    blank = [row(30, runtime_phase=""), row(40, 1030, runtime_phase="prefill")]
    assert exact(tmp_path / "d", blank, prefill).latency_us == 30
    assert exact(tmp_path / "e", rows[:1], prefill).miss_reason == "shape_mismatch"


@pytest.mark.parametrize(
    ("cell", "asked", "is_hit"),
    [("8,16", [8, 16], True), ("8; 16", [8, 16], True), ('"8,16"', [8, 16], True),
     ("16,8", [8, 16], False), ("8", [8, 16], False), ("8", [8], True), ("", [8, 16], True),
     ("eight", [8, 16], True), ("9", [8], False), ("8,16", None, True)],
)  # fmt: skip
def test_lists_are_compared_as_integers_and_blank_agrees_with_all(
    tmp_path: Path, cell: str, asked: list[int] | None, is_hit: bool
) -> None:
    column = "Runtime actual_seq_lengths_values"
    rows = [{**row(10), column: cell}, {**row(20, 4000), column: ""}]
    lists = None if asked is None else {"ints": asked}
    answer = exact(tmp_path, rows, child_call(actual_seq_lengths=lists))
    assert answer.latency_us == (10 if is_hit else None)


@pytest.mark.parametrize(
    ("column", "cell", "parameter", "wrong"),
    [("Runtime actual_seq_lengths_kv_values", "5,7", "actual_seq_lengths_kv", {"ints": [7, 5]}),
     ("Runtime block_table_valid_blocks", "2,3", "block_table_valid_blocks", {"ints": [2, 2]}),
     ("Runtime num_heads", "8", "num_heads", 4),
     ("Runtime sparse_block_size", "1", "sparse_block_size", 2),
     ("Runtime sparse_indices_valid_count", "9", "sparse_indices_valid_count", 8),
     ("Runtime cache_layout", "PA_BSND", "cache_layout", "BNSD"),
     ("Runtime kv_cache_mode", "paged", "kv_cache_mode", "dense"),
     ("Runtime sparse_indices_pattern", "uniform", "sparse_indices_pattern", "ragged"),
     ("Runtime quant_mode", "int8", "quant_mode", "W8A8"),
     ("Runtime phase", "decode", "phase", "prefill")],
)  # fmt: skip
def test_other_metadata_may_be_blank_but_not_contradict(
    tmp_path: Path, column: str, cell: str, parameter: str, wrong: Any
) -> None:
    op = child_call(**{parameter: wrong})
    assert exact(tmp_path / "a", [{**row(10), column: cell}], op).miss_reason == "shape_mismatch"
    blank = [{**row(10), column: ""}, {**row(20, 4000), column: cell}]
    assert exact(tmp_path / "b", blank, op).latency_us == 10


@pytest.mark.parametrize(
    ("column", "parameter"), [("Runtime topk", "topk"), ("Runtime block_size", "block_size")]
)
def test_a_blank_top_k_or_block_size_agrees_with_none_told(
    tmp_path: Path, column: str, parameter: str
) -> None:
    rows = [{**row(10), column: ""}, {**row(20, 1030), column: 128}]
    assert exact(tmp_path / "a", rows, child_call(**{parameter: 128})).latency_us == 20
    assert exact(tmp_path / "b", rows, child_call(**{parameter: 64})).miss_reason
    assert exact(tmp_path / "c", rows, child_call()).latency_us == 10
    assert exact(tmp_path / "d", [row(10)], child_call(**{parameter: 64})).latency_us == 10


def test_required_fields_are_named_when_call_or_csv_lack_them(tmp_path: Path) -> None:
    required = ["topk", "sparse_mode", "kv_cache_mode"]
    lacking = exact(tmp_path / "a", [row(10)], child_call(required=required))
    assert lacking.miss_reason == "semantic_context_missing:target:kv_cache_mode,topk"
    op = child_call(required=required, topk=2048, kv_cache_mode="paged")
    unable = exact(tmp_path / "b", [row(10)], op)
    assert unable.miss_reason == "semantic_context_missing:csv:Runtime topk"
    able = exact(tmp_path / "c", [row(10, runtime_topk=2048)], op)
    assert able.latency_us == 10  # the column of an optional field may be absent
    without = exact(tmp_path / "d", [row(10)], child_call(avg_seq_len=None, required=[]))
    assert without.miss_reason == "semantic_context_missing:target:avg_seq_len"


def test_a_child_tells_what_a_direct_call_derives(tmp_path: Path) -> None:
    layouts = [row(10), row(20, runtime_sparse_mode=0, runtime_input_layout="BNSD_NBSD")]
    decode = child_call(sparse_mode=0)
    assert exact(tmp_path / "a", layouts, decode).latency_us == 20
    assert exact(tmp_path / "b", layouts, child_call(input_layout="TND")).latency_us == 10
    assert exact(tmp_path / "c", layouts, child_call(num_kv_heads=4)).miss_reason
    nothing = {**call(ATTENTION, 3), "kwargs": {"avg_seq_len": 5}}
    assert exact(tmp_path / "d", layouts, nothing).miss_reason == "query_not_tensor"


@pytest.mark.parametrize(
    ("aggregation", "expected"), [("mean", 40.0), ("median", 20.0), ("min", 10.0), ("first", 90.0)]
)
def test_equal_rows_are_one_answer_by_policy(
    tmp_path: Path, aggregation: str, expected: float
) -> None:
    rows = [row(latency) for latency in (90, 10, 20)]
    answer = exact(tmp_path, rows, attention_call(), aggregation=aggregation)
    assert (answer.latency_us, answer.details["raw_count"]) == (expected, 3)
    assert (answer.details["latency_min_us"], answer.details["latency_max_us"]) == (10, 90)


def test_rows_of_other_content_are_not_merged_and_order_does_not_decide(tmp_path: Path) -> None:
    other = {**row(10), "Input Shapes": "16,8,128;80,128,2,128;80,128,2,128"}
    rows = [other, row(30), row(50)]
    answers = [
        exact(tmp_path / str(i), r, attention_call()) for i, r in enumerate([rows, rows[::-1]])
    ]
    assert answers[0].latency_us == answers[1].latency_us == 40


def test_a_kernel_that_demands_one_latency_refuses_two(tmp_path: Path) -> None:
    other = {**row(10), "Input Shapes": "16,8,128;80,128,2,128;80,128,2,128"}
    answer = exact(tmp_path / "a", [other, row(11)], attention_call(), extra=UNIQUE)
    assert answer.miss_reason == f"ambiguous_semantic_match:{KERNEL}"
    padded = [shaped(10, 1024, (9, 8, 128)), row(11)]  # a padded row does not tie
    assert exact(tmp_path / "b", padded, attention_call(), extra=UNIQUE).latency_us == 11


def test_kernels_compete_by_match_then_distance_then_order(tmp_path: Path) -> None:
    entry = {"alternate_kernel_types": ["Other"]}
    near = exact(tmp_path / "a", [row(10, 1030)], attention_call(), entry=entry, Other=[row(20)])
    assert (near.kernel_type, near.latency_us) == ("Other", 20)
    tied = exact(tmp_path / "b", [row(10)], attention_call(), entry=entry, Other=[row(20)])
    assert (tied.kernel_type, tied.latency_us) == (KERNEL, 10)


def test_a_better_latency_column_decides_between_equals(tmp_path: Path) -> None:
    worse = row("", duration=10)
    assert exact(tmp_path, [worse, row(20, duration="")], attention_call()).latency_us == 20


def test_half_precision_prefers_its_own_rows_and_flags_the_others(tmp_path: Path) -> None:
    op = attention_call(dtype="float16")
    own = row(20, input_dtypes="FLOAT16;FLOAT16;FLOAT16")
    first = exact(tmp_path / "a", [row(10), own], op)
    assert first.latency_us == 20 and "dtype_compatible" not in first.details
    other = exact(tmp_path / "b", [row(10)], op)
    assert other.latency_us == 10 and "FLOAT16" in other.details["dtype_compatible"]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ([tensor(16, 8, 128)] * 3, "insufficient_args"),
        ([7, *[None] * 6], "query_not_tensor"),
        ([tensor(16, 8, 128, dtype="quaternion"), *[None] * 6], "dtype_unmapped"),
        ([tensor(16, 8, 128), *[None] * 5, 1024], "missing_seq_lens"),
        ([tensor(16, 8, 128), *[None] * 5, tensor(16, dtype="int64")], "invalid_seq_lens"),
        ([tensor(16, 8, 128), *[None] * 5,
          {"shape": [1], "dtype": "int64", "values": [-1]}], "invalid_seq_lens"),
    ],
)  # fmt: skip
def test_calls_that_do_not_tell_enough_are_named(
    tmp_path: Path, args: list[Any], reason: str
) -> None:
    assert exact(tmp_path, [row(10)], call(ATTENTION, *args)).miss_reason == reason


def test_absent_and_unusable_files_are_named(tmp_path: Path) -> None:
    entry = {"kernel_type": "Absent"}
    assert exact(tmp_path / "a", [row(10)], attention_call(), entry=entry).miss_reason == (
        "csv_not_found"
    )
    (tmp_path / "b" / "v").mkdir(parents=True)
    (tmp_path / "b" / "v" / "Bad.csv").write_text("version https://git-lfs.github.com/spec/v1\n")
    entry = {"kernel_type": "Bad", "alternate_kernel_types": [KERNEL]}
    path = ingested(tmp_path / "b", [row(10)], entry)
    with sqlinterp.open(path) as database:
        assert database.lookup(attention_call()).latency_us == 10
        far = database.lookup(attention_call(lengths=[9000]))
        assert far.miss_reason == "csv_unavailable:Bad.csv"


def test_a_batch_of_calls_is_a_loop_of_calls(tmp_path: Path) -> None:
    rows = [row(10), row(20, 2048), shaped(30, 1024, (9, 8, 128)), bnsd(40)]
    calls = [
        attention_call(),
        attention_call(lengths=[1500]),
        attention_call(query=(12, 8, 128)),
        attention_call(query=(16, 8, 1, 128), key=(16, 2, 1024, 128)),
        child_call(actual_seq_lengths={"ints": [3]}),
        call(ATTENTION),
        attention_call(dtype="float16"),
    ]
    with sqlinterp.open(ingested(tmp_path, rows)) as database:
        assert database.lookup_many(calls) == [database.lookup(op) for op in calls]
