"""Views of tasks that analysts did by hand from CSVs, on databases whose answers are worked out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, write_version
from typer.testing import CliRunner

import sqlinterp
from sqlinterp import queries
from sqlinterp.cli.app import app

FOLDER = Path(__file__).parent
OLD, NEW, SHARED = "DEV/vllm/v9", "DEV/vllm/v10", "DEV/hccl/v1"
AVERAGE, PROFILING = "Average Duration(us)", "Profiling Average Duration(us)"
ATTENTION, COMBINE = "FusedInferAttentionScore", "DispatchFFNCombine"


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


TASKS = re.findall(
    r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|([^|]*)\|$",
    (FOLDER.parent / "README.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("number", "task", "views", "test"), TASKS)
def test_each_task_has_its_views_and_a_test(number: str, task: str, views: str, test: str) -> None:
    named = set(re.findall(r"`(\w+)`", views))
    assert named <= {name.removeprefix("views.") for name in queries.names("views")}
    if not test.strip():
        assert views == "needs traces" and number in ("12", "19", "20")
        return
    assert named
    file, _, function = test.strip("` ").partition("::")
    text = (FOLDER.parent / file).read_text(encoding="utf-8")
    assert f"def {function}(" in text and any(view in text for view in named)


def test_all_tasks_are_listed() -> None:
    assert [int(number) for number, *_ in TASKS] == list(range(1, 25))


def test_coverage_axis_gives_the_bracket_of_a_value(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select value, next_value from coverage_axis
        where version_key = '{NEW}' and kernel_type = 'MatMulV2' and axis_name = 'M'
            and value <= 100 and next_value > 100"""
    assert fetch(small, query) == [(64, 256)]


