"""``sqlinterp upgrade-csv`` as a person calls it: what it prints and how it exits."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from upgrade_support import OLD, contents, copy_sample, legacy_bytes, legacy_row, write_version

from sqlinterp.cli.app import app


def run(*arguments: str | Path, columns: int = 100) -> Result:
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1"}
    return CliRunner().invoke(app, ["upgrade-csv", *map(str, arguments)], env=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [legacy_row("3.5"), legacy_row("4.5", **{"OP State": ""})]
    content = b"\xef\xbb\xbf" * 2 + legacy_bytes(*rows)
    return write_version(tmp_path / "v1", {"Add.csv": content, "Mul.csv": legacy_bytes()})


def test_the_dry_run_shows_steps_names_and_cells(folder: Path) -> None:
    before = contents(folder)
    done = run(folder, "--to", "latest", "--dry-run")
    assert done.exit_code == 0
    assert contents(folder) == before
    lines = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert {
        "Add.csv 2 legacy36 > current62 001 002 003 004 28 26 1",
        "Mul.csv 1 legacy36 > current62 003 004 28 26 0",
        "003_prefix_profiling_columns - Average Duration(us) + Profiling Average Duration(us)",
        "+ MicroBench aicore_time(us) (blank)",
        "Add.csv:2 Average Duration(us) 3.5 (blank)",
        "Add.csv:2 Profiling Average Duration(us) (no column) 3.5",
        "Add.csv:3 OP State (blank) static",
        "Add.csv (byte order marks) 2 1",
    } <= lines


def test_a_run_explains_the_meaning_change_and_how_to_undo(folder: Path) -> None:
    done = run(folder, "--to", "current62")
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    assert "'Average Duration(us)' of legacy36 is the mean of the profiler" in text
    assert "it is the same number as before" in text
    assert "--undo" in text
    again = run(folder, "--to", "current62")
    assert again.exit_code == 0
    assert "mean of the profiler" not in again.stdout and "003_" not in again.stdout


def test_undo(folder: Path) -> None:
    before = contents(folder)
    run(folder, "--to", "current62")
    shown = run(folder, "--undo", "--dry-run")
    assert shown.exit_code == 0 and "Add.csv, Mul.csv" in shown.stdout
    assert run(folder, "--undo").exit_code == 0
    after = contents(folder)
    assert {name: after[name] for name in before} == before
    assert run(folder, "--undo").exit_code == 3


def test_files_left_alone_give_exit_code_3_and_their_reason(folder: Path) -> None:
    (folder / "Neg.csv").write_bytes(legacy_bytes() + b"1,2\r\n")
    for arguments in (["--dry-run"], []):
        # wide, because where lines break hangs on the length of the folder's name
        done = run(folder, "--to", "latest", *arguments, columns=400)
        assert done.exit_code == 3
        assert "Neg.csv" in done.stdout and "line 3 (short row)" in done.stdout
        assert done.stderr.strip() == "sqlinterp: 1 file was left alone"
    assert (folder / "Add.csv").read_bytes().count(b"MicroBench") == 25


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--to", "current63"], 2, "prefixed36, current62 or latest"),
        ([], 2, "prefixed36, current62 or latest"),
        (["--undo", "--to", "latest"], 2, "neither --to nor --ep-size"),
        (["--to", "prefixed36", "--ep-size", "8"], 2, "no column EP Size"),
        (["--to", "latest", "--ep-size", "0"], 2, "ep-size"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], code: int, message: str) -> None:
    before = contents(folder)
    done = run(folder, *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert contents(folder) == before


def test_a_missing_folder(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere", "--to", "latest")
    assert done.exit_code == 3 and "no such folder" in done.stderr


def test_what_stays_open_is_counted_with_the_reason(tmp_path: Path) -> None:
    folder = copy_sample(tmp_path, OLD)
    shown = " ".join(run(folder, "--to", "latest", "--dry-run").stdout.split())
    assert "EP Size 2 DispatchFFNCombine.csv the file does not say how many ranks" in shown
    given = run(folder, "--to", "latest", "--dry-run", "--ep-size", "16").stdout
    assert "006_add_ep_size" in given and "how many ranks" not in given
