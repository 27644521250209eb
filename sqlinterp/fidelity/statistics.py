"""What many samples come to: medians, how many are within the bar, and the worst one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlinterp.fidelity.sample import ANSWERED, ON_GRID, UNANSWERED, Sample

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Statistics:
    """Figures of a group of samples; misses are counted and never scored.

    Attributes
    ----------
    count, answered, on_grid, unanswered : int
        Samples, and what became of them.
    median_ratio, median_error : float or None
        Of the answered ones: answer over truth, and its relative distance from the truth.
    within : int
        Answered ones within the bar.
    worst : Sample or None
        The answered one with the largest absolute logarithm of its ratio.
    """

    count: int
    answered: int
    on_grid: int
    unanswered: int
    median_ratio: float | None
    median_error: float | None
    within: int
    worst: Sample | None

    def record(self) -> dict[str, Any]:
        """Return the figures as the reports hold them."""
        worst = self.worst
        return {
            "n": self.count,
            "answered": self.answered,
            "unanswered": self.unanswered,
            "on_grid": self.on_grid,
            "median_ratio": self.median_ratio,
            "median_relative_error": self.median_error,
            "n_within": self.within,
            "within_rate": self.within / self.answered if self.answered else None,
            "worst_ratio": worst.ratio if worst else None,
            "worst_target": worst.record()["target"] if worst else None,
        }


def statistics_of(samples: Sequence[Sample]) -> Statistics:
    """Return the figures of samples."""
    answered = [sample for sample in samples if sample.outcome == ANSWERED]
    ratios = [ratio for sample in answered if (ratio := sample.ratio) is not None]
    return Statistics(
        count=len(samples),
        answered=len(answered),
        on_grid=_count(samples, ON_GRID),
        unanswered=_count(samples, UNANSWERED),
        median_ratio=median(ratios) if ratios else None,
        median_error=median(abs(ratio - 1) for ratio in ratios) if ratios else None,
        within=sum(sample.is_within is True for sample in answered),
        worst=max(answered, key=lambda s: abs(s.log_ratio or 0.0), default=None),
    )


def _count(samples: Sequence[Sample], outcome: str) -> int:
    return sum(sample.outcome == outcome for sample in samples)


def by_kernel(sample: Sample) -> Key:
    """Kernel, path, no regime, axis and region of a sample."""
    family = sample.question.family
    return family.kernel_type, family.path, None, *_region(sample)


def by_regime(sample: Sample) -> Key:
    """Kernel, path, regime, axis and region of a sample."""
    family, point = sample.question.family, sample.question.point
    return family.kernel_type, family.path, point.regime_id, *_region(sample)


def _region(sample: Sample) -> tuple[str | None, str]:
    """Return the region, and the name of its axis if it is one of an axis."""
    question = sample.question
    axis = question.leaving.axis
    is_of_axis = axis is not None and question.region == question.leaving.region
    name = question.family.axis_names[axis] if is_of_axis and axis is not None else None
    return name, question.region


def grouped(samples: Iterable[Sample], key_of: Callable[[Sample], Key]) -> dict[Key, Statistics]:
    """Return the figures of every group, sorted, with the ends of axes after all else."""
    groups: dict[Key, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(key_of(sample), []).append(sample)
    return {key: statistics_of(members) for key, members in sorted(groups.items(), key=_place)}


def _place(item: tuple[Key, list[Sample]]) -> Key:
    kernel, path, regime_id, _, region = item[0]
    return kernel, path, regime_id or 0, region == "edge", region


def miss_reasons(samples: Iterable[Sample]) -> dict[str, int]:
    """Return how often each reason left a sample unanswered, the most frequent first."""
    counts: dict[str, int] = {}
    for sample in samples:
        if sample.outcome == UNANSWERED:
            reason = sample.answer.miss_reason or "unknown"
            counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
