"""Analyst SQL: one SELECT, read-only, with limits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp.database import connect_analyst
from sqlinterp.errors import QueryError

Parameters = Mapping[str, Any] | Sequence[Any] | None
Node = dict[str, Any]

_SYSTEM_TABLES = frozenset({"duckdb_tables", "duckdb_views", "duckdb_columns"})
_TABLE_FUNCTIONS = _SYSTEM_TABLES | {"range", "generate_series", "unnest", "json_each", "json_tree"}
_UNLISTED_FUNCTIONS = frozenset({"unnest"})
_LISTINGS = frozenset({"", '"tables"', "__show_tables_expanded"})
# Functions that read settings, variables, files or plans, or that change something.
_REFUSED = frozenset(
    {
        "create_sort_key", "current_query", "current_setting", "currval", "get_block_size",
        "getenv", "getvariable", "hive_partition_component", "in_search_path",
        "json_deserialize_sql", "json_execute_serialized_sql", "json_serialize_plan", "nextval",
        "parse_duckdb_log_message", "query", "query_table", "setseed", "setval", "sleep_ms",
        "write_log",
    }
)  # fmt: skip
_REFUSED_PREFIXES = ("__", "pg_", "inet_", "has_", "json_copy_", "duckdb_", "pragma_")


@dataclass(frozen=True)
class Limits:
    """What one query may use.

    Attributes
    ----------
    seconds : int
        Longest run [s].
    memory : str
        Most memory, as DuckDB writes it.
    threads : int
        Worker threads [count].
    """

    seconds: int = 30
    memory: str = "1GB"
    threads: int = 2

    def settings(self) -> dict[str, str | int]:
        """Return the limits by DuckDB's names."""
        return {
            "memory_limit": self.memory,
            "threads": self.threads,
            "max_execution_time": self.seconds * 1000,
            "temp_directory": "",
            "python_enable_replacements": "false",
        }


DEFAULT_LIMITS = Limits()


def run_sql(
    path: str | os.PathLike[str],
    query: str,
    parameters: Parameters = None,
    limits: Limits = DEFAULT_LIMITS,
) -> duckdb.DuckDBPyConnection:
    """Run one SELECT over a database file on a connection of its own.

    Parameters
    ----------
    path : path
        The database file.
    query : str
        One SELECT statement; ``$name`` or ``?`` stands for a parameter.
    parameters : mapping or sequence, optional
        Values of the parameters.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The result; ``.df()``, ``.fetchall()`` and the like read it.

    Raises
    ------
    QueryError
        If the SQL is refused, wrong, or over its limits; the message shows the place.
    DatabaseError
        If the file cannot be opened.
    """
    connection = connect_analyst(Path(path), limits.settings())
    try:
        check_query(connection, query)
        return connection.execute(query, parameters)
    except BaseException as error:
        connection.close()
        if isinstance(error, duckdb.Error):
            raise query_error(error) from error
        raise


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
    connection = connect_analyst(Path(path), limits.settings(), target)
    try:
        check_query(connection, query)
        connection.sql(query).write_parquet(str(target))
    except duckdb.Error as error:
        raise query_error(error) from error
    finally:
        connection.close()


def query_error(error: duckdb.Error) -> QueryError:
    """Return what DuckDB says about a query as an error of this package."""
    return QueryError(str(error).strip())


def check_query(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Refuse everything but one SELECT that reads nothing except the data.

    The statement is checked as DuckDB itself parses it, so that what is checked is what runs.

    Raises
    ------
    QueryError
        If the statement is refused.
    """
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise QueryError(f"the text holds {len(statements)} statements", expected="one SELECT")
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT:
        raise QueryError(f"{kind.name} is refused", expected="one SELECT")
    answer = connection.execute("select json_serialize_sql($query::varchar)", {"query": query})
    tree = json.loads(answer.fetchall()[0][0])
    if tree["error"]:
        raise QueryError(f"{tree['error_message']}", expected="one SELECT")
    functions, system_tables = _known_names(connection)
    for use, name, place in _uses(tree["statements"]):
        if _is_refused(use, name, functions, system_tables):
            raise QueryError(f"{use} '{name}' is unknown or refused{_where(query, place)}")


def _known_names(connection: duckdb.DuckDBPyConnection) -> tuple[set[str], set[str]]:
    """Return the names of the scalar and aggregate functions, and of DuckDB's own tables."""
    functions = connection.execute(
        "select function_name from duckdb_functions()"
        " where function_type in ('scalar', 'aggregate', 'window', 'macro')"
    ).fetchall()
    tables = connection.execute("select view_name from duckdb_views() where internal").fetchall()
    return {row[0].lower() for row in functions}, {row[0].lower() for row in tables}


def _is_refused(kind: str, name: str, functions: set[str], system_tables: set[str]) -> bool:
    if kind == "table function":
        return name not in _TABLE_FUNCTIONS
    if kind == "function":
        is_known = name in functions or name in _UNLISTED_FUNCTIONS
        return not is_known or name in _REFUSED or name.startswith(_REFUSED_PREFIXES)
    if kind == "listing":
        return name not in _LISTINGS
    return name in system_tables - _SYSTEM_TABLES


def _uses(node: Any) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, lower-case name, place) of every function and table that a tree names."""
    if isinstance(node, list):
        for item in node:
            yield from _uses(item)
    if not isinstance(node, dict):
        return
    children = list(node.values())
    if node.get("type") == "TABLE_FUNCTION":
        function = node["function"]
        yield "table function", function["function_name"].lower(), node["query_location"]
        children = [value for key, value in node.items() if key != "function"]
        children += list(function.values())
    elif node.get("class") in ("FUNCTION", "WINDOW"):
        yield "function", node["function_name"].lower(), node["query_location"]
    elif node.get("type") == "SHOW_REF":
        yield "listing", node["table_name"].lower(), node.get("query_location", 0)
    elif node.get("type") == "BASE_TABLE" and node["schema_name"].lower() != "information_schema":
        yield "table", node["table_name"].lower(), node["query_location"]
    for child in children:
        yield from _uses(child)


def _where(query: str, place: int) -> str:
    """Return line and column of a byte offset, nothing when it is unknown."""
    text = query.encode()
    if place >= len(text):
        return ""
    before = text[:place].decode(errors="replace")
    column = len(before) - before.rfind("\n")
    return f" (line {before.count(chr(10)) + 1}, column {column})"
