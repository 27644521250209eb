"""Cursors with engines, lent to one caller at a time, since threads must not share a cursor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import duckdb

from sqlinterp.database import define_macros, load_aliases, sibling
from sqlinterp.forks import Lock
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import QueryContext

# For blocks of the file and for what statements make. The system keeps blocks too, so that few
# are enough: less makes single lookups in files of gigabytes a seventh dearer, batches not.
USUAL_MEMORY, _MEMORY_OF_BATCH = "512MiB", "192MiB"
_BATCH = 10_000


class Lane:
    """A cursor, its prepared statements, and an engine for each context asked for."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
        self.cursor = cursor
        self._catalog = catalog
        self._statements = Statements(cursor)
        self._engines: dict[QueryContext, Engine] = {}

    def engine(self, context: QueryContext) -> Engine:
        """Return the engine of a context on this cursor."""
        engine = self._engines.get(context)
        if engine is None:
            engine = Engine(self._statements, self._catalog, context)
            self._engines[context] = engine
        return engine

    @contextmanager
    def spared(self, targets: int) -> Iterator[None]:
        """Keep fewer blocks of the file in memory while there are many answers beside them."""
        if targets < _BATCH:
            yield
            return
        self._limit(_MEMORY_OF_BATCH)
        try:
            yield
        finally:
            self._limit(USUAL_MEMORY)

    def _limit(self, memory: str) -> None:
        # What is in use is more than that at times; then a smaller limit is refused.
        with suppress(duckdb.OutOfMemoryException):
            self.cursor.execute(f"set memory_limit = '{memory}'")


class Lanes:
    """As many lanes as callers were ever inside at the same time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
        self._connection, self._catalog = connection, catalog
        first = Lane(connection, catalog)
        self._idle, self._all = [first], [first]
        self._lock = Lock()

    @contextmanager
    def lane(self) -> Iterator[Lane]:
        """Lend a lane that nobody else uses."""
        with self._lock:
            lane = self._idle.pop() if self._idle else None
        if lane is None:
            lane = self._added()
        try:
            yield lane
        finally:
            with self._lock:
                self._idle.append(lane)

    def _added(self) -> Lane:
        with self._lock:
            cursor = sibling(self._connection)
        define_macros(cursor)
        load_aliases(cursor)
        lane = Lane(cursor, self._catalog)
        with self._lock:
            self._all.append(lane)
        return lane

    def close(self) -> None:
        """Close every cursor, so that the file is let go."""
        with self._lock:
            for lane in self._all:
                lane.cursor.close()
