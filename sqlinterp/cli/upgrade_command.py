"""``sqlinterp upgrade-csv``: old CSV layouts into current ones, and back."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sqlinterp.cli.output import broken, data_console, heading, make_table, print_table
from sqlinterp.cli.progress import file_progress
from sqlinterp.cli.upgrade_diff import WIDEST, show_diff, some, write_paragraph
from sqlinterp.errors import SourceError, UsageError
from sqlinterp.upgrade import STEPS, UpgradeReport, VersionReport, undo
from sqlinterp.upgrade import upgrade as run_upgrade
from sqlinterp.upgrade.layouts import AVERAGE, LATEST, PROFILING_AVERAGE, TARGETS, read_target
from sqlinterp.upgrade.record import BACKUP_FOLDER
from sqlinterp.upgrade.report import LEFT_ALONE, RESTORED, UNCHANGED, UPGRADED

_NARROW = 45
_MEANING = (
    f"'{AVERAGE}' of legacy36 is the mean of the profiler; in current62 the same name means the"
    f" minimum of the microbenchmark. The mean is now called '{PROFILING_AVERAGE}' and is read"
    " from there. The latency of every row was compared: it is the same number as before."
)
_KEPT = {
    "minimal9": f"their only duration is '{AVERAGE}', and nothing says whether it is a mean or a"
    " minimum",
    "other": "their columns belong to no known layout",
    "comm6": "collectives have only one layout",
}


Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="A version directory, or a folder that contains some.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="VERSION",
        help=f"Layout to upgrade to: {', '.join(TARGETS)} or {LATEST}.",
        show_default=False,
    ),
]
GivenEpSize = Annotated[
    int | None,
    typer.Option(
        "--ep-size",
        min=1,
        help="Expert-parallel ranks that DispatchFFNCombine rows without EP Size ran on.",
        show_default=False,
    ),
]


def upgrade(
    directory: Directory,
    to: Target = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    undo_last: Annotated[
        bool, typer.Option("--undo", help="Restore the files that the last upgrade replaced.")
    ] = False,
    ep_size: GivenEpSize = None,
) -> None:
    """Bring the CSVs below DIR to a newer column layout; the originals are kept for --undo."""
    if undo_last:
        if to is not None or ep_size is not None:
            raise UsageError("it takes neither --to nor --ep-size", "--undo")
        report = undo(directory, dry_run)
    else:
        with file_progress("reading") as advance:
            report = run_upgrade(directory, read_target(to), dry_run, ep_size, advance)
    console = data_console()
    _show_versions(console, report, RESTORED if undo_last else UPGRADED)
    _show_steps(console, report)
    if dry_run:
        show_diff(console, report)
    _show_open_cells(console, report)
    _show_notes(console, report, directory)
    _show_left_alone(console, report)


def _show_versions(console: Console, report: UpgradeReport, done: str) -> None:
    title = {UPGRADED: "to upgrade", RESTORED: "to restore"}[done] if report.dry_run else done
    outcomes = {title: done, UNCHANGED: UNCHANGED, LEFT_ALONE: LEFT_ALONE}
    columns = ["directory", "files", *outcomes]
    rows = [
        [
            _directory(console, version),
            len(version.files),
            *map(version.count, outcomes.values()),
        ]
        for version in report.versions
    ]
    print_table(console, make_table(columns, rows, columns[1:]))


def _show_steps(console: Console, report: UpgradeReport) -> None:
    files = Counter(name for _, file in report.files(UPGRADED) for name, _ in file.steps)
    rows = [(step.name, step.about, files[step.name]) for step in STEPS if files[step.name]]
    if rows:
        console.print()
        print_table(console, make_table(["step", "what it does", "files"], rows, ["files"]))


def _show_open_cells(console: Console, report: UpgradeReport) -> None:
    rows: Counter[tuple[str, str]] = Counter()
    files: dict[tuple[str, str], list[str]] = defaultdict(list)
    for outcome in (UPGRADED, UNCHANGED):
        for _, file in report.files(outcome):
            for blank in file.blanks:
                key = (blank.column, blank.reason)
                rows[key] += blank.count
                files[key].append(file.name)
    if rows:
        heading(console, "Not filled, since nothing in the row proves a value")
        cells = [(*key[:1], rows[key], some(files[key]), *key[1:]) for key in sorted(rows)]
        print_table(console, make_table(["column", "rows", "file", "why"], cells, ["rows"]))


def _show_notes(console: Console, report: UpgradeReport, directory: Path) -> None:
    notes = []
    if any(file.moved_mean for _, file in report.files(UPGRADED)):
        notes.append(_MEANING)
    layouts = Counter(
        file.layout_after for outcome in (UPGRADED, UNCHANGED) for _, file in report.files(outcome)
    )
    for layout, why in _KEPT.items():
        if layouts[layout]:
            notes.append(f"Columns kept in {layouts[layout]} files ({layout}): {why}.")
    if report.count(UPGRADED) and not report.dry_run:
        notes.append(
            f"The originals are in {BACKUP_FOLDER} of each directory;"
            f" 'sqlinterp upgrade-csv {directory} --undo' restores them."
        )
    for note in notes:
        console.print()
        write_paragraph(console, note)


def _show_left_alone(console: Console, report: UpgradeReport) -> None:
    """Write the files that could not be handled.

    Raises
    ------
    SourceError
        If there are any, for the exit code.
    """
    rows = [
        (_directory(console, version), file.name, file.reason)
        for version, file in report.files(LEFT_ALONE)
    ]
    if rows:
        heading(console, "Left alone")
        print_table(console, make_table(["directory", "file", "why"], rows))
        raise SourceError(f"{len(rows)} file{'s were' if len(rows) > 1 else ' was'} left alone")


def _directory(console: Console, version: VersionReport) -> str:
    return version.name if console.width > WIDEST else broken(version.name, _NARROW)
