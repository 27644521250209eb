"""``sqlinterp fidelity``: how close answers are to latencies that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from sqlinterp.cli import fidelity_options as own
from sqlinterp.cli import options
from sqlinterp.cli.output import data_console, make_table, print_table, say, write_line
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.fidelity import Request, Run, Truth, run_fidelity
from sqlinterp.fidelity.calibration import LEAST
from sqlinterp.fidelity.calibration import calibrate as calibrate_database
from sqlinterp.fidelity.markdown import number, within
from sqlinterp.fidelity.recording import record_runs
from sqlinterp.fidelity.report import write_report
from sqlinterp.fidelity.request import DEFAULT_PROBES
from sqlinterp.fidelity.suggesting import suggestions_for
from sqlinterp.fidelity.suggestions import CEILING, n_feasible, plan_csv
from sqlinterp.fidelity.verdicts import UNANSWERED

app = typer.Typer(invoke_without_command=True, no_args_is_help=False)
_STRICT_FAILED = 5
_COLUMNS = ("kernel", "scheme", "region")
_FIGURES = ("probes", "truths", "answered", "median", "within", "worst")


@app.callback()
def fidelity(
    context: typer.Context,
    out: own.Out = None,
    db: options.Database = None,
    version: options.Version = None,
    kernel: own.Kernels = None,
    path: own.Paths = None,
    config: own.Config = None,
    where: own.Where = None,
    scheme: own.Scheme = None,
    axis: own.Axis = None,
    truth_version: own.TruthVersion = None,
    truth_table: own.TruthTable = None,
    column: own.Columns = None,
    truth_command: own.TruthProgram = None,
    settings: own.Settings = None,
    policy: own.PolicyFields = None,
    compare: own.Other = None,
    bar: own.Bar = own.DEFAULT_BAR,
    max_probes: own.Most = DEFAULT_PROBES,
    every: own.Every = False,
    seed: own.Seed = 0,
    aggregation: options.Aggregation = "mean",
    through_operators: own.ByOperator = False,
    record: own.Record = False,
    strict: own.Strict = False,
) -> None:
    """Ask the lookup for latencies that are known, and report how far off it is.

    Hold-outs take measured points away from what the lookup sees. Exit code 0 whatever
    the errors are, 1 with nothing to ask for, 4 if a truth command failed, 5 with --strict.
    """
    if context.invoked_subcommand is None:
        _run(own.requests_of(context.params), context.params)


def _run(requests: Sequence[Request], told: Mapping[str, Any]) -> None:
    """Run requests and leave with the exit code that the runs deserve."""
    runs = []
    for request in requests:
        with file_progress("asked") as advance:
            runs.append(run_fidelity(request, advance))
    written = [] if told["out"] is None else write_report(runs, told["out"])
    if told["record"]:
        record_runs(requests[0].database, runs)
        say("recorded: " + ", ".join(run.run_id for run in runs))
    _show(runs)
    if written:
        say("written: " + ", ".join(str(file) for file in written))
    if not any(run.results for run in runs):
        reasons = sorted({reason for run in runs for _, _, reason in run.skipped})
        say(f"nothing could be asked for: {', '.join(reasons) or 'no regime was chosen'}", "yellow")
        raise typer.Exit(1)
    if told["strict"] and any(run.is_failed for run in runs):
        raise typer.Exit(_STRICT_FAILED)


def _show(runs: Sequence[Run]) -> None:
    """Write one line of figures for all probes, and one for each kernel and region."""
    rows = []
    for run in runs:
        truth = run.request.truth
        name = truth.scheme if truth.kind == "holdout" else truth.kind
        regions = [figure for figure in run.figures.regions if figure.name != UNANSWERED]
        for figure in [run.figures.total, *regions]:
            stats = figure.statistics.record()
            verdict = "" if figure is run.figures.total else figure.verdict
            if figure.failure_class and figure.verdict == "fail":
                verdict = f"fail: {figure.failure_class}"
            rows.append(
                [
                    figure.kernel_type, name, figure.name, stats["n_probe"], stats["n_truth"],
                    stats["n_answered"], number(stats["med"]), within(stats),
                    number(stats["worst"]), verdict,
                ]
            )  # fmt: skip
    console = data_console()
    print_table(console, make_table((*_COLUMNS, *_FIGURES, "verdict"), rows, _FIGURES))
    for run in runs:
        reasons = ", ".join(sorted({reason for _, _, reason in run.skipped}))
        if reasons and run.results:
            say(f"{sum(run.skipped.values())} points were not asked for: {reasons}")


@app.command()
def calibrate(
    db: options.Database = None,
    kernel: own.Kernels = None,
    least: Annotated[
        int, typer.Option("--least", min=1, help="Fewest answers that a bucket is judged by.")
    ] = LEAST,
) -> None:
    """Write confidences and error quantiles from recorded runs into the policies.

    Confidence stays a label: no answer changes. Exit code 1 when no recorded run has enough
    answers.
    """
    found = calibrate_database(database_path(db), tuple(kernel or ()), least)
    columns = ("kernel", "path", "confidence", "calibrated", "answers")
    rows = [
        [
            row["kernel_type"], row["path"],
            f"{row['confidence_from']:.2f} to {row['confidence_to']:.2f}",
            number(row["calibrated"], 2), row["n_answered"],
        ]
        for row in found.labels
    ]  # fmt: skip
    print_table(data_console(), make_table(columns, rows, ("calibrated", "answers")))
    say(f"{len(found.labels)} labels and {len(found.quantiles)} error quantiles were written")
    if not found.labels:
        say("no recorded run has enough answers; make one with 'fidelity --record'", "yellow")
        raise typer.Exit(1)


@app.command()
def suggest(
    db: options.Database = None,
    version: options.Version = None,
    kernel: own.Kernels = None,
    config: own.Config = None,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="Recorded run; by default a plane hold-out."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=CEILING)] = CEILING,
) -> None:
    """Write coordinates to measure next as CSV, the most telling first.

    One regime is chosen by --kernel and --config. A full grid has at most 500 coordinates.
    """
    request = Request(
        database_path(db), version, tuple(kernel or ()), config=own.config_of(config),
        truth=Truth(scheme="plane"),
    )  # fmt: skip
    found = suggestions_for(request, run, limit)
    write_line(plan_csv(found.group, found.suggestions).rstrip("\n"))
    feasible = n_feasible(found.group)
    if feasible >= CEILING:
        say(f"the full grid has {feasible} coordinates already, the ceiling is {CEILING}", "yellow")
    elif not found.suggestions:
        say("no probe failed and no gap is wide: there is nothing to suggest")
