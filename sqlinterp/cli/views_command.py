"""``sqlinterp views``: what analyst SQL can read, with units."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from sqlinterp import queries
from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, make_table, print_table, say, write_line
from sqlinterp.database import connect_reader, database_path, rows
from sqlinterp.errors import UsageError

_COLUMNS = (
    "select r.kind, r.name, r.comment as purpose, c.column_name, c.data_type, c.comment"
    " from (select 'view' as kind, view_name as name, comment from duckdb_views()"
    "  where not internal union all"
    "  select 'table', table_name, comment from duckdb_tables() where not internal) as r"
    " join duckdb_columns() as c on c.table_name = r.name and not c.internal"
    " where $name is null or r.name = $name"
    " order by r.kind desc, r.name, c.column_index"
)


_VIEWS = "select view_name, sql from duckdb_views() where not internal order by view_name"


def views(
    view: Annotated[
        str | None,
        typer.Argument(metavar="VIEW", help="Show only this view or table.", show_default=False),
    ] = None,
    db: Database = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The same as VIEW."),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="Print the SQL of the view, or of all views, for another engine, such as"
            " spark, postgres, bigquery, snowflake or clickhouse.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the views and tables, and their columns with unit and source.

    With --dialect, print their SQL as another engine writes it. What the engine may not have is
    told on stderr; nothing was run there.
    """
    if view is not None and name is not None and view != name:
        raise UsageError(f"'{view}' and '{name}' are two names", "--name", "one view")
    wanted = view or name
    if dialect is not None:
        _print_sql(database_path(db), wanted, dialect)
        return
    _print_columns(database_path(db), wanted)


def _print_columns(path: Path, name: str | None) -> None:
    found = _rows(path, _COLUMNS, {"name": name})
    if name is not None and not found:
        raise UsageError(f"there is no view or table '{name}'")
    console = data_console()
    for (kind, title, purpose), columns in groupby(
        found, key=lambda row: (row["kind"], row["name"], row["purpose"])
    ):
        console.print(Text.assemble((title, "bold"), f" ({kind})"))
        if purpose:
            console.print(Padding(Text(purpose), (0, 0, 0, 2), expand=False))
        cells = [(c["column_name"], c["data_type"], c["comment"]) for c in columns]
        print_table(console, make_table(["column", "type", "meaning"], cells))
        console.print()


def _print_sql(path: Path, name: str | None, dialect: str) -> None:
    from sqlinterp.analyst.dialects import transpiled  # loads sqlglot, which no other command needs

    known = {row["view_name"]: row["sql"] for row in _rows(path, _VIEWS, {})}
    if name is not None and name not in known:
        raise UsageError(f"there is no view '{name}'", expected=", ".join(known))
    shipped = {query.removeprefix("views."): query for query in queries.names("views")}
    for view in [name] if name is not None else known:
        # DuckDB's own text of a view is correct, but written so that only DuckDB can read it.
        sql = queries.load(shipped[view]).body if view in shipped else known[view]
        text, warnings = transpiled(view, sql, dialect)
        for warning in warnings:
            say(f"warning: {view}: {warning}", "yellow")
        write_line(f"{text};\n")


def _rows(path: Path, query: str, parameters: dict[str, str | None]) -> list[dict[str, Any]]:
    connection = connect_reader(path)
    try:
        return rows(connection.execute(query, parameters))
    finally:
        connection.close()
