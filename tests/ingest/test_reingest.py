"""Ingesting again: only what changed is read, and a failure changes nothing."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from csv_folders import Folder, content, line, text

import sqlinterp
from sqlinterp.errors import DatabaseError
from sqlinterp.ingestion import run

TABLES = (
    "measurement",
    "regime",
    "point",
    "exact_key",
    "source_file",
    "rejected_row",
    "op_mapping",
)
DERIVED = ("regime", "point", "dropped_point")


def tables(folder: Folder) -> dict[str, object]:
    return {table: folder.rows(f"select * from {table} order by all") for table in TABLES}


def test_unchanged_files_are_not_read_again(folder: Folder) -> None:
    folder.write("Bad", text(line(), "short"))
    folder.ingest()
    before = tables(folder)
    summary = folder.ingest()
    assert summary.total("files_unchanged") == summary.total("files") == 2
    assert tables(folder) == before


def test_a_version_of_the_same_key_from_another_folder_is_told_once(
    folder: Folder, tmp_path: Path
) -> None:
    assert not folder.ingest().messages
    other = tmp_path / "elsewhere" / "NPU" / "vllm" / "v1"
    shutil.copytree(folder.path, other)
    (other / "Good.csv").write_text(text(line("9,9")))
    summary = sqlinterp.ingest([tmp_path / "elsewhere"], folder.database)
    [(severity, key, message)] = summary.messages
    assert (severity, key) == ("warning", "NPU/vllm/v1")
    assert f"'{folder.path}'" in message
    assert f"'{other}'" in message
    assert folder.rows("select input_shapes from measurement") == [([[9, 9]],)]
    assert not sqlinterp.ingest([tmp_path / "elsewhere"], folder.database).messages


def test_a_changed_file_replaces_its_old_rows(folder: Folder) -> None:
    header = "Input Shapes,Input Data Types,Average Duration(us),MicroBench aicore_time(us)"
    rows = ['"2,2",FLOAT,1,5', '"2,x",FLOAT,1,5', '"3,3",FLOAT,0,5', '"4,4",FLOAT,-1,5']
    folder.write("Other", text(*rows, header=header))
    folder.ingest()
    folder.write("Other", text('"9,9",FLOAT,7,6', header=header))
    summary = folder.ingest()
    assert summary.total("files_unchanged") == 1
    query = "select input_shapes, latency_us from measurement where kernel_type = 'Other'"
    assert folder.rows(query) == [([[9, 9]], 7.0)]
    assert folder.rows("select microbench_aicore_time_us from hardware_counter") == [(6.0,)]
    for table in ("rejected_row", "unmeasured_row"):
        assert folder.rows(f"select count(*) from {table}") == [(0,)]
    assert folder.rows("select count(distinct row_id), count(*) from measurement") == [(3, 3)]
    assert folder.rows("select count(distinct signature_id) from measurement") == [(3,)]


def test_a_removed_file_is_removed(folder: Folder) -> None:
    path = folder.write("Other", text(line("7,7"), "short"))
    folder.ingest()
    path.unlink()
    assert folder.ingest().removed_files == 1
    assert folder.rows("select distinct kernel_type from regime") == [("Good",)]
    assert folder.rows("select count(*) from rejected_row") == [(0,)]


def test_a_changed_mapping_places_the_same_rows_anew(folder: Folder) -> None:
    folder.ingest()
    assert folder.rows("select distinct path, input_limit from regime") == [("generic_axis_0", 0)]
    entry = {"kernel_type": "Good", "tc_input_count": 1}
    policy = {"kernel_overrides": {"Good": {"generic_compute": {"axis": "output_numel"}}}}
    folder.mapping(operator_mappings={"x": entry}, interpolation_policy=policy)
    summary = folder.ingest()
    assert summary.total("files_unchanged") == 1
    found = folder.rows("select distinct path, input_limit from regime")
    assert found == [("generic_output_numel", 1)]


def test_a_changed_latency_policy_reads_the_kernel_again(folder: Folder) -> None:
    folder.write("Other", text(line()))
    folder.ingest()
    policy = {"kernel_overrides": {"Good": {"prefer_profiling_rows": True}}}
    folder.mapping(operator_mappings={}, latency_policy=policy)
    summary = folder.ingest()
    assert summary.total("files_unchanged") == 1
    ranks = "select kernel_type, latency_rank from measurement order by all"
    assert folder.rows(ranks) == [("Good", 1), ("Good", 1), ("Other", 0)]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failure_half_way_leaves_the_old_content(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    folder.ingest()
    before = tables(folder)
    folder.write("Good", text(line("1,1")))
    folder.write("New", text(line("5,5")))

    def fail(*_: object) -> None:
        raise error("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(run, "derive", fail)
        with pytest.raises(error):
            folder.ingest()
    assert tables(folder) == before
    assert folder.ingest().total("rows_stored") == 2


def test_a_file_that_is_no_database_is_an_error(folder: Folder) -> None:
    folder.database.write_text("not a database, but long enough to look at its head" * 100)
    with pytest.raises(DatabaseError):
        folder.ingest()


def test_row_order_changes_no_point(tmp_path: Path) -> None:
    shuffler = random.Random(7)
    lines = [line(f"{m},{k}", average=f"{m * k / 7:.6f}") for m in range(1, 30) for k in (16, 32)]
    lines += [line("5,16", average=f"{value / 3:.6f}") for value in range(1, 20)]
    folders = []
    for name in ("sorted", "shuffled"):
        folder = Folder(tmp_path / name)
        folder.write("Other", text(*lines, "short"))
        folder.ingest()
        folders.append(folder)
        shuffler.shuffle(lines)
    first, second = folders
    for table in (*DERIVED, "exact_key"):
        assert content(first, table) == content(second, table), table
    assert len(content(first, "point")) == 60
