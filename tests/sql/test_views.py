"""Every analyst view on a small real database, with answers worked out by hand."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlinterp import queries
from sqlinterp.database import connect_reader

VIEWS = [name.removeprefix("views.") for name in queries.names("views")]
STEPS = ("boundary_jump",)  # needs both sides of a tile edge: see test_fidelity_views.py
OLD, NEW, SHARED = "DEV/vllm/v9", "DEV/vllm/v10", "DEV/hccl/v1"
AVERAGE, PROFILING = "Average Duration(us)", "Profiling Average Duration(us)"


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def view_rows(connection: duckdb.DuckDBPyConnection, view: str) -> list[tuple[Any, ...]]:
    return fetch(connection, f"select * from {view}")


def test_the_contracted_views_are_there() -> None:
    contracted = {
        "kernel_coverage", "coverage_axis", "missing_latency", "duplicate_point",
        "conflicting_latency", "mapping_without_csv", "csv_without_mapping", "schema_drift",
        "version_diff", "effective_latency", "gap_hotspot", "semantic_incomplete",
        "file_inventory", "rejection_summary", "mapping_summary", "ingest_balance",
        "communication_fit", "lookup_metrics", "miss_reason",
    }  # fmt: skip
    assert contracted <= set(VIEWS)


def test_the_database_has_exactly_the_views_of_the_folder(
    small: duckdb.DuckDBPyConnection,
) -> None:
    found = fetch(small, "select view_name from duckdb_views() where not internal order by 1")
    assert [row[0] for row in found] == VIEWS


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in STEPS])
def test_a_plain_client_can_read_the_view(small: duckdb.DuckDBPyConnection, view: str) -> None:
    assert view_rows(small, view), f"{view} is empty on a database made to fill every view"


def test_the_locked_down_reader_can_read_every_view(small_ingest: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"  # DuckDB opens one file with one configuration at a time
    shutil.copyfile(small_ingest.path, copy)
    connection = connect_reader(copy)
    try:
        assert all(view_rows(connection, view) or view in STEPS for view in VIEWS)
    finally:
        connection.close()


@pytest.mark.parametrize("view", VIEWS)
def test_the_view_gives_the_same_rows_in_order_at_one_and_two_threads(
    sample: duckdb.DuckDBPyConnection, view: str
) -> None:
    found = []
    for threads in (1, 2):
        sample.execute(f"set threads = {threads}")
        found.append(view_rows(sample, view))
    assert found[0] == found[1]


@pytest.mark.parametrize("view", VIEWS)
def test_the_view_uses_no_macro_or_variable(view: str) -> None:
    body = queries.load(f"views.{view}").body.lower()
    macros = [name.removeprefix("macros.") for name in queries.names("macros")]
    assert "getvariable" not in body
    assert not [name for name in macros if f"{name}(" in body]


def test_everything_has_a_comment_with_its_unit_or_source(
    small: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        with things as (
            select table_name as name, comment from duckdb_tables() where not internal
            union all
            select view_name, comment from duckdb_views() where not internal
            union all
            select table_name || '.' || column_name, comment from duckdb_columns()
            where not internal
        )
        select name, comment,
            coalesce(regexp_full_match(comment, '.{4,} \\[[^\\[\\]]{2,}\\]'), false)
        from things order by name"""
    found = fetch(small, query)
    assert len(found) > 300
    assert [row[:2] for row in found if not row[2]] == []


