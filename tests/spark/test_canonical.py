"""The canonical queries travel: sqlglot writes each for Spark, none uses what DuckDB alone has."""

from __future__ import annotations

from collections import Counter

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, OptimizeError
from sqlglot.optimizer.qualify import qualify

from sqlinterp import queries
from sqlinterp.database import rows
from sqlinterp.relational.canonical import (
    INPUTS,
    QUERIES,
    parsed,
    rename_tables,
    tables_of,
    text,
    transpiled,
)

# Everything else (percentiles, lists and slices of them, lambdas, macros, functions of DuckDB) is
# refused: it is unknown elsewhere or means something else there.
ALLOWED = (
    exp.Avg, exp.Case, exp.Cast, exp.Coalesce, exp.Concat, exp.Count, exp.FirstValue, exp.Greatest,
    exp.If, exp.Lag, exp.Lead, exp.Max, exp.Min, exp.Nullif, exp.Rank, exp.Round, exp.RowNumber,
    exp.Sum, exp.And, exp.Or, exp.Xor,
)  # fmt: skip
REFUSED = (
    exp.Lambda, exp.List, exp.Array, exp.Struct, exp.Bracket, exp.Slice, exp.Unnest, exp.Lateral,
    exp.Qualify, exp.Filter, exp.IgnoreNulls, exp.WithinGroup, exp.Distinct, exp.Pivot,
    exp.Parameter, exp.Anonymous, exp.Order, exp.Limit, exp.TryCast, exp.ILike, exp.JSONExtract,
)  # fmt: skip
NEED = "select a, sum(b) over (partition by a order by c) as s from t where d = 1"
TOO_MUCH = (
    "select t.a from t asof join u on t.a = u.a and t.b >= u.b",
    "select percentile_cont(0.9) within group (order by a) from t",
    "select quantile_cont(a, 0.9) from t",
    "select a[2:3] from t",
    "select list_transform(a, lambda x: x + 1) from t",
    "select unnest([1, 2])",
    "select mode(a) from t",
    "select arg_max(a, b) from t",
    "select own_macro(a) from t",
    "select a from t qualify row_number() over (partition by a order by b) = 1",
    "select max(a) filter (where b) from t",
    "select if(a, 1, 2) from t",
    "select a::json ->> 'b' from t",
    "select a from t order by a limit 1",
    "select * exclude (a) from t",
    "select row_number() over (order by a) from t",
    "select a + 1 as z, z + 1 as y from t",
)  # fmt: skip


def objections(sql: str, schema: dict[str, dict[str, str]] | None = None) -> list[str]:
    """What in a query does not travel."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    found = [type(node).__name__ for node in tree.walk() if isinstance(node, REFUSED)]
    found = [name for name in found if name not in ("Distinct", "Order")]
    found += [
        type(node).__name__
        for node in tree.find_all(exp.Func)
        if not isinstance(node, ALLOWED) and not isinstance(node, REFUSED)
    ]
    found += ["If" for node in tree.find_all(exp.If) if not isinstance(node.parent, exp.Case)]
    found += [
        "Distinct" for node in tree.find_all(exp.Distinct)
        if not isinstance(node.parent, (exp.Select, exp.Count))
    ]  # fmt: skip
    found += [
        "Order" for node in tree.find_all(exp.Order) if not isinstance(node.parent, exp.Window)
    ]
    found += ["Window" for node in tree.find_all(exp.Window) if not node.args.get("partition_by")]
    found += [join.method for join in tree.find_all(exp.Join) if join.method]
    found += [
        "Star" for node in tree.find_all(exp.Star)
        if node.args.get("except_") or node.args.get("except") or node.args.get("replace")
    ]  # fmt: skip
    try:
        # Postgres has no aliases of the same select, so they stay unknown.
        qualify(
            tree.copy(), schema=schema or {"t": dict.fromkeys("abcd", "double")},
            dialect="duckdb", expand_alias_refs=False,
        )  # fmt: skip
    except OptimizeError as error:
        found.append(str(error))
    return found


@pytest.fixture(scope="module")
def schema() -> dict[str, dict[str, str]]:
    """Columns of every table of a database file, and of the relations of targets."""
    from sqlinterp import migrations
    from sqlinterp.database import connect_writer

    connection: duckdb.DuckDBPyConnection = connect_writer(":memory:")  # type: ignore[arg-type]
    migrations.migrate(connection)
    found = rows(
        connection.execute("select table_name, column_name, data_type from duckdb_columns()")
    )
    tables: dict[str, dict[str, str]] = {name: dict(columns) for name, columns in INPUTS.items()}
    for row in found:
        tables.setdefault(row["table_name"], {})[row["column_name"]] = "text"
    tables["regime_axis"] = dict.fromkeys(("regime_id", "axis_position", "axis_name"), "text")
    connection.close()
    return tables


def test_every_file_belongs_to_a_query() -> None:
    used = {step.split("=")[1] for steps in QUERIES.values() for step in steps}
    assert used == set(queries.names("canonical"))


@pytest.mark.parametrize("name", QUERIES)
def test_it_uses_nothing_that_does_not_travel(name: str, schema: dict[str, dict[str, str]]) -> None:
    for step in QUERIES[name]:  # type: ignore[index]
        assert not objections(queries.load(step.split("=")[1]).body, schema_of(step, schema))


def schema_of(step: str, schema: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The tables that a step reads: stored ones, and the results of the steps before it."""
    results: dict[str, dict[str, str]] = {}
    for steps in QUERIES.values():
        for one in steps:
            alias, query = one.split("=")
            tree = sqlglot.parse_one(queries.load(query).body, dialect="duckdb")
            results[alias] = dict.fromkeys(tree.named_selects, "text")
    return {**schema, **results}


@pytest.mark.parametrize("sql", TOO_MUCH)
def test_what_does_not_travel_is_found(sql: str) -> None:
    assert objections(sql)


def test_what_travels_is_let_through() -> None:
    assert not objections(NEED)


@pytest.mark.parametrize("name", QUERIES)
def test_sqlglot_writes_it_for_spark_and_reads_it_there(name: str) -> None:
    sql = transpiled(name, "spark")  # type: ignore[arg-type]
    again = sqlglot.parse_one(sql, dialect="spark", error_level=ErrorLevel.RAISE)
    assert tables_of(again) == tables_of(parsed(name))  # type: ignore[arg-type]
    assert again.find(exp.Command) is None


@pytest.mark.parametrize("name", QUERIES)
def test_no_two_steps_use_one_name(name: str) -> None:
    """Spark has no nested names: sqlglot writes all of them side by side."""
    names = Counter(step.alias for step in parsed(name).find_all(exp.CTE))  # type: ignore[arg-type]
    assert set(names.values()) == {1}


@pytest.mark.parametrize("name", QUERIES)
def test_tables_may_have_other_names(name: str) -> None:
    tree = parsed(name)  # type: ignore[arg-type]
    tables = tables_of(tree)
    rename_tables(tree, {table: f"other {table}" for table in tables})
    assert tables_of(tree) == {f"other {table}" for table in tables}
    duckdb.connect().extract_statements(tree.sql(dialect="duckdb"))


def test_the_steps_are_one_statement() -> None:
    assert len(duckdb.connect().extract_statements(text("axis_answers"))) == 1
