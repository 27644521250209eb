"""A fidelity run: which probes, what was true, what the lookup says, and what that comes to."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlinterp.fidelity.drift import family_of
from sqlinterp.fidelity.figures import Figures, figures_of
from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.noise import NoiseFloors
from sqlinterp.fidelity.operators import OperatorPredictor
from sqlinterp.fidelity.predicting import Advance, Predictor
from sqlinterp.fidelity.probes import Probe, stratified
from sqlinterp.fidelity.request import Request
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.scope import choose_groups, where
from sqlinterp.fidelity.source import Measured
from sqlinterp.fidelity.truths import (
    Asked,
    Skipped,
    from_command,
    from_table,
    from_version,
    held_out,
    with_final_regions,
)
from sqlinterp.lookup.points import kernel_context, point_policy
from sqlinterp.model import Answer, QueryContext
from sqlinterp.policy import PRESETS

TRUTH, DRIFT, MIXED = "truth", "drift", "mixed"


@dataclass
class Run:
    """What a run found; nothing in it depends on when or where it ran.

    Attributes
    ----------
    run_id : str
        Digest of the request, the policies and the data.
    possible : int
        Probes before the cap; ``is_sampled`` when that left some out.
    skipped : Counter
        Points that were not asked for, by (kernel, path, reason).
    drifts : dict
        How the other version compares, by (kernel, dtype).
    truth_quality : str
        ``truth``, ``drift``, or ``mixed`` when only some groups drift.
    noise : dict
        Noise of the groups that were asked.
    """

    request: Request
    run_id: str
    version_key: str
    schema_version: int
    policy_hash: str
    groups: list[Group]
    results: list[Result]
    figures: Figures
    possible: int = 0
    is_sampled: bool = False
    skipped: Skipped = field(default_factory=Counter)
    drifts: dict[tuple[str, str], Any] = field(default_factory=dict)
    truth_quality: str = TRUTH
    noise: dict[str, Any] = field(default_factory=dict)

    @property
    def is_failed(self) -> bool:
        """Whether any region of any kernel failed."""
        return any(figure.verdict == "fail" for figure in self.figures.regions)


def run_fidelity(request: Request, advance: Advance | None = None) -> Run:
    """Ask the production lookup for coordinates whose latency is known, and judge its answers.

    Parameters
    ----------
    advance : callable, optional
        Called with kernel, probes done and probes in all.

    Raises
    ------
    UsageError
        If a name in the request is unknown, or its parts do not go together.
    TruthError
        If a truth command fails or answers what cannot be understood.
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    """
    request.check()
    with Measured(request.database, request.version, request.is_exact_version) as measured:
        return _Running(measured, request, advance).run()


class _Running:
    """The state of one run."""

    def __init__(self, measured: Measured, request: Request, advance: Advance | None) -> None:
        self._measured, self._request, self._advance = measured, request, advance
        self._aggregation = PRESETS[request.aggregation][1]
        self._groups = self._chosen()
        self._context = self._context_of(request.policy)

    def run(self) -> Run:
        request = self._request
        asked = self._asked()
        probes, is_sampled = self._drawn(asked)
        results = self._answered(probes)
        drifting = {
            group
            for group in self._groups
            if asked.drifts and not asked.drifts[family_of(group)].is_truth
        }
        predictor = Predictor(self._measured, self._context)
        figures = figures_of(results, request.min_region_n, drifting, _Fixer(predictor))
        policy_hash = self._policy_hash()
        return Run(
            request=request,
            run_id=self._run_id(policy_hash, probes),
            version_key=self._measured.version_key,
            schema_version=self._measured.schema_version,
            policy_hash=policy_hash,
            groups=self._groups,
            results=results,
            figures=figures,
            possible=len(asked.probes),
            is_sampled=is_sampled,
            skipped=asked.skipped,
            drifts=asked.drifts,
            truth_quality=_quality(len(drifting), len(self._groups)),
            noise=self._floors.record(self._groups),
        )

    def _chosen(self) -> list[Group]:
        request = self._request
        chosen = choose_groups(
            self._measured.regimes(), request.kernels, request.paths, request.config,
            request.select,
        )  # fmt: skip
        if request.where is not None:
            chosen = where(chosen, request.where)
        if request.limit_groups is not None:
            largest = sorted(
                chosen, key=lambda item: (-item[1].measurement_count, item[0]["group_id"])
            )
            kept = {regime.regime_id for _, regime in largest[: request.limit_groups]}
            chosen = [item for item in chosen if item[1].regime_id in kept]
        return self._measured.groups(chosen, self._aggregation)

    def _context_of(self, policy: Any) -> QueryContext:
        context = QueryContext(aggregation=self._request.aggregation)
        for kernel in sorted({group.kernel_type for group in self._groups}):
            context = kernel_context(context, kernel, policy)
        return context

    def _asked(self) -> Asked:
        request, truth = self._request, self._request.truth
        options = (request.probes, request.is_generated)
        if truth.kind == "version":
            return from_version(self._measured, self._groups, truth, self._aggregation, options)
        if truth.kind == "table":
            return from_table(self._groups, truth, options)
        if truth.kind == "command":
            return from_command(self._groups, truth, request.probes)
        return held_out(self._groups, truth, request.probes)

    def _drawn(self, asked: Asked) -> tuple[list[Probe], bool]:
        """Return at most the wanted number of probes of each group, with truth and final region."""
        request, is_sampled = self._request, False
        by_group: dict[Group, list[Probe]] = {}
        for probe in with_final_regions(asked.probes, request.small_us):
            by_group.setdefault(probe.group, []).append(probe)
        drawn: list[Probe] = []
        for own in by_group.values():
            kept, is_cut = stratified(own, request.max_probes, request.truth.options.salt)
            drawn += kept
            is_sampled |= is_cut
        if asked.latencies is not None:
            truths = asked.latencies(drawn)
            told = zip(drawn, truths, strict=True)
            drawn = [replace(probe, truth_us=truth) for probe, truth in told]
            drawn = with_final_regions(drawn, request.small_us)
        return drawn, is_sampled

    def _answered(self, probes: list[Probe]) -> list[Result]:
        """Return the results of probes, the worst enemies of a fair figure taken out."""
        request = self._request
        if request.is_by_operator:
            operators = OperatorPredictor(self._measured, request.database, self._context)
            probes, answers = operators.answers(probes, self._advance)
        else:
            answers = Predictor(self._measured, self._context).answers(probes, None, self._advance)
        others = self._others(probes)
        self._floors = NoiseFloors(self._measured, self._measured.version_key)
        results = []
        for number, (probe, answer) in enumerate(zip(probes, answers, strict=True)):
            group, at = probe.group, probe.coordinate
            is_step = probe.region == "boundary" and at in group.by_coordinate
            results.append(
                Result(
                    probe_id=number,
                    probe=probe,
                    answer=answer,
                    noise_floor=self._floors.of(group).floor(probe.truth_us),
                    bar=request.bar,
                    other=None if others is None else others[number],
                    jump=group.jump(at, probe.axis) if is_step else None,
                )
            )
        return results

    def _others(self, probes: list[Probe]) -> list[Answer] | None:
        """Return what the other policy, version or kernel says of the same probes."""
        compare = self._request.compare
        if compare is None:
            return None
        others: dict[str, Group] | None = None
        key = self._measured.version_key
        if compare.version is not None:
            key = self._measured.resolved(compare.version)
        if compare.version is not None or compare.kernel is not None:
            others = self._other_groups(key, compare.kernel)
        context = self._context_of(compare.policy) if compare.policy else self._context
        predictor = Predictor(self._measured, context, others, key)
        return predictor.answers(probes, None, self._advance)

    def _other_groups(self, key: str, kernel: str | None) -> dict[str, Group]:
        """Return the groups of another version or kernel by the ids of those that were asked."""
        known = self._measured.regimes(key)
        if kernel is not None:
            known = choose_groups(known, [kernel])
        wanted = {_identity(group, kernel): group.group_id for group in self._groups}
        found = [
            (row, regime)
            for row, regime in known
            if (row["kernel_type"], regime.axes, json.dumps(regime.columns, sort_keys=True))
            in wanted
        ]
        groups = self._measured.groups(found, self._aggregation, key)
        return {wanted[_identity(group, None)]: group for group in groups}

    def _policy_hash(self) -> str:
        services = self._measured.services(self._context)
        hashes = {
            point_policy(services, self._measured.catalog.file_of(group.regime.file_id)).sha256
            for group in self._groups
        }
        if len(hashes) == 1:
            return hashes.pop()
        return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()

    def _run_id(self, policy_hash: str, probes: Sequence[Probe]) -> str:
        digest = hashlib.sha256()
        told = {"request": self._request.record(), "version": self._measured.version_key,
                "policy": policy_hash}  # fmt: skip
        digest.update(json.dumps(told, sort_keys=True, default=str).encode())
        for group in self._groups:
            digest.update(group.group_id.encode())
            for point in group.points:
                digest.update(repr((point.coordinate, point.truth_us)).encode())
        for probe in probes:
            digest.update(repr((probe.coordinate, probe.region, probe.truth_us)).encode())
        return digest.hexdigest()[:16]


def _identity(group: Group, kernel: str | None) -> tuple[str, tuple[str, ...], str]:
    columns = json.dumps(group.regime.columns, sort_keys=True)
    return kernel or group.kernel_type, group.axes, columns


def _quality(drifting: int, groups: int) -> str:
    if not drifting:
        return TRUTH
    return DRIFT if drifting == groups else MIXED


class _Fixer:
    """Tells how many failing results one more hidden point would repair."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def __call__(self, results: list[Result], group: Group, coordinate: Coordinate) -> int:
        hidden = {group.regime.regime_id: frozenset([coordinate])}
        answers = self._predictor.answers([result.probe for result in results], hidden)
        return sum(
            replace(result, answer=answer).is_within
            for result, answer in zip(results, answers, strict=True)
        )
