"""Why a region fails, in a fixed order of questions, and what can be done about it.

Source: fidelity specification, section 2.7.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.verdicts import ALL, FAIL, NOT_EVALUABLE, Figure

Fixes = Callable[[list[Result], Group, Coordinate], int]

_SPIKE, _STEP, _BIAS, _TIGHT, _WIDER = 1.10, 1.05, 1.10, 1.30, 1.10
_FIXED, _SHARE, _SUSPECTS, _LEAST_MODE, _MODES_APART = 3, 0.05, 3, 0.25, 4.0
_NOISY_SPREAD = 1.15
_BEYOND = ("extrap", "under", "edge")

REMEDIES: dict[str, tuple[str, ...]] = {
    "not_evaluable": ("choose another truth: a hold-out, or a version that passes the drift gate",),
    "noisy_measurement": (
        "measure the failing points again once before changing anything else",
        "flag rows whose repetitions lie far apart",
    ),
    "outlier_row": ("set the row aside and measure its coordinate again",),
    "step_boundary": (
        "measure both sides of every step",
        "do not bracket across a step when a neighbour on the same side exists",
    ),
    "extrapolation": (
        "measure further out; do not narrow the domain that is asked for",
        "opt in to extrapolation where a tail hold-out is within the bar, else keep refusing",
    ),
    "regime_mix": (
        "find the discrete field that tells the two branches apart, add it to the regime",
    ),
    "projection": ("check units, coordinates and the latency column of the kernel",),
    "interior_coarse": (
        "measure what 'sqlinterp fidelity suggest' proposes",
        "try another policy on the same probes with --compare",
    ),
    "unclassified": ("look at the worst answers with 'sqlinterp explain'",),
}


def classify(figures: Sequence[Figure], fixes: Fixes) -> None:
    """Set failure class and remedies of the regions of one kernel.

    Parameters
    ----------
    figures : sequence of Figure
        All regions of the kernel.
    fixes : callable
        Tells how many failing results are within the bar when one more point is hidden.
    """
    for figure in figures:
        if figure.verdict in (FAIL, NOT_EVALUABLE):
            is_judged = figure.verdict == FAIL
            name = _class(figure, figures, fixes) if is_judged else "not_evaluable"
            figure.failure_class, figure.remediation = name, REMEDIES[name]


def _class(figure: Figure, figures: Sequence[Figure], fixes: Fixes) -> str:
    failing = [result for result in figure.results if result.is_failing]
    if _is_noisy(failing):
        return "noisy_measurement"
    if _is_outlier(failing, fixes):
        return "outlier_row"
    if figure.name == "boundary" or _is_stepping(failing):
        return "step_boundary"
    if figure.name.startswith(_BEYOND):
        return "extrapolation"
    if _is_mixed(figure.results, failing):
        return "regime_mix"
    if _is_biased(figures):
        return "projection"
    if _is_coarse(figure.results, failing):
        return "interior_coarse"
    return "unclassified"


def _is_most(part: int, failing: Sequence[Result]) -> bool:
    return bool(failing) and 2 * part >= len(failing)


def _is_noisy(failing: Sequence[Result]) -> bool:
    noise = sum(result.is_within_noise or result.is_noisy_neighbour for result in failing)
    return _is_most(noise, failing)


def is_spike(result: Result) -> bool:
    """Whether a held-out truth lies more than 10 % above, or below, both neighbours of a line."""
    corners, truth = result.corners, result.probe.truth_us
    if result.dims != 1 or len(corners) != 2 or truth is None or result.probe.holdout is None:
        return False
    latencies = [corner["latency_us"] for corner in corners]
    return bool(truth > _SPIKE * max(latencies) or truth < min(latencies) / _SPIKE)


def _is_outlier(failing: Sequence[Result], fixes: Fixes) -> bool:
    """Whether one row explains failures: probes stand out themselves, or hiding it repairs others.

    A row that stands out as a probe counts with the probes that its absence repairs.
    """
    spikes = {(r.probe.group, r.probe.coordinate) for r in failing if is_spike(r)}
    if _is_most(len(spikes), failing):
        return True
    users: dict[tuple[Group, Coordinate], list[Result]] = {}
    for result in failing:
        group = result.probe.group
        for corner in result.corners:
            place = tuple(float(corner[name]) for name in group.axes)
            users.setdefault((group, (*place, *(0.0,) * (4 - len(place)))), []).append(result)
    suspects = sorted(users, key=lambda key: (-len(users[key]), key[0].group_id, key[1]))
    least = max(_FIXED, math.ceil(_SHARE * len(failing)))  # among thousands three are chance
    for suspect in suspects[:_SUSPECTS]:
        own = suspect in spikes
        if len(users[suspect]) + own >= least and fixes(users[suspect], *suspect) + own >= least:
            return True
    return False


def _is_stepping(failing: Sequence[Result]) -> bool:
    crossing = [result for result in failing if result.crosses_boundary]
    if not _is_most(len(crossing), failing):
        return False
    return any(group.median_jump > _STEP for group in {result.probe.group for result in crossing})


def _is_mixed(results: Sequence[Result], failing: Sequence[Result]) -> bool:
    """Whether failures come from two branches: conflicting repetitions, or two modes of errors."""
    doubled = sum(_is_doubled(result) for result in failing)
    if _is_most(doubled, failing):
        return True
    known = [r.log_ratio for r in results if r.log_ratio is not None]
    logs = np.array(sorted(x for x in known if math.isfinite(x)))
    return len(logs) >= 2 * _FIXED and _has_two_modes(logs)


def _is_doubled(result: Result) -> bool:
    """Whether repetitions of the probe lie much further apart than is usual in its group."""
    point = result.probe.point
    if point is None or point.spread is None:
        return False
    return point.spread > max(result.probe.group.usual_spread**2, _NOISY_SPREAD)


def _has_two_modes(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether sorted values fall into two tight clusters far apart, each with a quarter of them."""
    least = max(2, math.ceil(_LEAST_MODE * len(values)))
    gaps = np.diff(values)
    inner = gaps[least - 1 : len(values) - least]
    if not inner.size:
        return False
    cut = int(inner.argmax()) + least
    low, high = values[:cut], values[cut:]
    within = math.sqrt((low.var() * low.size + high.var() * high.size) / values.size)
    apart = float(high.mean() - low.mean())
    return apart > math.log(1.15) and apart > _MODES_APART * within and inner.max() > within


