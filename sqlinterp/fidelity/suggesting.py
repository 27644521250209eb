"""Evidence for suggestions: a recorded run, or a hold-out that is made for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlinterp.errors import UsageError
from sqlinterp.fidelity.grid import Group
from sqlinterp.fidelity.request import Request
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.run import run_fidelity
from sqlinterp.fidelity.source import Measured
from sqlinterp.fidelity.suggestions import Evidence, Suggestion, suggest

_WORST_LOG = 10.0  # stands for the ratio of an answer that is not positive


@dataclass(frozen=True)
class Found:
    """Suggestions for one group and what they rest on."""

    group: Group
    policy_hash: str
    run_id: str | None
    n_failing: int
    suggestions: list[Suggestion]


def suggestions_for(request: Request, run_id: str | None, limit: int) -> Found:
    """Return what to measure next in the one regime that a request selects.

    Parameters
    ----------
    request : Request
        The hold-out to make when no recorded run is named.
    run_id : str or None
        A recorded run of the same version.

    Raises
    ------
    UsageError
        If the request selects several regimes, or there is no such run.
    """
    run = run_fidelity(request if run_id is None else replace(request, max_probes=1))
    if len(run.groups) != 1:
        raise UsageError(f"{len(run.groups)} regimes were chosen", "config", "one regime")
    group = run.groups[0]
    if run_id is None:
        evidence = [_evidence(result) for result in run.results if _is_evidence(result)]
    else:
        evidence = _recorded(request, group, run_id)
    found = suggest(group, evidence, limit)
    return Found(group, run.policy_hash, run_id or run.run_id, len(evidence), found)


def _is_evidence(result: Result) -> bool:
    """Whether a denser grid could help: outside the bar, and not by noise."""
    return result.is_failing and not result.is_within_noise


def _evidence(result: Result) -> Evidence:
    log_ratio = abs(result.log_ratio or 0.0)
    apart = log_ratio if math.isfinite(log_ratio) else _WORST_LOG
    return Evidence(result.probe.coordinate, result.probe.axis, apart)


def _recorded(request: Request, group: Group, run_id: str) -> list[Evidence]:
    """Return the failing probes that a recorded run has of a group."""
    with Measured(request.database, request.version, request.is_exact_version) as measured:
        known = measured.run("recorded_runs")
        if run_id not in [row["run_id"] for row in known]:
            listing = ", ".join(row["run_id"] for row in known) or "none"
            raise UsageError(f"there is no recorded run '{run_id}'", todo=f"Known: {listing}.")
        rows = measured.run("failing_probes", run_id=run_id, group_id=group.group_id)
    evidence = []
    for row in rows:
        told = dict(zip(group.axes, row["x"], strict=True))
        coordinate = group.regime.stored(told)
        if coordinate is not None:
            axis = int(row["axis"]) if row["axis"] is not None else None
            at = group.snapped(coordinate)
            evidence.append(Evidence(at, axis, min(row["apart"], _WORST_LOG)))
    return evidence
