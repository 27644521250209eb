"""The renderer: data on stdout, everything else on stderr."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNLIMITED = 10_000
_GAP = 2  # between columns
_LONGEST_WORD = 40  # longer ones may be broken


def data_console() -> Console:
    """Return the console of stdout; output that goes to a file or pipe is never cut to a width."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(
        markup=False, highlight=False, emoji=False, width=None if has_width else UNLIMITED
    )


def message_console() -> Console:
    """Return the console of stderr."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def write_line(text: str) -> None:
    """Write one line of data to stdout as it is."""
    sys.stdout.write(text + "\n")


def say(text: str, style: str = "") -> None:
    """Write a message to stderr, without breaking its lines, after all data so far."""
    sys.stdout.flush()
    message_console().print(Text(text, style=style), soft_wrap=True)


def heading(console: Console, text: str) -> None:
    """Write a heading with an empty line before it."""
    console.print()
    console.print(Text(text, style="bold"))


def make_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], numeric: Iterable[str] = ()
) -> Table:
    """Return a table of plain cells; columns named in ``numeric`` are aligned to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    right = set(numeric)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(Text(column), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(as_text(cell)) for cell in row))
    return table


def print_table(console: Console, table: Table) -> None:
    """Write a table, without the blanks that would fill its last column in a file."""
    for column, width in zip(table.columns, _widths(console, table) or (), strict=False):
        column.width = width
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), soft_wrap=True)


def print_result(
    console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Iterable[str]
) -> None:
    """Write rows as a table, or one record below the other when a table is too wide to read."""
    table = make_table(columns, rows, numeric)
    if _widths(console, table) is not None:
        print_table(console, table)
        return
    width = max(len(column) for column in columns)
    for number, row in enumerate(rows, start=1):
        console.print(Text(f"row {number}", style="bold"))
        for column, value in zip(columns, row, strict=True):
            console.print(f"  {column:<{width}}  {as_text(value)}".rstrip(), soft_wrap=True)


def _widths(console: Console, table: Table) -> list[int] | None:
    """Return widths that break lines between words only, None when there is no room for that."""
    natural, least = [], []
    for column in table.columns:
        texts = [str(column.header), *(str(cell) for cell in column.cells)]
        natural.append(max(cell_len(line) for text in texts for line in text.split("\n")))
        longest = max((cell_len(word) for text in texts for word in text.split()), default=1)
        least.append(min(longest, _LONGEST_WORD))
    room = console.width - _GAP * (len(natural) - 1)
    if sum(least) > room:
        return None
    while (excess := sum(natural) - room) > 0:
        slack = [have - need for have, need in zip(natural, least, strict=True)]
        widest = max((i for i, free in enumerate(slack) if free), key=lambda i: natural[i])
        below = max([width for width in natural if width < natural[widest]], default=0)
        natural[widest] -= max(1, min(excess, slack[widest], natural[widest] - below))
    return natural


def as_text(value: Any) -> str:
    """Return a value as a cell shows it: whole numbers without a fraction, null as empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(as_text(item) for item in value) + "]"
    return str(value)


def microseconds(value: float | None) -> str:
    """Return a latency [us] with three decimals, empty for none."""
    return "" if value is None else f"{value:.3f}"


def broken(text: str, width: int) -> str:
    """Return a long identifier with line breaks after underscores or slashes.

    Examples
    --------
    >>> broken("interpolated_2d_griddata_linear", 20).splitlines()
    ['interpolated_2d_', 'griddata_linear']
    """
    lines = [""]
    for part in re.findall(r"[^_/]*[_/]*", text):
        if len(lines[-1]) + len(part) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def shapes_text(shapes: Iterable[Sequence[int]]) -> str:
    """Return shapes as ``(64, 1536) (1536, 2304)``."""
    return " ".join("(" + ", ".join(str(dim) for dim in shape) + ")" for shape in shapes)