def _is_biased(figures: Sequence[Figure]) -> bool:
    """Whether all regions of the kernel are off the same way, each of them tightly."""
    told = [f.statistics for f in figures if f.name != ALL and f.statistics.n_answered >= _FIXED]
    medians = Counter(
        math.copysign(1, math.log(s.med)) if s.med and abs(math.log(s.med)) > math.log(_BIAS) else 0
        for s in told
    )
    tight = all(s.p10 and s.p90 and s.p90 / s.p10 < _TIGHT for s in told)
    return len(medians) == 1 and 0 not in medians and tight


def _is_coarse(results: Sequence[Result], failing: Sequence[Result]) -> bool:
    """Whether failures come from wide cells."""
    bad = [r.cell_ratio for r in failing if r.cell_ratio is not None]
    good = [r.cell_ratio for r in results if r.is_within and r.cell_ratio is not None]
    if not bad:
        return False
    if not good:
        return median(bad) >= 2
    return median(bad) > _WIDER * median(good)


def hint_of(result: Result) -> str | None:
    """Return what the failure of one probe looks like, None within the bar or without an answer."""
    if not result.is_failing:
        return None
    if result.is_within_noise or result.is_noisy_neighbour:
        return "noise"
    if is_spike(result):
        return "spike"
    if result.region == "boundary" or result.crosses_boundary:
        return "step"
    if result.source == "EXTRAPOLATED":
        return "extrapolated"
    return "wide_cell" if (result.cell_ratio or 1.0) >= 2 else "other"
