"""Lookups counted in memory, and written to the table ``lookup_log`` when asked."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import connect_writer
from sqlinterp.forks import Lock, renew_after_fork
from sqlinterp.migrations import migrate
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.parts import parts
from sqlinterp.publishing import publishing
from sqlinterp.simulator.facts import facts, shapes_text, tensors_of
from sqlinterp.simulator.rollout import Verdict

_ZERO_COST = ("zero_cost", "accepted_miss")
_BATCH = 10_000  # rows
_PATIENCE_S = 20.0  # runs that end together append one after the other
Row = dict[str, Any]


@dataclass(slots=True, eq=False)
class LogRow:
    """A distinct operator, shapes and answer, and how often that was asked.

    Attributes
    ----------
    answer : Answer
        What was answered.
    columns : dict
        Columns of ``lookup_log`` that stay as they are.
    calls, written_calls : int
        Calls so far, and those of them that are in a file already [count].
    analytic_us, written_us : float or None
        The simulator's own estimates of those calls together, None when it gave none [us].
    """

    answer: Answer
    columns: Row
    calls: int = 0
    written_calls: int = 0
    analytic_us: float | None = None
    written_us: float | None = None


class LookupLog:
    """Calls and answers of one run.

    Parameters
    ----------
    version_key : str
        Version that answers.
    mode : str
        ``default``, ``shadow``, ``allowlist``, or ``exact`` when interpolation is disabled.
    """

    def __init__(self, version_key: str, mode: str = "default") -> None:
        self.run_id = uuid.uuid4().hex
        self.version_key, self.mode = version_key, mode
        self._rows: dict[tuple[Any, ...], LogRow] = {}
        self._lock = Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Leave the calls so far to the parent, so that no file gets them twice."""
        for row in self._rows.values():
            row.written_calls, row.written_us = row.calls, row.analytic_us

    def add(
        self, verdict: Verdict, invocation: OpInvocation, dispatch: str, context: QueryContext
    ) -> LogRow:
        """Return the row of an answered invocation, a new one without calls if it has none yet."""
        columns: Row = {
            "run_id": self.run_id,
            "version_key": self.version_key,
            "mode": self.mode,
            "context_json": json.dumps(asdict(context)),
            "op": invocation.op,
            "dispatch": dispatch,
            "input_shapes": shapes_text(invocation),
            "input_dtypes": ";".join(tensor.dtype for tensor in tensors_of(invocation)),
            "is_zero_cost": dispatch in _ZERO_COST,
            **_answer_columns(verdict.answer),
            **_candidate_columns(verdict.candidate),
        }
        with self._lock:
            return self._rows.setdefault(tuple(columns.items()), LogRow(verdict.answer, columns))

    def count(self, row: LogRow, calls: int = 1, analytic_us: float | None = None) -> None:
        """Count calls of a row.

        Parameters
        ----------
        row : LogRow
            The row.
        calls : int
            How often it was asked [count].
        analytic_us : float, optional
            The simulator's own estimate of these calls together [us].
        """
        with self._lock:
            row.calls += calls
            if analytic_us is not None:
                row.analytic_us = (row.analytic_us or 0.0) + analytic_us

    @property
    def rows(self) -> list[LogRow]:
        """Rows that were asked at least once, in the order of their first answer."""
        with self._lock:
            return [row for row in self._rows.values() if row.calls]

    def flush(self, path: Path) -> int:
        """Append the calls since the last flush to the table ``lookup_log`` of a database file.

        Parameters
        ----------
        path : Path
            A database file; it is made, or brought up to date, if need be. Who reads it, keeps
            what it held before.

        Returns
        -------
        int
            Rows that were written [count].

        Raises
        ------
        DatabaseError
            If somebody else keeps writing the file, or it cannot be written.
        """
        with self._lock:
            changed = [row for row in self._rows.values() if row.calls > row.written_calls]
            columns = [_since_flush(row) for row in changed]
            counted = [(row.calls, row.analytic_us) for row in changed]
        with publishing(path, _PATIENCE_S) as connection:
            migrate(connection)
            _insert(connection, columns)
        with self._lock:
            for row, (calls, analytic_us) in zip(changed, counted, strict=True):
                row.written_calls, row.written_us = calls, analytic_us
        return len(columns)

    def read(self, query: Callable[[duckdb.DuckDBPyConnection], Any]) -> Any:
        """Return what a query of an in-memory database that holds all rows of the run gives."""
        columns = [
            {**row.columns, "call_count": row.calls, "analytic_us": row.analytic_us}
            for row in self.rows
        ]
        connection = connect_writer(Path(":memory:"))
        try:
            migrate(connection)
            _insert(connection, columns)
            return query(connection)
        finally:
            connection.close()


def _since_flush(row: LogRow) -> Row:
    analytic_us = row.analytic_us
    if analytic_us is not None:
        analytic_us -= row.written_us or 0.0
    calls = row.calls - row.written_calls
    return {**row.columns, "call_count": calls, "analytic_us": analytic_us}


def _insert(connection: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    statement = queries.load("log.add_lookups").body
    for part in parts(rows, _BATCH):
        connection.execute(statement, {"rows": json.dumps(part)})


def _answer_columns(answer: Answer) -> Row:
    found = facts(answer)
    return {
        "source": answer.source,
        "latency_us": answer.latency_us,
        "confidence": answer.confidence,
        "kernel_type": answer.kernel_type,
        "method": found.method,
        "interpolation_dim": found.dim,
        "axes": ",".join(found.axes) or None,
        "shape_match_rule": answer.shape_match_rule,
        "miss_reason": answer.miss_reason,
        "policy_hash": answer.details.get("policy_hash"),
    }


def _candidate_columns(candidate: Answer | None) -> Row:
    if candidate is None:
        return {}
    return {
        "candidate_source": candidate.source,
        "candidate_latency_us": candidate.latency_us,
        "candidate_confidence": candidate.confidence,
        "candidate_kernel_type": candidate.kernel_type,
        "candidate_rule": candidate.shape_match_rule,
        "candidate_miss_reason": candidate.miss_reason,
    }
