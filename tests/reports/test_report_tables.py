"""The CSV files: all rows of the views, in an order that is always the same."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest
from report_support import WHEN

from sqlinterp import queries
from sqlinterp.database import connect_reader
from sqlinterp.errors import MigrationError
from sqlinterp.reports import WrittenReport, write_report
from sqlinterp.reports.data import csv_cell
from sqlinterp.reports.sections import SECTIONS

NAMES = [table.name for section in SECTIONS for table in section.tables]
# Tables with one row for each row of a view, which they may not shorten.
WHOLE = {
    "versions": "ingest_balance",
    "file_health": "file_inventory",
    "ingest_issues": "ingest_issue",
    "rejected_rows": "rejection_summary",
    "kernel_rows": "kernel_coverage",
    "unplaced_rows": "unplaced_row",
    "metadata_completeness": "metadata_completeness",
    "density_gaps": "density_gap",
    "mapping_coverage": "mapping_summary",
    "mapped_without_data": "mapping_without_csv",
    "data_without_mapping": "csv_without_mapping",
    "source_gaps": "gap_hotspot",
    "drift_by_signature": "version_diff",
    "conflicts": "conflicting_latency",
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def fetch(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = connect_reader(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def whole(demonstration: Path, tmp_path_factory: pytest.TempPathFactory) -> WrittenReport:
    return write_report(demonstration, tmp_path_factory.mktemp("whole"), WHEN)


@pytest.mark.parametrize("name", WHOLE)
def test_the_csv_equals_the_view(name: str, whole: WrittenReport, demonstration: Path) -> None:
    found = rows_of(whole.page.parent / f"{name}.csv")
    file = whole.page.parent / f"{name}.csv"
    columns = file.read_text(encoding="utf-8").splitlines()[0].split(",")
    expected = fetch(demonstration, f"select {', '.join(columns)} from {WHOLE[name]}")
    as_text = [["" if value is None else str(csv_cell(value)) for value in row] for row in expected]
    assert sorted(list(row.values()) for row in found) == sorted(as_text)
    assert whole.tables[f"{name}.csv"] == len(found)


def test_every_table_is_written(written: WrittenReport) -> None:
    assert list(written.tables) == [f"{name}.csv" for name in NAMES]
    for name, count in written.tables.items():
        assert len(rows_of(written.page.parent / name)) == count


def test_sums_equal_the_views(whole: WrittenReport, demonstration: Path) -> None:
    folder = whole.page.parent
    latencies = rows_of(folder / "latency_sources.csv")
    counted = fetch(demonstration, "select count(*) from effective_latency")[0][0]
    assert sum(int(row["row_count"]) for row in latencies) == counted > 1000
    gaps = fetch(demonstration, "select count(*) from coverage_axis where next_value is not null")
    assert len(rows_of(folder / "axis_gaps.csv")) == gaps[0][0] > 100
    drift = rows_of(folder / "drift_by_kernel.csv")
    assert (
        sum(int(row["signature_count"]) for row in drift) == whole.tables["drift_by_signature.csv"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_table_reads_views_only(name: str) -> None:
    used = duckdb.get_table_names(queries.load(f"report.{name}").body)
    views = {view.removeprefix("views.") for view in queries.names("views")}
    assert used and used <= views


@pytest.mark.parametrize("name", NAMES)
def test_the_order_is_the_same_at_one_and_two_threads(name: str, demonstration: Path) -> None:
    found = []
    connection = connect_reader(demonstration)
    try:
        for threads in (1, 2):
            connection.execute(f"set threads = {threads}")
            found.append(connection.execute(queries.load(f"report.{name}").body).fetchall())
    finally:
        connection.close()
    assert found[0] == found[1]


def test_a_file_without_the_views_says_what_to_do(small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "old.duckdb"
    copy.write_bytes(small.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        connection.execute("drop view measured_point")
    with pytest.raises(MigrationError, match="sqlinterp migrate --db"):
        write_report(copy, tmp_path / "out", WHEN)
    assert not (tmp_path / "out").exists()
