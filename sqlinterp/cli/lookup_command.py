"""``sqlinterp lookup``: invocations in, answers out."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import typer

from sqlinterp.cli import options
from sqlinterp.cli.output import say, write_line
from sqlinterp.cli.progress import file_progress
from sqlinterp.cli.requests import Requests, open_input, read_requests
from sqlinterp.cli.stream import Stream, as_json
from sqlinterp.session import open_database
from sqlinterp.simulator.log import LookupLog
from sqlinterp.simulator.metrics import export_metrics as write_metrics
from sqlinterp.simulator.summary import summary as summary_of

_CHUNK = 4096
_BLOCK = 1 << 20


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
    policy: options.Policy = None,
    log: options.LogFile = None,
    export_metrics: options.MetricsFile = None,
    summary: options.Summary = False,
) -> None:
    """Answer one invocation (JSON), or a stream of them (JSON Lines), in the same order.

    One invocation: exit code 0 when it is answered, 1 for a miss, 2 when it is malformed. A
    stream: exit code 0; a malformed line is answered by a miss 'bad_request'. For the metrics, a
    line may hold 'count', how often it was called, and 'analytic_us', an estimate of one call.
    """
    context = options.query_context(
        ep_size, tp_size, comm_grid, sequence_parallel, disable_profiling_interpolation,
        aggregation, policy,
    )  # fmt: skip
    is_missed, calls = False, None
    one_content = open_database(db, version, follow=False, **context)  # for all lines of a stream
    with one_content as database, open_input(file) as given:
        if log or export_metrics or summary:
            mode = "exact" if disable_profiling_interpolation else "default"
            calls = LookupLog(database.version_key, mode)
        stream, requests = Stream(database, calls), read_requests(given)
        if requests.single is None:
            _answer_stream(stream, requests, _line_count(file))
        else:
            is_missed = not _answer_single(stream, requests.single)
    sys.stdout.flush()
    if calls is not None:
        _report(calls, log, export_metrics, summary)
    raise typer.Exit(1 if is_missed else 0)


def _answer_single(stream: Stream, content: bytes) -> bool:
    """Write the answer of one invocation; return whether it is one."""
    answer = stream.answer_one(content)
    write_line(as_json(answer.to_dict()))
    return answer.source is not None


def _answer_stream(stream: Stream, requests: Requests, total: int) -> None:
    with file_progress("answered") as advance:
        while chunk := list(islice(requests.lines, _CHUNK)):
            for text in stream.answer(chunk):
                write_line(text)
            done = chunk[-1].number
            advance(f"{done:,} invocations", done, max(done, total) if total else 0)


def _line_count(file: Path | None) -> int:
    """Return the lines of an input that can be read twice, 0 for one that cannot."""
    if file is None or not file.is_file():
        return 0
    with file.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b"")) or 1


def _report(calls: LookupLog, log: Path | None, metrics: Path | None, with_summary: bool) -> None:
    """Say what was answered where that was asked for, when the database is closed again."""
    if with_summary:
        say(summary_of(calls))
    if metrics is not None:
        write_metrics(calls, metrics)
    if log is not None:
        say(f"{calls.flush(log):,} rows were added to lookup_log in {log}")
