"""An open profiling database: the object behind ``sqlinterp.open``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

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
from sqlinterp.lookup.lanes import Lanes
from sqlinterp.lookup.simulator_call import SimulatorCall
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.migrations import check_current
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.policy import PRESETS

# Planning is most of a single lookup; these passes find nothing to do in its statements.
_IDLE_OPTIMIZERS = (
    "common_subplan,statistics_propagation,sampling_pushdown,cte_filter_pusher,"
    "column_lifetime,compressed_materialization"
)

Invocation = OpInvocation | Mapping[str, Any] | str | bytes | SimulatorCall


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
        self._lanes = Lanes(self._connection, self._catalog)

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
        op : OpInvocation, mapping, JSON text, or the simulator's own invocation object
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

    def lookup_many(
        self, ops: Iterable[Invocation], context: QueryContext | None = None
    ) -> list[Answer]:
        """Answer invocations in order, with a handful of statements however many there are.

        Parameters
        ----------
        ops : iterable
            Invocations as :meth:`lookup` takes them.
        context : QueryContext, optional
            What to answer under instead of the context that the database was opened with.

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
        with self._lanes.lane() as lane:
            return lane.engine(context or self.context).lookup_many(invocations)

    def trace(self, op: Invocation) -> tuple[Answer, Engine, list[Step]]:
        """Answer one invocation and return the engine and the statements that ran."""
        log: list[Step] = []
        with self._lanes.lane() as lane:
            engine = Engine(Statements(lane.cursor, log), self._catalog, self.context)
            return engine.lookup_many([read_invocation(op)])[0], engine, log

    def dispatch_of(self, op: Invocation) -> str:
        """Return the lookup path that the mapping selects for an invocation."""
        with self._lanes.lane() as lane:
            return lane.engine(self.context).plan(read_invocation(op)).dispatch

    def is_decomposed(self, op: str) -> bool:
        """Return whether an operator is answered only as the sum of children that its caller gives.

        Source: the mapping entry, ``composite`` with a decomposer.
        """
        entry = self._catalog.operators.get(op)
        if entry is None or entry.dispatch != "composite":
            return False
        with self._lanes.lane() as lane:
            plan = lane.engine(self.context).plan(OpInvocation(op))
        return plan.miss_reason == "decomposition_unavailable"

    @property
    def catalog(self) -> Catalog:
        """Mapping, files and policies of the version."""
        return self._catalog

    def sql(
        self, query: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Run analyst SQL, read-only and with limits, in a process of its own.

        Parameters
        ----------
        query : str
            One SELECT statement; ``$name`` or ``?`` stands for a parameter.
        parameters : mapping or sequence, optional
            Values of the parameters.

        Returns
        -------
        duckdb.DuckDBPyConnection
            The result; ``.df()``, ``.fetchall()`` and the like read it.

        Raises
        ------
        QueryError
            If the SQL is refused, wrong, or over its limits; the message shows the place.
        """
        from sqlinterp.analyst import run_sql

        return run_sql(self.path, query, parameters)

    def close(self) -> None:
        """Close the file."""
        self._lanes.close()

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
    context["comm_grid"] = _grid(context.get("comm_grid"))
    try:
        fields = QueryContext(**context)
    except TypeError as error:
        raise UsageError(f"unknown context field: {error}") from error
    return ProfilingDatabase(database, version, fields)


def _grid(given: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return shape and tiers of a device grid, given as a pair or as ``{"shape", "tiers"}``."""
    if given is None:
        return None
    shape, tiers = (given["shape"], given["tiers"]) if isinstance(given, Mapping) else given
    return tuple(shape), tuple(tiers)
