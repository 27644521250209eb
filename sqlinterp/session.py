"""An open profiling database: the object behind ``sqlinterp.open``."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from sqlinterp.database import (
    connect_reader,
    database_path,
    define_macros,
    load_aliases,
    resolve_version,
)
from sqlinterp.definitions import check_derived
from sqlinterp.errors import UsageError
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.migrations import check_current
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.policy import PRESETS

# Planning is most of a single lookup; these passes find nothing to do in its statements.
_IDLE_OPTIMIZERS = (
    "common_subplan,statistics_propagation,sampling_pushdown,cte_filter_pusher,"
    "column_lifetime,compressed_materialization"
)

Invocation = OpInvocation | Mapping[str, Any] | str | bytes


class ProfilingDatabase:
    """One version of a database file, opened read-only.

    Use :func:`sqlinterp.open` to make one. It may be used as a context manager.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, version: str | None, context: QueryContext
    ) -> None:
        if context.aggregation not in PRESETS:
            raise UsageError(
                f"aggregation '{context.aggregation}' is unknown", expected=", ".join(PRESETS)
            )
        self.path = database_path(path)
        self.context = context
        self._connection = connect_reader(
            self.path, threads="1", disabled_optimizers=_IDLE_OPTIMIZERS
        )
        try:
            check_current(self._connection, self.path)
            check_derived(self._connection, self.path)
            define_macros(self._connection)
            load_aliases(self._connection)
            self.version_key = resolve_version(self.versions(), version)
            self._catalog = Catalog(self._connection, self.version_key)
        except BaseException:
            self._connection.close()
            raise
        self._engine = Engine(Statements(self._connection), self._catalog, context)
        self._lock = threading.Lock()

    def versions(self) -> list[str]:
        """Return the keys of the kernel versions in the file, sorted."""
        found = self._connection.execute(
            "select version_key from profile_version where kind = 'kernel' order by version_key"
        )
        return [row[0] for row in found.fetchall()]

    def lookup(self, op: Invocation) -> Answer:
        """Answer one invocation.

        Parameters
        ----------
        op : OpInvocation, mapping, or JSON text
            The invocation as in the contract.

        Returns
        -------
        Answer
            Measured, interpolated inside measured neighbours, or a miss with its reason.

        Raises
        ------
        UsageError
            If the invocation is malformed.
        """
        return self.lookup_many([op])[0]

    def lookup_many(self, ops: Iterable[Invocation]) -> list[Answer]:
        """Answer invocations in order, with a handful of statements however many there are.

        Raises
        ------
        UsageError
            If an invocation is malformed; the message names its place.
        """
        given = list(ops)
        invocations = []
        for place, op in enumerate(given, start=1):
            try:
                invocations.append(read_invocation(op))
            except UsageError as error:
                where = f"invocation {place}" if len(given) > 1 else ""
                raise UsageError(error.what, where) from error
        with self._lock:  # threads that share a connection read each other's results
            return self._engine.lookup_many(invocations)

    def trace(self, op: Invocation) -> tuple[Answer, Engine, list[Step]]:
        """Answer one invocation and return the engine and the statements that ran."""
        log: list[Step] = []
        engine = Engine(Statements(self._connection, log), self._catalog, self.context)
        with self._lock:
            return engine.lookup_many([read_invocation(op)])[0], engine, log

    def dispatch_of(self, op: Invocation) -> str:
        """Return the lookup path that the mapping selects for an invocation."""
        return self._engine.plan(read_invocation(op)).dispatch

    def sql(self, query: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run analyst SQL, read-only and with limits, on a connection of its own.

        Returns
        -------
        duckdb.DuckDBPyConnection
            The result; ``.df()``, ``.fetchall()`` and the like read it.

        Raises
        ------
        QueryError
            If the SQL is refused, wrong, or over its limits.
        """
        from sqlinterp.analyst import run_sql

        return run_sql(self.path, query, parameters)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> ProfilingDatabase:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_database(
    database: str | os.PathLike[str] | None = None, version: str | None = None, **context: Any
) -> ProfilingDatabase:
    """Open a version of a database file for lookups.

    Parameters
    ----------
    database : path, optional
        DuckDB file, by default ``$SQLINTERP_DB``, then ``profiling.duckdb``.
    version : str, optional
        Version key or a unique suffix of one; needed when the file holds several.
    **context
        Fields of :class:`sqlinterp.model.QueryContext`: ep_size, tp_size, sequence_parallel,
        comm_grid, disable_interpolation, aggregation.

    Raises
    ------
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    UsageError
        If the version is unknown or ambiguous, or a context field is.
    """
    try:
        fields = QueryContext(**context)
    except TypeError as error:
        raise UsageError(f"unknown context field: {error}") from error
    return ProfilingDatabase(database, version, fields)