def test_comparable_row(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, count(*), count(distinct (content, context))
        from comparable_row join profile_version using (version_id)
        where kernel_type in ('DispatchFFNCombine', 'MatMulV2', 'hcom_allReduce_')
        group by all order by all"""
    assert fetch(small, query) == [
        (SHARED, "hcom_allReduce_", 3, 2),  # one message was measured twice
        (NEW, COMBINE, 3, 3),  # EP Size 8, 16 and blank
        (NEW, "MatMulV2", 4, 4),
        (OLD, COMBINE, 1, 1),
        (OLD, "MatMulV2", 3, 2),
    ]


def test_duplicate_signature(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, row_count, line_numbers, latency_min_us, latency_max_us,
            is_conflicting
        from duplicate_signature"""
    assert fetch(small, query) == [
        (SHARED, "hcom_allReduce_", 2, [2, 3], 10, 12, True),
        (OLD, "MatMulV2", 2, [3, 4], 20, 24, True),
    ]


def test_duplicate_signature_and_conflicting_latency_differ_by_agreement(tmp_path: Path) -> None:
    row = '"{m},16;16,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,{output},{us}'
    rows = [
        row.format(m=m, us=us, output=output)
        for m, us, output in ((8, 5, "ND"), (8, 5, "ND"), (4, 2, "ND"), (4, 3, "NZ"), (2, 1, "ND"))
    ]
    files = {"MatMulV2.csv": [MATMUL_HEADER, *rows]}
    write_version(tmp_path / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with duckdb.connect(str(tmp_path / "p.duckdb"), read_only=True) as connection:
        query = "select line_numbers, is_conflicting from duplicate_signature"
        assert fetch(connection, query) == [([2, 3], False), ([4, 5], True)]
        query = "select line_numbers, latency_min_us, latency_max_us from conflicting_latency"
        assert fetch(connection, query) == [([4, 5], 2, 3)]


def test_metadata_completeness(small: duckdb.DuckDBPyConnection) -> None:
    assert fetch(small, "from metadata_completeness") == [
        (NEW, ATTENTION, f"{ATTENTION}.csv", "runtime_values", True, 2, pytest.approx(2 / 3), 0),
        (NEW, ATTENTION, f"{ATTENTION}.csv", "profile_shapes_only", True, 1, pytest.approx(1 / 3),
         1),
    ]  # fmt: skip


def test_metadata_completeness_tells_blank_from_absent(tmp_path: Path) -> None:
    row = '"5,16,1,512;9,1,128,512",DT_BF16;DT_BF16,ND;ND,"5,16,1,512",DT_BF16,ND,'
    told = [f"{MATMUL_HEADER},Runtime metadata_completeness", f"{row}3, legacy ", f"{row}4,"]
    for version, lines in (("v1", [MATMUL_HEADER, f"{row}2"]), ("v2", told)):
        write_version(tmp_path / "D/b" / version, {f"{ATTENTION}.csv": lines}, {})
    sqlinterp.ingest([tmp_path], tmp_path / "p.duckdb")
    query = "select version_key, completeness, has_column, row_count, share from {}"
    with duckdb.connect(str(tmp_path / "p.duckdb"), read_only=True) as connection:
        assert fetch(connection, query.format("metadata_completeness")) == [
            ("D/b/v1", None, False, 1, 1.0),
            ("D/b/v2", "legacy", True, 1, 0.5),
            ("D/b/v2", None, True, 1, 0.5),
        ]


def test_unplaced_row(small: duckdb.DuckDBPyConnection) -> None:
    query = "select version_key, kernel_type, path, reason, row_count, share from unplaced_row"
    shapes = "moe_physical_signature_incomplete"  # one input shape instead of seven
    length = "semantic_context_missing:csv:avg_seq_len"
    assert fetch(small, query) == [
        (NEW, COMBINE, "moe_fused", shapes, 3, 1.0),
        (NEW, ATTENTION, "attention_special", length, 1, pytest.approx(1 / 3)),
        (NEW, "ScatterNdUpdate", "scatter_nd_update_mla", "scatter_shape_unextractable", 2, 1.0),
        (OLD, COMBINE, "moe_fused", shapes, 1, 1.0),
    ]


def test_file_column(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, position, csv_name, table_name, column_name, file_count
        from file_column
        where csv_name in ('EP Size', 'Note')
            or kernel_type = 'DispatchFFNCombine' and csv_name = 'Average Duration(us)'"""
    assert fetch(small, query) == [
        (NEW, COMBINE, 9, AVERAGE, "measurement", "average_us", 2),
        (NEW, COMBINE, 17, "EP Size", "measurement", "ep_size", 1),
        (NEW, "MatMulV2", 17, "Note", None, None, 1),
        (OLD, COMBINE, 9, AVERAGE, "measurement", "average_us", 2),
    ]
    query = "select count(*), (select sum(column_count) from file_inventory) from file_column"
    found, expected = fetch(small, query)[0]
    assert found == expected


def test_attention_case(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, line_number, attention_case, query_tokens, heads, head_dim,
            cache_blocks, avg_seq_len, latency_us
        from attention_case"""
    assert fetch(small, query) == [
        (NEW, 2, "latent", 5, 16, 512, 9, 1025, 20),
        (NEW, 3, "paged", 16, 4, 128, 99, 4096, 40),
        (NEW, 4, "non_paged", 512, 4, 128, None, None, 60),
    ]


def test_latency_variation(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, line_number, mean_us, std_us, variation, is_unsteady
        from latency_variation where variation >= 0.05"""
    assert fetch(small, query) == [
        (NEW, ATTENTION, 3, 40, 6, 0.15, True),
        (NEW, "MatMulV2", 3, 10, 1, 0.1, False),
        (NEW, "MatMulV2", 4, 30, 2, pytest.approx(2 / 30), False),
        (NEW, "MatMulV2", 2, 16, 1, 0.0625, False),
        (NEW, ATTENTION, 2, 20, 1, 0.05, False),
        (OLD, "MatMulV2", 2, 10, 0.5, 0.05, False),  # legacy columns
        (OLD, "MatMulV2", 3, 20, 1, 0.05, False),
    ]
    # Rows of collectives and rows without a profiling mean have no deviation.
    assert fetch(small, "select count(*) from latency_variation") == [(15,)]


def test_core_envelope_outlier(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, kernel_type, line_number, source, duration_us, core_us, ratio,
            is_replaced
        from core_envelope_outlier"""
    assert fetch(small, query) == [
        (NEW, COMBINE, 4, "microbench", 90, 4, 22.5, False),
        (NEW, COMBINE, 3, "microbench", 60, 4, 15, False),
        (OLD, COMBINE, 2, "profiling", 50, 4, 12.5, False),
        (NEW, COMBINE, 2, "microbench", 40, 4, 10, False),
        (NEW, "MatMulV2", 5, "microbench", 3, 1, 3, False),
        (NEW, "QuantBatchMatmulV3", 2, "profiling", 30, 10, 3, True),  # by policy
        (NEW, ATTENTION, 2, "profiling", 20, 9, pytest.approx(20 / 9), False),
        (NEW, "MatMulV2", 5, "profiling", 2, 1, 2, False),
        (OLD, "MatMulV2", 4, "profiling", 24, 15, 1.6, False),
    ]


def test_matmul_rate(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select line_number, output, operation_count, byte_count, tflops, gbytes_per_second,
            intensity
        from matmul_rate where version_key = '{NEW}' and kernel_type = 'MatMulV2'
        order by line_number limit 1"""
    operations, size = 2 * 16 * 64 * 128, 2 * (16 * 128 + 64 * 128 + 16 * 64)  # DT_BF16, 8 us
    assert fetch(small, query) == [
        (2, [16, 64], operations, size, pytest.approx(operations / 8e-6 / 1e12),
         pytest.approx(size / 8e-6 / 1e9), pytest.approx(operations / size))
    ]  # fmt: skip
    query = "select version_key, kernel_type, count(*) from matmul_rate group by all order by all"
    assert fetch(small, query) == [
        (NEW, "MatMulV2", 4), (NEW, "QuantBatchMatmulV3", 1), (OLD, "MatMulV2", 3),
    ]  # fmt: skip


def test_matmul_rate_counts_what_a_fused_swiglu_halves(tmp_path: Path) -> None:
    row = '"4,16;2,16,32",INT8;INT8,ND;ND,"4,{n}",{dtype},ND,1'
    lines = {
        "GroupedMatmul": row.format(n=32, dtype="DT_BF16"),
        "GroupedMatmulSwigluQuant": row.format(n=16, dtype="ODD"),
    }
    files = {f"{kernel}.csv": [MATMUL_HEADER, line] for kernel, line in lines.items()}
    write_version(tmp_path / "v", files, {})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    query = "select kernel_type, operation_count, byte_count from matmul_rate order by kernel_type"
    operations = 2 * 4 * 32 * 16
    with duckdb.connect(str(tmp_path / "p.duckdb"), read_only=True) as connection:
        assert fetch(connection, query) == [
            ("GroupedMatmul", operations, 4 * 16 + 2 * 16 * 32 + 2 * 4 * 32),
            ("GroupedMatmulSwigluQuant", operations, None),  # the size of the dtype is unknown
        ]


def test_measured_point(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select version_key, path, axis_names, axis_values, latency_column, measurement_count,
            latency_mean_us
        from measured_point where kernel_type in ('MatMulV2', 'FusedInferAttentionScore')"""
    matmul, attention = ["M", "K", "N"], ["seq", "batch", "heads", "head_dim"]
    assert fetch(small, query) == [
        (NEW, "attention_special", attention, [1025, 5, 16, 512], PROFILING, 1, 20),
        (NEW, "attention_special", attention, [4096, 0, 4, 128], PROFILING, 1, 40),
        (NEW, "matmul", matmul, [16, 128, 64], AVERAGE, 1, 8),
        (NEW, "matmul", matmul, [32, 128, 64], AVERAGE, 1, 11),
        (NEW, "matmul", matmul, [64, 128, 64], PROFILING, 1, 30),
        (NEW, "matmul", matmul, [256, 128, 64], AVERAGE, 1, 3),
        (OLD, "matmul", matmul, [16, 128, 64], AVERAGE, 1, 10),
        (OLD, "matmul", matmul, [32, 128, 64], AVERAGE, 2, 22),
    ]


def test_ingest_issue(small: duckdb.DuckDBPyConnection) -> None:
    query = "select version_key, file_name, severity, reason, column_name from ingest_issue"
    assert fetch(small, query) == [
        (NEW, "MatMulV3.csv", "error", "lfs_pointer", None),
        (NEW, "MatMulV2.csv", "warning", "unknown_column", None),
    ]


def test_average_meaning(small: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    query = """
        select version_key, file_name, meaning, told_by from average_meaning
        where kernel_type in ('MatMulV2', 'MatMulV3', 'hcom_broadcast_')"""
    assert fetch(small, query) == [
        (SHARED, "hcom_broadcast_.csv", "absent", None),
        (NEW, "MatMulV2.csv", "microbench_minimum", PROFILING),
        (NEW, "MatMulV3.csv", "absent", None),  # a pointer
        (OLD, "MatMulV2.csv", "profiling_mean", "Median Duration(us)"),
    ]
    row = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,4'
    both = f"{MATMUL_HEADER},Std Duration(us),{PROFILING}"
    files = {"MatMulV2.csv": [MATMUL_HEADER, row], "MatMulV3.csv": [both, f"{row},1,5"]}
    write_version(tmp_path / "v", files, {})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with duckdb.connect(str(tmp_path / "p.duckdb"), read_only=True) as connection:
        query = "select kernel_type, meaning, told_by from average_meaning"
        assert fetch(connection, query) == [
            ("MatMulV2", "mean_or_minimum", None),
            ("MatMulV3", "mean_or_minimum", "Std Duration(us)"),
        ]
        query = "select quantity, reason from effective_latency"
        assert fetch(connection, query) == [("mean_or_minimum", "first_usable_column")] * 2
        query = (
            "select both_count, microbench_only_count, profiling_only_count from kernel_coverage"
        )
        assert fetch(connection, query) == [(0, 0, 0), (0, 0, 0)]


def test_version_diff_knows_what_compares_like_with_like(tmp_path: Path) -> None:
    row = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,'
    legacy = [f"{MATMUL_HEADER},Median Duration(us)", f"{row}10,9"]
    prefixed = [MATMUL_HEADER.replace(AVERAGE, PROFILING), f"{row}12"]
    current = [f"{MATMUL_HEADER},{PROFILING}", f"{row}6,15"]
    for version, lines in (("v1", legacy), ("v2", prefixed), ("v3", current)):
        write_version(tmp_path / "D/b" / version, {"MatMulV2.csv": lines}, {})
    sqlinterp.ingest([tmp_path], tmp_path / "p.duckdb")
    query = """
        select old_version_key[-2:], new_version_key[-2:], ratio, is_like_for_like, profiling_ratio
        from version_diff"""
    with duckdb.connect(str(tmp_path / "p.duckdb"), read_only=True) as connection:
        assert fetch(connection, query) == [
            ("v1", "v2", 1.2, True, 1.2),
            ("v1", "v3", 0.6, False, 1.5),  # a mean against a minimum
            ("v2", "v3", 0.5, False, 1.25),
        ]


WIDE = {"NO_COLOR": "1", "COLUMNS": "1000"}


def test_the_command_lists_every_view_with_its_columns(small_ingest: Any, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(small_ingest.path, tmp_path / "copy.duckdb"))
    done = CliRunner().invoke(app, ["views", "--db", str(copy)], env=WIDE)
    assert done.exit_code == 0, done.stderr
    shown = done.stdout
    with duckdb.connect(str(copy), read_only=True) as connection:
        views = fetch(
            connection, "select view_name, comment from duckdb_views() where not internal"
        )
        columns = fetch(connection, "select table_name, column_name, comment from duckdb_columns()"
                        " where table_name in (select view_name from duckdb_views())"
                        " and not internal")  # fmt: skip
    assert len(views) > 30
    for view, comment in views:
        head, _, rest = shown.partition(f"\n{view} (view)\n")
        assert rest or head.startswith(f"{view} (view)\n"), view
        assert f"{view} (view)\n  {comment}\n" in shown
    lines = {" ".join(line.split()) for line in shown.splitlines()}
    for view, column, comment in columns:
        assert any(line.startswith(f"{column} ") and line.endswith(comment) for line in lines), view
