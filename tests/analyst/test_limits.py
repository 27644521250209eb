"""Queries that are allowed and too much: each ends within its limits, and nothing is left."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlinterp.analyst import Limits, run_sql, write_parquet
from sqlinterp.errors import QueryError, UsageError

SHORT = Limits(seconds=1, memory="200MB")
# What a busy machine may need to start the process and to end it.
SLACK_S = 20

TOO_SLOW = {
    "scan": "SELECT count(*) FROM range(1000000000000) WHERE range % 7 = 0",
    "cross join": "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b"
    " WHERE a.range + b.range = 7",
    "recursion": "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t)"
    " SELECT count(*) FROM t",
    "one scalar call: distance": "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))",
    "one scalar call: similarity": "SELECT jaro_similarity(repeat('a', 900000),"
    " repeat('b', 900000))",
    "one constant": "SELECT 1 WHERE levenshtein(repeat('a', 300000), repeat('b', 300000)) > 0",
}
TOO_LARGE = {
    "aggregate": "SELECT list(range) FROM range(100000000)",
    "sort": "SELECT range FROM range(50000000) ORDER BY hash(range)",
    "one scalar call: text": "SELECT length(repeat('x', 2000000000))",
    "one scalar call: list": "SELECT len(list_sort(range(100000000)))",
    "one scalar call: format": "SELECT length(format('{:>1900000000}', 1))",
    "one scalar call: transform": "SELECT list_sum(list_transform(range(100000000), lambda x: x))",
}


def leftovers() -> list[str]:
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("sqlinterp-sql-")]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file and no process, running or dead, is left by a query."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert leftovers() == []
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("name", TOO_SLOW)
def test_time(database: Path, name: str) -> None:
    start = time.monotonic()
    with pytest.raises(QueryError, match="longer than 1 s"):
        run_sql(database, TOO_SLOW[name], None, SHORT)
    assert time.monotonic() - start < SHORT.seconds + SLACK_S


@pytest.mark.parametrize("name", TOO_LARGE)
def test_memory(database: Path, name: str) -> None:
    if name.startswith("one scalar call") and not Path("/proc/self/statm").exists():
        pytest.skip("only the operating system can limit one call, and this one does not")
    with pytest.raises(QueryError, match="more memory than 200MB"):
        run_sql(database, TOO_LARGE[name], None, Limits(seconds=60, memory="200MB"))


def test_rows(database: Path) -> None:
    limits = Limits(rows=100)
    assert len(run_sql(database, "FROM range(100)", None, limits).fetchall()) == 100
    with pytest.raises(QueryError, match="more than 100 rows"):
        run_sql(database, "FROM range(101)", None, limits)
    with pytest.raises(QueryError, match="more than 100 rows"):
        write_parquet(database, "FROM range(101)", database.with_name("x.parquet"), limits)
    endless = "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t) FROM t"
    with pytest.raises(QueryError):
        run_sql(database, endless, None, Limits(seconds=1, rows=100))


def test_a_result_may_not_be_larger_than_the_memory(database: Path) -> None:
    # Equal values take next to no space in a file, unless they are written one by one.
    limits = Limits(seconds=60, memory="40MB", threads=1)
    with pytest.raises(QueryError, match="40MB"):
        run_sql(database, "SELECT repeat('x', 2000) FROM range(30000)", None, limits)
    with pytest.raises(QueryError, match="larger than 40MB"):
        run_sql(
            database,
            "SELECT list_resize([1::tinyint], 3000, 1::tinyint) FROM range(2000)",
            None,
            limits,
        )
    assert run_sql(database, "SELECT repeat('x', 2000) FROM range(3000)", None, limits).fetchone()


def test_a_message_is_short_however_long_the_value(database: Path) -> None:
    with pytest.raises(QueryError) as caught:
        run_sql(database, "SELECT repeat('x', 1000000)::integer")
    assert 100 < len(str(caught.value)) < 5_000


@pytest.mark.parametrize(
    "query",
    [
        "SELECT " + "[" * 600 + "1" + "]" * 600,
        "SELECT " + "(SELECT " * 300 + "1" + ")" * 300,
        "SELECT " + "abs(" * 2000 + "1" + ")" * 2000,
        "(" * 9999,
    ],
)
def test_deep_nesting_is_an_error_and_no_crash(database: Path, query: str) -> None:
    with pytest.raises(QueryError, match=r"nested|longer than|memory|syntax error"):
        run_sql(database, query, None, SHORT)


def test_a_long_condition_is_fine(database: Path) -> None:
    condition = " OR ".join(f"axis_1 = {number}" for number in range(900))
    assert run_sql(database, f"SELECT count(*) FROM point WHERE {condition}").fetchall() == [(3,)]


@pytest.mark.parametrize(
    "wrong", [{"memory": "much"}, {"memory": "0MB"}, {"seconds": 0}, {"rows": 0}, {"threads": 0}]
)
def test_limits_are_numbers(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Limits(**wrong)  # type: ignore[arg-type]


def test_sizes() -> None:
    assert Limits(memory="1GB").memory_bytes == 10**9
    assert Limits(memory="512 MiB").memory_bytes == 512 * 2**20
