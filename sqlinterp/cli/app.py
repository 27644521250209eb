"""The commands and their names."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlinterp.cli.demo_command import demo
from sqlinterp.cli.density_command import density
from sqlinterp.cli.examples import epilog
from sqlinterp.cli.explain_command import explain
from sqlinterp.cli.export_command import export
from sqlinterp.cli.failures import Commands
from sqlinterp.cli.fidelity_command import app as fidelity
from sqlinterp.cli.ingest_command import ingest
from sqlinterp.cli.ingest_table_command import ingest_table
from sqlinterp.cli.lookup_command import lookup
from sqlinterp.cli.migrate_command import migrate
from sqlinterp.cli.output import write_line
from sqlinterp.cli.query_command import query
from sqlinterp.cli.quickstart_command import quickstart
from sqlinterp.cli.report_command import report
from sqlinterp.cli.sql_command import sql
from sqlinterp.cli.upgrade_command import upgrade
from sqlinterp.cli.views_command import views
from sqlinterp.version import __version__

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    epilog="A start: sqlinterp quickstart, then sqlinterp COMMAND --help for examples.",
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


for command in (quickstart, ingest, lookup, explain, sql, views, density, migrate, demo, report):
    app.command(epilog=epilog(command.__name__))(command)
app.add_typer(fidelity, name="fidelity")
app.command("upgrade-csv", epilog=epilog("upgrade-csv"))(upgrade)
app.command("ingest-table", epilog=epilog("ingest-table"))(ingest_table)
app.command(epilog=epilog("export"))(export)
# Whatever is wrong with the arguments of 'query' is told in its document too.
_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}
app.command(epilog=epilog("query"), context_settings=_ANY_ARGUMENTS)(query)
