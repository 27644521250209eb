"""Views in the SQL of other engines."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import sqlglot
from typer.testing import CliRunner

from sqlinterp import queries
from sqlinterp.analyst.dialects import dialects, transpiled
from sqlinterp.cli.app import app
from sqlinterp.errors import QueryError, UsageError

VIEWS = [name.removeprefix("views.") for name in queries.names("views")]


def run(database: Path, *arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["views", "--db", str(database), *arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("dialect", ["spark", "postgres", "bigquery", "snowflake", "clickhouse"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_written(view: str, dialect: str) -> None:
    text, warnings = transpiled(view, queries.load(f"views.{view}").body, dialect)
    assert text.startswith(("CREATE VIEW", "CREATE OR REPLACE VIEW"))
    if any("will not read it" in warning for warning in warnings):
        assert dialect != "spark"
        return
    (tree,) = sqlglot.parse(text, dialect=dialect)
    assert isinstance(tree, sqlglot.exp.Create)
    assert tree.this.name == view


def test_the_sql_is_the_one_of_the_engine() -> None:
    sql = "create view v as select a::varchar as b, list(x order by x) as c from t group by all"
    text, warnings = transpiled("v", sql, "spark")
    assert "CAST(a AS STRING)" in text and "COLLECT_LIST" in text
    assert warnings == []


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("select quantile_cont(x, 0.9) as q from t", "percentiles may become approximate ones"),
        ("select x[1:2] as s from t", "list slices may not exist"),
        ("from t asof join u using (x)", "ASOF JOIN is passed on as it is"),
        ("select own_macro(x) as m from t", "function 'own_macro' is passed on as it is"),
    ],
)
def test_what_may_not_mean_the_same_is_warned_about(query: str, warning: str) -> None:
    _, warnings = transpiled("v", f"create view v as {query}", "spark")
    assert warning in warnings
    assert transpiled("v", f"create view v as {query}", "duckdb")[1] == []


def test_what_sqlglot_cannot_write_is_warned_about() -> None:
    sql = "create view v as select * from t pivot (sum(b) for a in (1, 2))"
    assert any("PIVOT" in warning for warning in transpiled("v", sql, "postgres")[1])
    sql = queries.load("views.semantic_incomplete").body
    _, warnings = transpiled("semantic_incomplete", sql, "postgres")
    assert any(warning.startswith("postgres will not read it: ") for warning in warnings)


def test_unknown_dialects_and_sql_that_is_no_view() -> None:
    with pytest.raises(UsageError, match=r"'sparc' is unknown .*postgres.*spark"):
        transpiled("v", "create view v as select 1", "sparc")
    for sql in ("select 1", "create view v as pivot t on a in (1) using sum(b)", "create view ("):
        with pytest.raises(QueryError, match=r"v: cannot be written in another dialect: ."):
            transpiled("v", sql, "spark")
    assert {"spark", "postgres", "bigquery", "snowflake", "clickhouse"} <= set(dialects())


def test_the_command(database: Path) -> None:
    code, output, messages = run(database, "--dialect", "spark", "duplicate_point")
    assert code == 0
    assert output.startswith("CREATE OR REPLACE VIEW duplicate_point AS\nSELECT")
    assert "warning: duplicate_point: list slices may not exist\n" in messages


def test_the_command_writes_all_views_as_a_script(database: Path) -> None:
    code, output, _ = run(database, "--dialect", "duckdb")
    assert code == 0
    with duckdb.connect(str(database), read_only=True) as plain:
        expected = plain.execute("select view_name from duckdb_views() where not internal")
        names = {name for (name,) in expected.fetchall()}
    statements = [one for one in sqlglot.parse(output, dialect="duckdb") if one is not None]
    assert {statement.this.name for statement in statements} == names == set(VIEWS)


def test_a_view_of_the_database_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("create table t as select 1 as a")
        writer.execute("create view own as select a::varchar as b from t")
    code, output, _ = run(path, "own", "--dialect", "spark")
    assert (code, "CAST(a AS STRING) AS b" in output) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--dialect", "sparc", "kernel_coverage"], "one of athena, bigquery"),
        (["--dialect", "spark", "nope"], "kernel_coverage"),
        (["--dialect", "spark", "point"], "there is no view 'point'"),
        (["point", "--name", "regime"], "two names"),
        (["nope"], "there is no view or table 'nope'"),
    ],
)
def test_bad_usage(database: Path, arguments: list[str], named: str) -> None:
    code, output, messages = run(database, *arguments)
    assert (code, output) == (2, "")
    assert named in messages


def test_one_view_by_its_name_alone(database: Path) -> None:
    assert run(database, "regime") == run(database, "--name", "regime")
    assert run(database, "regime")[1].startswith("regime (table)")
