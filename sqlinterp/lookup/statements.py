"""Prepared SQL of the lookups, one set per cursor: the text is parsed once."""

from __future__ import annotations

from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import rows


class Statements:
    """Composed queries that are parsed once and run with parameters."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, log: list[Step] | None = None) -> None:
        self._cursor = cursor
        self._parsed: dict[tuple[str, ...], Any] = {}
        self.log = log

    def run(self, *steps: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a query, or the named steps of a composed one, and return its rows."""
        statement = self._parsed.get(steps)
        if statement is None:
            is_query = len(steps) == 1 and "=" not in steps[0]
            text = queries.load(steps[0]).body if is_query else queries.compose(*steps)
            statement = self._cursor.extract_statements(text)[0]
            self._parsed[steps] = statement
        result = rows(self._cursor.execute(statement, parameters))
        if self.log is not None:
            self.log.append(Step(steps, parameters, result))
        return result


class Step:
    """One statement that ran: its named steps, parameters and rows (for ``explain``)."""

    def __init__(
        self, steps: tuple[str, ...], parameters: dict[str, Any], result: list[dict[str, Any]]
    ) -> None:
        self.steps, self.parameters, self.rows = steps, parameters, result
