"""``sqlinterp query``: stdout is one JSON document whatever happens, logs are on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from protocol_support import DECLARED
from typer.testing import CliRunner, Result

from sqlinterp.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
GRID = {"protocol": 1, "op": "grid", "version": DECLARED, "kind": "line", "config": {}}


def run(*arguments: str, stdin: str = "") -> tuple[Any, Result]:
    """Run the command in this process; return the document on stdout and the rest."""
    env = {"SQLINTERP_DB": None, "SQLINTERP_DEBUG": None}
    result = CliRunner().invoke(app, ["query", *arguments], input=stdin, env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.stdout.endswith("}\n")
    return json.loads(result.stdout), result


def test_stdout_is_pure_json_with_debug_logging(database: Path, tmp_path: Path) -> None:
    code = (
        "import logging, sys; logging.basicConfig(level=logging.DEBUG); logging.debug('noise')\n"
        "from sqlinterp.cli import main; main(sys.argv[1:])"
    )
    kept = {name: value for name, value in os.environ.items() if name != "SQLINTERP_DB"}
    done = subprocess.run(
        [sys.executable, "-c", code, "query", "--db", str(database)],
        input=json.dumps(GRID).encode(), capture_output=True, cwd=tmp_path, timeout=50, check=False,
        env={**kept, "PYTHONPATH": str(ROOT), "SQLINTERP_DEBUG": "1"},
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["grid_axes"] == [[0, 2, 6]]
    assert done.stdout.endswith(b"}\n") and b"noise" in done.stderr


def test_the_environment_names_the_database(database: Path) -> None:
    env = {"SQLINTERP_DB": str(database)}
    result = CliRunner().invoke(app, ["query"], input=json.dumps(GRID), env=env)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "error"),
    [
        ([], "", 2, "bad_request"),
        ([], "no json", 2, "bad_request"),
        ([], json.dumps({**GRID, "version": "x"}), 2, "unknown_version"),
        (["--db", "nosuch.duckdb"], json.dumps(GRID), 3, "data_error"),
        (["--colour", "red"], json.dumps(GRID), 2, "bad_request"),
        (["dance"], "", 2, "bad_request"),
        (["grid", "extra"], "", 2, "bad_request"),
        (["grid", "--config", "{"], "", 2, "bad_request"),
        (["grid", "--config", "@nosuch.json"], "", 2, "bad_request"),
        (["grid", "--kind", "line"], "", 2, "bad_request"),
    ],
)
def test_errors_are_documents_too(
    database: Path, arguments: list[str], stdin: str, code: int, error: str
) -> None:
    given = arguments if "--db" in arguments else [*arguments, "--db", str(database)]
    document, result = run(*given, stdin=stdin)
    assert (document["error"]["code"], result.exit_code) == (error, code)
    assert result.stderr == ""


class TestVerbs:
    """Requests made of options."""

    def test_grid(self, database: Path) -> None:
        told = ["--db", str(database), "--version", DECLARED, "--kind", "line"]
        verb, _ = run("grid", *told)
        request, _ = run("--db", str(database), stdin=json.dumps(GRID))
        assert verb == request

    def test_eval_with_a_config_from_a_file(self, database: Path, tmp_path: Path) -> None:
        (tmp_path / "c.json").write_text('{"dtype": "bf16"}')
        told = ["--db", str(database), "--version", DECLARED, "--kind", "gemm", "--explain"]
        points = '[{"m": 64, "k": 8}, {"m": 999, "k": 8}]'
        document, result = run(
            "eval", *told, "--config", f"@{tmp_path / 'c.json'}", "--points", points
        )
        assert result.exit_code == 0
        assert [r["source"] for r in document["results"]] == ["MEASURED", "MISS"]
        assert document["results"][0]["neighbors"][0]["coords"] == {"m": 64, "k": 8}


def test_the_schemas_are_written() -> None:
    document, _ = run("--schema")
    assert "eval.response" in document["$defs"]