@pytest.mark.parametrize("name", ["small", "sample"])
def test_counts_over_the_views_equal_the_ingest_summary(
    name: str, request: pytest.FixtureRequest
) -> None:
    connection = request.getfixturevalue(name)
    summary = request.getfixturevalue(f"{name}_ingest").summary
    counts = ("rows_read", "rows_stored", "rows_rejected", "rows_without_latency")
    expected = [
        (v.version_key, v.files, v.files_unusable, *(getattr(v, count) for count in counts))
        for v in summary.versions
    ]
    assert fetch(connection, "select * exclude difference from ingest_balance") == expected
    assert fetch(connection, "select distinct difference from ingest_balance") == [(0,)]
    sums = ", ".join(f"sum({count})::bigint" for count in counts)
    totals = tuple(summary.total(count) for count in counts)
    for view in ("kernel_coverage", "file_inventory"):
        assert fetch(connection, f"select {sums} from {view}") == [totals]
    singles = [
        fetch(connection, f"select coalesce({count}, 0)::bigint from {view}")[0][0]
        for view, count in (
            ("effective_latency", "count(*)"),
            ("rejection_summary", "sum(row_count)"),
            ("missing_latency", "count(*)"),
        )
    ]
    assert tuple(singles) == totals[1:]


def test_joins_multiply_nothing(sample: duckdb.DuckDBPyConnection) -> None:
    for view, table in (
        ("kernel_coverage", "source_file"),
        ("file_inventory", "source_file"),
        ("effective_latency", "measurement"),
        ("missing_latency", "unmeasured_row"),
        ("ingest_balance", "profile_version"),
    ):
        query = f"select (select count(*) from {view}), (select count(*) from {table})"
        seen, expected = fetch(sample, query)[0]
        assert seen == expected, view
    query = "select sum(operator_count), (select count(*) from op_mapping) from mapping_summary"
    seen, expected = fetch(sample, query)[0]
    assert seen == expected


