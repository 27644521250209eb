"""A small real database, and connections as the process of a query opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp.analyst.check import check_query, readable
from sqlinterp.analyst.limits import Limits
from sqlinterp.database import connect_analyst


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with three measurements; nobody writes to it."""
    folder = tmp_path_factory.mktemp("analyst")
    rows = [f'"{m},16;16,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m}.5' for m in (8, 16, 32)]
    files = {"MatMulV2.csv": [MATMUL_HEADER, *rows]}
    version = write_version(folder / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([version], folder / "profiling.duckdb")
    return folder / "profiling.duckdb"


@pytest.fixture(scope="session")
def connection(
    database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection as a query has it, with a file for its result."""
    result = tmp_path_factory.mktemp("result") / "result.duckdb"
    opened = connect_analyst(database, Limits(seconds=5).settings(), result)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def check(connection: duckdb.DuckDBPyConnection) -> Callable[[str], str]:
    """Check a text in this process, without running it."""
    names = readable(connection).names
    return lambda query: check_query(connection, query, names)
