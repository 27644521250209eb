"""``sqlinterp fidelity``: how close answers are to measurements that were held out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sqlinterp.cli import options
from sqlinterp.cli.output import data_console, make_table, print_table, say
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.fidelity import SPLITS, Report, Request, hold_out, write_report
from sqlinterp.fidelity.markdown import number, percent, region_text, within
from sqlinterp.fidelity.report import document_of
from sqlinterp.fidelity.run import DEFAULT_LIMIT

_COLUMNS = ("kernel", "regime", "region")
_FIGURES = ("n", "answered", "on grid", "median error", "within 15 %", "worst ratio")


_Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for holdout.json, .md and .csv.")
]
_Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel", metavar="NAME", help="Only this kernel; may be repeated.", show_default=False
    ),
]
_Paths = Annotated[
    list[str] | None,
    typer.Option(
        "--path", metavar="NAME", help="Only this lookup path; may be repeated.", show_default=False
    ),
]
_Split = Annotated[
    str,
    typer.Option(
        "--split",
        metavar="NAME",
        help=f"What leaves together: {', '.join(SPLITS)} (one point, all with one value of an axis,"
        " every second value of an axis).",
    ),
]
_Axis = Annotated[
    str | None,
    typer.Option(
        "--axis", metavar="NAME", help="Only along this axis, such as M or seq.", show_default=False
    ),
]
_Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, help="Most samples of one kernel on one path.")
]
_Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Decides which samples are drawn.")]


def fidelity(
    out: _Out,
    db: options.Database = None,
    version: options.Version = None,
    kernel: _Kernels = None,
    path: _Paths = None,
    split: _Split = "loo",
    axis: _Axis = None,
    limit: _Limit = DEFAULT_LIMIT,
    seed: _Seed = 0,
    aggregation: options.Aggregation = "mean",
) -> None:
    """Hold measured points out, ask the lookup for them, and report the errors.

    The database file is copied and never changed. Exit code 0 whatever the errors
    are, 1 when there was nothing to hold out.
    """
    request = Request(
        database_path(db), version, tuple(kernel or ()), tuple(path or ()), split, axis, limit,
        seed, aggregation,
    )  # fmt: skip
    with file_progress("held out") as advance:
        report = hold_out(request, advance)
    written = write_report(report, out)
    _show(report)
    say("written: " + ", ".join(str(file) for file in written))
    if not report.samples:
        say("nothing could be held out; holdout.md tells why", "yellow")
        raise typer.Exit(1)


def _show(report: Report) -> None:
    """Write one line of figures for all samples, and one for each regime and region."""
    document = document_of(report)
    total: dict[str, Any] = {"kernel_type": "ALL", "regime_id": None, "axis": None, "region": ""}
    rows = [
        [
            group["kernel_type"], _regime(group["regime_id"]), region_text(group), group["n"],
            group["answered"], group["on_grid"], percent(group["median_relative_error"]),
            within(group), number(group["worst_ratio"]),
        ]
        for group in [{**total, **document["all"]}, *document["regimes"]]
    ]  # fmt: skip
    print_table(data_console(), make_table((*_COLUMNS, *_FIGURES), rows, _FIGURES))
    skipped = sum(row["points"] for row in document["skipped"])
    if skipped:
        say(f"{skipped} points were not asked for; holdout.md tells why")


def _regime(regime_id: int | None) -> str:
    return "" if regime_id is None else f"r{regime_id}"
