"""``sqlinterp lookup``: invocations in, answers out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import typer

from sqlinterp.cli import options
from sqlinterp.cli.output import write_line
from sqlinterp.cli.progress import file_progress
from sqlinterp.cli.requests import Line, open_input, read_requests
from sqlinterp.errors import UsageError
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import Answer, OpInvocation
from sqlinterp.session import ProfilingDatabase, open_database

_CHUNK = 4096


def lookup(
    file: options.Request = None,
    db: options.Database = None,
    version: options.Version = None,
    ep_size: options.EpSize = None,
    tp_size: options.TpSize = None,
    comm_grid: options.CommGrid = None,
    sequence_parallel: options.SequenceParallel = False,
    disable_profiling_interpolation: options.ExactOnly = False,
    aggregation: options.Aggregation = "mean",
) -> None:
    """Answer one invocation (JSON), or a stream of them (JSON Lines), in the same order.

    One invocation: exit code 0 when it is answered, 1 for a miss, 2 when it is malformed. A
    stream: exit code 0; a malformed line is answered by a miss 'bad_request'.
    """
    context = options.query_context(
        ep_size, tp_size, comm_grid, sequence_parallel, disable_profiling_interpolation, aggregation
    )
    with open_database(db, version, **context) as database, open_input(file) as stream:
        requests = read_requests(stream)
        if requests.single is None:
            _answer_stream(database, requests.lines)
            return
        answer = database.lookup(requests.single)
        write_line(_json(answer.to_dict()))
    raise typer.Exit(1 if answer.source is None else 0)


def _answer_stream(database: ProfilingDatabase, lines: Iterator[Line]) -> None:
    done = 0
    with file_progress("answered") as advance:
        while chunk := list(islice(lines, _CHUNK)):
            for text in _answer_lines(database, chunk):
                write_line(text)
            done += len(chunk)
            advance(f"{done:,} invocations", 0, 0)
    sys.stdout.flush()


def _answer_lines(database: ProfilingDatabase, lines: list[Line]) -> list[str]:
    """Return one answer per line; lines that are no invocation are answered by their problem."""
    texts: dict[int, str] = {}
    asked: dict[int, OpInvocation] = {}
    for line in lines:
        try:
            asked[line.number] = read_invocation(line.content)
        except UsageError as error:
            texts[line.number] = _bad_request(line.number, str(error))
    for number, answer in zip(asked, _answers(database, list(asked.values())), strict=True):
        texts[number] = (
            _bad_request(number, answer) if isinstance(answer, str) else _json(answer.to_dict())
        )
    return [texts[line.number] for line in lines]


def _answers(database: ProfilingDatabase, asked: list[OpInvocation]) -> list[Answer | str]:
    """Answer together; if one invocation makes that fail, answer the others one by one."""
    try:
        return list(database.lookup_many(asked))
    except Exception as error:
        if len(asked) == 1:
            return [f"{type(error).__name__}: {error}"]
    middle = len(asked) // 2
    return _answers(database, asked[:middle]) + _answers(database, asked[middle:])


def _bad_request(number: int, problem: str) -> str:
    answer: dict[str, Any] = Answer("", details={"line": number}).to_dict()
    answer["op"] = None
    answer["miss_reason"] = f"bad_request: line {number}: {problem}"
    return _json(answer)


def _json(answer: dict[str, Any]) -> str:
    """Return one line of plain ASCII, which any terminal and any pipe can take."""
    return json.dumps(answer, allow_nan=False)
