"""Analyst SQL: one SELECT, read-only, with limits, in a process of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp.analyst.limits import DEFAULT_LIMITS, Limits
from sqlinterp.analyst.process import Request, run_in_process
from sqlinterp.database import connect_analyst
from sqlinterp.errors import QueryError
from sqlinterp.given import told

__all__ = ["DEFAULT_LIMITS", "Limits", "run_sql", "write_parquet"]

Parameters = Mapping[str, Any] | Sequence[Any] | None


def run_sql(
    path: str | os.PathLike[str],
    query: str,
    parameters: Parameters = None,
    limits: Limits = DEFAULT_LIMITS,
    first: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Run one SELECT over a database file and return its result.

    The query runs to its end, within its limits, in another process; the result is read from a
    private file that is gone when the result is closed or no longer used.

    Parameters
    ----------
    path : path
        The database file.
    query : str
        One SELECT statement; ``$name`` or ``?`` stands for a parameter.
    parameters : mapping or sequence, optional
        Values of the parameters.
    limits : Limits, optional
        What the query may use.
    first : int, optional
        Keep so many rows and leave out the rest, instead of refusing a longer result.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The result; ``.df()``, ``.fetchall()`` and the like read it. Columns of the same name are
        told apart by ``_1``, ``_2``, ...

    Raises
    ------
    QueryError
        If the SQL is refused, wrong, or over its limits; the message shows the place.
    DatabaseError
        If the file cannot be opened.
    """
    with _answered(path, query, parameters, limits, first) as file:
        return connect_analyst(file, {}).execute("from answer")


def write_parquet(
    path: str | os.PathLike[str], query: str, target: Path, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Run one SELECT and write its result to a Parquet file.

    Raises
    ------
    QueryError
        If the SQL is refused, wrong, or over its limits.
    DatabaseError
        If the file cannot be opened.
    """
    with _answered(path, query, None, limits, None) as file:
        connection = connect_analyst(file, {"allowed_paths": [str(target)]})
        try:
            connection.table("answer").write_parquet(str(target))
        finally:
            connection.close()


@contextmanager
def _answered(
    path: str | os.PathLike[str],
    query: str,
    parameters: Parameters,
    limits: Limits,
    first: int | None,
) -> Iterator[Path]:
    """Run a query and lend the file of its result; an open file may be read after it is gone."""
    if not isinstance(query, str):
        raise QueryError(f"the query is {told(query)}", expected="SQL as text")
    with tempfile.TemporaryDirectory(prefix="sqlinterp-sql-", ignore_cleanup_errors=True) as folder:
        file = Path(folder).resolve() / "result.duckdb"
        run_in_process(Request(Path(path).absolute(), file, query, parameters, limits, first))
        yield file
