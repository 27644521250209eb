"""Runs as JSON holds them: figures, probes, and what was asked for."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from sqlinterp.fidelity.failures import hint_of
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.run import Run

WORST_GROUPS = 50
Row = dict[str, Any]


def run_document(run: Run, has_probes: bool = True) -> Row:
    """Return a run as reports hold it; nothing in it depends on when or where it ran.

    Parameters
    ----------
    has_probes : bool
        Whether every probe is in it.
    """
    total = run.figures.total
    document: Row = {
        "run_id": run.run_id,
        "version": run.version_key,
        "request": run.request.record(),
        "truth_ref": run.request.truth.reference,
        "policy_hash": run.policy_hash,
        "schema_version": run.schema_version,
        "engine": "calls" if run.request.is_by_operator else "lookup",
        "truth_quality": run.truth_quality,
        "n_groups": len(run.groups),
        "possible_probes": run.possible,
        "sampled": run.is_sampled,
        "all": total.statistics.record(),
        "kernels": [figure.record() for figure in run.figures.kernels],
        "regions": [figure.record() for figure in run.figures.regions],
        "groups": group_records(run),
        "noise": run.noise,
        "miss_reasons": miss_reasons(run.results),
        "skipped": _skipped(run),
    }
    if run.drifts:
        document["drift"] = [
            {"kernel": kernel, "dtype": dtype, **drift.record()}
            for (kernel, dtype), drift in sorted(run.drifts.items())
        ]
    if run.figures.compared:
        document["compare"] = {"regions": run.figures.compared}
    if has_probes:
        document["probes"] = [probe_record(result) for result in run.results]
    return document


def _skipped(run: Run) -> list[Row]:
    return [
        {"kernel": kernel, "path": path, "reason": reason, "points": count}
        for (kernel, path, reason), count in sorted(run.skipped.items())
    ]


def group_records(run: Run) -> list[Row]:
    """Return the worst regimes with their fields and figures."""
    fields = {group.group_id: group.fields for group in run.groups}
    return [
        {
            "group_id": figure.name,
            "kernel": figure.kernel_type,
            "regime": fields[figure.name],
            "stats": figure.statistics.record(),
            "verdict": figure.verdict,
        }
        for figure in run.figures.groups[:WORST_GROUPS]
    ]


def miss_reasons(results: list[Result]) -> dict[str, int]:
    """Return how often each reason left a truth unanswered, the most frequent first."""
    missed = (result for result in results if result.has_truth and not result.is_answered)
    counts = Counter(result.answer.miss_reason or "unknown" for result in missed)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def reason_of(result: Result) -> str | None:
    """Return why a probe was not scored: no truth, or why there was no answer."""
    if not result.has_truth:
        return result.answer.miss_reason or "truth_missing"
    return result.answer.miss_reason


def probe_record(result: Result) -> Row:
    """Return one probe as reports hold it, latencies in us."""
    probe, answer, ratio = result.probe, result.answer, result.ratio
    error = None if ratio is None else abs(ratio - 1)
    record: Row = {
        "probe_id": result.probe_id,
        "kernel": probe.group.kernel_type,
        "group_id": probe.group.group_id,
        "region": result.region,
        "scheme": probe.scheme,
        "target": probe.target,
        "holdout": None if probe.holdout is None else probe.holdout.name,
        "truth_us": probe.truth_us,
        "pred_us": result.pred_us,
        "ratio": ratio,
        "absolute_error_us": None if error is None else error * (probe.truth_us or 0.0),
        "relative_error": error,
        "within_bar": result.is_within if result.is_answered else None,
        "within_noise": result.is_within_noise if result.is_answered else None,
        "source": result.source,
        "coverage": result.coverage,
        "confidence": answer.confidence,
        "method": answer.details.get("method"),
        "shape_match_rule": answer.shape_match_rule,
        "dims": result.dims,
        "n_candidates": result.n_candidates,
        "cell_ratio": result.cell_ratio,
        "spread": result.spread,
        "nearest_us": result.nearest_us,
        "noise_floor": result.noise_floor,
        "jump": result.jump,
        "drift": probe.drift,
        "failure_hint": hint_of(result),
        "reason": reason_of(result),
    }
    if result.other is not None:
        other = result.compared()
        record |= {"cmp_us": other.pred_us, "cmp_ratio": other.ratio}
    return record


def regime_text(fields: Row) -> str:
    """Return the fields of a regime as canonical JSON."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
