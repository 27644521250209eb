"""Connections: nothing but data on stdout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp


@pytest.fixture
def database(tmp_path: Path) -> Path:
    row = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,5.0'
    files = {"MatMulV2.csv": [MATMUL_HEADER, row]}
    version = write_version(tmp_path / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([version], tmp_path / "profiling.duckdb")
    return tmp_path / "profiling.duckdb"


@pytest.mark.parametrize(
    "connect", ["connect_writer(path)", "connect_reader(path)", "connect_analyst(path, {})"]
)
def test_no_connection_draws_a_progress_bar(connect: str, database: Path) -> None:
    # A program given by -c counts as an interactive session, where DuckDB would draw one.
    code = (
        "import sys, pathlib; from sqlinterp.database import *; path = pathlib.Path(sys.argv[1]);"
        f" print({connect}.execute(\"select current_setting('enable_progress_bar')\").fetchall())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(database)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[(False,)]"
