"""The ops ``fidelity`` and ``suggest`` of the protocol: a request in, a response out.

Source: fidelity specification, section 2.6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlinterp.fidelity.documents import group_records
from sqlinterp.fidelity.grid import Group
from sqlinterp.fidelity.report import GROUPS, MARKDOWN, PAGE, PROBES, REGIONS, write_report
from sqlinterp.fidelity.request import Compare, Request, Select
from sqlinterp.fidelity.run import Run, run_fidelity
from sqlinterp.fidelity.schemes import Options
from sqlinterp.fidelity.source import Measured
from sqlinterp.fidelity.suggesting import suggestions_for
from sqlinterp.fidelity.suggestions import CEILING, n_feasible, plan_csv
from sqlinterp.fidelity.truths import Truth
from sqlinterp.lookup.regimes import Regime, RegimeError

_REGION = re.compile(r"[a-z][a-z0-9_]*|extrap\d_x[0-9.]+|under\d_x[0-9.]+")
_OPTIONS = ("keep_every", "factors", "cells", "k", "salt")
Document = dict[str, Any]


def answer_fidelity(database: Path, request: Mapping[str, Any]) -> Document:
    """Answer a request ``fidelity`` that its schema has accepted.

    Raises
    ------
    RegimeError
        If version, kernel, field or value is unknown, or the config is ambiguous.
    UsageError
        If parts of the request make no sense together.
    TruthError
        If a truth command fails or answers what cannot be understood.
    """
    run = run_fidelity(_request(database, request))
    total = run.figures.total.statistics
    response: Document = {
        **_head(request, run),
        "run_id": run.run_id,
        "truth_quality": run.truth_quality,
        "engine": "lookup",
        "sampled": run.is_sampled,
        "n_groups": len(run.groups),
        "n_probe": total.n_probe,
        "n_truth": total.n_truth,
        "n_answered": total.n_answered,
        "all": total.record(),
        "regions": [_region(figure.record()) for figure in run.figures.regions],
        "groups": group_records(run),
        "noise": run.noise,
    }
    if run.figures.compared:
        response["compare"] = {"regions": run.figures.compared}
    if run.drifts:
        response["drift_control"] = _drift(run)
    if request.get("out"):
        response["artifacts"] = _artifacts(run, Path(request["out"]))
    return response


def answer_suggest(database: Path, request: Mapping[str, Any]) -> Document:
    """Answer a request ``suggest`` that its schema has accepted.

    The evidence is that of the recorded run that is named, else that of a plane hold-out.

    Raises
    ------
    RegimeError
        If version, kernel, field or value is unknown, or the config is ambiguous.
    UsageError
        If there is no such recorded run.
    """
    asked = _request(database, {**request, "truth": {"kind": "holdout", "scheme": "plane"}})
    found = suggestions_for(asked, request.get("run_id"), request.get("limit", CEILING))
    group: Group = found.group
    feasible = n_feasible(group)
    return {
        "protocol": 1,
        "op": "suggest",
        "kind": request["kind"],
        "version": request["version"],
        "policy_hash": found.policy_hash,
        "run_id": found.run_id,
        "group_id": group.group_id,
        "n_feasible": feasible,
        "ceiling": CEILING,
        "over_ceiling": feasible > CEILING,
        "room": max(0, CEILING - feasible),
        "n_failing": found.n_failing,
        "suggestions": [suggestion.record() for suggestion in found.suggestions],
        "plan_csv": plan_csv(group, found.suggestions),
    }


def _request(database: Path, request: Mapping[str, Any]) -> Request:
    scope = request.get("scope") or {}
    is_everything = bool(scope.get("all_groups"))
    config = request.get("config") or {}
    device_free = {k: v for k, v in config.items() if k != "gpu_name"} if is_everything else {}
    more = {key: request[key] for key in ("bar", "max_probes", "small_us", "min_region_n")
            if request.get(key) is not None}  # fmt: skip
    return Request(
        database=database,
        version=request["version"],
        is_exact_version=True,
        kernels=(request["kind"],),
        config=device_free,
        select=None if is_everything else _selection(config),
        where=scope.get("where"),
        limit_groups=scope.get("limit_groups"),
        truth=_truth(request["truth"]),
        probes=_probes(request.get("probes")),
        policy=_policy(database, request, request.get("policy")),
        compare=_compare(database, request),
        **more,
    )


def _selection(config: Mapping[str, Any]) -> Select:
    def select(regimes: Sequence[Regime], device: str) -> set[int]:
        from sqlinterp.protocol.groups import resolve

        return set(resolve(list(regimes), config, device).regime_ids)

    return select


def _truth(told: Mapping[str, Any]) -> Truth:
    kind = told["kind"]
    if kind == "holdout":
        options = {name: told[name] for name in _OPTIONS if name in told}
        if "factors" in options:
            options["factors"] = tuple(options["factors"])
        return Truth(scheme=told["scheme"], options=Options(**options))
    if kind == "version":
        return Truth(kind, version=told["version"], is_normalized=told.get("normalize", False))
    if kind == "table":
        return Truth(kind, path=Path(told["path"]), column_map=told.get("column_map") or {})
    more = {name: told[name] for name in ("timeout_s", "batch") if name in told}
    return Truth(kind, argv=tuple(told["argv"]), **more)


def _probes(told: Sequence[Mapping[str, Any]] | None) -> list[tuple[dict[str, float], str]] | None:
    if told is None:
        return None
    for probe in told:
        if not _REGION.fullmatch(probe["region"]):
            raise RegimeError("bad_request", f"'{probe['region']}' is no name of a region")
    return [(dict(probe["coords"]), probe["region"]) for probe in told]


def _policy(database: Path, request: Mapping[str, Any], told: Any) -> Mapping[str, Any] | None:
    """Return a policy of the protocol as fields of ``interpolation_policy``."""
    if not told:
        return None
    from sqlinterp.protocol.answering import settings

    with Measured(database, request["version"], is_exact_key=True) as measured:
        axes = next(
            (regime.axes for row, regime in measured.regimes()
             if row["kernel_type"] == request["kind"]), (),
        )  # fmt: skip
    return settings(told, axes)


def _compare(database: Path, request: Mapping[str, Any]) -> Compare | None:
    told = request.get("compare")
    if told is None:
        return None
    policy = _policy(database, request, told.get("policy"))
    return Compare(policy, told.get("version"), told.get("kind"))


def _head(request: Mapping[str, Any], run: Run) -> Document:
    return {
        "protocol": 1,
        "op": request["op"],
        "kind": request["kind"],
        "version": run.version_key,
        "policy_hash": run.policy_hash,
        "schema_version": run.schema_version,
    }


def _region(record: Document) -> Document:
    return {name: value for name, value in record.items() if name != "kernel"}


def _drift(run: Run) -> Document:
    """Return the drift of the only family, or that of the worst one of several."""
    records = [drift.record() for drift in run.drifts.values()]
    worst: Callable[[Document], Any] = lambda r: (r["pass"], r["within_rate"] or 0.0)  # noqa: E731
    return min(records, key=worst)


def _artifacts(run: Run, folder: Path) -> dict[str, str]:
    write_report([run], folder)
    names = {"probe_csv": PROBES, "region_csv": REGIONS, "group_csv": GROUPS,
             "report_md": MARKDOWN, "report_html": PAGE}  # fmt: skip
    return {key: str(folder / name) for key, name in names.items()}