def test_assigned_kernel(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select operator, kernel_type, roles, status, rows_stored, is_usable from assigned_kernel
        where version_key = '{NEW}' and dispatch in ('compute', 'composite', 'moe_fused')"""
    combine, fused = "tensor_cast.dispatch_ffn_combine.default", "tensor_cast.mm_all_reduce.default"
    assert fetch(small, query) == [
        ("aten.mm.default", "MatMulV2", ["kernel_type"], "loaded", 4, True),
        ("aten.mm.default", "MatMulV3", ["alternate_kernel_types"], "lfs_pointer", 0, False),
        ("aten.neg.default", "Neg", ["kernel_type"], None, 0, False),
        (combine, "Cast", ["embedded_compute"], None, 0, False),
        (combine, "DispatchFFNCombine", ["kernel_type"], "loaded", 3, True),
        (fused, "MatMulV2", ["sub_kernels"], "loaded", 4, True),
        (fused, "hcom_allReduce_", ["sub_kernels"], "loaded", 3, True),
        ("tensor_cast.quant.default", "QuantBatchMatmulV3", ["kernel_type"], "loaded", 1, True),
        ("tensor_cast.scatter.default", "ScatterNdUpdate", ["kernel_type"], "loaded", 2, True),
    ]


def test_kernel_coverage(small: duckdb.DuckDBPyConnection) -> None:
    query = "select * exclude signature_count from kernel_coverage where kernel_type <> 'Lonely'"
    scatter, quantised = ["generic_axis_0"], ["matmul", "quantized_matmul"]
    attention, both, quant = "FusedInferAttentionScore", [AVERAGE, PROFILING], "QuantBatchMatmulV3"
    # status, read, stored, rejected, without latency; both, microbench, profiling; regimes, points
    assert fetch(small, query) == [
        (SHARED, "hcom_allReduce_", "loaded", 3, 3, 0, 0, 0, 0, 0, 0, 0, [], ["Duration(us)"], 2,
         True),
        (SHARED, "hcom_broadcast_", "loaded", 1, 1, 0, 0, 0, 0, 0, 0, 0, [], ["Duration(us)"], 0,
         False),
        (NEW, "DispatchFFNCombine", "loaded", 3, 3, 0, 0, 0, 3, 0, 0, 0, [], [AVERAGE], 1, True),
        (NEW, attention, "loaded", 3, 3, 0, 0, 0, 0, 3, 2, 2, ["attention_special"], [PROFILING], 0,
         False),
        (NEW, "MatMulV2", "loaded", 4, 4, 0, 0, 3, 0, 1, 1, 4, ["matmul"], both, 2, True),
        (NEW, "MatMulV3", "lfs_pointer", 0, 0, 0, 0, 0, 0, 0, 0, 0, [], [], 1, True),
        (NEW, quant, "loaded", 1, 1, 0, 0, 0, 0, 1, 3, 3, quantised, [PROFILING], 1, True),
        (NEW, "ScatterNdUpdate", "loaded", 2, 2, 0, 0, 1, 0, 1, 1, 2, scatter, both, 1, True),
        (OLD, "DispatchFFNCombine", "loaded", 1, 1, 0, 0, 0, 0, 1, 0, 0, [], [AVERAGE], 1, True),
        (OLD, "MatMulV2", "loaded", 6, 3, 2, 1, 0, 0, 3, 1, 2, ["matmul"], [AVERAGE], 2, True),
    ]  # fmt: skip


def test_kernel_coverage_tells_signatures_apart(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, signature_count from kernel_coverage
        where kernel_type in ('MatMulV2', 'DispatchFFNCombine')"""
    assert fetch(small, query) == [
        (NEW, "DispatchFFNCombine", 3),  # EP Size 8, 16 and blank
        (NEW, "MatMulV2", 4),
        (OLD, "DispatchFFNCombine", 1),
        (OLD, "MatMulV2", 2),  # two of three rows are equal
    ]


def test_file_inventory(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select file_name, status, layout, column_count, unknown_columns, rows_read, error_count,
            warning_count, is_clean, message
        from file_inventory where version_key <> '{SHARED}' and not is_clean"""
    message = "MatMulV3.csv is a Git-LFS pointer, not data: run 'git lfs pull'"
    assert fetch(small, query) == [
        ("MatMulV2.csv", "loaded", "current62", 17, ["Note"], 4, 0, 1, False, None),
        ("MatMulV3.csv", "lfs_pointer", None, 0, [], 0, 1, 0, False, message),
        ("MatMulV2.csv", "loaded", "legacy36", 12, [], 6, 0, 0, False, None),
    ]


def test_missing_latency(small: duckdb.DuckDBPyConnection) -> None:
    assert view_rows(small, "missing_latency") == [
        (OLD, "MatMulV2", "MatMulV2.csv", 4, 5, '"64,128;64,128"', "DT_BF16;DT_BF16", "ND;ND",
         '"64,64"', "DT_BF16")
    ]  # fmt: skip


def test_duplicate_point(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, path, axis_names, axis_values, latency_column,
            measurement_count, latency_min_us, latency_max_us, latency_mean_us, spread_us,
            spread_ratio, first_line_number
        from duplicate_point"""
    assert fetch(small, query) == [
        (OLD, "MatMulV2", "matmul", ["M", "K", "N"], [32, 128, 64], AVERAGE, 2, 20, 24, 22, 4,
         pytest.approx(1.2), 3)
    ]  # fmt: skip


def test_conflicting_latency_knows_ep_size_and_message_size(
    small: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select version_key, kernel_type, row_count, line_numbers, latency_columns, latency_min_us,
            latency_max_us, ratio, is_across_columns
        from conflicting_latency"""
    ratio = pytest.approx(1.2)
    assert fetch(small, query) == [
        (SHARED, "hcom_allReduce_", 2, [2, 3], ["Duration(us)"], 10, 12, ratio, False),
        (OLD, "MatMulV2", 2, [3, 4], [AVERAGE], 20, 24, ratio, False),
    ]


def test_mapping_without_csv(small: duckdb.DuckDBPyConnection) -> None:
    combine = "tensor_cast.dispatch_ffn_combine.default"
    alternate, primary = ["alternate_kernel_types"], ["kernel_type"]
    assert view_rows(small, "mapping_without_csv") == [
        (NEW, "aten.mm.default", "compute", "MatMulV3", alternate, "lfs_pointer", 1),
        (NEW, "aten.neg.default", "compute", "Neg", primary, "absent", 0),
        (NEW, combine, "moe_fused", "Cast", ["embedded_compute"], "absent", 1),
        (OLD, "aten.mm.default", "compute", "MatMulV3", alternate, "absent", 1),
        (OLD, "aten.neg.default", "compute", "Neg", primary, "absent", 0),
        (OLD, combine, "moe_fused", "Cast", ["embedded_compute"], "absent", 1),
    ]


def test_csv_without_mapping(small: duckdb.DuckDBPyConnection) -> None:
    assert view_rows(small, "csv_without_mapping") == [
        (SHARED, "communication", "hcom_broadcast_", "hcom_broadcast_.csv", "loaded", 1),
        (NEW, "kernel", "FusedInferAttentionScore", "FusedInferAttentionScore.csv", "loaded", 3),
        (OLD, "kernel", "Lonely", "Lonely.csv", "loaded", 1),
    ]


def test_schema_drift_tells_renamed_columns_from_missing_ones(
    small: duckdb.DuckDBPyConnection,
) -> None:
    query = """
        select version_key, layout, version_count, column_count, missing_fields, own_columns
        from schema_drift where kernel_type = 'DispatchFFNCombine'"""
    new_only = [
        "EP Size", "MicroBench aicore_time(us)", "MicroBench aiv_time(us)", PROFILING,
        "Profiling Average aicore_time(us)", "Profiling Average aiv_time(us)",
        "Profiling Median Duration(us)", "Profiling Std Duration(us)",
    ]  # fmt: skip
    old_only = ["Average aicore_time(us)", "Median Duration(us)", "Std Duration(us)"]
    fields = [
        "ep_size", "microbench_aicore_time_us", "microbench_aiv_time_us", "profiling_aiv_time_us",
        "profiling_average_us", "profiling_median_us", "profiling_std_us",
    ]  # fmt: skip
    assert fetch(small, query) == [
        (NEW, "current62", 2, 17, ["median_us", "std_us"], new_only),
        (OLD, "legacy36", 2, 12, fields, old_only),
    ]
    query = """
        select version_key, missing_columns from schema_drift
        where kernel_type = 'DispatchFFNCombine'"""
    assert fetch(small, query) == [(NEW, old_only), (OLD, new_only)]
    query = "select missing_columns, own_columns from schema_drift where version_count = 1"
    assert fetch(small, query) == [([], [])] * 6


def test_version_diff(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select old_version_key, new_version_key, kernel_type, input_shapes[1][1], old_row_count,
            new_row_count, old_latency_us, new_latency_us, ratio, old_profiling_us,
            new_profiling_us, profiling_ratio, old_quantities, new_quantities, is_like_for_like
        from version_diff"""
    mean, minimum = ["profiling_mean"], ["microbench_minimum"]
    assert fetch(small, query) == [  # v9 is older than v10; EP Size 8 is not a missing EP Size
        (OLD, NEW, "MatMulV2", 16, 1, 1, 10, 8, 0.8, 10, 16, 1.6, mean, minimum, False),
        (OLD, NEW, "MatMulV2", 32, 2, 1, 22, 11, 0.5, 22, 10, pytest.approx(10 / 22), mean,
         minimum, False),
    ]  # fmt: skip


def test_effective_latency(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select kernel_type, row_number, latency_us, latency_column, latency_rank, reason, quantity,
            raw_latency_us, core_us, average_us, profiling_average_us
        from effective_latency
        where version_key = '{NEW}'
            and kernel_type not in ('DispatchFFNCombine', 'FusedInferAttentionScore')"""
    first, microbench, mean = "first_usable_column", "microbench_minimum", "profiling_mean"
    quant, envelope, core = "QuantBatchMatmulV3", "core_envelope", "core_maximum"
    assert fetch(small, query) == [
        ("MatMulV2", 1, 8, AVERAGE, 0, first, microbench, 8, 14, 8, 16),
        ("MatMulV2", 2, 11, AVERAGE, 0, first, microbench, 11, 9, 11, 10),
        ("MatMulV2", 3, 30, PROFILING, 1, first, mean, 30, 28, None, 30),
        ("MatMulV2", 4, 3, AVERAGE, 0, first, microbench, 3, 1, 3, 2),
        (quant, 1, 10, PROFILING, 3, envelope, core, 30, 10, None, 30),
        ("ScatterNdUpdate", 1, 7, PROFILING, 0, "preferred", mean, 7, 6, None, 7),
        ("ScatterNdUpdate", 2, 5, AVERAGE, 1, first, microbench, 5, 4, 5, 6),
    ]  # fmt: skip
    query = f"""
        select distinct version_key, quantity, reason from effective_latency
        where version_key <> '{NEW}' order by all"""
    assert fetch(small, query) == [(SHARED, "collective", first), (OLD, mean, first)]


def test_gap_hotspot(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select kernel_type, line_number, microbench_us, profiling_us, ratio, difference_us, is_hot
        from gap_hotspot"""
    assert fetch(small, query) == [  # 11 us against 10 us is within 0.8 .. 1.2
        ("MatMulV2", 2, 8, 16, 0.5, -8, True),
        ("MatMulV2", 5, 3, 2, 1.5, 1, False),
    ]


def test_coverage_axis(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select axis_position, axis_name, value, point_count, measurement_count, value_count,
            previous_value, next_value, gap, ratio, gap_rank
        from coverage_axis where kernel_type = 'MatMulV2' and version_key = """
    assert fetch(small, f"{query}'{NEW}'") == [
        (1, "M", 16, 1, 1, 4, None, 32, 16, 2, 3),
        (1, "M", 32, 1, 1, 4, 16, 64, 32, 2, 2),
        (1, "M", 64, 1, 1, 4, 32, 256, 192, 4, 1),
        (1, "M", 256, 1, 1, 4, 64, None, None, None, None),
        (2, "K", 128, 4, 4, 1, None, None, None, None, None),
        (3, "N", 64, 4, 4, 1, None, None, None, None, None),
    ]
    assert fetch(small, f"{query}'{OLD}'") == [
        (1, "M", 16, 1, 1, 2, None, 32, 16, 2, 1),
        (1, "M", 32, 1, 2, 2, 16, None, None, None, None),
        (2, "K", 128, 2, 3, 1, None, None, None, None, None),
        (3, "N", 64, 2, 3, 1, None, None, None, None, None),
    ]


def test_semantic_incomplete(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, line_number, blank_columns, absent_columns
        from semantic_incomplete"""
    assert fetch(small, query) == [
        (NEW, "DispatchFFNCombine", 4, ["EP Size"], []),
        (NEW, "FusedInferAttentionScore", 4, ["Runtime avg_seq_len"], []),
        (OLD, "DispatchFFNCombine", 2, [], ["EP Size"]),
    ]


def test_rejection_summary(small: duckdb.DuckDBPyConnection) -> None:
    assert view_rows(small, "rejection_summary") == [
        (OLD, "MatMulV2", "MatMulV2.csv", AVERAGE, "latency_negative", 1, 7, "-5"),
        (OLD, "MatMulV2", "MatMulV2.csv", "Input Shapes", "malformed_shape", 1, 6, '"N/A"'),
    ]


def test_mapping_summary(small: duckdb.DuckDBPyConnection) -> None:
    assert fetch(small, f"select * from mapping_summary where version_key = '{NEW}'") == [
        (NEW, "compute", None, 4, 0.5, 4, 3, 2),
        (NEW, "communication", None, 1, 0.125, 1, 1, 1),
        (NEW, "composite", None, 1, 0.125, 1, 1, 1),
        (NEW, "moe_fused", "moe_fused", 1, 0.125, 1, 1, 0),
        (NEW, "zero_cost", None, 1, 0.125, 0, 0, 0),
    ]


def test_ingest_balance(small: duckdb.DuckDBPyConnection) -> None:
    assert view_rows(small, "ingest_balance") == [
        (SHARED, 2, 0, 4, 4, 0, 0, 0),
        (NEW, 6, 1, 13, 13, 0, 0, 0),
        (OLD, 3, 0, 8, 5, 2, 1, 0),
    ]
