"""Collectives on the smallest databases: message, group and tier, measured sizes, fitted lines."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases_for_tests import call, kept_database, rows_of, tensor, write_version
from lookup.communication_support import (
    ALL_REDUCE,
    ENTRY,
    HEADER,
    collective,
    row,
    write_collectives,
)

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.errors import SourceError
from sqlinterp.lookup.collectives import element_size, tensor_bytes, tier_of
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase

REDUCE_SCATTER = "tensor_cast.reduce_scatter.default"
GRID = ((48, 8, 2), (0, 1, 2))
POINTER = ["version https://git-lfs.github.com/spec/v1", "oid sha256:ab", "size 12"]


WORKED = [row(1000, 10), row(2000, 30), row(4000, 31)]  # the worked example of the fit


def opened(
    folder: Path,
    lines: Iterable[str],
    entry: dict[str, Any] = ENTRY,
    extra: dict[str, Any] | None = None,
    **context: Any,
) -> ProfilingDatabase:
    """Ingest one collective's rows, below their header unless they bring one, and open them."""
    lines = list(lines)
    table = [HEADER, *lines] if lines and lines[0][:1].isdigit() else lines
    write_version(folder / "v", {"hcom_allReduce_.csv": table}, {ALL_REDUCE: entry}, extra)
    return sqlinterp.open(kept_database(folder / "v"), **context)


def ask(folder: Path, lines: Iterable[str], op: dict[str, Any], **options: Any) -> Answer:
    with opened(folder, lines, **options) as database:
        return database.lookup(op)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfilingDatabase]:
    """The worked example, opened without a grid."""
    with opened(tmp_path_factory.mktemp("worked"), WORKED) as database:
        yield database


def test_a_measured_size_is_the_answer_and_says_where_it_stands(tmp_path: Path) -> None:
    answer = ask(tmp_path, [*WORKED, row(2000, 99, devices=4)], collective(2000))
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 30, 0.9)
    assert (answer.shape_match_rule, answer.kernel_type) == ("comm", "hcom_allReduce_")
    known = {key: answer.details[key] for key in ("file", "line", "raw_count", "topology_tier")}
    assert known == {
        "file": "hcom_allReduce_.csv", "line": 3, "raw_count": 1, "topology_tier": 0,
    }  # fmt: skip
    assert answer.details["latency_column"] == "Duration(us)"
    assert len(answer.details["policy_hash"]) == 64


def test_between_sizes_the_line_through_all_rows_answers(worked: ProfilingDatabase) -> None:
    answer = worked.lookup(collective(1500))
    assert (answer.source, answer.confidence) == ("INTERPOLATED", 0.8)
    assert answer.latency_us == pytest.approx(18.607142857142858, rel=1e-12)
    details = answer.details
    assert (details["method"], details["is_clamped"], details["raw_count"]) == (
        "alpha_beta", False, 3,
    )  # fmt: skip
    assert details["boundary"] == {"message_bytes": [1000, 2000]}
    assert [(p["latency_us"], p["line"]) for p in details["corner_points"]] == [(10, 2), (30, 3)]
    slope, intercept = np.polyfit([1000, 2000, 4000], [10, 30, 31], 1)
    assert details["alpha_us"] == pytest.approx(intercept, rel=1e-9)
    assert details["beta_us_per_byte"] == pytest.approx(slope, rel=1e-9)


def test_the_line_never_leaves_the_range_of_its_neighbours(worked: ProfilingDatabase) -> None:
    answer = worked.lookup(collective(3000))
    assert answer.latency_us == 30
    assert answer.details["fitted_us"] == pytest.approx(27.714285714285715, rel=1e-12)
    assert answer.details["is_clamped"] is True


def test_repeated_rows_weigh_double_in_the_fit(tmp_path: Path) -> None:
    rows = [row(1000, 10), row(2000, 15), row(2000, 15), row(4000, 40)]
    answer = ask(tmp_path, rows, collective(1500))
    slope, intercept = np.polyfit([1000, 2000, 2000, 4000], [10, 15, 15, 40], 1)
    assert answer.details["fitted_us"] == pytest.approx(intercept + slope * 1500, rel=1e-12)
    assert (answer.details["raw_count"], answer.details["aggregated_count"]) == (4, 3)


@pytest.mark.parametrize("size", [999, 4001, 2**40, 0])
def test_nothing_is_extrapolated(worked: ProfilingDatabase, size: int) -> None:
    answer = worked.lookup(collective(size))
    assert (answer.source, answer.miss_reason) == (None, "shape_mismatch")
    assert answer.details["measured"][0]["smallest_bytes"] == 1000
    assert answer.details["measured"][0]["largest_bytes"] == 4000


