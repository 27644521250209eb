"""What an upgrade of CSVs would change, as a person compares it: files, headers, some cells."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console

from sqlinterp.cli.output import heading, make_table, print_table
from sqlinterp.upgrade import FileReport, UpgradeReport
from sqlinterp.upgrade.changes import Change, Fill
from sqlinterp.upgrade.layouts import AVERAGE, PROFILING_AVERAGE
from sqlinterp.upgrade.report import RESTORED, UPGRADED

WIDEST = 100
_MOST_NAMES, _MOST_SAMPLES = 4, 3
_NO_COLUMN, _BLANK = "(no column)", "(blank)"
_Row = tuple[str, ...]


def show_diff(console: Console, report: UpgradeReport) -> None:
    """Write the files that would change, their headers and some of their cells."""
    for version in report.versions:
        files = [file for file in version.files if file.outcome in (UPGRADED, RESTORED)]
        if files:
            heading(console, version.name)
            _show_files(console, files)
    changed = [file for _, file in report.files(UPGRADED)]
    _show_columns(console, changed)
    _show_cells(console, changed)


def _show_files(console: Console, files: Sequence[FileReport]) -> None:
    if files[0].outcome == RESTORED:
        write_paragraph(console, ", ".join(file.name for file in files))
        return
    numeric = ["columns\nrenamed", "columns\nadded", "cells\nfilled"]
    rows = [_file_cells(file) for file in files]
    columns = ["file", "rows", "layout", "steps", *numeric]
    print_table(console, make_table(columns, rows, ["rows", *numeric]))


def _file_cells(file: FileReport) -> list[object]:
    changes = [change for _, change in file.steps]
    return [
        file.name,
        file.rows,
        " > ".join(dict.fromkeys((file.layout_before, file.layout_after))),
        " ".join(name.split("_")[0] for name, _ in file.steps),
        sum(len(change.renamed) for change in changes),
        sum(len(change.added) for change in changes),
        sum(len(change.filled) for change in changes),
    ]


def _show_columns(console: Console, files: Sequence[FileReport]) -> None:
    """Write the changed headers, those of files with equal changes once."""
    groups: dict[tuple[_Row, ...], list[str]] = {}
    for file in files:
        rows = tuple(row for name, change in file.steps for row in _column_rows(name, change))
        groups.setdefault(rows, []).append(file.name)
    for rows, names in groups.items():
        if rows:
            heading(console, f"Columns of {len(names)} file{'s' * (len(names) > 1)}: {some(names)}")
            print_table(console, make_table(["step", "before", "after"], rows))


def _column_rows(step: str, change: Change) -> list[_Row]:
    filled = {fill.column for fill in change.filled}
    renamed = [(f"- {old}", f"+ {new}") for old, new in change.renamed]
    added = [("", f"+ {name}" + f" {_BLANK}" * (name not in filled)) for name in change.added]
    rows = [*_abridged(renamed), *_abridged(added)]
    return [("" if number else step, *row) for number, row in enumerate(rows)]


def _abridged(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the first rows and how many follow: there are 25 counters, all treated alike."""
    more = len(rows) - _MOST_NAMES
    return rows if more < 2 else [*rows[:_MOST_NAMES], ("", f"  ... and {more} more likewise")]


def _show_cells(console: Console, files: Sequence[FileReport]) -> None:
    rows = next((_moved_cells(file) for file in files if file.moved_mean), [])
    samples: dict[str, list[_Row]] = {}
    for file in files:
        for name, change in file.steps:
            found = samples.setdefault(name, [])
            found += [_fill_cells(file, change, fill) for fill in change.filled]
            found += [(file.name, f"({what})", *states) for what, *states in change.other]
            del found[_MOST_SAMPLES:]
    rows += [row for name in sorted(samples) for row in samples[name]]
    if rows:
        heading(console, "Some changed cells")
        print_table(console, make_table(["file:line", "column", "before", "after"], rows))


def _moved_cells(file: FileReport) -> list[_Row]:
    line, cell = file.moved_mean or (0, "")
    place = f"{file.name}:{line}"
    after = _BLANK if file.layout_after == "current62" else _NO_COLUMN
    return [(place, AVERAGE, cell, after), (place, PROFILING_AVERAGE, _NO_COLUMN, cell)]


def _fill_cells(file: FileReport, change: Change, fill: Fill) -> _Row:
    before = _NO_COLUMN if fill.column in change.added else _BLANK
    return f"{file.name}:{fill.line}", fill.column, before, fill.after


def write_paragraph(console: Console, text: str) -> None:
    """Write a text in lines of whole words: a path or command cut in two cannot be copied."""
    width = min(console.width, WIDEST)
    for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False):
        console.print(line, soft_wrap=True)


def some(names: Iterable[str]) -> str:
    """Return the first few different names.

    Examples
    --------
    >>> some(["Add.csv", "Add.csv", "Cast.csv", "Mul.csv", "Neg.csv"])
    'Add.csv, Cast.csv, Mul.csv, ...'
    """
    different = list(dict.fromkeys(names))
    return ", ".join([*different[:_MOST_SAMPLES], *["..."] * (len(different) > _MOST_SAMPLES)])
