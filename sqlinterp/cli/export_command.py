"""``sqlinterp export``: the tables of a database file for engines of other machines."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, make_table, print_table, say
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.export import Manifest, export_parquet


class Format(StrEnum):
    """Format of the files."""

    parquet = "parquet"


def export(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder to write; an earlier export there is replaced.",
            show_default=False,
        ),
    ],
    format: Annotated[
        Format, typer.Option("--format", help="Format of the files.")
    ] = Format.parquet,
    db: Database = None,
) -> None:
    """Write the tables of a database file for a distributed engine, with a manifest.

    Measured rows and what is derived from them are partitioned by version and kernel. The folder
    appears when it is complete, and the same database gives the same files.
    """
    with file_progress("exporting") as advance:
        manifest = export_parquet(database_path(db), directory, advance)
    _show(manifest)
    say(f"exported {manifest.rows:,} rows to {directory}")


def _show(manifest: Manifest) -> None:
    rows = [
        (t.name, f"{t.rows:,}", len(t.files), f"{sum(f.size_bytes for f in t.files) / 1000:,.0f}",
         ", ".join(t.partitioned_by))
        for t in manifest.tables
        if t.rows
    ]  # fmt: skip
    size = sum(file.size_bytes for file in manifest.files)
    rows.append(("total", f"{manifest.rows:,}", len(manifest.files), f"{size / 1000:,.0f}", ""))
    columns = ["table", "rows", "files", "kB", "partitioned by"]
    print_table(data_console(), make_table(columns, rows, columns[1:4]))