def test_a_message_that_no_integer_of_the_database_holds_is_a_miss(
    worked: ProfilingDatabase,
) -> None:
    answer = worked.lookup(call(ALL_REDUCE, tensor(2**40, 2**40, 2**40), 0, {"ints": [0, 1]}))
    assert answer.miss_reason == "shape_mismatch"
    assert answer.details["message_bytes"] == 2**121


def test_a_row_without_latency_is_no_size(tmp_path: Path) -> None:
    rows = [row(500, 4), row(1000, ""), row(2000, 8)]
    answer = ask(tmp_path, rows, collective(1000))
    assert answer.latency_us == pytest.approx(5.333333333333333, rel=1e-12)


@pytest.mark.parametrize(
    ("entry", "policy", "method", "latency"),
    [
        ({}, {}, "alpha_beta", 18.607142857142858),
        ({"interpolation_method": "bracket_linear"}, {}, "bracket_linear", 20.0),
        ({}, {"interpolation_method": "bracket_linear"}, "bracket_linear", 20.0),
        (
            {"interpolation_policy": {"interpolation_method": "bracket_linear"}},
            {"interpolation_method": "alpha_beta"},
            "bracket_linear",
            20.0,
        ),
        (
            {"interpolation_method": "bracket_linear"},
            {"kernel_overrides": {"hcom_allReduce_": {"interpolation_method": "alpha_beta"}}},
            "alpha_beta",
            18.607142857142858,
        ),
    ],
)
def test_entry_and_policy_choose_the_method(
    tmp_path: Path, entry: dict[str, Any], policy: dict[str, Any], method: str, latency: float
) -> None:
    extra = {"interpolation_policy": policy}
    answer = ask(tmp_path, WORKED, collective(1500), entry={**ENTRY, **entry}, extra=extra)
    assert answer.latency_us == pytest.approx(latency, rel=1e-12)
    assert answer.details["method"] == method
    assert ("alpha_us" in answer.details) is (method == "alpha_beta")


def test_an_unknown_method_is_a_miss_where_a_method_is_needed(tmp_path: Path) -> None:
    entry = {**ENTRY, "interpolation_method": "cubic"}
    with opened(tmp_path, WORKED, entry=entry) as database:
        answers = database.lookup_many([collective(size) for size in (1500, 2000, 9000)])
    reasons = [answer.miss_reason for answer in answers]
    assert reasons == ["invalid_comm_interpolation_method", None, "shape_mismatch"]


@pytest.mark.parametrize(
    ("group", "tier"),
    [
        ((0, 1), 2), ((0, 2), 1), ((0, 16), 0), ((7,), 2), ((3, 3), 2), ((0, 1, 2), 1),
        ((0, 768), 2), ((1, 769, 2), 1),
    ],
)  # fmt: skip
def test_the_tier_of_a_group_is_where_its_ranks_part(group: tuple[int, ...], tier: int) -> None:
    assert tier_of(group, GRID) == tier


def test_the_tier_begins_at_the_dim_that_names_it() -> None:
    assert tier_of((0, 1), ((48, 8, 2), (0, 1))) == 1
    assert tier_of((0, 16), ((48, 8, 2), (1, 2))) is None
    assert tier_of((0, 1), None) is None
    assert tier_of((0, 1), ((), ())) is None
    assert tier_of((0, 1), ((4, 0), (0, 1))) is None


def test_rows_of_the_spanned_tier_answer(tmp_path: Path) -> None:
    rows = [row(1000, 10, tier=0), row(1000, 20, tier=1), row(1000, 30, tier=2)]
    with opened(tmp_path, rows, comm_grid=GRID) as database:
        groups = ((0, 16), (0, 2), (0, 1))
        answers = database.lookup_many([collective(1000, group) for group in groups])
    assert [answer.latency_us for answer in answers] == [10, 20, 30]
    assert [answer.details["topology_tier"] for answer in answers] == [0, 1, 2]


def test_rows_of_several_tiers_are_never_mixed(tmp_path: Path) -> None:
    rows = [*WORKED, row(1000, 5, tier=1)]
    sizes = (1500, 1000, 2000, 5000)
    with opened(tmp_path, rows) as database:
        answers = database.lookup_many([collective(size) for size in sizes])
    found = [(answer.latency_us, answer.miss_reason) for answer in answers]
    assert found == [
        (None, "topology_tier_unknown"),
        (None, "topology_tier_unknown"),
        (30, None),  # only one tier has this size
        (None, "shape_mismatch"),  # no tier has anything around this size
    ]
    assert [m["topology_tier"] for m in answers[0].details["measured"]] == [0, 1]
    assert answers[2].details["topology_tier"] == 0
    assert answers[2].details["asked_topology_tier"] is None


