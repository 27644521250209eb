"""Lines of a trace answered together; a line that comes again is not answered again."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.cli.requests import Line
from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.lookup.invocation import parse_json, read_invocation
from sqlinterp.model import Answer, OpInvocation
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator.log import LogRow, LookupLog
from sqlinterp.simulator.rollout import Verdict

_REMEMBERED = 65_536  # lines
_WEIGHTS = ("count", "analytic_us")


@dataclass(frozen=True)
class Asked:
    """A line that is an invocation.

    Attributes
    ----------
    calls : int
        How often the trace holds the invocation, its key ``count`` [count].
    analytic_us : float or None
        The simulator's own estimate of one call, its key ``analytic_us`` [us].
    """

    invocation: OpInvocation
    calls: int = 1
    analytic_us: float | None = None


@dataclass(frozen=True)
class _Known:
    """A line that was answered: its answer as JSON, and where its calls are counted."""

    text: str
    asked: Asked
    row: LogRow | None


class Stream:
    """Answers lines from one database, counted in a log if there is one."""

    def __init__(self, database: ProfilingDatabase, log: LookupLog | None) -> None:
        self._database, self._log = database, log
        self._known: dict[bytes, _Known | str] = {}

    def answer(self, lines: Sequence[Line]) -> list[str]:
        """Return one answer per line; what is no invocation is answered by its problem."""
        if len(self._known) > _REMEMBERED:
            self._known = {}
        known = self._known
        asked: dict[bytes, Asked] = {}
        for line in lines:
            if line.content not in known and line.content not in asked:
                try:
                    asked[line.content] = read_line(line.content)
                except UsageError as error:
                    known[line.content] = str(error)
        answers = self._answers([one.invocation for one in asked.values()])
        for (content, one), answer in zip(asked.items(), answers, strict=True):
            known[content] = answer if isinstance(answer, str) else self._answered(one, answer)
        return [self._text(line, known[line.content]) for line in lines]

    def answer_one(self, content: bytes) -> Answer:
        """Return the answer to a request that is one invocation.

        Raises
        ------
        UsageError
            If it is malformed.
        """
        asked = read_line(content)
        answer = self._database.lookup(asked.invocation)
        self._count(self._answered(asked, answer))
        return answer

    def _answers(self, invocations: list[OpInvocation]) -> list[Answer | str]:
        """Answer together; if one invocation makes that fail, answer the others one by one."""
        try:
            return list(self._database.lookup_many(invocations))
        except DatabaseError:
            raise  # no line is to blame
        except Exception as error:
            if len(invocations) <= 1:
                return [f"{type(error).__name__}: {error}" for _ in invocations]
        middle = len(invocations) // 2
        return self._answers(invocations[:middle]) + self._answers(invocations[middle:])

    def _answered(self, asked: Asked, answer: Answer) -> _Known:
        row = None
        if self._log is not None:
            dispatch = self._database.dispatch_of(asked.invocation)
            verdict, context = Verdict(answer), self._database.context
            row = self._log.add(verdict, asked.invocation, dispatch, context)
        return _Known(as_json(answer.to_dict()), asked, row)

    def _count(self, known: _Known) -> None:
        if known.row is not None and self._log is not None:
            asked = known.asked
            estimate = None if asked.analytic_us is None else asked.analytic_us * asked.calls
            self._log.count(known.row, asked.calls, estimate)

    def _text(self, line: Line, known: _Known | str) -> str:
        if isinstance(known, str):
            return _bad_request(line.number, known)
        self._count(known)
        return known.text


def read_line(content: bytes) -> Asked:
    """Return the invocation of a line, and how often it was called if the line tells.

    Raises
    ------
    UsageError
        If it is no invocation, ``count`` no positive integer or ``analytic_us`` no latency.
    """
    if not any(f'"{key}"'.encode() in content for key in _WEIGHTS):
        return Asked(read_invocation(content))
    given = parse_json(content)
    if not isinstance(given, dict):
        return Asked(read_invocation(content))
    told = {key: given.pop(key) for key in _WEIGHTS if key in given}
    calls, estimate = told.get("count", 1), told.get("analytic_us")
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 1:
        raise UsageError(f"malformed invocation: count is {calls!r}, expected a positive integer")
    if estimate is not None and not _is_latency(estimate):
        raise UsageError(f"malformed invocation: analytic_us is {estimate!r}, expected a latency")
    return Asked(read_invocation(given), calls, estimate)


def _is_latency(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and value >= 0 and math.isfinite(value)


def _bad_request(number: int, problem: str) -> str:
    answer: dict[str, Any] = Answer("", details={"line": number}).to_dict()
    answer["op"] = None
    answer["miss_reason"] = f"bad_request: line {number}: {problem}"
    return as_json(answer)


def as_json(answer: dict[str, Any]) -> str:
    """Return one line of plain ASCII, which any terminal and any pipe can take."""
    return json.dumps(answer, allow_nan=False)
