"""The command: where things go, exit codes, and a matplotlib that is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sqlinterp.reports.sections import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
TABLES = sum(len(section.tables) for section in SECTIONS)


def run(folder: Path, *arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, after some code."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SQLINTERP")}
    program = f"{code}\nfrom sqlinterp.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", program, "report", *arguments],
        capture_output=True, text=True, cwd=folder, timeout=120, check=False,
        env={**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
    )  # fmt: skip


def test_it_writes_and_says_where(small: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "--db", str(small), "--out", "here")
    assert (done.returncode, done.stdout) == (0, "here/report.html\n"), done.stderr
    assert f"{TABLES} tables" in done.stderr
    assert len(list((tmp_path / "here").glob("*.csv"))) == TABLES


def test_a_missing_database_is_exit_code_4(tmp_path: Path) -> None:
    done = run(tmp_path, "--db", "none.duckdb")
    assert done.returncode == 4 and done.stdout == ""
    assert "none.duckdb" in done.stderr and not (tmp_path / "report").exists()


def test_a_missing_matplotlib_is_told_with_its_cure(small: Path, tmp_path: Path) -> None:
    block = "import sys; sys.modules['matplotlib'] = None"
    done = run(tmp_path, "--db", str(small), code=block)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'pip install "sqlinterp[report]"' in done.stderr
    assert not (tmp_path / "report").exists()


def test_a_folder_that_cannot_be_made_is_an_error(small: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    done = run(tmp_path, "--db", str(small), "--out", "taken")
    assert done.returncode == 2 and "taken" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["sqlinterp", "sqlinterp.cli.app"])
def test_importing_loads_no_matplotlib(module: str) -> None:
    code = f"import sys, {module}; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"
