"""Runs kept in the database file, behind the views ``fidelity_*``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.fidelity.documents import reason_of, regime_text
from sqlinterp.fidelity.failures import hint_of
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.run import Run
from sqlinterp.fidelity.statistics import FIGURES
from sqlinterp.fidelity.verdicts import Figure
from sqlinterp.migrations import migrate
from sqlinterp.parts import parts
from sqlinterp.publishing import publishing
from sqlinterp.version import __version__

_TABLES = ("recorded_probe", "recorded_region", "recorded_group", "recorded_run")
_BATCH = 5000  # rows of one statement
Row = dict[str, Any]


def record_runs(database: Path, runs: Sequence[Run]) -> None:
    """Keep runs in a database file; a run that it has already is replaced.

    Raises
    ------
    DatabaseError
        If somebody else writes the file, or it cannot be written.
    """
    with publishing(database) as connection:
        migrate(connection)
        connection.execute("begin")
        for run in runs:
            _record(connection, run)
        connection.execute("commit")


def _record(connection: duckdb.DuckDBPyConnection, run: Run) -> None:
    for table in _TABLES:
        body = queries.load(f"fidelity.forget_{table.removeprefix('recorded_')}").body
        connection.execute(body, {"run_id": run.run_id})
    rows = {
        "run": [_run_row(run)],
        "probe": [_probe_row(run, result) for result in run.results],
        "region": [_figure_row(run, figure, "region") for figure in _regions(run)],
        "group": [_group_row(run, figure) for figure in run.figures.groups],
    }
    for name, own in rows.items():
        body = queries.load(f"fidelity.record_{name}").body
        for part in parts(own, _BATCH):
            connection.execute(body, {"rows": json.dumps(part)})


def _run_row(run: Run) -> Row:
    truth = run.request.truth
    return {
        "run_id": run.run_id, "version_key": run.version_key, "truth_kind": truth.kind,
        "truth_ref": truth.reference,
        "scheme": truth.scheme if truth.kind == "holdout" else None,
        "params_json": json.dumps(run.request.record(), sort_keys=True, separators=(",", ":")),
        "policy_hash": run.policy_hash, "bar": run.request.bar, "engine": "lookup",
        "truth_quality": run.truth_quality, "schema_version": run.schema_version,
        "code_rev": __version__,
    }  # fmt: skip


def _probe_row(run: Run, result: Result) -> Row:
    probe, group = result.probe, result.probe.group
    return {
        "run_id": run.run_id, "probe_id": result.probe_id, "group_id": group.group_id,
        "version_key": group.version_key, "device": group.device,
        "kernel_type": group.kernel_type, "path": group.path,
        "regime_json": regime_text(group.fields), "region": probe.region,
        "scheme": probe.scheme, "axis_names": list(group.axes), "x": list(probe.target.values()),
        "holdout_id": None if probe.holdout is None else probe.holdout.name,
        "truth_us": probe.truth_us, "pred_us": result.pred_us,
        "cmp_us": None if result.other is None else result.compared().pred_us,
        "source": result.source, "coverage": result.coverage,
        "confidence": base_confidence(result), "method": result.answer.details.get("method"),
        "dims": result.dims, "n_candidates": result.n_candidates,
        "cell_ratio": result.cell_ratio, "spread": result.spread, "nearest_us": result.nearest_us,
        "noise_floor": result.noise_floor, "jump": result.jump, "reason": reason_of(result),
        "failure_hint": hint_of(result),
    }  # fmt: skip


def base_confidence(result: Result) -> float | None:
    """Return the confidence label of an answer before any calibration, None for a miss."""
    told = result.answer.details.get("confidence_before_calibration")
    return result.answer.confidence if told is None else float(told)


def _regions(run: Run) -> list[Figure]:
    total = run.figures.total
    return [total, *run.figures.kernels, *run.figures.regions]


def _figure_row(run: Run, figure: Figure, what: str) -> Row:
    statistics = figure.statistics
    worst = statistics.worst_result
    return {
        "run_id": run.run_id, "kernel_type": figure.kernel_type, what: figure.name,
        **{name: getattr(statistics, name) for name in FIGURES},
        "worst_probe_id": None if worst is None else worst.probe_id,
        "verdict": figure.verdict, "failure_class": figure.failure_class,
    }  # fmt: skip


def _group_row(run: Run, figure: Figure) -> Row:
    fields = figure.results[0].probe.group.fields
    row = _figure_row(run, figure, "group_id")
    return {**row, "regime_json": regime_text(fields)}
