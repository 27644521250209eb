"""An open profiling database: the object behind ``sqlinterp.open``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from sqlinterp.database import database_path
from sqlinterp.given import list_of
from sqlinterp.locks import Identity
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.context import read_context
from sqlinterp.lookup.engine import Engine, collection_paused
from sqlinterp.lookup.invocation import read_invocation, read_invocations
from sqlinterp.lookup.lanes import Lane
from sqlinterp.lookup.points import kernel_context, kernel_regimes, point_plans
from sqlinterp.lookup.regimes import select_regimes
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.simulator_call import SimulatorCall
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.opened import CurrentContent

Invocation = OpInvocation | Mapping[str, Any] | str | bytes | SimulatorCall

# What a lookup makes on its way takes up to 15 kB a target, and is gone before the next are read.
_MOST_TOGETHER = 50_000


class ProfilingDatabase:
    """One version of a database file, opened read-only; threads may share it.

    Use :func:`sqlinterp.open` to make one. It may be used as a context manager. When another file
    takes the place of the file, every call from then on is answered from that one.

    Parameters
    ----------
    follow : bool
        False to stay with the file that was opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        version: str | None,
        context: QueryContext,
        follow: bool = True,
    ) -> None:
        self.path = database_path(path)
        self.context = context
        self._content = CurrentContent(self.path, version, follow)

    @property
    def version_key(self) -> str:
        """Key of the version that answers."""
        return self._content.get().version_key

    @property
    def identity(self) -> Identity:
        """What tells the file that answers from another one under its name."""
        return self._content.get().identity

    def versions(self) -> list[str]:
        """Return the keys of the kernel versions in the file, sorted."""
        return list(self._content.get().versions)

    @contextmanager
    def _lane(self) -> Iterator[tuple[Lane, Catalog]]:
        """Lend a cursor that nobody else uses, and the catalog that belongs to it."""
        with self._content.use() as content, content.lanes.lane() as lane:
            yield lane, content.catalog

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
        """Answer invocations in order, with a handful of statements for every 50,000 of them.

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
        given = list_of(ops, "invocations", "a list; one alone is for lookup")
        if not given:
            return []
        answers: list[Answer] = []
        with collection_paused(), self._lane() as (lane, _), lane.spared(len(given)):
            engine = lane.engine(context or self.context)
            for start in range(0, len(given), _MOST_TOGETHER):
                part = slice(start, start + _MOST_TOGETHER)
                answers += engine.lookup_many(read_invocations(given, part))
        return answers

    def lookup_points(
        self,
        kernel: str,
        regime: Mapping[str, Any],
        coordinates: Sequence[Mapping[str, float] | Sequence[float]],
        policy: Mapping[str, Any] | None = None,
    ) -> list[Answer]:
        """Answer coordinates of one kernel in one regime as lookups of operators are answered.

        Parameters
        ----------
        kernel : str
            Kernel name.
        regime : mapping
            Discrete fields; those with only one value left may be left out.
        coordinates : sequence
            Values by axis name in the unit of the field, or lists of values as they are stored.
        policy : mapping, optional
            Fields of ``interpolation_policy`` that win over the kernel's.

        Returns
        -------
        list of Answer
            In the order of the coordinates, found with a handful of statements.

        Raises
        ------
        RegimeError
            If kernel, field or value is unknown, or several regimes are meant.
        UsageError
            If a field of the policy is unknown or makes no sense.
        """
        with self.services(kernel_context(self.context, kernel, policy)) as services:
            chosen = select_regimes(kernel_regimes(services, kernel), regime)
            answers = services.answer_plans(point_plans(services, kernel, chosen, coordinates))
            return [answers[number] for number in range(len(answers))]

    @contextmanager
    def services(self, context: QueryContext | None = None) -> Iterator[Services]:
        """Lend statements, catalog and planners under a context, to one thread."""
        with self._lane() as (lane, _):
            yield lane.engine(context or self.context).services

    def trace(self, op: Invocation) -> tuple[Answer, Engine, list[Step]]:
        """Answer one invocation and return the engine and the statements that ran."""
        log: list[Step] = []
        with self._lane() as (lane, catalog):
            engine = Engine(Statements(lane.cursor, log), catalog, self.context)
            return engine.lookup_many([read_invocation(op)])[0], engine, log

    def dispatch_of(self, op: Invocation) -> str:
        """Return the lookup path that the mapping selects for an invocation."""
        with self._lane() as (lane, _):
            return lane.engine(self.context).plan(read_invocation(op)).dispatch

    def is_decomposed(self, op: str) -> bool:
        """Return whether an operator is answered only as the sum of children that its caller gives.

        Source: the mapping entry, ``composite`` with a decomposer.
        """
        entry = self.catalog.operators.get(op)
        if entry is None or entry.dispatch != "composite":
            return False
        with self._lane() as (lane, _):
            plan = lane.engine(self.context).plan(OpInvocation(op))
        return plan.miss_reason == "decomposition_unavailable"

    @property
    def catalog(self) -> Catalog:
        """Mapping, files and policies of the version."""
        return self._content.get().catalog

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
        self._content.close()

    def __enter__(self) -> ProfilingDatabase:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_database(
    database: str | os.PathLike[str] | None = None,
    version: str | None = None,
    follow: bool = True,
    **context: Any,
) -> ProfilingDatabase:
    """Open a version of a database file for lookups.

    Parameters
    ----------
    database : path, optional
        DuckDB file, by default ``$SQLINTERP_DB``, then ``profiling.duckdb``.
    version : str, optional
        Version key or a unique suffix of one; needed when the file holds several.
    follow : bool
        Whether to answer from a file that takes the place of this one, as ``ingest`` puts it there.
    **context
        Fields of :class:`sqlinterp.model.QueryContext`: ep_size, tp_size, sequence_parallel,
        comm_grid, disable_interpolation, aggregation; and ``policy``, a mapping with the fields of
        ``interpolation_policy`` that wins over the mapping's.

    Raises
    ------
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    UsageError
        If the version is unknown or ambiguous, or a context field is, or the policy makes no sense.
    """
    return ProfilingDatabase(database, version, read_context(**context), follow)
