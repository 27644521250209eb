"""The attack list: what is refused before anything runs, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from attacks import ATTACKS, CASES

from sqlinterp.analyst import run_sql
from sqlinterp.analyst.check import readable
from sqlinterp.analyst.functions import CALLABLE, FUNCTIONS, GRAMMAR
from sqlinterp.analyst.statement import check_statement
from sqlinterp.analyst.tree import check_tree
from sqlinterp.errors import QueryError

Check = Callable[[str], str]
REFUSALS = (QueryError, duckdb.ParserException, duckdb.NotImplementedException)
NAMED = [pytest.param(kind, query, id=f"{kind}-{number}") for kind, number, query in CASES]
WELL_FORMED = [
    pytest.param(query, id=f"{kind}-{number}") for kind, number, query in CASES if kind != "text"
]
# Functions that are no pure functions of their arguments, and harmless: clocks, chance, identity.
UNSTABLE = {"random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid"}


@pytest.mark.parametrize(("kind", "query"), NAMED)
def test_refused(check: Check, kind: str, query: str) -> None:
    with pytest.raises(REFUSALS):
        check(query)


@pytest.mark.parametrize("kind", ATTACKS)
def test_refused_as_a_user_calls_it(database: Path, kind: str) -> None:
    before = database.read_bytes()
    with pytest.raises(QueryError):
        run_sql(database, ATTACKS[kind][-1])
    assert database.read_bytes() == before


@pytest.mark.parametrize("query", WELL_FORMED)
def test_an_attack_is_refused_for_what_it_does(
    connection: duckdb.DuckDBPyConnection, query: str
) -> None:
    # Each is SQL that DuckDB understands, so that no typing mistake is what refuses it.
    assert len(connection.extract_statements(query)) == 1


@pytest.mark.parametrize("query", WELL_FORMED)
def test_each_parser_refuses_alone(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    names = readable(connection).names
    with pytest.raises(QueryError):
        check_tree(connection, query, query, names)
    with pytest.raises(QueryError):
        check_statement(query, names)


@pytest.mark.parametrize(
    "query",
    [
        "FROM read_text('/etc/passwd')",
        "FROM glob('/*')",
        "COPY point TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '100GB'",
        "DELETE FROM point",
        "CREATE TABLE profiling.t AS SELECT 1",
    ],
)
def test_the_connection_itself_is_locked_down(
    connection: duckdb.DuckDBPyConnection, query: str
) -> None:
    with pytest.raises(duckdb.Error, match=r"(?i)disabled|locked|read-only|not allowed"):
        connection.execute(query)


def test_the_lists_name_functions_that_exist(connection: duckdb.DuckDBPyConnection) -> None:
    known = {
        row[0].lower()
        for row in connection.execute("select function_name from duckdb_functions()").fetchall()
    }
    assert known >= FUNCTIONS
    assert not GRAMMAR & FUNCTIONS


def test_no_listed_function_has_an_effect(connection: duckdb.DuckDBPyConnection) -> None:
    acting = connection.execute(
        "select distinct lower(function_name) from duckdb_functions() where has_side_effects"
    ).fetchall()
    assert {name for (name,) in acting} & CALLABLE <= UNSTABLE


def test_what_is_on_no_list_is_refused(connection: duckdb.DuckDBPyConnection, check: Check) -> None:
    found = connection.execute(
        "select distinct function_name from duckdb_functions()"
        " where function_type in ('table', 'table_macro') order by all"
    ).fetchall()
    refused = [name for (name,) in found if name not in CALLABLE]
    assert len(refused) > 60
    for name in refused:
        with pytest.raises(QueryError, match="unknown or refused"):
            check(f"FROM {name}()")


ALLOWED = [
    "FROM point LIMIT 1",
    "TABLE point",
    "FROM main.point",
    "FROM profiling.main.point",
    "DESCRIBE point",
    "SUMMARIZE regime",
    "SHOW TABLES",
    "VALUES (1, 'a')",
    "SELECT $n::int, $m",
    "SELECT ?::int + ?",
    "WITH point2 AS (FROM point) SELECT a.* FROM point2 AS a JOIN point2 AS b USING (regime_id)",
    "SELECT extract(year FROM now()), interval 1 day, DATE '2020-01-01', [1, 2, 3][1:2]",
    "SELECT {'a': 1}.a, MAP {'a': 1}, row(1, 2), 'a' LIKE 'b' ESCAPE 'c', 'a' SIMILAR TO 'b'",
    "SELECT position('a' IN 'b'), trim(BOTH 'x' FROM 'y'), overlay('a' PLACING 'b' FROM 1)",
    "SELECT 1 IS DISTINCT FROM 2, 1 BETWEEN 0 AND 2, TRY(1 / 0), 7 // 2, 2 ** 3, 5 % 3, -(1)",
    "SELECT '{\"a\": 1}'::JSON -> '$.a', to_json([1]), json_extract_string('{}', '$.a')",
    "SELECT list_sort([2, 1], 'DESC'), list_filter([1], lambda x: x > 0), len([1]), 'a' || 'b'",
    "SELECT arg_max(axis_1, axis_2), median(axis_1), quantile_cont(axis_1, [0.1, 0.9]) FROM point",
    "SELECT list(axis_1 ORDER BY axis_1), string_agg(latency_column, ',') FROM point",
    "SELECT lag(axis_1) OVER (ORDER BY axis_1), ntile(4) OVER () FROM point",
    "SELECT * EXCLUDE (axis_1) REPLACE (1 AS axis_2) FROM point",
    "SELECT COLUMNS('axis_.*') FROM point",
    "SELECT path, count(*) FROM regime GROUP BY ROLLUP (path) HAVING count(*) > 0 ORDER BY ALL",
    "FROM point ASOF JOIN regime USING (regime_id)",
    "FROM point TABLESAMPLE 10%",
    "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
    "SELECT 1 AS a UNION ALL BY NAME SELECT 2 AS a EXCEPT SELECT 3 ORDER BY 1",
    "FROM kernel_coverage JOIN source_file USING (kernel_type)",
    "FROM json_each('{\"a\": 1}')",
    "SELECT table_name FROM information_schema.tables",
    "SELECT 1; -- the end",
]


@pytest.mark.parametrize("query", ALLOWED)
def test_ordinary_sql_is_allowed(check: Check, query: str) -> None:
    assert query.startswith(check(query))


def test_every_view_could_be_typed(connection: duckdb.DuckDBPyConnection, check: Check) -> None:
    from sqlinterp import queries

    names = queries.names("views")
    assert len(names) > 10
    for name in names:
        _, _, text = queries.load(name).body.partition(" as\n")
        assert check(text.split(";\ncomment on")[0])
