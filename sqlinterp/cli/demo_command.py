"""``sqlinterp demo``: write synthetic databases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlinterp.cli.output import data_console, make_table, print_table
from sqlinterp.cli.progress import file_progress
from sqlinterp.demo import DemoSummary, write_demo
from sqlinterp.demo.build import DEFAULT_SEED


def demo(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to write to.", show_default=False)
    ],
    scale: Annotated[
        float, typer.Option("--scale", help="Size: 1 gives about 41 thousand rows.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the noise.")] = DEFAULT_SEED,
) -> None:
    """Write synthetic demonstration databases (nothing in them was measured)."""
    with file_progress("writing") as advance:
        summary = write_demo(directory, scale, seed, lambda text: advance(text, 0, 0))
    _show(summary)


def _show(summary: DemoSummary) -> None:
    folders: dict[str, list[int]] = {}
    for file in summary.files:
        counts = folders.setdefault(str(Path(file.path).parent), [0, 0, 0])
        counts[0] += 1
        counts[1] += file.rows
        counts[2] += file.size_bytes
    columns = ["folder", "files", "rows", "kB"]
    rows = [
        (name, files, f"{rows:,}", f"{size / 1000:,.0f}")
        for name, (files, rows, size) in folders.items()
    ]
    rows.append(
        ("total", len(summary.files), f"{summary.rows:,}", f"{summary.size_bytes / 1000:,.0f}")
    )
    print_table(data_console(), make_table(columns, rows, columns[1:]))