def test_an_unknown_tier_is_no_problem_when_only_one_was_measured(tmp_path: Path) -> None:
    answer = ask(tmp_path, [*WORKED, row(1500, 7, tier=1, devices=4)], collective(1500))
    assert answer.latency_us == pytest.approx(18.607142857142858, rel=1e-12)


def test_a_file_without_tiers_serves_every_tier(tmp_path: Path) -> None:
    rows = ["message_bytes,num_devices,Duration(us)", "1000,2,10", "2000,2,30"]
    answer = ask(tmp_path, rows, collective(1000), comm_grid=GRID)
    assert (answer.latency_us, answer.details["topology_tier"]) == (10, None)
    assert answer.details["asked_topology_tier"] == 2


def test_a_row_with_a_blank_tier_serves_no_known_tier(tmp_path: Path) -> None:
    rows = [row(1000, 10, tier=""), row(3000, 30, tier=2)]
    answer = ask(tmp_path / "a", rows, collective(1000), comm_grid=GRID)
    assert answer.miss_reason == "shape_mismatch"
    assert ask(tmp_path / "b", rows, collective(2000)).miss_reason == "topology_tier_unknown"


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("bfloat16", 2), ("float16", 2), ("float32", 4), ("float64", 8), ("int8", 1), ("uint8", 1),
        ("bool", 1), ("float8_e4m3fn", 1), ("float8_e5m2", 1), ("int16", 2), ("int32", 4),
        ("int64", 8), ("DT_BF16", 2), ("FLOAT", 4), ("INT8", 1), ("object", None),
    ],
)  # fmt: skip
def test_element_sizes(dtype: str, size: int | None) -> None:
    assert element_size(dtype) == size
    assert tensor_bytes((3, 5), dtype) == (None if size is None else 15 * size)


def test_the_message_is_the_first_tensor_and_reduce_scatter_splits_it(tmp_path: Path) -> None:
    files = {"hcom_allReduce_.csv": [HEADER, row(1002, 7, devices=4), row(4010, 9, devices=4)]}
    operators = {ALL_REDUCE: ENTRY, REDUCE_SCATTER: ENTRY}
    write_version(tmp_path / "v", files, operators)
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    ranks, message = {"ints": [0, 1, 2, 3]}, tensor(5, 401)
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        whole = database.lookup(call(ALL_REDUCE, message, 0, ranks))
        split = database.lookup(call(REDUCE_SCATTER, message, 0, 0, ranks))
    assert (whole.details["message_bytes"], whole.latency_us) == (4010, 9)
    assert (split.details["message_bytes"], split.latency_us) == (1002, 7)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "invalid_args"),
        ([tensor(4)], "invalid_args"),
        ([{"ints": [0, 1]}], "invalid_args"),
        ([tensor(4), 0], "invalid_args"),
        ([0, {"ints": [0, 1]}], "invalid_args"),
        ([tensor(4), {"ints": []}], "invalid_args"),
        ([tensor(4), []], "invalid_args"),
        ([tensor(4), {"bools": [True, False]}], "invalid_args"),
        ([tensor(4), [tensor(1), None]], "invalid_args"),
        ([tensor(4), "01"], "invalid_args"),
        ([tensor(4, dtype="mystery"), [0, 1]], "dtype_unmapped:args[0]:mystery"),
    ],
)
@pytest.mark.parametrize("grid", [None, GRID])
def test_bad_arguments_are_misses(
    worked: ProfilingDatabase, arguments: list[Any], reason: str, grid: Any
) -> None:
    with sqlinterp.open(worked.path, comm_grid=grid) as database:
        answer = database.lookup(call(ALL_REDUCE, *arguments))
    assert (answer.source, answer.miss_reason) == (None, reason)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (POINTER, "csv_unavailable:hcom_allReduce_.csv"),
        (["message_bytes,Duration(us)", "1000,10"], "csv_format_raw"),
        (["Input Shapes,Input Data Types,Duration(us)", '"4,8",DT_BF16,10'], "csv_format_raw"),
        (["message_bytes,num_devices,dtype", "1000,2,B"], "csv_unavailable:hcom_allReduce_.csv"),
        ([HEADER], "shape_mismatch"),
    ],
)
def test_a_file_that_is_of_no_use_is_named(tmp_path: Path, lines: list[str], reason: str) -> None:
    answer = ask(tmp_path, lines, collective(1000))
    assert answer.miss_reason == reason
    if reason == "csv_format_raw":
        assert "num_devices" in answer.details["missing_columns"]


