"""The commands and their names."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlinterp.cli.demo_command import demo
from sqlinterp.cli.explain_command import explain
from sqlinterp.cli.failures import Commands
from sqlinterp.cli.fidelity_command import fidelity
from sqlinterp.cli.ingest_command import ingest
from sqlinterp.cli.lookup_command import lookup
from sqlinterp.cli.migrate_command import migrate
from sqlinterp.cli.output import write_line
from sqlinterp.cli.quickstart_command import quickstart
from sqlinterp.cli.report_command import report
from sqlinterp.cli.sql_command import sql
from sqlinterp.cli.upgrade_command import upgrade
from sqlinterp.cli.views_command import views
from sqlinterp.version import __version__

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        write_line(f"sqlinterp {__version__}")
        raise typer.Exit()


@app.callback()
def describe(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Answer 'how long does this operator take?' from profiling databases, with SQL."""


for command in (quickstart, ingest, lookup, explain, sql, views, migrate, demo, fidelity, report):
    app.command()(command)
app.command("upgrade-csv")(upgrade)
