"""README is executed: its transcripts and its Python session give what they show."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import ROOT, environment

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the sample and a command ``sqlinterp``."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "databases").symlink_to(ROOT / "databases")
    (folder / "bin").mkdir()
    command = folder / "bin" / "sqlinterp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sqlinterp "$@"\n')
    command.chmod(0o755)
    return folder


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def transcript(lines: list[str]) -> list[tuple[str, str]]:
    """Split the lines of a console block into commands and what they print."""
    steps: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("$ "):
            steps.append((line[2:], ""))
        else:
            command, shown = steps.pop()
            steps.append((command, shown + line + "\n"))
    return steps


def test_transcripts(place: Path) -> None:
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    steps = [step for block in blocks("console") for step in transcript(block.splitlines())]
    assert len(steps) >= 6
    for command, shown in steps:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=place,
            env=environment(PATH=path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=50,
            check=False,
        )
        assert done.stdout == shown, command


def test_python_session(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (place / "profiling.duckdb").unlink(missing_ok=True)
    session = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(session, {}, "README", None, None)
    assert len(test.examples) >= 8
    runner = doctest.DocTestRunner()
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_the_first_screen_has_the_two_commands_on_one_line_each() -> None:
    first = README.splitlines()[:60]
    setup = "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/sqlinterp quickstart"
    tests = ".venv/bin/pip install -q '.[dev]' && .venv/bin/python -m pytest -n auto"
    assert setup in first and tests in first
    assert any(line.startswith("$ sqlinterp lookup") for line in first)
    assert any(line.startswith("$ sqlinterp sql") for line in first)


def test_every_command_is_described() -> None:
    from sqlinterp.cli.app import app

    described = set(re.findall(r"^\| `sqlinterp ([\w-]+)", README, re.MULTILINE))
    names = {c.name or c.callback.__name__ for c in app.registered_commands}  # type: ignore[union-attr]
    assert described == names | {group.name for group in app.registered_groups}
