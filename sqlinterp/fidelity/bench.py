"""A copy of a database from which measurements are taken away, with the usual lookup on it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from sqlinterp import queries
from sqlinterp.database import connect_writer, load_aliases, rows
from sqlinterp.fidelity.grid import Coordinate, Row, coordinate_of
from sqlinterp.ingestion.uses import path_uses
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.levels import ignore_levels
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.paths import PATHS
from sqlinterp.publishing import copy_database

_PLACES = (
    "create temp table held_place (regime_id integer, row_id bigint, axis_1 double, axis_2 double,"
    " axis_3 double, axis_4 double)"
)
_USES = "create temp table path_use (file_id integer, path varchar, input_limit integer)"
_DROPS = ("drop_points", "drop_keys", "drop_counts", "drop_regimes", "drop_measurements")


class Bench:
    """One version of a copied database under one context."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, version_key: str, context: QueryContext
    ) -> None:
        self._connection = connection
        self.catalog = Catalog(connection, version_key)
        self.engine = Engine(Statements(connection), self.catalog, context)
        self._place()

    def run(self, query: str, **parameters: object) -> list[Row]:
        """Return the rows of a query of ``sql/fidelity``."""
        body = queries.load(f"fidelity.{query}").body
        return rows(self._connection.execute(body, parameters))

    def torch_names(self) -> dict[str, str]:
        """Return a name of torch for every dtype name of the database."""
        found = self._connection.execute(
            "select dtype, arg_min(lower(alias), (starts_with(alias, 'DT_'), -len(alias), alias))"
            " from dtype_alias group by dtype"
        )
        return dict(found.fetchall())

    def lookup_without(
        self, held: Iterable[tuple[int, Coordinate]], calls: Sequence[OpInvocation]
    ) -> list[Answer]:
        """Answer calls as if the coordinates of some regimes had never been measured.

        All measurements of the coordinates leave, and all that was derived from them; afterwards
        everything is as before.
        """
        told = [
            {"regime_id": regime_id, **{f"axis_{i}": x for i, x in enumerate(axes, start=1)}}
            for regime_id, axes in held
        ]
        self._connection.execute("begin")
        try:
            self.run("leaving_rows", held=json.dumps(told))
            for name in _DROPS:
                self.run(name)
            self.catalog.kept_rows.clear()
            return self.engine.lookup_many(calls)
        finally:
            self._connection.execute("rollback")
            self.catalog.kept_rows.clear()

    def coordinates_of(
        self, lines: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], set[tuple[int, Coordinate]]]:
        """Return regime and coordinate of the measurements on lines, given as (file, line)."""
        asked = [{"file_id": file, "line_number": line} for file, line in sorted(set(lines))]
        found: dict[tuple[int, int], set[tuple[int, Coordinate]]] = {}
        for row in self.run("coordinates_of_lines", lines=json.dumps(asked)) if asked else []:
            place = (row["regime_id"], coordinate_of(row))
            found.setdefault((row["file_id"], row["line_number"]), set()).add(place)
        return found

    def _place(self) -> None:
        """Note the coordinates of all measurements, as ingest placed them."""
        execute = self._connection.execute
        execute(_PLACES)
        execute(_USES)
        execute("create temp table leaving_row (row_id bigint)")
        uses = path_uses(self._connection)
        if uses:
            self._connection.executemany("insert into path_use values (?, ?, ?)", uses)
        for path in (PATHS[name] for name in sorted({use[1] for use in uses})):
            placed = queries.compose(
                f"cells={path.measured_cells}", f"placed={path.query}", "rows=fidelity.place_rows"
            )
            execute(f"insert into held_place {placed}", {"path": path.name})


@contextmanager
def opened_copy(database: Path, version_key: str, context: QueryContext) -> Iterator[Bench]:
    """Copy a database file and open one version of the copy; the file itself is only read.

    Raises
    ------
    DatabaseError
        If the file cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="sqlinterp-fidelity-") as folder:
        copy = Path(folder) / "copy.duckdb"
        copy_database(database, copy)
        connection = connect_writer(copy)
        try:
            connection.execute("set threads = 1")
            load_aliases(connection)
            ignore_levels(connection)
            yield Bench(connection, version_key, context)
        finally:
            connection.close()