def test_an_absent_file_is_a_miss(tmp_path: Path) -> None:
    entry = {**ENTRY, "kernel_type": "hcom_broadcast_"}
    answer = ask(tmp_path, WORKED, collective(1000), entry=entry)
    assert answer.miss_reason == "csv_not_found"


def test_alternate_kernels_do_not_count(tmp_path: Path) -> None:
    entry = {**ENTRY, "kernel_type": "hcom_x_", "alternate_kernel_types": ["hcom_allReduce_"]}
    assert ask(tmp_path, WORKED, collective(1000), entry=entry).miss_reason == "csv_not_found"


def test_the_shared_folder_comes_first_and_shadows_even_when_unusable(tmp_path: Path) -> None:
    shared, names = tmp_path / "DEV" / "hccl" / "v1", ("hcom_allReduce_", "hcom_b_", "hcom_c_")
    own = {f"{name}.csv": [HEADER, row(1000, 10)] for name in names}
    write_collectives(shared, hcom_allReduce_=[HEADER, row(1000, 77)], hcom_b_=POINTER)
    operators = {f"x.{name}.default": {**ENTRY, "kernel_type": name} for name in names}
    folder = tmp_path / "DEV" / "vllm" / "v1"
    write_version(folder, own, operators, {"communication_data_ref": "../../hccl/v1/"})
    sqlinterp.ingest([folder], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answers = database.lookup_many([collective(1000, op=op) for op in operators])
    found = [(answer.latency_us, answer.miss_reason) for answer in answers]
    assert found == [(77, None), (None, "csv_unavailable:hcom_b_.csv"), (10, None)]


@pytest.mark.parametrize("at", ["../hccl/v1", "../../hccl/v1", "../a/b/hccl/v1"])
@pytest.mark.parametrize("way", ["versions", "one after the other", "devices"])
def test_every_device_has_the_collectives_that_lie_in_its_folder(
    tmp_path: Path, at: str, way: str
) -> None:
    versions = []
    for device, latency in (("DEV1", 10), ("DEV2", 77)):
        entry = {"x.sum.default": {**ENTRY, "kernel_type": "hcom_x_"}}
        folder = tmp_path / device / "vllm" / "v1"
        versions.append(write_version(folder, {}, entry, {"communication_data_ref": at}))
        write_collectives((folder / at).resolve(), hcom_x_=[HEADER, row(1000, latency)])
    runs = {"versions": [versions], "one after the other": [[one] for one in versions]}
    for run in runs.get(way, [[tmp_path / "DEV1", tmp_path / "DEV2"]]):
        sqlinterp.ingest(run, tmp_path / "p.duckdb")
    for device, latency in (("DEV1", 10), ("DEV2", 77)):
        with sqlinterp.open(tmp_path / "p.duckdb", f"{device}/vllm/v1") as database:
            assert database.lookup(collective(1000, op="x.sum.default")).latency_us == latency


def test_a_folder_of_collectives_that_gets_another_key_keeps_its_rows(tmp_path: Path) -> None:
    entry = {"x.sum.default": {**ENTRY, "kernel_type": "hcom_x_"}}
    folder, database = tmp_path / "DEV" / "vllm" / "v1", tmp_path / "p.duckdb"
    write_version(folder, {}, entry, {"communication_data_ref": "../hccl/v1"})
    write_collectives(tmp_path / "DEV/vllm/hccl/v1", hcom_x_=[HEADER, row(1000, 10)])
    sqlinterp.ingest([folder], database)
    expected = rows_of(database, "select version_key, version_id from profile_version order by 1")
    connection = connect_writer(database)
    connection.execute("update profile_version set version_key = 'vllm/hccl/v1' where kind = $k",
                       {"k": "communication"})  # fmt: skip
    connection.close()
    summary = sqlinterp.ingest([folder], database)
    found = rows_of(database, "select version_key, version_id from profile_version order by 1")
    assert found == expected and [key for key, _ in found] == ["DEV/vllm/hccl/v1", "DEV/vllm/v1"]
    assert sum(version.files_unchanged for version in summary.versions) == 1
    with sqlinterp.open(database) as opened_again:
        assert opened_again.lookup(collective(1000, op="x.sum.default")).latency_us == 10


def test_folders_of_collectives_that_share_a_key_are_refused(tmp_path: Path) -> None:
    for folder in ("a/vllm/hccl/v1", "b/vllm/hccl/v1"):
        write_collectives(tmp_path / folder, hcom_x_=[HEADER, row(1000, 1)])
    with pytest.raises(SourceError, match="two folders have the version key 'vllm/hccl/v1'"):
        sqlinterp.ingest([tmp_path], tmp_path / "p.duckdb")


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("mean", 40.0), ("median", 20.0), ("min", 10.0), ("first", 90.0), ("reference", 90.0)],
)
def test_repeated_sizes_are_one_answer_by_policy_whatever_their_dtype(
    tmp_path: Path, aggregation: str, expected: float
) -> None:
    rows = [row(1000, 90), row(1000, 10, dtype="DT_FLOAT"), row(1000, 20), row(9000, 300)]
    entry = {**ENTRY, "interpolation_method": "bracket_linear"}
    with opened(tmp_path, rows, entry=entry, aggregation=aggregation) as database:
        exact, between = database.lookup_many([collective(1000), collective(5000)])
    assert exact.latency_us == expected
    assert (exact.details["raw_count"], exact.details["aggregated_count"]) == (3, 1)
    assert (exact.details["latency_min_us"], exact.details["latency_max_us"]) == (10, 90)
    assert exact.details["communication_dtypes"] == ["B", "DT_FLOAT"]
    assert between.latency_us == pytest.approx((expected + 300) / 2, rel=1e-12)
    assert between.details["corner_points"][0]["measurement_count"] == 3


