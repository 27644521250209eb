"""Derived tables and lookups share one definition of every path, or the file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.definitions import is_current
from sqlinterp.errors import MigrationError
from sqlinterp.ingestion.derive import rebuild

ROW = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,5.0'


@pytest.fixture
def database(tmp_path: Path) -> Path:
    version = write_version(
        tmp_path / "d" / "b" / "v",
        {"MatMulV2.csv": [MATMUL_HEADER, ROW]},
        {"aten.mm.default": "MatMulV2"},
    )
    path = tmp_path / "profiling.duckdb"
    sqlinterp.ingest([version], path)
    connection = connect_writer(path)
    connection.execute("update derivation set sha256 = 'other'; delete from exact_key")
    connection.close()
    return path


def test_a_file_derived_by_other_definitions_is_refused(database: Path) -> None:
    with pytest.raises(MigrationError, match="sqlinterp migrate"):
        sqlinterp.open(database)


def test_rebuilding_makes_it_answer_again(database: Path) -> None:
    connection = connect_writer(database)
    rebuild(connection)
    assert is_current(connection)
    connection.close()
    with sqlinterp.open(database) as opened:
        assert opened.lookup(matmul_call(8, 16, 32)).latency_us == 5.0


def test_ingesting_unchanged_files_rebuilds_it_too(database: Path, tmp_path: Path) -> None:
    sqlinterp.ingest([tmp_path / "d"], database)
    with sqlinterp.open(database) as opened:
        assert opened.lookup(matmul_call(8, 16, 32)).latency_us == 5.0
