"""``sqlinterp ingest-table``: summaries on stdout, messages on stderr, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from declared_support import query, write_csv, write_declaration
from typer.testing import CliRunner, Result

from sqlinterp.cli.app import app

ROWS = ["dtype,m,k,t", "bf16,1,64,1.5", "bf16,2,64,2.5", "fp8,x,64,0.5"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a declaration and a table."""
    monkeypatch.chdir(tmp_path)
    write_declaration(tmp_path)
    write_csv(tmp_path / "t.csv", ROWS)
    return tmp_path


def run(*arguments: str) -> Result:
    env = {"COLUMNS": "120", "NO_COLOR": "1", "SQLINTERP_DB": None}
    result = CliRunner().invoke(app, ["ingest-table", *arguments], env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.stderr
    return result


def test_the_summary_counts_rows(place: Path) -> None:
    result = run("gemm_table.yaml", "t.csv", "--db", "p.duckdb")
    assert (result.exit_code, result.stderr) == (0, "")
    head, _, row = result.stdout.splitlines()
    counts = "files rows read = stored + rejected + without latency warnings errors"
    assert " ".join(head.split()) == f"version {counts}"
    assert row.split() == ["dev/fw/1.0", "1", "3", "2", "1", "0", "0", "0"]


def test_strict_tells_of_rejected_rows(place: Path) -> None:
    result = run("gemm_table.yaml", "t.csv", "--db", "p.duckdb", "--strict")
    assert result.exit_code == 3
    assert "1 rows were rejected" in result.stderr


def test_values_and_filters(place: Path) -> None:
    write_declaration(place, version="{gpu}/fw/1.0", where=[{"column": "dtype", "equals": "bf16"}])
    result = run("gemm_table.yaml", "t.csv", "--db", "p.duckdb", "--set", "gpu=H200 = new")
    assert result.exit_code == 0
    assert "1 rows were left out" in result.stderr
    assert query(place, "select version_key from profile_version") == [("H200 = new/fw/1.0",)]


def test_replace_removes_what_other_files_gave(place: Path) -> None:
    write_csv(place / "u.csv", ["dtype,m,k,t", "fp4,1,64,1.5"])
    assert run("gemm_table.yaml", "t.csv", "--db", "p.duckdb").exit_code == 0
    result = run("gemm_table.yaml", "u.csv", "--db", "p.duckdb", "--replace")
    assert "1 kernels of other files were removed" in result.stderr
    assert query(place, "select file_name from source_file") == [("u.csv",)]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["nosuch", "t.csv"], 3, "there is no such declaration"),
        (["gemm_table.yaml", "nosuch.csv"], 3, "cannot be read"),
        (["vidur_mlp", "t.csv"], 3, "no column is named like"),
        (["gemm_table.yaml", "t.csv", "--set", "gpu"], 2, "NAME=VALUE"),
        (["gemm_table.yaml"], 2, "Missing argument"),
    ],
)
def test_exit_codes(place: Path, arguments: list[str], code: int, part: str) -> None:
    result = run(*arguments, "--db", "p.duckdb")
    assert (result.exit_code, result.stdout) == (code, "")
    assert part in result.stderr
    assert not (place / "p.duckdb").exists()


def test_the_list_needs_no_arguments() -> None:
    result = run("--list")
    assert result.exit_code == 0
    assert "vidur_mlp" in result.stdout and "num_tokens" in result.stdout
