"""The canonical queries on DuckDB itself, in the place of Spark."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd

from sqlinterp.database import rows
from sqlinterp.relational.backend import Relation
from sqlinterp.relational.canonical import Name, text
from sqlinterp.relational.cells import solve_cells


class DuckBackend:
    """A backend that runs the canonical queries as they are written."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self.asked: list[str] = []

    def run(self, name: Name, aggregation: str, **relations: Relation) -> list[dict[str, Any]]:
        """Rows of a query."""
        self.asked.append(name)
        for table, relation in relations.items():
            self._store(table, relation)
        parameters = {"aggregation": aggregation} if "$aggregation" in text(name) else {}
        return rows(self._cursor.execute(text(name), parameters))

    def cells(self, places: Relation, aggregation: str) -> list[dict[str, Any]]:
        """Answers of every regime."""
        self.asked.append("cells")
        self._store("target_place", places)
        own = self._cursor.execute("from target_place").df()
        query = text("needed_points")
        points = self._cursor.execute(query, {"aggregation": aggregation}).df()
        found = [
            solve_cells(group, points[points["regime_id"] == regime])
            for regime, group in own.groupby("regime_id")
        ]
        together = pd.concat(found).astype({"latency_us": object})
        return together.where(together.notna(), None).to_dict("records")

    def _store(self, table: str, relation: Relation) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in relation.columns.items())
        self._cursor.execute(f"create or replace temp table {table} ({columns})")
        frame = pd.DataFrame(list(relation.rows), columns=list(relation.columns), dtype=object)
        self._cursor.register("given", frame)
        self._cursor.execute(f"insert into {table} from given")
        self._cursor.unregister("given")
