"""Refuses every text but one SELECT that reads nothing except the data.

Two parsers have to agree. sqlglot gives the syntax tree in which the names that somebody wrote,
and their places, are looked up in the lists of what is allowed. What DuckDB makes of the same
text is checked by the same lists in :mod:`sqlinterp.analyst.tree`, since that is what runs: a
text that the parsers read differently gets through neither.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Collection, Iterator

from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from sqlinterp.analyst.functions import CALLABLE, SYSTEM_TABLES
from sqlinterp.analyst.place import error_at
from sqlinterp.errors import QueryError

LONGEST = 100_000  # characters of a query
ONE_SELECT = "one SELECT"
LIBRARY = "information_schema"
SCHEMAS = frozenset({"", "main", "profiling"})
_LIKENESS = 0.8  # of a name that somebody may have meant
_LISTINGS = frozenset({"TABLES", "ALL TABLES"})
_STATEMENTS = (exp.Query, exp.Values, exp.Describe, exp.Summarize, exp.Pivot, exp.Show)
_INTERNAL = ("duckdb_", "pragma_", "pg_", "sqlite_")
_CHANGES = (exp.DDL, exp.DML, exp.Command)

# sqlglot says there that it passes a statement through unread; such a statement is refused here.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())
logging.getLogger("sqlglot").propagate = False


def check_characters(query: str) -> None:
    """Refuse a text that no parser should be given.

    Raises
    ------
    QueryError
        If it is too long, or holds a character that parsers may take for its end.
    """
    if len(query) > LONGEST:
        raise QueryError(f"the text has {len(query):,} characters", expected=f"at most {LONGEST:,}")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise QueryError("the text is not valid Unicode", f"character {error.start + 1}") from error
    if "\0" in query:
        raise error_at(query, query.index("\0"), 1, "the text holds a null character")


def check_statement(query: str, tables: Collection[str]) -> str:
    """Return the text of the one statement, without the semicolon and what follows it.

    Parameters
    ----------
    query : str
        What somebody typed.
    tables : collection of str
        Tables and views of the database, in lower case.

    Raises
    ------
    QueryError
        If the statement is refused; the message shows the place.
    """
    statements, end = _parsed(query)
    given = [one for one in statements if one is not None and not isinstance(one, exp.Semicolon)]
    if len(given) != 1 or not query[:end].strip():
        raise QueryError(f"the text holds {len(given)} statements", expected=ONE_SELECT)
    _check_kind(query, given[0])
    for place, name, message in _refused(query, given[0], tables):
        raise error_at(query, place, len(name), message)
    return query[:end]


def _parsed(query: str) -> tuple[list[exp.Expr | None], int]:
    """Return the statements of a text, and where the first one ends."""
    dialect = Dialect.get_or_raise("duckdb")
    try:
        text = query
        for token in dialect.tokenize(query):
            if token.text == "?::":  # for DuckDB a parameter and a cast, for sqlglot an operator
                text = f"{text[: token.start]}0{text[token.start + 1 :]}"
        tokens = dialect.tokenize(text)
        # How many arguments a function takes is not for sqlglot to say, so it must not raise.
        parser = dialect.parser(error_level=ErrorLevel.IGNORE)
        statements = parser.parse(tokens, text)
    except ParseError as error:
        raise _unreadable(query, error) from error
    except SqlglotError as error:
        raise QueryError(f"the SQL cannot be checked: {error}") from error
    if parser.errors:
        raise _unreadable(query, parser.errors[0])
    ends = (token.start for token in tokens if token.token_type.name == "SEMICOLON")
    return statements, next(ends, len(query))


def _unreadable(query: str, error: ParseError) -> QueryError:
    first = error.errors[0] if error.errors else {}
    line, column, token = first.get("line"), first.get("col"), first.get("highlight") or ""
    message = f"the SQL cannot be checked: {str(first.get('description', error)).split(' but ')[0]}"
    if not line or not column:
        return QueryError(message)
    start = sum(len(text) + 1 for text in query.split("\n")[: line - 1]) + column - len(token)
    return error_at(query, start, len(token), message)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return a hint at the known name that is most like an unknown one, if there is any."""
    close = difflib.get_close_matches(name, sorted(known), 1, _LIKENESS)
    return f"; did you mean '{close[0]}'?" if close else ""


def _check_kind(query: str, tree: exp.Expr) -> None:
    """Refuse statements that are no SELECT, and the ones that hold a change."""
    is_listing = not isinstance(tree, exp.Show) or tree.name in _LISTINGS
    if not isinstance(tree, _STATEMENTS) or not is_listing:
        token = Dialect.get_or_raise("duckdb").tokenize(query)[0]
        message = f"{token.text.upper()} is refused, {ONE_SELECT} is expected"
        raise error_at(query, token.start, len(token.text), message)
    for described in tree.find_all(exp.Describe, exp.Summarize):
        if not isinstance(described.this, (exp.Table, exp.Query)):
            raise QueryError(f"{described.key.upper()} is refused", expected="a table or a query")
    change = tree.find(*_CHANGES)
    if change is not None:
        place = min((start for start in map(_start, change.walk()) if start is not None), default=0)
        name = type(change).__name__.upper()
        raise error_at(query, place, 1, f"{name} inside of a query is refused")


def _refused(query: str, tree: exp.Expr, tables: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (place, name, message) of every function and table that is not allowed."""
    queries = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Func, exp.Table):
        if isinstance(node, exp.Func):  # the names of table functions too
            name = _written_name(query, node)
            if name and name not in CALLABLE:
                hint = did_you_mean(name, CALLABLE)
                yield _start(node) or 0, name, f"function '{name}' is unknown or refused{hint}"
        elif isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
            name = node.name.lower()
            if not _is_readable(node, name, queries, tables):
                hint = did_you_mean(name, tables)
                yield _start(node.this) or 0, name, f"table '{name}' is unknown or refused{hint}"


def _is_readable(
    node: exp.Table, name: str, queries: Collection[str], tables: Collection[str]
) -> bool:
    if not isinstance(node.this, exp.Identifier):
        return False
    schema, catalog = node.db.lower(), node.catalog.lower()
    if schema == LIBRARY:
        return catalog in SCHEMAS
    if schema not in SCHEMAS or catalog not in SCHEMAS:
        return False
    is_named = not schema and name in queries and may_name_query(name)
    return name in tables or name in SYSTEM_TABLES or is_named


def may_name_query(name: str) -> bool:
    """Return whether a name can be neither a file nor a table of DuckDB's own.

    A name of a WITH clause is accepted in the whole statement, also where it is not visible.
    """
    return re.fullmatch(r"\w+", name) is not None and not name.startswith(_INTERNAL)


def _written_name(query: str, function: exp.Func) -> str:
    """Return the name as it was written, in lower case; empty where grammar makes a function."""
    start, end = _start(function), function.meta.get("end")
    if start is None or not isinstance(end, int):
        return ""
    return query[start : end + 1].strip('"').lower()


def _start(node: exp.Expr) -> int | None:
    start = node.meta.get("start")
    return start if isinstance(start, int) else None
