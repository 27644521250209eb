"""What many results come to: counts, ratios, and the worst one.

Source: fidelity specification, sections 1.7 and 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlinterp.fidelity.results import Result


@dataclass(frozen=True)
class Statistics:
    """Figures of a set of results; missing truths and misses are counted and never scored.

    Attributes
    ----------
    n_probe, n_truth, n_answered : int
        Probes; those with a truth; those of them that were answered.
    n_within, n_within_noise, n_optimistic : int
        Answered ones within the bar, within the noise floor, below the truth.
    answer_rate, within_rate, within_of_truth : float or None
        Answered of truths, within of answered, within of truths.
    med, geomean, p10, p90 : float or None
        Of answer over truth; the geometric mean is that of the positive ratios.
    mape : float or None
        Mean of the absolute relative errors.
    worst : float or None
        Ratio furthest from 1 by its logarithm; 0 for an answer that is not positive.
    worst_result : Result or None
        Where that was.
    """

    n_probe: int
    n_truth: int
    n_answered: int
    n_within: int
    n_optimistic: int
    n_within_noise: int
    answer_rate: float | None
    within_rate: float | None
    within_of_truth: float | None
    med: float | None
    geomean: float | None
    p10: float | None
    p90: float | None
    mape: float | None
    worst: float | None
    worst_result: Result | None

    def record(self) -> dict[str, Any]:
        """Return the figures as reports and responses hold them."""
        figures = {name: getattr(self, name) for name in FIGURES}
        worst = self.worst_result
        return {**figures, "worst_input": None if worst is None else worst.probe.target}


FIGURES = (
    "n_probe", "n_truth", "n_answered", "n_within", "n_optimistic", "n_within_noise",
    "answer_rate", "within_rate", "within_of_truth", "med", "geomean", "p10", "p90", "mape",
    "worst",
)  # fmt: skip


def statistics_of(results: Sequence[Result]) -> Statistics:
    """Return the figures of results."""
    known = [result for result in results if result.has_truth]
    answered = [result for result in known if result.is_answered]
    ratios = np.array([result.ratio for result in answered], dtype=np.float64)
    positive = ratios[ratios > 0]
    within = sum(result.is_within for result in answered)
    worst = max(answered, key=lambda r: abs(r.log_ratio or 0.0), default=None)
    return Statistics(
        n_probe=len(results),
        n_truth=len(known),
        n_answered=len(answered),
        n_within=within,
        n_optimistic=int((ratios < 1).sum()),
        n_within_noise=sum(result.is_within_noise for result in answered),
        answer_rate=_rate(len(answered), len(known)),
        within_rate=_rate(within, len(answered)),
        within_of_truth=_rate(within, len(known)),
        med=_quantile(ratios, 0.5),
        geomean=float(np.exp(np.log(positive).mean())) if positive.size else None,
        p10=_quantile(ratios, 0.1),
        p90=_quantile(ratios, 0.9),
        mape=float(np.abs(ratios - 1).mean()) if ratios.size else None,
        worst=None if worst is None else max(worst.ratio or 0.0, 0.0),
        worst_result=worst,
    )


def _rate(count: int, of: int) -> float | None:
    return count / of if of else None


def _quantile(values: np.ndarray[Any, np.dtype[np.float64]], share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None


def is_finite_ratio(value: float | None) -> bool:
    """Return whether a ratio can be drawn on a logarithmic axis."""
    return value is not None and value > 0 and math.isfinite(value)
