"""The data source: invocations of a simulator in, its results out."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlinterp.database import database_path
from sqlinterp.errors import UsageError
from sqlinterp.given import list_of
from sqlinterp.lookup.context import read_context
from sqlinterp.model import Answer, QueryContext
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator.answering import Answering
from sqlinterp.simulator.decomposition import Decompose, decomposer
from sqlinterp.simulator.entries import Entry
from sqlinterp.simulator.log import LookupLog
from sqlinterp.simulator.metrics import export_metrics, metrics
from sqlinterp.simulator.options import read_options
from sqlinterp.simulator.results import simulator_types
from sqlinterp.simulator.rollout import read_rollout
from sqlinterp.simulator.snapshot import Snapshots
from sqlinterp.simulator.summary import summary
from sqlinterp.simulator.surroundings import (
    Surroundings,
    communication_grid,
    group_size,
    sequence_parallel_switch,
)

_LOGGER = logging.getLogger("sqlinterp.simulator")


class SqlDataSource:
    """Latencies for a simulator, from a database file; threads may share one.

    Parameters
    ----------
    database : path, optional
        DuckDB file, by default ``$SQLINTERP_DB``, then ``profiling.duckdb``.
    version : str, optional
        Version key or a unique suffix of one; needed when the file holds several.
    device_profile : object, optional
        Its ``comm_grid`` tells the topology tier of collectives.
    parallel_config : object, optional
        ``expert_parallel_size`` and ``tensor_parallel_size``.
    disable_interpolation : bool
        Answer exact lookups only, whatever the mode.
    decompose : callable, optional
        Gives the children of a composite that the mapping says is to be decomposed: a function of
        the invocation. By default the decomposers that the simulator registers, if there are any.
    **options
        Fields of :class:`sqlinterp.simulator.options.Options`.

    Raises
    ------
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    UsageError
        If the version is unknown or ambiguous, or an option is.
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | None,
        version: str | None = None,
        device_profile: Any = None,
        parallel_config: Any = None,
        disable_interpolation: bool = False,
        decompose: Decompose | None = None,
        **options: Any,
    ) -> None:
        given = read_options(options)
        context = read_context(
            ep_size=group_size(parallel_config, "expert_parallel_size", "ep_size"),
            tp_size=group_size(parallel_config, "tensor_parallel_size", "tp_size"),
            comm_grid=communication_grid(device_profile),
            disable_interpolation=disable_interpolation,
            aggregation=given.aggregation,
            policy=given.policy,
        )
        rollout = read_rollout(given.mode, given.allowlist)
        is_parallel = sequence_parallel_switch(given.sequence_parallel, parallel_config)
        self._path = database_path(database)
        self._snapshots: Snapshots[Entry] = Snapshots(
            self._path, partial(_opened, self._path, version, context), given.memo_size
        )
        self._log: LookupLog | None = None
        if given.log:
            mode = "exact" if disable_interpolation else rollout.mode
            self._log = LookupLog(self._snapshots.current().database.version_key, mode)
        self._analytic_us = given.analytic_us
        self._types = simulator_types(type(self))
        self._answering = Answering(
            self._snapshots,
            Surroundings(context, is_parallel),
            rollout,
            decomposer(decompose),
            self._types,
            self._log,
        )
        self._last = threading.local()

    def lookup(self, op_invoke_info: Any) -> Any:
        """Answer one invocation.

        Parameters
        ----------
        op_invoke_info : object
            ``func``, ``args``, ``kwargs`` and ``out``; or what :func:`sqlinterp.open` databases
            take.

        Returns
        -------
        QueryResult or None
            The simulator's own type where it can be imported. None is a miss, whose reason
            :attr:`last_miss_reason` tells.

        Raises
        ------
        UsageError
            If it is no invocation.
        """
        return self._given_out(self._answering.entry(op_invoke_info), op_invoke_info)

    def lookup_many(self, invocations: Iterable[Any]) -> list[Any]:
        """Answer invocations in order, as :meth:`ProfilingDatabase.lookup_many` does."""
        asked = list_of(invocations, "invocations", "a list; one alone is for lookup")
        entries = self._answering.entries(asked)
        return [self._given_out(entry, given) for entry, given in zip(entries, asked, strict=True)]

    def prefetch(self, invocations: Iterable[Any]) -> int:
        """Answer the invocations of a trace ahead, so that looking them up costs microseconds.

        Returns
        -------
        int
            Distinct invocations among them [count].
        """
        asked = list_of(invocations, "invocations", "a list")
        return len({id(entry) for entry in self._answering.entries(asked)})

    def store(self, op_invoke_info: Any, result: Any) -> None:
        """Refuse: a profiling database is read-only.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("a profiling database is read-only; ingest CSVs to change it")

    @property
    def last_miss_reason(self) -> str | None:
        """Why the last lookup of this thread has no complete answer, None when it has one."""
        entry = getattr(self._last, "entry", None)
        return None if entry is None else entry.verdict.answer.miss_reason

    @property
    def last_shape_match_info(self) -> Any:
        """How the shapes of the last lookup of this thread matched."""
        entry = getattr(self._last, "entry", None)
        return None if entry is None else entry.info

    @property
    def last_answer(self) -> Answer | None:
        """The last answer of this thread, misses included."""
        entry = getattr(self._last, "entry", None)
        return None if entry is None else entry.verdict.answer

    @property
    def last_candidate(self) -> Answer | None:
        """What interpolation says instead of that answer, in modes shadow and allowlist."""
        entry = getattr(self._last, "entry", None)
        return None if entry is None else entry.verdict.candidate

    @property
    def log(self) -> LookupLog:
        """Calls and answers so far.

        Raises
        ------
        UsageError
            If the data source was made without ``log=True``.
        """
        if self._log is None:
            raise UsageError("calls are not counted", expected="SqlDataSource(..., log=True)")
        return self._log

    def flush_log(self, path: str | os.PathLike[str]) -> int:
        """Append the calls since the last flush to ``lookup_log`` in a database file of its own.

        Returns
        -------
        int
            Rows that were written [count].

        Raises
        ------
        UsageError
            If calls are not counted, or the file is the one that lookups read.
        DatabaseError
            If the file is in use or cannot be written.
        """
        target = Path(path)
        if target.exists() and target.samefile(self._path):
            raise UsageError("lookups read this file", str(target), "a file of its own for the log")
        return self.log.flush(target)

    def metrics(self) -> dict[str, Any]:
        """Return the metrics M1 to M5 of the calls so far, and the misses."""
        return metrics(self.log)

    def export_metrics(self, path: str | os.PathLike[str]) -> None:
        """Write the metrics to a JSON file."""
        export_metrics(self.log, Path(path))

    def summary(self) -> str:
        """Return a table of the calls so far, one line per distinct invocation."""
        return summary(self.log)

    def close(self) -> None:
        """Close the database file."""
        self._snapshots.close()

    def __enter__(self) -> SqlDataSource:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _given_out(self, entry: Entry, given: Any) -> Any:
        """Count a call and return its result, which the caller may change as it likes."""
        self._last.entry = entry
        if entry.row is not None and self._log is not None:
            estimate = None if self._analytic_us is None else self._analytic_us(given)
            self._log.count(entry.row, 1, estimate)
        if _LOGGER.isEnabledFor(logging.DEBUG):
            _LOGGER.debug("%s", entry.line)
        if not entry.fields:
            return None
        return self._types.make_result({**entry.fields, "details": dict(entry.details)})


def _opened(
    path: Path, version: str | None, context: QueryContext, before: str | None
) -> ProfilingDatabase:
    """Open the version that answered before if the file has it, else what was asked for."""
    if before is not None:
        with suppress(UsageError):
            return ProfilingDatabase(path, before, context, follow=False)
    return ProfilingDatabase(path, version, context, follow=False)
