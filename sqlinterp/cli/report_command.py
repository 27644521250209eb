"""``sqlinterp report``: what a database covers, as a page to look at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from sqlinterp.cli import options
from sqlinterp.cli.output import say, write_line
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.reports import write_report

_Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for report.html and the CSV files.")
]


def report(db: options.Database = None, out: _Out = Path("report")) -> None:
    """Write what the database covers as one HTML page with plots, and its tables as CSV.

    The page needs no network. The path of the page goes to stdout.
    """
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    with file_progress("reporting") as advance:
        written = write_report(database_path(db), out, when, lambda title: advance(title, 0, 0))
    write_line(str(written.page))
    say(f"{written.charts} plots; {len(written.tables)} tables, beside it as CSV files")
