"""The table at the end of a run: every operator, where its latency comes from, how sure it is."""

from __future__ import annotations

from collections.abc import Iterable

from sqlinterp.model import Answer
from sqlinterp.simulator.facts import facts
from sqlinterp.simulator.log import LookupLog

TITLE = "Profiling interpolation summary"
_COLUMNS = (
    "op_name",
    "source",
    "confidence",
    "method",
    "axes",
    "latency_us",
    "dim",
    "calls",
    "shape_match_rule",
)
_RIGHT = {"confidence", "latency_us", "dim", "calls"}


def summary(log: LookupLog) -> str:
    """Return the table of a run, one line per distinct invocation in the order of its first call.

    A miss shows its reason as the rule.

    Source: profiling RFC phase 1, section 7.1.
    """
    lines = [_COLUMNS, *(_cells(row.answer, row.calls) for row in log.rows)]
    return "\n".join([TITLE, *_aligned(lines)])


def _cells(answer: Answer, calls: int) -> tuple[str, ...]:
    found = facts(answer)
    return (
        answer.op,
        answer.source or "MISS",
        "-" if answer.confidence is None else f"{answer.confidence:.2f}",
        found.method or "-",
        ",".join(found.axes) or "-",
        "-" if answer.latency_us is None else f"{answer.latency_us:.3f}",
        "-" if found.dim is None else str(found.dim),
        str(calls),
        answer.shape_match_rule or answer.miss_reason or "-",
    )


def _aligned(lines: list[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(len(line[place]) for line in lines) for place in range(len(_COLUMNS))]
    for line in lines:
        cells = [
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for name, cell, width in zip(_COLUMNS, line, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()
