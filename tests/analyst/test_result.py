"""What a query gives: the rows, names, types and order that DuckDB gives without the process."""

from __future__ import annotations

import datetime
import decimal
import gc
import os
import tempfile
from pathlib import Path

import duckdb
import pytest

import sqlinterp
from sqlinterp.analyst import run_sql, write_parquet

SAME = [
    "SELECT 1 AS a, 1.5::decimal(10, 2) AS b, 'x' AS c, NULL AS d, true AS e, 2::hugeint AS f",
    "SELECT 'b'::enum('a', 'b') AS e, [1, NULL] AS l, {'a': 1, 'b': [1]} AS s, MAP {'k': 1} AS m",
    "SELECT DATE '2020-01-02' AS d, TIMESTAMP '2020-01-02 03:04:05' AS t, INTERVAL 1 DAY AS i,"
    " TIME '01:02:03' AS c, TIMESTAMPTZ '2020-01-02 03:04:05+00' AS z",
    "SELECT '{\"a\": 1}'::JSON AS j, union_value(k := 1) AS u, '101'::BIT AS b,"
    " 'ab'::BLOB AS o, uuid '12345678-1234-1234-1234-123456789012' AS i",
    "SELECT 'nan'::double AS n, 'inf'::float AS i, -0.0 AS z, 255::utinyint AS t",
    "SELECT [1, 2]::integer[2] AS fixed, NULL::varchar AS n, ''::varchar AS empty",
    "FROM point ORDER BY axis_1 DESC",
    "FROM kernel_coverage",
    'SELECT range AS "a b", hash(range) AS "1" FROM range(300000) ORDER BY hash(range)',
    "SELECT range FROM range(300000)",
    "SELECT 1 AS x WHERE false",
    "SELECT count(*), max(axis_1) FROM point",
    "DESCRIBE point",
    "SHOW TABLES",
]


@pytest.mark.parametrize("query", SAME)
def test_rows_names_and_types_are_those_of_duckdb(database: Path, query: str) -> None:
    with duckdb.connect(str(database), read_only=True) as plain:
        cursor = plain.execute(query)
        described = [(name, str(kind)) for name, kind, *_ in cursor.description]
        expected = cursor.fetchall()
    result = run_sql(database, query)
    assert [(name, str(kind)) for name, kind, *_ in result.description] == described
    assert repr(result.fetchall()) == repr(expected)


def test_the_result_is_read_in_every_way(database: Path) -> None:
    query = "SELECT axis_1::bigint AS m FROM point ORDER BY m"
    assert run_sql(database, query).fetchone() == (8,)
    assert run_sql(database, query).fetchmany(2) == [(8,), (16,)]
    assert run_sql(database, query).df()["m"].tolist() == [8, 16, 32]
    assert run_sql(database, query).fetchnumpy()["m"].tolist() == [8, 16, 32]


def test_columns_of_one_name_are_told_apart(database: Path) -> None:
    result = run_sql(database, "SELECT 1 AS a, 2 AS a, 3 AS A")
    assert [column[0] for column in result.description] == ["a", "a_1", "A_2"]


def test_parameters_keep_their_types(database: Path) -> None:
    values = {
        "i": 2**40,
        "f": 0.1,
        "s": "it's",
        "n": None,
        "d": datetime.date(2020, 1, 2),
        "c": decimal.Decimal("1.50"),
        "l": [1, 2],
        "b": b"\0x",
    }
    query = "SELECT " + ", ".join(f"${name} AS {name}" for name in values)
    assert run_sql(database, query, values).fetchall() == [tuple(values.values())]
    assert run_sql(database, "SELECT ? || ?::varchar, ?", ["a", 1, None]).fetchall() == [
        ("a1", None)
    ]


def test_the_first_rows_of_a_long_result(database: Path) -> None:
    result = run_sql(database, "FROM range(3000000) ORDER BY range DESC", first=2)
    assert result.fetchall() == [(2999999,), (2999998,)]


def test_the_file_of_a_result_is_gone_while_it_is_read(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = run_sql(database, "FROM range(500000)")
    assert os.listdir(tmp_path) == []
    assert sum(value for (value,) in result.fetchall()) == 500000 * 499999 // 2
    del result
    gc.collect()


def test_parquet(database: Path, tmp_path: Path) -> None:
    query = "SELECT axis_1, [latency_column] AS columns FROM point ORDER BY axis_1"
    write_parquet(database, query, tmp_path / "it's.parquet")
    with duckdb.connect() as plain:
        read = plain.read_parquet(str(tmp_path / "it's.parquet")).fetchall()
    assert read == run_sql(database, query).fetchall()


def test_beside_an_open_database_and_from_several_threads(database: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with sqlinterp.open(database) as opened, ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda n: opened.sql("SELECT $n + count(*) FROM point", {"n": n}), [1, 2])
        assert [result.fetchall() for result in found] == [[(4,)], [(5,)]]
