"""``sqlinterp ingest-table``: measured tables of any layout into a database file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlinterp.cli.ingest_command import print_summary, show_messages
from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, make_table, print_table, say
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.declared import ingest_table as run_ingest
from sqlinterp.declared import read_declaration, shipped_declarations
from sqlinterp.errors import SourceError, UsageError


def _list_shipped(wanted: bool) -> None:
    if not wanted:
        return
    columns = ["declaration", "kernel", "regime", "axes", "source"]
    rows = []
    for name in shipped_declarations():
        told = read_declaration(name)
        regime = [field.name for field in told.regime]
        source = told.source.get("repository", "")
        rows.append([name, told.kernel.text, " ".join(regime), " ".join(told.axis_names), source])
    print_table(data_console(), make_table(columns, rows))
    raise typer.Exit()


_Declaration = Annotated[
    str,
    typer.Argument(
        metavar="DECLARATION",
        help="YAML file, or the name of a shipped declaration (--list).",
        show_default=False,
    ),
]
_Tables = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="CSV or Parquet tables.", show_default=False),
]
_Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Value of a column that the tables lack; may be given several times.",
        show_default=False,
    ),
]
_Replace = Annotated[
    bool,
    typer.Option("--replace", help="Forget what the declaration has stored from other files."),
]
_Strict = Annotated[bool, typer.Option("--strict", help="Exit with 3 unless every row was usable.")]
_List = Annotated[
    bool,
    typer.Option(
        "--list", callback=_list_shipped, is_eager=True, help="Show the shipped declarations."
    ),
]


def ingest_table(
    declaration: _Declaration,
    tables: _Tables,
    db: Database = None,
    values: _Values = None,
    replace: _Replace = False,
    strict: _Strict = False,
    shipped: _List = False,
) -> None:
    """Make measured CSV or Parquet tables queryable, as DECLARATION says how to read them."""
    path = database_path(db)
    with file_progress("reading") as advance:
        summary = run_ingest(declaration, tables, path, _pairs(values or []), replace, advance)
    show_messages(summary)
    print_summary(data_console(), summary)
    if summary.rows_filtered:
        say(f"{summary.rows_filtered:,} rows were left out by the filters of the declaration")
    if summary.removed_files:
        say(f"{summary.removed_files} kernels of other files were removed from the database")
    if strict and not summary.is_clean:
        raise SourceError(f"strict: {summary.total('rows_rejected')} rows were rejected")


def _pairs(texts: list[str]) -> dict[str, str]:
    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"'{text}' is no value of a column", "--set", "NAME=VALUE")
        values[name.strip()] = value
    return values
