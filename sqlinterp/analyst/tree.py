"""Checks the syntax tree that DuckDB itself makes of a statement.

Everything in the tree has to be on a list: the kinds of its nodes, functions and tables. What a
later DuckDB adds to its grammar is thereby refused until somebody looks at it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from typing import Any

import duckdb

from sqlinterp.analyst.functions import FUNCTIONS, GRAMMAR, SYSTEM_TABLES, TABLE_FUNCTIONS
from sqlinterp.analyst.place import error_at_bytes
from sqlinterp.analyst.statement import LIBRARY, ONE_SELECT, SCHEMAS, may_name_query
from sqlinterp.errors import QueryError

_EXPRESSION_TEXT = """
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT DEFAULT FUNCTION LAMBDA
    OPERATOR PARAMETER POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW
"""
# Queries, what they read from, how they order and cut; no INSERT_QUERY_NODE or COPY_QUERY_NODE.
_PART_TEXT = """
    SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE
    BASE_TABLE EMPTY EXPRESSION_LIST JOIN PIVOT SHOW_REF SUBQUERY TABLE_FUNCTION
    ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING
"""
_EXPRESSIONS = frozenset(_EXPRESSION_TEXT.split())
_PARTS = frozenset(_PART_TEXT.split())
_LISTINGS = frozenset({"", '"tables"', "__show_tables_expanded"})

Node = dict[str, Any]


def check_tree(
    connection: duckdb.DuckDBPyConnection, query: str, text: str, tables: Collection[str]
) -> None:
    """Refuse a statement whose tree holds anything that is not allowed.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Parses the statement; nothing is run.
    query : str
        The whole text, for messages.
    text : str
        The statement, with which the whole text starts.
    tables : collection of str
        Tables and views of the database, in lower case.

    Raises
    ------
    QueryError
        If the statement is refused; the message shows the place.
    """
    statements = connection.extract_statements(text)
    kinds = [_kind(statement) for statement in statements]
    if kinds == ["MULTI"]:
        raise QueryError("PIVOT without its values is refused", expected="ON column IN (...)")
    if kinds != ["SELECT"]:
        raise QueryError(f"the text is {' and '.join(kinds) or 'nothing'}", expected=ONE_SELECT)
    answer = connection.execute("select json_serialize_sql($text::varchar)", {"text": text})
    tree = json.loads(answer.fetchall()[0][0])
    if tree["error"]:
        raise QueryError(f"the SQL cannot be read: {tree['error_message']}", expected=ONE_SELECT)
    nodes = list(_nodes(tree["statements"]))
    queries = {name for node in nodes for name in _named_queries(node)}
    for node in nodes:
        kind, name = _refused(node, queries, tables)
        if kind:
            raise _error(query, node, name, f"{kind} '{name}' is unknown or refused")


def _kind(statement: duckdb.Statement) -> str:
    try:
        return statement.type.name
    except ValueError:  # DuckDB has more kinds than its Python package has names for
        return "another statement"


def _nodes(tree: Any) -> Iterator[Node]:
    """Yield every object of a tree, except the call that a table function consists of."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(reversed(node))
        elif isinstance(node, dict):
            yield node
            children = dict(node)
            if node.get("type") == "TABLE_FUNCTION":
                children.update({f"function {key}": v for key, v in children["function"].items()})
                del children["function"]
            pending.extend(reversed(children.values()))


def _named_queries(node: Node) -> Iterator[str]:
    """Yield the names that a WITH clause defines."""
    clause = node.get("cte_map")
    if isinstance(clause, dict):
        yield from (item["key"].lower() for item in clause["map"])


def _error(query: str, node: Node, name: str, message: str) -> QueryError:
    start = node.get("query_location", sys.maxsize)
    if start >= len(query.encode()):  # DuckDB does not know every place
        return QueryError(message)
    return error_at_bytes(query, start, len(name.encode()), message)


def _refused(node: Node, queries: Collection[str], tables: Collection[str]) -> tuple[str, str]:
    """Return kind and name of what is not allowed about a node, else two empty texts."""
    part = node.get("type")
    if "class" in node:
        if node["class"] not in _EXPRESSIONS:
            return "expression", str(node["class"])
        if node["class"] not in ("FUNCTION", "WINDOW"):
            return "", ""
        name = node["function_name"].lower()
        return ("", "") if name in FUNCTIONS or name in GRAMMAR else ("function", name)
    if not isinstance(part, str):
        return "", ""
    if part not in _PARTS:
        return "part", part
    if part == "TABLE_FUNCTION":
        name = node["function"]["function_name"].lower()
        return ("", "") if name in TABLE_FUNCTIONS else ("table function", name)
    if part == "SHOW_REF" and node["table_name"].lower() not in _LISTINGS:
        return "listing", node["table_name"]
    if part == "BASE_TABLE" and not _is_readable(node, queries, tables):
        return "table", node["table_name"]
    return "", ""


def _is_readable(node: Node, queries: Collection[str], tables: Collection[str]) -> bool:
    """Return whether a table is one of the database, or named by the statement itself."""
    catalog, schema = node["catalog_name"].lower(), node["schema_name"].lower()
    name = node["table_name"].lower()
    if catalog not in SCHEMAS or node.get("at_clause") is not None:
        return False
    if schema == LIBRARY:
        return True
    is_listed = name in tables or name in SYSTEM_TABLES
    is_named = not schema and name in queries and may_name_query(name)
    return schema in SCHEMAS and (is_listed or is_named)
