"""The metrics M1 to M5 of a run, as the views define them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp.database import rows
from sqlinterp.simulator.log import LookupLog

_METRICS = {
    "m1": ("calls", "hit_calls", "calls"),
    "m2": ("operators", "hit_operators", "operators"),
    "m3": ("operators that cost something", "hit_compute_operators", "compute_operators"),
    "m4": ("operator and input shapes", "hit_variants", "variants"),
    "m5": ("us", "hit_us", "analytic_us"),
}
_KINDS = ("interpolated_calls", "extrapolated_calls", "partial_calls", "candidate_calls")


def metrics(log: LookupLog) -> dict[str, Any]:
    """Return the metrics of a run as one JSON object.

    Returns
    -------
    dict
        ``m1`` to ``m5``, each with ``ratio`` (null when there is nothing to divide by), ``hit``,
        ``total`` and ``unit``; ``misses``, the rows of the view ``miss_reason``; and how many
        calls were interpolated, extrapolated, partial, or would have been interpolated.
    """
    found, misses = log.read(_views)
    report: dict[str, Any] = {
        "run_id": log.run_id,
        "version": log.version_key,
        "mode": log.mode,
    }
    for name, (unit, hit, total) in _METRICS.items():
        report[name] = {
            "ratio": found.get(name),
            "hit": found.get(hit, 0),
            "total": found.get(total, 0),
            "unit": unit,
        }
    report |= {kind: found.get(kind, 0) for kind in _KINDS}
    report["misses"] = misses
    return report


def export_metrics(log: LookupLog, path: Path) -> None:
    """Write the metrics of a run to a JSON file."""
    text = json.dumps(metrics(log), indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _views(connection: duckdb.DuckDBPyConnection) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = rows(connection.execute("select * from lookup_metrics"))
    misses = rows(
        connection.execute(
            "select op, dispatch, miss_reason, calls, variants, partial_calls, candidate_calls,"
            " analytic_us, input_shapes from miss_reason order by calls desc, op, miss_reason"
        )
    )
    return (found[0] if found else {}), misses