def test_latency_columns_are_never_mixed_in_one_line(tmp_path: Path) -> None:
    rows = [
        "message_bytes,num_devices,topology_tier,Average Duration(us),Duration(us)",
        "1000,2,0,10,", "2000,2,0,20,", "1100,2,0,,900", "8000,2,0,,5000",
    ]  # fmt: skip
    with opened(tmp_path, rows) as database:
        answers = database.lookup_many([collective(size) for size in (1200, 4000, 1100)])
    found = [(a.source, a.details["latency_column"]) for a in answers]
    assert found == [
        ("INTERPOLATED", "Average Duration(us)"),  # the preferred column reaches around the size
        ("INTERPOLATED", "Duration(us)"),  # it does not
        ("MEASURED", "Duration(us)"),  # a measured size comes before every line
    ]
    assert answers[0].latency_us == pytest.approx(12.0, rel=1e-12)
    assert [p["line"] for p in answers[1].details["corner_points"]] == [4, 5]


def test_the_fit_belongs_to_the_base_lookup(tmp_path: Path) -> None:
    extra = {"interpolation_policy": {"max_interpolation_dim": 0}}
    answer = ask(tmp_path, WORKED, collective(1500), extra=extra, disable_interpolation=True)
    assert answer.source == "INTERPOLATED"


def noisy_rows() -> list[str]:
    """Rows whose sums differ in the last bits with the order of summation."""
    chance = random.Random(3)
    sizes = [chance.randrange(1, 10**9) for _ in range(200)]
    return [row(s, 7 + s * 7.3e-6 + chance.random()) for s in sizes + sizes[:20]]


def test_the_order_of_rows_changes_no_bit(tmp_path: Path) -> None:
    rows, found = noisy_rows(), []
    for number in range(4):
        with opened(tmp_path / str(number), rows) as database:
            answers = database.lookup_many([collective(10**7 * i + 1) for i in range(1, 99, 7)])
        keys = ("alpha_us", "beta_us_per_byte", "r2", "fitted_us")
        found.append([(a.latency_us, *(a.details[key] for key in keys)) for a in answers])
        random.Random(number).shuffle(rows)
    assert all(found[0][0])
    assert found[1:] == found[:-1]


def test_a_batch_is_one_statement_and_equals_a_loop(worked: ProfilingDatabase) -> None:
    ops = [collective(size) for size in (1000, 1500, 3000, 1500, 2000, 3999)]
    alone, engine, log = worked.trace(ops[0])
    assert len(log) == 1
    batch = engine.lookup_many([read_invocation(op) for op in ops])
    assert len(log) == 2
    assert batch == [worked.lookup(op) for op in ops]
    assert batch[0] == alone
    batch[1].details["corner_points"].clear()
    assert len(batch[3].details["corner_points"]) == 2  # equal calls share no answer
