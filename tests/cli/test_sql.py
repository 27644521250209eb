"""The command ``sql``: what it gives, what it refuses."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from cli_support import Run, environment

import sqlinterp
from sqlinterp.analyst import Limits, run_sql
from sqlinterp.errors import QueryError

QUERY = (
    "SELECT kernel_type, count(*) AS n,"
    " list(DISTINCT latency_column ORDER BY latency_column) AS columns, NULL AS nothing"
    " FROM measurement WHERE kernel_type LIKE 'MatMulV_' GROUP BY 1 ORDER BY 1"
)

REFUSED = [
    "DROP TABLE point",
    "FROM read_csv('/etc/passwd')",
    "SELECT getenv('HOME')",
    "SELECT 1; SELECT 2",
]

ALLOWED = [
    "FROM point LIMIT 1",
    "DESCRIBE point",
    "SUMMARIZE regime",
    "SHOW TABLES",
    "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 5) FROM t",
    "SELECT unnest([1, 2]), * FROM range(2)",
    "SELECT list_transform([1, 2], lambda x: x + 1), CAST('1' AS INTEGER)",
    "SELECT [x + 1 FOR x IN [1, 2] IF x > 1], date_trunc('day', now()), current_date",
    "SELECT quantile_cont(latency_us, 0.9), regexp_extract('ab', 'b') FROM measurement",
    "SELECT row_number() OVER (ORDER BY axis_1) FROM point QUALIFY row_number() OVER () < 3",
    "SELECT table_name FROM information_schema.tables",
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'point'",
    "PIVOT (SELECT kernel_type, latency_rank FROM measurement) ON latency_rank IN (0, 1)"
    " USING count(*)",
    "SELECT 1;  -- with a comment",
]


@pytest.mark.parametrize("query", REFUSED)
def test_refused(sample: Path, query: str) -> None:
    with pytest.raises(QueryError):
        run_sql(sample, query)


@pytest.mark.parametrize("query", ALLOWED)
def test_allowed(sample: Path, query: str) -> None:
    assert run_sql(sample, query).fetchall()


def test_a_message_shows_the_place(sample: Path) -> None:
    with pytest.raises(QueryError, match="line 2, column 9: function 'read_csv' is unknown"):
        run_sql(sample, "SELECT *\n   FROM read_csv('x')")
    with pytest.raises(QueryError, match=r"1 \| SELECT nope FROM point\n +\| +\^{4}$"):
        run_sql(sample, "SELECT nope FROM point")


def test_parameters_and_an_open_database_beside_it(sample: Path) -> None:
    with sqlinterp.open(sample, version="vllm0.18.0_torch2.9.0_cann8.5") as database:
        query = "SELECT count(*) AS n FROM measurement WHERE kernel_type = $kernel"
        frame = database.sql(query, {"kernel": "MatMulV2"}).df()
        assert frame["n"][0] > 0
        assert database.sql("SELECT $n + 1", {"n": 1}).fetchall() == [(2,)]


def test_time_and_memory_end(sample: Path) -> None:
    limits = Limits(seconds=1, memory="100MB")
    with pytest.raises(QueryError, match="longer than 1 s"):
        run_sql(
            sample, "SELECT count(*) FROM range(1000000000000) WHERE range % 7 = 0", None, limits
        )
    with pytest.raises(QueryError, match=r"(?i)memory"):
        run_sql(sample, "SELECT list(range) FROM range(100000000)", None, Limits(60, "100MB"))


def test_the_file_is_never_changed(sample: Path) -> None:
    before = sample.read_bytes()
    run_sql(sample, "SELECT count(*) FROM point").fetchall()
    assert sample.read_bytes() == before


def test_formats(run: Run, sample: Path, tmp_path: Path) -> None:
    expected = run_sql(sample, QUERY).fetchall()
    table = run("sql", "--db", sample, QUERY)
    assert (table.returncode, table.stderr) == (0, "")
    assert "kernel_type" in table.stdout and "MatMulV2" in table.stdout
    rows = json.loads(run("sql", "--db", sample, "--format", "json", QUERY).stdout)
    assert [(r["kernel_type"], r["n"], r["nothing"]) for r in rows] == [
        (kernel, n, None) for kernel, n, _, _ in expected
    ]
    text = run("sql", "--db", sample, "--format", "csv", QUERY).stdout
    parsed = list(csv.DictReader(io.StringIO(text)))
    assert [row["n"] for row in parsed] == [str(n) for _, n, _, _ in expected]
    assert json.loads(parsed[0]["columns"]) == rows[0]["columns"]
    empty = run("sql", "--db", sample, "--format", "json", "FROM point WHERE false")
    assert json.loads(empty.stdout) == []


def test_parquet_goes_to_stdout(sample: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sqlinterp", "sql", "--db", str(sample), "--format", "parquet"]
    done = subprocess.run([*command, QUERY], capture_output=True, env=environment(), check=True)
    file = tmp_path / "result.parquet"
    file.write_bytes(done.stdout)
    with duckdb.connect() as connection:
        read = connection.read_parquet(str(file)).fetchall()
    assert read == run_sql(sample, QUERY).fetchall()


def test_wide_results_become_records_and_long_ones_end(run: Run, sample: Path) -> None:
    wide = run("sql", "--db", sample, "FROM measurement LIMIT 2")
    assert wide.stdout.startswith("row 1\n") and "\nrow 2\n" in wide.stdout
    piped = run("sql", "--db", sample, "SELECT * FROM range(1500)")
    assert len(piped.stdout.splitlines()) == 1002
    assert "only the first 1,000 rows" in piped.stderr


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_result_of_too_many_rows_writes_nothing(spawn: Run, sample: Path, format: str) -> None:
    result = spawn("sql", "--db", sample, "--format", format, "FROM range(1000001)")
    assert (result.returncode, result.stdout) == (4, "")
    assert "the result has more than 1,000,000 rows" in result.stderr


@pytest.mark.parametrize(
    ("query", "named"),
    [("SELEC 1", "syntax error"), ("DROP TABLE point", "DROP is refused"), ("FROM nope", "nope")],
)
def test_errors_exit_with_4(run: Run, sample: Path, query: str, named: str) -> None:
    result = run("sql", "--db", sample, query)
    assert (result.returncode, result.stdout) == (4, "")
    assert named in result.stderr and "Traceback" not in result.stderr
