"""``sqlinterp migrate``: bring a database file up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlinterp import migrations
from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, make_table, print_table, say
from sqlinterp.database import connect_reader, database_path
from sqlinterp.definitions import is_current
from sqlinterp.ingestion.derive import rebuild
from sqlinterp.publishing import publishing


def migrate(
    db: Database = None,
    status: Annotated[
        bool, typer.Option("--status", help="Only show which migrations the file has.")
    ] = False,
) -> None:
    """Apply the schema migrations that a database file lacks."""
    path = database_path(db)
    connection = connect_reader(path)
    try:
        found = migrations.status(connection)
    finally:
        connection.close()
    if not status:
        found = _apply(path)
    rows = [
        (m.number, m.name, m.applied_at.split(".")[0] if m.applied_at else "pending") for m in found
    ]
    print_table(
        data_console(), make_table(["number", "migration", "applied at (UTC)"], rows, ["number"])
    )


def _apply(path: Path) -> list[migrations.Migration]:
    """Apply what is missing, renew the views and return the new state."""
    with publishing(path) as connection:
        done = migrations.migrate(connection)
        is_rebuilt = not is_current(connection)
        if is_rebuilt:
            rebuild(connection)
        found = migrations.status(connection)
    say(f"applied {len(done)} migrations to {path}")
    if is_rebuilt:
        say("rebuilt keys, regimes and points")
    return found
