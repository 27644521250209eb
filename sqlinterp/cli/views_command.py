"""``sqlinterp views``: what analyst SQL can read, with units."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, make_table, print_table
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


def views(
    db: Database = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Show only this view or table."),
    ] = None,
) -> None:
    """List the views and tables, and their columns with unit and source."""
    connection = connect_reader(database_path(db))
    try:
        found = rows(connection.execute(_COLUMNS, {"name": name}))
    finally:
        connection.close()
    if name is not None and not found:
        raise UsageError(f"there is no view or table '{name}'", "--name")
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
