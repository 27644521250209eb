"""Messages that point at a place in a query."""

from __future__ import annotations

from sqlinterp.errors import QueryError

_WIDEST = 90  # characters of a line that are shown
_MOST_MARKS = 60


def error_at(query: str, start: int, length: int, message: str) -> QueryError:
    r"""Return an error that names line and column and shows the line with a mark below it.

    Parameters
    ----------
    query : str
        The whole text.
    start, length : int
        The place [characters].
    message : str
        What is wrong there.

    Examples
    --------
    >>> print(error_at("SELECT 1,\n  getenv('A')", 12, 6, "function 'getenv' is refused"))
    line 2, column 3: function 'getenv' is refused
      2 |   getenv('A')
        |   ^^^^^^
    """
    start = max(0, min(start, len(query)))
    before = query[:start]
    number = before.count("\n") + 1
    column = start - (before.rfind("\n") + 1)
    line = query.split("\n")[number - 1]
    shown, left = _clipped(line, column)
    marks = "^" * max(1, min(length, len(shown) - left, _MOST_MARKS))
    gutter = " " * len(str(number))
    excerpt = f"  {number} | {shown}\n  {gutter} | {' ' * left}{marks}"
    return QueryError(f"{message}\n{excerpt}", f"line {number}, column {column + 1}")


def error_at_bytes(query: str, start: int, length: int, message: str) -> QueryError:
    """Return :func:`error_at` for a place in the UTF-8 form of the query [bytes]."""
    text = query.encode()
    head = text[:start].decode(errors="replace")
    marked = text[start : start + length].decode(errors="replace")
    return error_at(query, len(head), len(marked), message)


def _clipped(line: str, column: int) -> tuple[str, int]:
    """Return the part of a line around a column, and the column in it."""
    shown = "".join(character if character.isprintable() else " " for character in line)
    first = max(0, min(column - _WIDEST // 2, len(shown) - _WIDEST))
    if first:
        return "..." + shown[first : first + _WIDEST], column - first + 3
    return shown[:_WIDEST], column
