"""Figures of a run: by kernel and region, by regime, and both sides of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sqlinterp.fidelity.failures import Fixes, classify
from sqlinterp.fidelity.grid import Group
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.statistics import Statistics, statistics_of
from sqlinterp.fidelity.verdicts import ALL, UNANSWERED, Figure, verdict_of

_LAST = {name: place for place, name in enumerate(("small", "boundary", "edge", UNANSWERED))}


@dataclass
class Figures:
    """All figures of a run.

    Attributes
    ----------
    total : Figure
        Of all probes.
    kernels : list of Figure
        Of all regions of each kernel.
    regions : list of Figure
        Of each region of each kernel; ``unanswered`` repeats the misses of the others.
    groups : list of Figure
        Of each regime, worst first.
    compared : list of dict
        Base and other side of each region, empty without a comparison.
    """

    total: Figure
    kernels: list[Figure] = field(default_factory=list)
    regions: list[Figure] = field(default_factory=list)
    groups: list[Figure] = field(default_factory=list)
    compared: list[dict[str, Any]] = field(default_factory=list)


def figures_of(
    results: Sequence[Result], least: int, drifting: set[Group], fixes: Fixes
) -> Figures:
    """Return the figures of results.

    Parameters
    ----------
    least : int
        Fewest answers that get a verdict.
    drifting : set of Group
        Groups whose truth failed the drift gate; their results are counted and not judged.
    fixes : callable
        As :func:`sqlinterp.fidelity.failures.classify` takes it.
    """

    def figure(kernel: str, name: str, own: Sequence[Result]) -> Figure:
        judged = [result for result in own if result.probe.group not in drifting]
        verdict = verdict_of(statistics_of(judged), bool(own) and not judged, least)
        jumps = [result.jump for result in own if result.jump is not None]
        found = Figure(kernel, name, statistics_of(own), verdict)
        found.jump = median(jumps) if jumps and name == "boundary" else None
        found.results = judged or list(own)
        return found

    figures = Figures(figure(ALL, ALL, results))
    for kernel, own in _by(results, lambda result: result.probe.group.kernel_type):
        regions = [figure(kernel, name, part) for name, part in _regions(own)]
        classify(regions, fixes)
        figures.kernels.append(figure(kernel, ALL, own))
        figures.regions += regions
    by_group = _by(results, lambda result: result.probe.group.group_id)
    figures.groups = sorted(
        (figure(own[0].probe.group.kernel_type, name, own) for name, own in by_group),
        key=_badness,
    )
    if any(result.other is not None for result in results):
        figures.compared = [
            _compared(name, own) for name, own in [(ALL, results), *_regions(results)]
        ]
    return figures


def _by(results: Iterable[Result], key: Callable[[Result], str]) -> list[tuple[str, list[Result]]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(key(result), []).append(result)
    return sorted(found.items())


def _regions(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Return results by region, the fixed regions last, and the misses once more at the end."""
    found = _by(results, lambda result: result.region)
    missed = [result for result in results if result.has_truth and not result.is_answered]
    if missed:
        found.append((UNANSWERED, missed))
    return sorted(found, key=lambda item: (_LAST.get(item[0], -1), item[0]))


def _badness(figure: Figure) -> tuple[Any, ...]:
    statistics = figure.statistics
    rate = statistics.within_rate
    return (rate is None, rate, -statistics.n_answered, figure.kernel_type, figure.name)


def _compared(name: str, results: Sequence[Result]) -> dict[str, Any]:
    """Return both sides of one region; what only one side answers is neither better nor worse."""
    base, other = statistics_of(results), statistics_of([result.compared() for result in results])
    both = [
        (abs(one), abs(two))
        for result in results
        if (one := result.log_ratio) is not None
        and (two := result.compared().log_ratio) is not None
    ]
    return {
        "region": name,
        "base": base.record(),
        "cmp": other.record(),
        "delta_within": _difference(base, other),
        "n_better": sum(two < one for one, two in both),
        "n_worse": sum(two > one for one, two in both),
    }


def _difference(base: Statistics, other: Statistics) -> float | None:
    if base.within_rate is None or other.within_rate is None:
        return None
    return other.within_rate - base.within_rate
