"""However many rows are staged together, and whether all of them are sound: equal tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from csv_folders import HEADER, Folder, line, text
from databases_for_tests import rows_of

import sqlinterp
from sqlinterp.ingestion import staging

DEMO = Path(__file__).resolve().parents[2] / "databases" / "SYNTHETIC_NPU"
TABLES = (
    "select table_name from duckdb_tables() where database_name = current_database()"
    " and not temporary order by table_name"
)


def written(folder: Folder) -> None:
    """Rows of every fate beside the good ones, under two headers, some with counters."""
    blank = line(average="", profiling="")
    warned, fatal = line(profiling="-1"), line("no shape")
    folder.write("Bad", text(line(), fatal, warned, blank, line() + ",long", line("4,4")))
    counted = HEADER + ",aicore_time(us)"
    folder.write("Counted", text(line() + ",1.5", fatal + ",2", blank + ",", header=counted))


def content(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table but what names the moment and the place of the ingest."""
    tables = [name for (name,) in rows_of(database, TABLES)]
    own = "* exclude (folder, ingested_at)"
    return {
        name: rows_of(database, f"select {own if name == 'profile_version' else '*'} from {name}")
        for name in tables
        if name != "schema_migrations"
    }


@pytest.mark.parametrize("few", [0, 1_000_000])
def test_few_and_many_rows_are_placed_alike(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    written(folder)
    every = [folder.root, DEMO]
    sqlinterp.ingest(every, tmp_path / "usual.duckdb")
    monkeypatch.setattr(staging, "_FEW_ROWS", few)
    sqlinterp.ingest(every, tmp_path / "other.duckdb")
    usual = content(tmp_path / "usual.duckdb")
    assert content(tmp_path / "other.duckdb") == usual
    filled = ("measurement", "rejected_row", "unmeasured_row", "source_issue", "hardware_counter")
    assert all(usual[name] for name in filled)


def test_steps_without_work_are_left_out(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder)
    folder.ingest()
    told = content(folder.database)
    folder.database.unlink()
    monkeypatch.setattr(staging, "_ONLY_WHERE", {})
    folder.ingest()
    assert content(folder.database) == told


def test_rows_lie_in_the_order_of_their_files(folder: Folder) -> None:
    """Whatever threads read them: the same folders give the same tables, not only equal sets."""
    shapes = [f"{16 * (1 + number % 400)},{16 * (1 + number % 7)}" for number in range(20_000)]
    shapes[3::9] = ["no shape"] * len(shapes[3::9])
    for kernel in ("Bad", "Worse"):
        folder.write(kernel, text(*map(line, shapes)))
    folder.ingest()
    query = "select file_name, t.row_number from {} as t join source_file using (file_id)"
    for table in ("measurement", "rejected_row"):
        lying = folder.rows(query.format(table))
        assert len(lying) > 4_000
        assert lying == sorted(lying)
