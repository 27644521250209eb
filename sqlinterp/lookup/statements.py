"""Prepared SQL of the lookups, one set per cursor: what reads no table is planned only once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import named, table
from sqlinterp.memo import Memo

# Longer parameters cost more to write into a statement than its plan does.
_LONGEST_LITERAL = 20_000

# One lookup may ask for the place of its target several times.
_KEPT_RESULTS = 64


class Statements:
    """Composed queries that are parsed once and run with parameters."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, log: list[Step] | None = None) -> None:
        self._cursor = cursor
        self._parsed: dict[tuple[str, ...], Any] = {}
        self._planned: dict[tuple[str, ...], str] = {}
        self._evaluated: Memo[list[dict[str, Any]]] = Memo(_KEPT_RESULTS)
        self.log = log

    def run(self, *steps: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a query, or the named steps of a composed one, and return its rows."""
        found = self._asked(self._statement(steps), parameters)
        return self._logged(steps, parameters, named(*found))

    def fetch(self, *steps: str, **parameters: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run a query like :meth:`run`; return the names of its columns and its rows as tuples."""
        columns, found = self._asked(self._statement(steps), parameters)
        if self.log is not None:
            self._logged(steps, parameters, named(columns, found))
        return columns, found

    def _statement(self, steps: tuple[str, ...]) -> Any:
        statement = self._parsed.get(steps)
        if statement is None:
            statement = self._cursor.extract_statements(_text(steps))[0]
            self._parsed[steps] = statement
        return statement

    def _asked(
        self, query: Any, parameters: Mapping[str, Any] | None = None
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return columns and rows; what needs more memory than an opened file has, gets it."""
        try:
            return table(self._cursor.execute(query, parameters))
        except duckdb.OutOfMemoryException:
            self._cursor.execute("reset memory_limit")
            return table(self._cursor.execute(query, parameters))

    def evaluate(self, *steps: str, **texts: str) -> list[dict[str, Any]]:
        """Run a query that reads no table and whose parameters are texts.

        The database plans such a statement once for all its runs; it plans one that reads a table
        or a variable, or has a parameter twice, every time. The query has to cast its parameters
        to VARCHAR.
        """
        if not self.is_short(*texts.values()):
            return self.run(*steps, **texts)
        key = (steps, *texts.items())
        found = self._evaluated.get(key)
        if found is None:
            found = self._evaluated.put(key, self._evaluate(steps, texts))
        return self._logged(steps, texts, [dict(row) for row in found])

    def _evaluate(self, steps: tuple[str, ...], texts: Mapping[str, str]) -> list[dict[str, Any]]:
        name = self._planned.get(steps)
        if name is None:
            # Named by what it says, since a cursor may have other statements of ours already.
            text = _text(steps)
            name = f"planned_{hashlib.sha256(text.encode()).hexdigest()}"
            self._cursor.execute(f"prepare {name} as {text}")
            self._planned[steps] = name
        given = ", ".join(f"{key} := {_literal(text)}" for key, text in texts.items())
        return named(*self._asked(f"execute {name}({given})"))

    @staticmethod
    def is_short(*texts: str) -> bool:
        """Return whether a statement of these parameters is better planned once."""
        return sum(map(len, texts)) <= _LONGEST_LITERAL

    def _logged(
        self, steps: tuple[str, ...], parameters: Mapping[str, Any], result: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        if self.log is not None:
            self.log.append(Step(steps, parameters, result))
        return result


def _text(steps: tuple[str, ...]) -> str:
    is_query = len(steps) == 1 and "=" not in steps[0]
    return queries.load(steps[0]).body if is_query else queries.compose(*steps)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class Step:
    """One statement that ran: its named steps, parameters and rows (for ``explain``)."""

    def __init__(
        self,
        steps: tuple[str, ...],
        parameters: Mapping[str, Any],
        result: list[dict[str, Any]],
    ) -> None:
        self.steps, self.parameters, self.rows = steps, parameters, result
