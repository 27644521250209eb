"""The only place that opens DuckDB connections and sets their limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.given import path_of
from sqlinterp.locks import check_regular

DEFAULT_FILE = "profiling.duckdb"
_ROW_GROUP_SIZE = 32768
_BLOCK_SIZE = 65536
_IN_MEMORY = ":memory:"
_SIGNS_OF_DAMAGE = ("Corrupt database file", "Could not read enough bytes", "Failed to deserialize")
_LOCKED_DOWN: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


def database_path(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the database file: the given one, ``$SQLINTERP_DB``, or ``profiling.duckdb``.

    Raises
    ------
    UsageError
        If it is no path.
    """
    if given is None or given == "":
        given = os.environ.get("SQLINTERP_DB") or DEFAULT_FILE
    return path_of(given, "the database")


def connect_writer(path: Path, name: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Open a database file for writing, creating it if need be.

    Nobody may read the file meanwhile; :func:`sqlinterp.publishing.publishing` lends one that
    nobody can.

    Parameters
    ----------
    path : Path
        The file, or ``:memory:``.
    name : Path, optional
        What messages call the file.

    Raises
    ------
    DatabaseError
        If the file is no DuckDB database, is locked by another process, or cannot be created.
    """
    option = f"row_group_size {_ROW_GROUP_SIZE}"
    if not os.path.exists(path):
        # Small blocks let a lookup read little of a sorted table; a file keeps those it began with.
        option += f", block_size {_BLOCK_SIZE}"
    connection = _attach(path, option, name=name)
    if str(path) != _IN_MEMORY:
        # By default, what does not fit into memory goes to the working directory.
        connection.execute("set temp_directory = $folder", {"folder": f"{path}.tmp"})
    define_macros(connection)
    return connection


def connect_reader(path: Path, **config: Any) -> duckdb.DuckDBPyConnection:
    """Open an existing database file read-only, as it is now.

    The file is attached to an instance of its own: DuckDB would share one that the process has
    open under the same name, even when another file has taken its place since.

    Raises
    ------
    DatabaseError
        If there is no such file, or it is no DuckDB database, or a writer holds it.
    """
    check_regular(path)
    connection = _attach(path, "read_only", config)
    connection.execute("set enable_external_access = false")
    return connection


def connect_analyst(
    path: Path, settings: Mapping[str, str | int | list[str]], result: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """Open an existing database file read-only and locked down, for SQL that somebody typed.

    The connection reads no other file, loads no extension and keeps its settings. The database is
    attached, so that a process may have other connections to it.

    Parameters
    ----------
    path : Path
        The database file.
    settings : mapping
        Limits by DuckDB's names, e.g. ``memory_limit``.
    result : Path, optional
        A new database file, attached as ``result``, which the connection may write.

    Raises
    ------
    DatabaseError
        If there is no such file, or it is no DuckDB database, or a writer holds it.
    """
    check_regular(path)
    connection = _attach(path, "read_only")
    if result is not None:
        connection.execute("attach $path as result", {"path": str(result)})
    closing = {"enable_external_access": "false", "lock_configuration": "true"}
    for name, value in {**settings, **closing}.items():
        connection.execute(f"set {name} = $value", {"value": value})
    return connection


def _attach(
    path: Path,
    option: str,
    config: Mapping[str, Any] | None = None,
    name: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a connection of its own with the file attached and in use."""
    connection = _quiet(duckdb.connect(config={**_LOCKED_DOWN, **(config or {})}))
    # A relative name with a colon in it would be taken for the name of a driver.
    file = str(path) if str(path) == _IN_MEMORY else os.path.abspath(path)
    try:
        quoted = file.replace("'", "''")
        connection.execute(f"attach '{quoted}' as profiling (type duckdb, {option})")
        connection.execute("use profiling")
    except UnicodeEncodeError as error:
        connection.close()
        raise DatabaseError("the name of the file is no UTF-8", ascii(str(path))) from error
    except duckdb.Error as error:
        connection.close()
        raise _cannot_open(error, file, name or path) from error
    return connection


def _quiet(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Keep DuckDB from drawing a progress bar on stdout, as it does in interactive sessions."""
    connection.execute("set enable_progress_bar = false")
    return connection


def _cannot_open(error: Exception, file: str, name: Path) -> DatabaseError:
    """Return what DuckDB says in one sentence, about the file that the reader knows."""
    text = str(error).splitlines()[0].replace(file, str(name))
    if "not a valid DuckDB database" in text:
        is_empty = os.path.getsize(file) == 0
        problem = "the file is empty, so it is no DuckDB database"
        return DatabaseError(problem if is_empty else "the file is no DuckDB database", str(name))
    if is_damage(error):
        return damaged(error, name)
    todo = ""
    if "Could not set lock" in text:
        text, todo = "another program has it open for writing", "Close it there, then try again."
    elif "version number" in text:
        todo = "Update duckdb, or ingest into a new file."
    return DatabaseError(f"cannot open the database: {text}", str(name), todo=todo)


def is_damage(error: BaseException) -> bool:
    """Return whether DuckDB found that a file is not as it was written."""
    return any(sign in str(error) for sign in _SIGNS_OF_DAMAGE)


def damaged(error: Exception, path: Path) -> DatabaseError:
    """Return the error of a file that is not as it was written."""
    return DatabaseError(
        f"the database file is damaged: {str(error).splitlines()[0]}",
        str(path),
        todo="Restore it, or ingest into a new file.",
    )


def define_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Define the scalar macros of ``sql/macros`` for this connection."""
    for name in queries.names("macros"):
        connection.execute(queries.load(name).body)


def sibling(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return another connection to the database of a connection, for another thread."""
    cursor = connection.cursor()
    cursor.execute("use profiling")
    return _quiet(cursor)


def load_aliases(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the dtype aliases known to expressions.

    A statement that reads a variable is planned every time that it runs.
    """
    connection.execute(
        "set variable dtype_alias = (select map(list(alias), list(dtype)) from dtype_alias)"
    )


def rows(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of an executed query as dictionaries by column name."""
    return named(*table(cursor))


def table(cursor: duckdb.DuckDBPyConnection) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the column names and the rows of an executed query."""
    return [column[0] for column in cursor.description or []], cursor.fetchall()


def named(columns: list[str], found: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return rows as dictionaries by column name."""
    return [dict(zip(columns, row, strict=True)) for row in found]


def resolve_version(known: list[str], given: str | None) -> str:
    """Return the one version key that equals ``given`` or ends with it.

    Raises
    ------
    UsageError
        If there is none, several, or (with ``given`` None) more than one version; the message
        lists the known keys.
    """
    listing = "Known versions: " + (", ".join(known) or "none") + "."
    if given is None:
        if len(known) == 1:
            return known[0]
        raise UsageError(f"the database holds {len(known)} versions; name one", todo=listing)
    if not isinstance(given, str):
        raise UsageError(f"version {given!r} is no text", todo=listing)
    matches = [key for key in known if key == given]
    matches = matches or [key for key in known if key.endswith("/" + given.strip("/"))]
    if len(matches) != 1:
        problem = "ambiguous" if matches else "unknown"
        raise UsageError(f"version '{given}' is {problem}", todo=listing)
    return matches[0]
