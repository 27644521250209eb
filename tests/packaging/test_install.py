"""The wheel, installed away from the checkout: its SQL, migrations, data, commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import sqlinterp

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST_ENGINE = next(d for d in PROJECT["dependencies"] if d.startswith("duckdb"))
# Oldest Python with the oldest DuckDB that pyproject.toml allows, and the newest of both.
ENDS = (("3.11", OLDEST_ENGINE.replace(">=", "==")), ("3.13", "duckdb"))


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Output of a command that must succeed, run away from the checkout."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SQLINTERP_DB")}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**clean, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder)]
    run([*command, str(ROOT)], folder)
    return next(folder.glob("sqlinterp-*.whl"))


def test_the_wheel_has_every_file_that_is_read_at_run_time(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("sql", "migrations", "databases"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"sqlinterp/_shipped/{path.relative_to(ROOT)}" in packed, path
    for path in (ROOT / "sqlinterp").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert str(path.relative_to(ROOT)) in packed, path
    assert any(name.endswith("licenses/LICENSE") for name in packed)
    assert sqlinterp.__version__ in wheel.name


def test_the_installed_package_works_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(place)]
    run([*install, str(wheel)], tmp_path)
    python = [sys.executable, "-m", "sqlinterp"]
    where = run([sys.executable, "-c", "import sqlinterp; print(sqlinterp.__file__)"], tmp_path,
                PYTHONPATH=str(place))  # fmt: skip
    assert Path(where.strip()).is_relative_to(place)
    shown = run([*python, "--version"], tmp_path, PYTHONPATH=str(place))
    assert shown.strip() == f"sqlinterp {sqlinterp.__version__}"
    sample = place / "sqlinterp" / "_shipped" / "databases" / "SYNTHETIC_NPU"
    run([*python, "ingest", str(sample), "--db", "p.duckdb"], tmp_path, PYTHONPATH=str(place))
    query = "SELECT count(*) > 0 AS has_points FROM point"
    counted = run([*python, "sql", "--db", "p.duckdb", "--format", "csv", query], tmp_path,
                  PYTHONPATH=str(place))  # fmt: skip
    assert counted.split() == ["has_points", "true"]


def interpreter(version: str) -> str:
    found = shutil.which(f"python{version}")
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if found is None and not pyenv:
        pytest.skip(f"Python {version} is not on this machine")
    return str(pyenv[-1]) if pyenv else str(found)


@pytest.mark.long
@pytest.mark.parametrize(("python", "engine"), ENDS)
def test_both_ends_of_the_supported_range(
    wheel: Path, tmp_path: Path, python: str, engine: str
) -> None:
    run([interpreter(python), "-m", "venv", "venv"], tmp_path)
    own = str(tmp_path / "venv" / "bin" / "python")
    run([own, "-m", "pip", "install", "-q", str(wheel), engine, "pytest", "hypothesis"], tmp_path)
    assert "MEASURED" in run([own, "-m", "sqlinterp", "quickstart"], tmp_path)
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    chosen = ["tests/lookup/test_exact_rules.py", "tests/ingest/test_cells.py", "tests/sql"]
    run([own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen], tmp_path,
        PYTHONPATH=str(tmp_path / "tests"))  # fmt: skip


def test_a_shell_can_complete_commands(tmp_path: Path) -> None:
    words = "sqlinterp ing"
    found = run(
        [sys.executable, "-m", "sqlinterp"], tmp_path, PYTHONPATH=str(ROOT),
        _SQLINTERP_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="1",
    )  # fmt: skip
    assert "ingest" in found.split()
