"""The rows of the report: named queries over the views, written to CSV as they are read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.errors import MigrationError

_BATCH = 10_000


@dataclass(frozen=True)
class Result:
    """The first rows of a table, and how many there are.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    rows : list of tuple
        At most as many rows as were asked for.
    total : int
        Rows of the whole table [count].
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    total: int


class Source:
    """Runs the queries of ``sql/report`` on one connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self.path = path

    def table(self, name: str, limit: int, csv_file: Path) -> Result:
        """Write all rows of a table to a CSV file and return the first ones."""
        cursor = self._run(name, {})
        columns = tuple(column[0] for column in cursor.description or [])
        kept: list[tuple[Any, ...]] = []
        total = 0
        with csv_file.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            for row in _fetched(cursor):
                writer.writerow([csv_cell(value) for value in row])
                total += 1
                if total <= limit:
                    kept.append(row)
        return Result(columns, kept, total)

    def records(
        self, name: str, most: int | None = None, **parameters: int
    ) -> list[dict[str, Any]]:
        """Return the rows of a query as dictionaries, or only the first ``most`` of them."""
        cursor = self._run(name, parameters)
        columns = [column[0] for column in cursor.description or []]
        found = cursor.fetchall() if most is None else cursor.fetchmany(most)
        return [dict(zip(columns, row, strict=True)) for row in found]

    def _run(self, name: str, parameters: Mapping[str, int]) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(queries.load(f"report.{name}").body, parameters)
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise MigrationError(
                "the views of the database were made by another sqlinterp",
                str(self.path),
                todo=f"Run 'sqlinterp migrate --db {self.path}'.",
            ) from error


def _fetched(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := cursor.fetchmany(_BATCH):
        yield from batch


def csv_cell(value: Any) -> Any:
    """Return a value as the CSV files hold it: lists as JSON, booleans as true and false.

    Examples
    --------
    >>> csv_cell([[64, 8], [8]]), csv_cell(True), csv_cell(0.5)
    ('[[64, 8], [8]]', 'true', 0.5)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, date):
        return value.isoformat()
    return value
