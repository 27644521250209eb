"""``sqlinterp quickstart``: a tour with the shipped sample."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from sqlinterp.analyst import run_sql
from sqlinterp.cli.ingest_command import print_summary, show_messages
from sqlinterp.cli.output import (
    as_text,
    broken,
    data_console,
    heading,
    make_table,
    microseconds,
    print_table,
    shapes_text,
)
from sqlinterp.cli.progress import file_progress
from sqlinterp.cli.samples import EXAMPLES, VERSION, Example
from sqlinterp.ingestion import ingest
from sqlinterp.model import Answer
from sqlinterp.parts import parts
from sqlinterp.resources import resource_folder
from sqlinterp.session import open_database

_RULE_WIDTH = 24
_ABOUT = """\
sqlinterp answers 'how long does this operator take?' from measured kernel
latencies in a DuckDB file. This tour uses the shipped sample, which is
synthetic: none of its numbers was measured on a device."""
_COVERAGE = """\
SELECT kernel_type, rows_stored, regime_count, point_count, operator_count
FROM kernel_coverage WHERE version_key LIKE '%vllm0.18%'
ORDER BY rows_stored DESC, kernel_type LIMIT 8"""
_NEXT = (
    ("demo demo-data", "writes larger synthetic databases"),
    ("ingest demo-data", "reads them into profiling.duckdb"),
    ("views", "lists what SQL can ask, with units"),
)


def quickstart() -> None:
    """Take the tour: ingest the shipped sample, answer some operators, show a view."""
    console = data_console()
    console.print(_ABOUT)
    sample = resource_folder("databases")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quickstart.duckdb"
        _show_ingest(console, sample, path)
        _show_answers(console, path)
        _show_coverage(console, path)
    _show_next(console)


def _show_ingest(console: Console, sample: Path, path: Path) -> None:
    heading(console, "1. Ingest: every CSV row is stored, rejected, or stored without latency")
    with file_progress("reading") as advance:
        summary = ingest([sample], path, advance)
    show_messages(summary)
    print_summary(console, summary)


def _show_answers(console: Console, path: Path) -> None:
    heading(console, f"2. Lookups in {VERSION}, all tensors bfloat16")
    with open_database(path, VERSION) as database:
        answers = database.lookup_many([example.invocation for example in EXAMPLES])
    columns = [
        "operator\nshapes",
        "latency us",
        "source\nconfidence",
        "rule or reason",
        "CSV:lines",
    ]
    rows = [_cells(example, answer) for example, answer in zip(EXAMPLES, answers, strict=True)]
    print_table(console, make_table(columns, rows, columns[1:2]))


def _cells(example: Example, answer: Answer) -> list[str]:
    rule = broken(answer.shape_match_rule or answer.miss_reason or "", _RULE_WIDTH)
    source = answer.source or "no answer"
    if answer.confidence is not None:
        source += f"\n{as_text(answer.confidence)}"
    return [
        f"{answer.op}\n{shapes_text(example.shapes)}",
        microseconds(answer.latency_us),
        source,
        f"{rule}\n{example.note or _note(answer)}",
        _places(answer),
    ]


def _note(answer: Answer) -> str:
    """Return the box of an interpolated answer, or what a padded one was measured with."""
    details = answer.details
    if "measured_shapes" in details:
        return f"row has {shapes_text(details['measured_shapes'])}"
    return "\n".join(
        f"{axis} in {as_text(low)} ... {as_text(high)}"
        for axis, (low, high) in details.get("boundary", {}).items()
    )


def _places(answer: Answer) -> str:
    """Return the rows behind an answer as ``file:line``, several lines of one file together."""
    details = answer.details
    corners = details.get("corner_points", [])
    if not corners:
        return f"{details['file']}:{details['line']}" if "file" in details else ""
    lines = [str(corner["line"]) for corner in corners]
    start = f"{corners[0]['file']}:"
    if len(lines) <= 2:
        return start + ",".join(lines)
    return "\n".join([start, *(",".join(part) for part in parts(lines, 4))])


def _show_coverage(console: Console, path: Path) -> None:
    heading(console, "3. SQL over everything")
    console.print(_COVERAGE + "\n")
    result = run_sql(path, _COVERAGE)
    names = [column[0] for column in result.description or []]
    print_table(console, make_table(names, result.fetchall(), names[1:]))


def _show_next(console: Console) -> None:
    heading(console, "Next")
    program = _program()
    for command, purpose in _NEXT:
        console.print(f"  {program} {command:<18} {purpose}", soft_wrap=True)


def _program() -> str:
    """Return how the reader called this program."""
    called = sys.argv[0]
    if Path(called).name != "sqlinterp" or shutil.which("sqlinterp") == called:
        return "sqlinterp"
    return called
