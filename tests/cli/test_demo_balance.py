"""The full demonstration databases: every row is accounted for, in the summary and in SQL."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import sqlinterp
from sqlinterp.demo import write_demo
from sqlinterp.ingestion import IngestSummary


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, IngestSummary]:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder / "csv", scale=1)
    return folder / "p.duckdb", sqlinterp.ingest([folder / "csv"], folder / "p.duckdb")


def test_summary_and_views_agree_at_scale_1(demo: tuple[Path, IngestSummary]) -> None:
    database, summary = demo
    fields = ("rows_read", "rows_stored", "rows_rejected", "rows_without_latency")
    read, stored, rejected, unmeasured = (summary.total(field) for field in fields)
    assert read == stored + rejected + unmeasured
    assert 35_000 < read < 50_000
    assert unmeasured > 0 and rejected == 0
    with sqlinterp.open(database, "vllm0.18.0_torch2.9.0_cann8.5") as opened:
        query = "select " + ", ".join(f"sum({field})" for field in fields) + " from {}"
        for view in ("ingest_balance", "file_inventory", "kernel_coverage"):
            assert opened.sql(query.format(view)).fetchall() == [
                (read, stored, rejected, unmeasured)
            ]
        counted = opened.sql("select count(*) from measurement").fetchall()
    assert counted == [(stored,)]


def test_the_command_prints_the_same_counts(demo: tuple[Path, IngestSummary]) -> None:
    from typer.testing import CliRunner

    from sqlinterp.cli.app import app

    database, summary = demo
    arguments = ["sql", "--db", str(database), "--format", "csv", "select * from ingest_balance"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    lines = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {line["difference"] for line in lines} == {"0"}
    by_key = {line["version_key"]: line for line in lines}
    for version in summary.versions:
        assert int(by_key[version.version_key]["rows_stored"]) == version.rows_stored
