"""Decides whether a text is a query that may run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import duckdb

from sqlinterp.analyst.statement import check_characters, check_statement
from sqlinterp.analyst.tree import check_tree

_READABLE = (
    "select lower(table_name), false from duckdb_tables() where database_name = 'profiling'"
    " union select lower(view_name), true from duckdb_views()"
    " where database_name = 'profiling' and not internal"
)


@dataclass(frozen=True)
class Readable:
    """What a query may read: tables and views of the database, in lower case."""

    tables: frozenset[str]
    views: frozenset[str]

    @property
    def names(self) -> Collection[str]:
        """Tables and views."""
        return self.tables | self.views


def readable(connection: duckdb.DuckDBPyConnection) -> Readable:
    """Return what the database of an analyst connection holds."""
    found = connection.execute(_READABLE).fetchall()
    return Readable(
        frozenset(name for name, is_view in found if not is_view),
        frozenset(name for name, is_view in found if is_view),
    )


def check_query(connection: duckdb.DuckDBPyConnection, query: str, names: Collection[str]) -> str:
    """Return the text of the one SELECT that somebody typed, after both parsers agreed on it.

    Raises
    ------
    QueryError
        If the text is refused; the message shows the place.
    duckdb.Error
        If DuckDB cannot parse it.
    """
    check_characters(query)
    connection.extract_statements(query)  # its messages about syntax are the better ones
    text = check_statement(query, names)
    check_tree(connection, query, text, names)
    return text
