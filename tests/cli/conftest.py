"""A database ingested from the shipped sample, and a runner of commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Outcome, Run, environment
from typer.testing import CliRunner

import sqlinterp
from sqlinterp.cli.app import app
from sqlinterp.resources import resource_folder


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file ingested from the shipped sample; nobody writes to it."""
    path = tmp_path_factory.mktemp("sample") / "sample.duckdb"
    sqlinterp.ingest([resource_folder("databases")], path)
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command in this process, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("SQLINTERP_DB", "SQLINTERP_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def start(*arguments: str | Path, stdin: str = "", **extra: str) -> Outcome:
        given = {"COLUMNS": "100", "NO_COLOR": "1", **extra}
        result = CliRunner().invoke(app, [*map(str, arguments)], input=stdin, env=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return start


@pytest.fixture
def spawn(tmp_path: Path) -> Run:
    """Run one command in a process of its own, in an empty directory."""

    def start(*arguments: str | Path, stdin: str = "", **extra: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "sqlinterp", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(**extra),
            timeout=50,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return start
