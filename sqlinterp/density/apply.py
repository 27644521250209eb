"""The rules of a database file by its path: what they are, and other ones in their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlinterp import queries
from sqlinterp.database import connect_reader, rows
from sqlinterp.density.table import load_rules, restore_default
from sqlinterp.migrations import check_current
from sqlinterp.publishing import publishing


@dataclass(frozen=True)
class RulesInForce:
    """The rules of a database file, and how often its measurements break them.

    Attributes
    ----------
    file_name : str
        YAML file that they were loaded from.
    is_default : bool
        Whether sqlinterp ships them.
    rules : list of dict
        One for each rule as ``sql/density/rule_summary.sql`` gives them, in the order of the file:
        ``axis_count`` axes of regimes that it applies to, ``gap_count`` stretches that break it,
        ``missing_count`` values that would fill them [count].
    """

    file_name: str
    is_default: bool
    rules: list[dict[str, Any]]


def rules_in_force(database: Path) -> RulesInForce:
    """Return the rules of a database file.

    Raises
    ------
    DatabaseError
        If the file cannot be read, or lacks migrations.
    """
    connection = connect_reader(database)
    try:
        check_current(connection, database)
        source = connection.execute("select file_name, is_default from density_source").fetchall()
        found = rows(connection.execute(queries.load("density.rule_summary").body))
        name, is_default = source[0] if source else ("", False)
        return RulesInForce(name, is_default, found)
    finally:
        connection.close()


def use_rules(database: Path, file: Path | None) -> None:
    """Put the rules of a YAML file, or the shipped ones, in place of those of a database file.

    Nothing is ingested again: views compare with the new rules from now on.

    Parameters
    ----------
    database : Path
        Existing database file.
    file : Path or None
        YAML file with the rules, None for the shipped ones.

    Raises
    ------
    SourceError
        If the YAML file has faults; all are listed, and the rules stay as they are.
    DatabaseError
        If the database cannot be written, or lacks migrations.
    """
    reader = connect_reader(database)
    try:
        check_current(reader, database)
    finally:
        reader.close()
    with publishing(database) as connection:
        if file is None:
            restore_default(connection)
        else:
            load_rules(connection, file)
