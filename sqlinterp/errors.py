"""The one error tree: what is wrong, where, what was expected and what to do."""

from __future__ import annotations


class SqlinterpError(Exception):
    """Base of every error that sqlinterp raises on purpose.

    Parameters
    ----------
    what : str
        What is wrong, in one sentence.
    where : str, optional
        File, row, column, argument or key concerned.
    expected : str, optional
        What was expected instead.
    todo : str, optional
        What the reader can do about it.
    """

    exit_code = 2

    def __init__(self, what: str, where: str = "", expected: str = "", todo: str = "") -> None:
        self.what, self.where, self.expected, self.todo = what, where, expected, todo
        super().__init__(self._text())

    def _text(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.expected:
            text += f" (expected {self.expected})"
        return f"{text}. {self.todo}" if self.todo else text


class UsageError(SqlinterpError):
    """A request that cannot be understood: bad flag, unknown version, malformed invocation."""


class SourceError(SqlinterpError):
    """Source data that cannot be used: folder, CSV or mapping."""

    exit_code = 3


class DatabaseError(SqlinterpError):
    """A database file that cannot be opened, read or written."""

    exit_code = 4


class MigrationError(DatabaseError):
    """A schema that cannot be brought up to date."""


class QueryFileError(DatabaseError):
    """A packaged SQL file that is missing or malformed."""


class QueryError(DatabaseError):
    """Analyst SQL that is refused, wrong, or over its limits."""
