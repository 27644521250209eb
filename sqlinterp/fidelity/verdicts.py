"""What figures amount to: pass, fail, too few, or nothing to judge by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.statistics import Statistics

PASS, FAIL, INSUFFICIENT, NOT_EVALUABLE = "pass", "fail", "insufficient", "not_evaluable"
ALL, UNANSWERED = "ALL", "unanswered"
_LEAST_WITHIN, _MOST_BIAS = 0.90, 0.05
_ROUNDING = 1e-12


@dataclass
class Figure:
    """Figures of one region or group of a kernel, and what they amount to.

    Attributes
    ----------
    kernel_type : str
        ``ALL`` for all kernels.
    name : str
        Region or group id; ``ALL`` for everything.
    jump : float or None
        Median latency above a step over the latency below it, for region ``boundary`` [ratio].
    results : list of Result
        What the figures are of.
    """

    kernel_type: str
    name: str
    statistics: Statistics
    verdict: str
    failure_class: str | None = None
    remediation: tuple[str, ...] = ()
    jump: float | None = None
    results: list[Result] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """Return the figure as reports hold it."""
        return {
            "kernel": self.kernel_type,
            "region": self.name,
            "stats": self.statistics.record(),
            "verdict": self.verdict,
            "failure_class": self.failure_class,
            "remediation": list(self.remediation),
            **({} if self.jump is None else {"jump": self.jump}),
        }


def verdict_of(statistics: Statistics, is_drifting: bool, least: int) -> str:
    """Return the verdict on figures.

    Parameters
    ----------
    is_drifting : bool
        Whether the truth failed the drift gate.
    least : int
        Fewest answers that can be judged.

    Source: fidelity specification, section 2.6.
    """
    if is_drifting or statistics.n_truth == 0:
        return NOT_EVALUABLE
    if statistics.n_answered < least:
        return INSUFFICIENT
    median, within = statistics.med or 0.0, statistics.within_rate or 0.0
    is_central = 1 - _MOST_BIAS - _ROUNDING <= median <= 1 + _MOST_BIAS + _ROUNDING
    return PASS if within >= _LEAST_WITHIN and is_central else FAIL
