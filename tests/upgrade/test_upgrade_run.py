"""Directories: nothing is lost, nothing happens twice, and everything can be taken back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from upgrade_support import (
    CURRENT,
    OLD,
    OLDER,
    SAMPLE,
    contents,
    copy_sample,
    csv_bytes,
    legacy_bytes,
    legacy_row,
    outcomes,
    rows_of,
    write_version,
)

import sqlinterp
from sqlinterp.demo import write_sample
from sqlinterp.errors import SourceError, UsageError
from sqlinterp.ingestion.folders import find_versions
from sqlinterp.upgrade import undo, upgrade
from sqlinterp.upgrade.record import BACKUP_FOLDER, RECORD_FILE

GOOD = {"Add.csv": legacy_bytes(), "Mul.csv": legacy_bytes(legacy_row(**{"OP State": ""}))}


def runs(folder: Path) -> list[dict[str, object]]:
    document = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
    return list(document["runs"])


def csv_files(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in contents(folder).items() if name.endswith(".csv")}


def test_a_dry_run_writes_nothing_and_tells_what_a_run_does(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD, OLDER, CURRENT)
    before = contents(tmp_path)
    planned = upgrade(folder, "current62", dry_run=True)
    assert contents(tmp_path) == before
    done = upgrade(folder, "current62")
    assert done.versions == planned.versions
    assert planned.dry_run and not done.dry_run


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD, OLDER, CURRENT)
    assert upgrade(folder, "current62").count("upgraded") == 46
    before = contents(tmp_path)
    assert upgrade(folder, "latest").count("upgraded") == 0
    assert contents(tmp_path) == before


def test_two_steps_give_the_same_as_one(tmp_path: Path) -> None:
    direct, staged = copy_sample(tmp_path / "a", OLD), copy_sample(tmp_path / "b", OLD)
    upgrade(direct, "current62")
    upgrade(staged, "prefixed36")
    upgrade(staged, "current62")
    assert csv_files(staged) == csv_files(direct)
    assert len(runs(staged / OLD)) == 2


def test_a_later_layout_is_kept(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD)
    upgrade(folder, "current62")
    assert upgrade(folder, "prefixed36").count("upgraded") == 0


def test_undo_restores_every_byte(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD, CURRENT)
    before = contents(folder)
    upgrade(folder, "current62")
    report = undo(folder)
    assert report.count("restored") == 25
    after = contents(folder)
    assert {name: after.pop(name, None) for name in before} == before
    assert {Path(name).name for name in after} == {RECORD_FILE}
    assert all(run["undone_at"] for run in runs(folder / OLD))
    with pytest.raises(SourceError, match="no upgrade to undo"):
        undo(folder)


def test_a_dry_undo_restores_nothing(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    before = contents(folder)
    assert outcomes(undo(folder, dry_run=True)) == {"Add.csv": "restored", "Mul.csv": "restored"}
    assert contents(folder) == before


def test_undo_goes_back_one_run_at_a_time(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD)
    original = csv_files(folder)
    upgrade(folder, "prefixed36")
    middle = csv_files(folder)
    upgrade(folder, "current62")
    undo(folder)
    assert csv_files(folder) == middle
    undo(folder)
    assert csv_files(folder) == original
    upgrade(folder, "current62")
    assert runs(folder / OLD)[-1]["backup"] == f"{BACKUP_FOLDER}/run-0001"


def test_undo_takes_back_the_last_run_and_not_an_earlier_one_beside_it(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD, OLDER)
    original = csv_files(folder / OLDER)
    upgrade(folder / OLD, "current62")
    upgraded = csv_files(folder / OLD)
    upgrade(folder / OLDER, "current62")
    undo(folder)
    assert csv_files(folder / OLDER) == original
    assert csv_files(folder / OLD) == upgraded


def test_undo_leaves_a_file_alone_that_was_changed_since(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    changed = (folder / "Add.csv").read_bytes() + b"\r\n"
    (folder / "Add.csv").write_bytes(changed)
    report = undo(folder)
    assert outcomes(report) == {"Add.csv": "left alone", "Mul.csv": "restored"}
    assert "was changed after the upgrade" in report.versions[0].files[0].reason
    assert (folder / "Add.csv").read_bytes() == changed
    original = folder / BACKUP_FOLDER / "run-0001" / "Add.csv.orig"
    assert original.read_bytes() == GOOD["Add.csv"]
    (folder / "Add.csv").write_bytes(original.read_bytes())
    assert outcomes(undo(folder)) == {"Add.csv": "unchanged", "Mul.csv": "unchanged"}
    assert not (folder / BACKUP_FOLDER).exists()


@pytest.mark.parametrize("name", ["Add.csv", f"{BACKUP_FOLDER}/run-0001/Add.csv.orig"])
def test_undo_reports_a_file_that_is_gone(tmp_path: Path, name: str) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    (folder / name).unlink()
    assert outcomes(undo(folder)) == {"Add.csv": "left alone", "Mul.csv": "restored"}


def test_undo_does_not_restore_a_damaged_backup(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    (folder / BACKUP_FOLDER / "run-0001" / "Add.csv.orig").write_bytes(b"")
    assert outcomes(undo(folder)) == {"Add.csv": "left alone", "Mul.csv": "restored"}


def test_an_interrupted_run_can_be_undone_or_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace_some(source: Path, target: Path) -> None:
        if Path(target).name == "Mul.csv":
            raise KeyboardInterrupt
        os.rename(source, target)

    for name in ("undone", "finished"):
        folder = write_version(tmp_path / name, GOOD)
        with monkeypatch.context() as patch:
            patch.setattr("sqlinterp.upgrade.record.os.replace", replace_some)
            with pytest.raises(KeyboardInterrupt):
                upgrade(folder, "current62")
        assert (folder / "Add.csv").read_bytes() != GOOD["Add.csv"]
        assert (folder / "Mul.csv").read_bytes() == GOOD["Mul.csv"]
    assert outcomes(undo(tmp_path / "undone"))["Add.csv"] == "restored"
    assert csv_files(tmp_path / "undone") == GOOD
    folder = tmp_path / "finished"
    assert outcomes(upgrade(folder, "current62")) == {"Add.csv": "unchanged", "Mul.csv": "upgraded"}
    undo(folder)
    undo(folder)
    assert csv_files(folder) == GOOD


def test_a_disk_error_is_reported_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    folder = write_version(tmp_path / "v1", GOOD)
    monkeypatch.setattr("sqlinterp.upgrade.record.os.replace", fail)
    with pytest.raises(SourceError, match="No space left on device"):
        upgrade(folder, "current62")
    monkeypatch.undo()
    assert csv_files(folder) == GOOD
    assert upgrade(folder, "current62").count("upgraded") == 2


def test_files_that_cannot_be_read_are_left_alone_and_the_others_upgraded(tmp_path: Path) -> None:
    bad = {
        "Broken.csv": legacy_bytes() + b"1,2\r\n",
        "Latin.csv": legacy_bytes().replace(b"dynamic", b"dyn\xe4mic"),
        "Pointer.csv": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n",
        "Twice.csv": csv_bytes(["Input Shapes", "Input Shapes"], ["1", "1"]),
    }
    folder = write_version(tmp_path / "v1", {**GOOD, **bad})
    (folder / "Link.csv").symlink_to(folder / "Add.csv")
    report = upgrade(folder, "current62")
    assert report.count("upgraded") == 2
    assert report.count("left alone") == 5
    assert all(file.reason for _, file in report.files("left alone"))
    assert {name: (folder / name).read_bytes() for name in bad} == bad
    assert (folder / "Link.csv").is_symlink()


def test_collectives_are_left_as_they_are(tmp_path: Path) -> None:
    source = SAMPLE / "hccl" / "v8.5" / "hcom_allReduce_.csv"
    folder = write_version(tmp_path / "v1", {**GOOD, source.name: source.read_bytes()})
    assert outcomes(upgrade(folder, "current62"))[source.name] == "unchanged"
    assert (folder / source.name).read_bytes() == source.read_bytes()


def test_backup_and_record_are_no_version_and_are_not_ingested(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD, CURRENT)
    versions = find_versions([folder])
    before = sqlinterp.ingest([folder], tmp_path / "before.duckdb")
    upgrade(folder, "current62")
    assert (folder / OLD / BACKUP_FOLDER).is_dir()
    assert find_versions([folder]) == versions
    with pytest.raises(SourceError):
        find_versions([folder / OLD / BACKUP_FOLDER])
    after = sqlinterp.ingest([folder], tmp_path / "after.duckdb")
    assert [version.rows_stored for version in after.versions] == [
        version.rows_stored for version in before.versions
    ]


def test_the_record_tells_steps_and_hashes(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    (run,) = runs(folder)
    assert run["target"] == "current62" and run["undone_at"] is None
    files = run["files"]
    assert isinstance(files, dict)
    assert files["Add.csv"]["steps"] == [
        "003_prefix_profiling_columns", "004_add_microbench_columns",
    ]  # fmt: skip
    assert files["Mul.csv"]["steps"][0] == "002_fill_op_state"
    assert len(files["Mul.csv"]["sha256_before"]) == 64


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": [{}]}', '{"runs": [{"files": 1}]}'])
def test_a_damaged_record_stops_before_anything_is_written(tmp_path: Path, text: str) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    (folder / RECORD_FILE).write_text(text, encoding="utf-8")
    before = contents(folder)
    for call in (lambda: upgrade(folder, "current62"), lambda: undo(folder)):
        with pytest.raises(SourceError, match="record of upgrades is damaged"):
            call()
    assert contents(folder) == before


def test_mode_and_line_ends_are_kept(tmp_path: Path) -> None:
    content = legacy_bytes().replace(b"\r\n", b"\n")
    folder = write_version(tmp_path / "v1", {"Add.csv": content})
    (folder / "Add.csv").chmod(0o640)
    upgrade(folder, "current62")
    assert b"\r" not in (folder / "Add.csv").read_bytes()
    assert (folder / "Add.csv").stat().st_mode & 0o777 == 0o640


def test_the_written_demonstration_reaches_the_documented_layout(tmp_path: Path) -> None:
    write_sample(tmp_path)
    upgrade(tmp_path, "current62")
    row = rows_of(next(tmp_path.rglob(f"{OLD}/MatMulV2.csv")))[0]
    assert row["Average Duration(us)"] == "" and float(row["Profiling Average Duration(us)"]) > 0


def test_an_ep_size_needs_a_layout_with_that_column(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    with pytest.raises(UsageError, match="no column EP Size"):
        upgrade(folder, "prefixed36", ep_size=8)


def test_a_folder_without_versions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no version directory"):
        upgrade(tmp_path, "current62")
