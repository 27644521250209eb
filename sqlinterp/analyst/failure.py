"""What DuckDB says about a query, as an error that points at its place."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

import duckdb

from sqlinterp.analyst.limits import Limits
from sqlinterp.analyst.place import error_at_bytes
from sqlinterp.analyst.process import too_slow
from sqlinterp.errors import QueryError

_LONGEST = 2_000  # characters of a message


def described(
    error: duckdb.Error | MemoryError | RecursionError,
    query: str,
    limits: Limits,
    shift: int,
    views: Collection[str],
) -> QueryError:
    """Return an error of this package for what went wrong with a query.

    Parameters
    ----------
    error : Exception
        What was raised; DuckDB's messages are JSON.
    query : str
        The text that somebody typed.
    limits : Limits
        What the query may use.
    shift : int
        Length of what was put before the text when it was run [bytes].
    views : collection of str
        Views of the database in lower case; DuckDB gives places in their SQL, too.
    """
    kind, fields = _read(str(error))
    message = _short(f"{kind}: {fields['exception_message']}" if fields else str(error))
    return _over_limits(error, message, limits) or _placed(query, message, fields, shift, views)


def _over_limits(error: Exception, message: str, limits: Limits) -> QueryError | None:
    """Return an error of its own for what a limit stopped."""
    if isinstance(error, duckdb.InterruptException):
        return too_slow(limits)
    if isinstance(error, RecursionError) or "expression depth" in message:
        return QueryError("the SQL is too deeply nested")
    is_out_of_memory = isinstance(error, (MemoryError, duckdb.OutOfMemoryException))
    if is_out_of_memory or re.search("[Ff]ailed to allocate|could not allocate", message):
        return QueryError(
            f"the query was stopped: it needs more memory than {limits.memory}",
            todo="Ask for less at once.",
        )
    if "File too large" in message:
        return QueryError(
            f"the result is larger than {limits.memory}", todo="Ask for less at once."
        )
    return None


def _placed(
    query: str, message: str, fields: dict[str, str], shift: int, views: Collection[str]
) -> QueryError:
    """Return an error with the place that DuckDB names, if it is one in the query."""
    place = re.fullmatch(r"\[(\d+),(\d+)\]", str(fields.get("location")))
    if not place:
        return QueryError(message)
    start, length = int(place[1]) - shift, int(place[2])
    marked = query.encode()[max(0, start) : start + length].decode(errors="replace").lower()
    may_be_elsewhere = any(view in query.lower() for view in views)
    if not marked or (may_be_elsewhere and marked != str(fields.get("name")).lower()):
        return QueryError(message)
    return error_at_bytes(query, start, length, message)


def _read(text: str) -> tuple[str, dict[str, str]]:
    """Return kind and fields of an error of DuckDB, no fields if it is no JSON."""
    kind, _, content = text.partition(": ")
    try:
        fields = json.loads(content)
    except ValueError:
        return kind, {}
    return kind, fields if isinstance(fields, dict) and "exception_message" in fields else {}


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
