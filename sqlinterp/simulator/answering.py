"""Requests answered from the memo, and what it lacks from the database, all of it together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sqlinterp.model import Answer, QueryContext
from sqlinterp.simulator.decomposition import Decompose, Failure
from sqlinterp.simulator.entries import Entry, make_entry
from sqlinterp.simulator.facts import debug_line
from sqlinterp.simulator.keys import Key
from sqlinterp.simulator.log import LookupLog
from sqlinterp.simulator.requests import Request, read_request
from sqlinterp.simulator.results import ResultTypes
from sqlinterp.simulator.rollout import Rollout, Verdict
from sqlinterp.simulator.snapshot import Snapshot, Snapshots
from sqlinterp.simulator.surroundings import Surroundings

_LOGGER = logging.getLogger("sqlinterp.simulator")
Asked = dict[Key, Request]


class Answering:
    """Answers what a caller gives, each distinct invocation once per content of the database."""

    def __init__(
        self,
        snapshots: Snapshots[Entry],
        surroundings: Surroundings,
        rollout: Rollout,
        decompose: Decompose | None,
        types: ResultTypes,
        log: LookupLog | None,
    ) -> None:
        self._snapshots, self._surroundings = snapshots, surroundings
        self._rollout, self._decompose = rollout, decompose
        self._types, self._log = types, log

    def entry(self, given: Any) -> Entry:
        """Return the entry of one invocation."""
        is_parallel = self._surroundings.is_parallel()
        snapshot = self._snapshots.current()
        request = read_request(given, snapshot, self._decompose)
        entry = snapshot.memo.get((is_parallel, request.key))
        return self.entries([given])[0] if entry is None else entry

    def entries(self, given: Sequence[Any]) -> list[Entry]:
        """Return the entries of invocations, those that are not remembered answered together."""
        while True:
            is_parallel = self._surroundings.is_parallel()
            snapshot = self._snapshots.current()
            requests = [read_request(one, snapshot, self._decompose) for one in given]
            keys = [(is_parallel, request.key) for request in requests]
            distinct = dict(zip(keys, requests, strict=True))
            found = {key: snapshot.memo.get(key) for key in distinct}
            missing = {key: distinct[key] for key, entry in found.items() if entry is None}
            with snapshot.use() as is_open:
                if is_open:
                    context = self._surroundings.context(is_parallel)
                    fresh = self._answered(snapshot, missing, context)
                    return [found[key] or fresh[key] for key in keys]

    def _answered(
        self, snapshot: Snapshot[Entry], asked: Asked, context: QueryContext
    ) -> dict[Key, Entry]:
        """Answer requests together and remember the answers."""
        invocations = {key: request.invocation() for key, request in asked.items()}
        verdicts = {
            key: Verdict(_undecomposed(request.op, request.parts))
            for key, request in asked.items()
            if isinstance(request.parts, Failure)
        }
        places = [key for key in asked if key not in verdicts]
        ops = [invocations[key] for key in places]
        answers = self._rollout.answer(snapshot.database, ops, context)
        verdicts.update(zip(places, answers, strict=True))
        entries = {}
        for key, request in asked.items():
            verdict, invocation = verdicts[key], invocations[key]
            row = None
            if self._log is not None:
                row = self._log.add(verdict, invocation, request.dispatch, context)
            entry = make_entry(verdict, invocation, request.dispatch, self._types, row)
            entries[key] = snapshot.memo.put(key, entry)
            self._tell(verdict, request.dispatch)
        return entries

    def _tell(self, verdict: Verdict, dispatch: str) -> None:
        """Log what interpolation would have answered, once per distinct invocation."""
        candidate = verdict.candidate
        if candidate is None or candidate.source is None:
            return
        _LOGGER.info(
            "%s %s latency_us=%s base=%s",
            self._rollout.mode,
            debug_line(candidate, dispatch),
            candidate.latency_us,
            verdict.answer.source or verdict.answer.miss_reason,
        )


def _undecomposed(op: str, failure: Failure) -> Answer:
    if failure.error:
        _LOGGER.warning("%s cannot be decomposed: %s", op, failure.error)
    return Answer(
        op, miss_reason=failure.reason, details={"decompose_error": failure.error or None}
    )
