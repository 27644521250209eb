"""One held-out coordinate: what was measured, what the lookup said without it, and the error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlinterp.fidelity.grid import Family, Point
from sqlinterp.fidelity.splits import Leaving
from sqlinterp.model import Answer, OpInvocation

BAR = 1.15  # an answer is good within a factor of this, up or down
_ROUNDING = 1e-12
ANSWERED, ON_GRID, UNANSWERED = "answered", "on_grid", "unanswered"


@dataclass(frozen=True)
class Question:
    """A point that leaves together with others, and the call that asks for it."""

    family: Family
    leaving: Leaving
    point: Point
    region: str
    call: OpInvocation


@dataclass(frozen=True)
class Sample:
    """A question with its answer.

    Attributes
    ----------
    outcome : str
        ``answered``; ``unanswered`` for a miss; ``on_grid`` when another regime or kernel measured
        the very coordinate, so that the answer tells nothing of interpolation.
    """

    question: Question
    answer: Answer
    outcome: str

    @property
    def ratio(self) -> float | None:
        """Answer over truth, None for a miss."""
        latency = self.answer.latency_us
        return None if latency is None else latency / self.question.point.truth_us

    @property
    def log_ratio(self) -> float | None:
        """Natural logarithm of the ratio; of an answer that is not positive, minus infinity."""
        ratio = self.ratio
        if ratio is None:
            return None
        return math.log(ratio) if ratio > 0 else -math.inf

    @property
    def is_within(self) -> bool | None:
        """Whether the answer is within the bar, the same factor up and down; None for a miss."""
        log_ratio = self.log_ratio
        return None if log_ratio is None else abs(log_ratio) <= math.log(BAR) + _ROUNDING

    @property
    def candidate_count(self) -> int | None:
        """Points that the answer was chosen from; of a miss, the most that any attempt had."""
        details = self.answer.details
        tried = [a.get("aggregated_count") for a in details.get("attempts") or []]
        counts = [count for count in tried if count is not None]
        return details.get("aggregated_count", max(counts, default=None))

    @property
    def cell_ratio(self) -> float | None:
        """Upper over lower end of the cell along its widest axis, None without a cell."""
        ends = (self.answer.details.get("boundary") or {}).values()
        return max((upper / lower for lower, upper in ends if lower > 0), default=None)

    @property
    def _formats(self) -> str | None:
        """Formats of the regime that answered, which may not be those of the point."""
        formats = (self.answer.details.get("exact_fields") or {}).get("input_formats")
        return None if formats is None else ";".join(formats)

    def record(self) -> dict[str, Any]:
        """Return the sample as the reports hold it, latencies in us."""
        question, answer, ratio = self.question, self.answer, self.ratio
        family, point, axis = question.family, question.point, question.leaving.axis
        error = None if ratio is None else abs(ratio - 1)
        return {
            "kernel_type": family.kernel_type,
            "path": family.path,
            "regime_id": point.regime_id,
            "op": question.call.op,
            "region": question.region,
            "axis": None if axis is None else family.axis_names[axis],
            "target": family.target(point.coordinate),
            "removed_us": point.truth_us,
            "answer_us": answer.latency_us,
            "absolute_error_us": None if error is None else error * point.truth_us,
            "relative_error": error,
            "ratio": ratio,
            "is_within": self.is_within,
            "outcome": self.outcome,
            "source": answer.source,
            "confidence": answer.confidence,
            "method": answer.details.get("method"),
            "shape_match_rule": answer.shape_match_rule,
            "answering_kernel": answer.kernel_type,
            "answering_formats": self._formats,
            "candidate_count": self.candidate_count,
            "cell_ratio": self.cell_ratio,
            "miss_reason": answer.miss_reason,
            "latency_column": point.latency_column,
            "measurement_count": point.measurement_count,
            "spread": point.spread,
            "line": point.line_number,
        }
