"""Views in the SQL of other engines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, SqlglotError

from sqlinterp.errors import QueryError, UsageError

# What the generators write without a word although it means or does something else elsewhere.
_UNLIKE = {
    exp.PercentileCont: "percentiles may become approximate ones",
    exp.Quantile: "quantiles may become approximate ones",
    exp.Slice: "list slices may not exist",
    exp.Length: "LENGTH of a list may be another function",
}


def dialects() -> list[str]:
    """Return the names of the engines that sqlglot writes SQL for."""
    return sorted(name for name in Dialect.classes if name)


def transpiled(view: str, sql: str, dialect: str) -> tuple[str, list[str]]:
    """Return the definition of a view in another dialect, and what to look at in it.

    Parameters
    ----------
    view : str
        Name of the view, for messages.
    sql : str
        Text that starts with its CREATE VIEW statement, in DuckDB's SQL.
    dialect : str
        One of :func:`dialects`.

    Returns
    -------
    (str, list of str)
        A CREATE VIEW statement, and warnings about what the engine may not have or treat alike.

    Raises
    ------
    UsageError
        If the dialect is unknown.
    QueryError
        If the SQL cannot be transpiled.
    """
    if dialect not in dialects():
        known = ", ".join(dialects())
        raise UsageError(f"dialect '{dialect}' is unknown", "--dialect", f"one of {known}")
    with _remarks() as remarks:
        try:
            statements = Dialect.get_or_raise("duckdb").parse(sql)
            tree = next(one for one in statements if isinstance(one, exp.Create))
            generator = Dialect.get_or_raise(dialect).generator(
                pretty=True, unsupported_level=ErrorLevel.IGNORE
            )
            text = generator.generate(tree)
        except (SqlglotError, StopIteration) as error:
            problem = str(error) or "sqlglot does not understand it"
            raise QueryError(f"cannot be written in another dialect: {problem}", view) from error
    warnings = [*generator.unsupported_messages, *remarks, *_doubts(tree, dialect)]
    return text, warnings + _objections(text, dialect)


def _objections(text: str, dialect: str) -> list[str]:
    """Return a warning if sqlglot itself does not take a text for SQL of the dialect."""
    with _remarks() as remarks:
        try:
            Dialect.get_or_raise(dialect).parse(text)
        except SqlglotError as error:
            return [f"{dialect} will not read it: {str(error).splitlines()[0]}"]
    return [f"{dialect} may not read it" for _ in remarks]


@contextmanager
def _remarks() -> Iterator[list[str]]:
    """Collect what sqlglot would write to a log."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("sqlglot")
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _doubts(tree: exp.Expr, dialect: str) -> Iterator[str]:
    """Yield what sqlglot passes on without knowing whether the engine has it."""
    if dialect == "duckdb":
        return
    for name in sorted({node.name.lower() for node in tree.find_all(exp.Anonymous)}):
        yield f"function '{name}' is passed on as it is"
    for kind, doubt in _UNLIKE.items():
        if tree.find(kind) is not None:
            yield doubt
    if any(join.method == "ASOF" for join in tree.find_all(exp.Join)):
        yield "ASOF JOIN is passed on as it is"
