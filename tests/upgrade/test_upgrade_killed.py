"""``kill -9`` at any write: each file is the original or its upgrade, and both ways go on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from upgrade_support import contents, legacy_bytes, legacy_row, outcomes, write_version

from sqlinterp.upgrade import undo, upgrade
from sqlinterp.upgrade.record import RECORD_FILE

ROOT = Path(__file__).resolve().parents[2]
GOOD = {"Add.csv": legacy_bytes(), "Mul.csv": legacy_bytes(legacy_row(**{"OP State": ""}))}
# Stops before the write with a number: the temporary file is there, and not yet in its place.
PROGRAM = """
import os, sys, time
from sqlinterp.upgrade import undo, upgrade
folder, action, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
replace, done = os.replace, 0
def stopping(source, target):
    global done
    if done == last:
        print("stopped", flush=True)
        time.sleep(60)
    done += 1
    replace(source, target)
os.replace = stopping
upgrade(folder, "current62") if action == "upgrade" else undo(folder)
"""
# Two originals are kept, the run is recorded, two files are replaced.
UPGRADE_WRITES = 5
# Two files are restored, the run is recorded as undone.
UNDO_WRITES = 3


def killed(folder: Path, action: str, write: int) -> None:
    """Run an action in a process that is killed when it comes to a write."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), action, str(write)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "stopped\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL


def csv_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = write_version(tmp_path_factory.mktemp("whole") / "v1", GOOD)
    upgrade(folder, "current62")
    return csv_files(folder)


@pytest.mark.parametrize("write", range(UPGRADE_WRITES))
def test_a_killed_upgrade(tmp_path: Path, upgraded: dict[str, bytes], write: int) -> None:
    for way in ("finish", "undo"):
        folder = write_version(tmp_path / way, GOOD)
        killed(folder, "upgrade", write)
        replaced = max(0, write - 3)
        assert csv_files(folder) == {
            name: upgraded[name] if place < replaced else GOOD[name]
            for place, name in enumerate(sorted(GOOD))
        }
        if way == "finish":
            upgrade(folder, "current62")
            assert csv_files(folder) == upgraded
        while (folder / RECORD_FILE).exists() and csv_files(folder) != GOOD:
            undo(folder)
        assert csv_files(folder) == GOOD


@pytest.mark.parametrize("write", range(UNDO_WRITES))
def test_a_killed_undo(tmp_path: Path, upgraded: dict[str, bytes], write: int) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    upgrade(folder, "current62")
    killed(folder, "undo", write)
    restored = min(write, len(GOOD))
    assert csv_files(folder) == {
        name: GOOD[name] if place < restored else upgraded[name]
        for place, name in enumerate(sorted(GOOD))
    }
    assert set(outcomes(undo(folder)).values()) <= {"restored", "unchanged"}
    assert csv_files(folder) == GOOD
    assert upgrade(folder, "current62").count("upgraded") == len(GOOD)
    assert csv_files(folder) == upgraded


def test_what_a_kill_leaves_is_not_ingested(tmp_path: Path) -> None:
    folder = write_version(tmp_path / "v1", GOOD)
    killed(folder, "upgrade", 3)
    left = [name for name in contents(folder) if name.endswith("-tmp")]
    assert left and not any(name.endswith(".csv") for name in left)
