"""One probe with its answer: ratio, bar, noise, and where the answer came from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.fidelity.probes import Probe
from sqlinterp.model import Answer
from sqlinterp.protocol.coverage import NOISY_SPREAD, coverage_bits

BAR = 0.15  # an answer is good within a factor of 1 + BAR, up or down
ON_GRID, SMALL = "on_grid", "small"
_ROUNDING = 1e-12
_ANSWERS = ("MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL")


@dataclass(frozen=True, eq=False)
class Result:
    """A probe and what the lookup said.

    Attributes
    ----------
    probe_id : int
        Number of the probe in the run.
    noise_floor : float
        Factor up to which repeated measurements differ anyway [ratio].
    bar : float
        The answer is good within a factor of 1 + bar.
    other : Answer or None
        What the other policy, version or kernel said, when there is a comparison.
    jump : float or None
        Latency above a step over the latency below it, for members of boundary pairs [ratio].
    """

    probe_id: int
    probe: Probe
    answer: Answer
    noise_floor: float = 1.0
    bar: float = BAR
    other: Answer | None = None
    jump: float | None = None

    @property
    def region(self) -> str:
        """Region of the probe."""
        return self.probe.region

    @property
    def has_truth(self) -> bool:
        """Whether a positive finite latency was measured at the probe."""
        truth = self.probe.truth_us
        return truth is not None and math.isfinite(truth) and truth > 0

    @property
    def pred_us(self) -> float | None:
        """The answer, None for a miss [us]."""
        answer = self.answer
        return answer.latency_us if answer.source in _ANSWERS else None

    @property
    def is_answered(self) -> bool:
        """Whether there are both a truth and an answer."""
        return self.has_truth and self.pred_us is not None

    @property
    def ratio(self) -> float | None:
        """Answer over truth, None without one of them."""
        truth, answer = self.probe.truth_us, self.pred_us
        if not self.has_truth or truth is None or answer is None:
            return None
        return answer / truth

    @property
    def log_ratio(self) -> float | None:
        """Natural logarithm of the ratio; of an answer that is not positive, minus infinity."""
        ratio = self.ratio
        if ratio is None:
            return None
        return math.log(ratio) if ratio > 0 else -math.inf

    def is_inside(self, factor: float) -> bool:
        """Whether the answer is within a factor of the truth, the same up and down."""
        log_ratio = self.log_ratio
        return log_ratio is not None and abs(log_ratio) <= math.log(factor) + _ROUNDING

    @property
    def is_within(self) -> bool:
        """Whether the answer is within the bar."""
        return self.is_inside(1 + self.bar)

    @property
    def is_within_noise(self) -> bool:
        """Whether the answer is as near as repeated measurements are to each other."""
        return self.is_inside(self.noise_floor)

    @property
    def is_failing(self) -> bool:
        """Whether there is an answer outside the bar."""
        return self.is_answered and not self.is_within

    @property
    def n_candidates(self) -> int | None:
        """Points that the answer was chosen from; of a miss, the most that any attempt had."""
        details = self.answer.details
        tried = [attempt.get("aggregated_count") for attempt in details.get("attempts") or []]
        counts = [count for count in tried if count is not None]
        return details.get("aggregated_count", max(counts, default=None))

    @property
    def cell_ratio(self) -> float | None:
        """Upper over lower end of the cell along its widest used axis, in units of the fields."""
        group = self.probe.group
        ratios = []
        for axis, ends in self._brackets():
            low, high = (group.field_value(axis, end) for end in ends)
            if low > 0:
                ratios.append(high / low)
        return max(ratios, default=None)

    @property
    def corners(self) -> list[dict[str, Any]]:
        """Measured points that the answer was made from."""
        return list(self.answer.details.get("corner_points") or ())

    @property
    def nearest_us(self) -> float | None:
        """Latency of the used point nearest to the target, by ratios of coordinates [us]."""
        names = self.probe.group.axes
        at = dict(zip(names, self.probe.coordinate, strict=False))

        def distance(corner: dict[str, Any]) -> tuple[float, list[float]]:
            place = [float(corner[name]) for name in names]
            return sum(_apart(at[n], x) for n, x in zip(names, place, strict=True)), place

        corners = self.corners
        return min(corners, key=distance)["latency_us"] if corners else None

    @property
    def spread(self) -> float | None:
        """How far the one-dimensional estimates of the answer lie apart, None with fewer than two.

        Source: details of the answer, ``error_bar``.
        """
        spread = (self.answer.details.get("error_bar") or {}).get("spread")
        return None if spread is None else float(spread)

    @property
    def dims(self) -> int | None:
        """Number of axes that varied."""
        dims = self.answer.details.get("interpolation_dim")
        return None if dims is None else int(dims)

    @property
    def source(self) -> str:
        """Source of the answer, ``MISS`` for none."""
        return self.answer.source or "MISS"

    @property
    def is_noisy_neighbour(self) -> bool:
        """Whether repetitions of a used point differ by more than a factor of 1.15."""
        return any(self._spread_at(corner) > NOISY_SPREAD for corner in self.corners)

    def _spread_at(self, corner: dict[str, Any]) -> float:
        group = self.probe.group
        place = tuple(float(corner[name]) for name in group.axes)
        point = group.by_coordinate.get((*place, *(0.0,) * (4 - len(place))))
        return point.spread or 1.0 if point is not None else 1.0

    @property
    def crosses_boundary(self) -> bool:
        """Whether the cell of the answer has a boundary pair, or a part of one, at its ends."""
        group = self.probe.group
        return any(group.is_paired(axis, end) for axis, ends in self._brackets() for end in ends)

    def _brackets(self) -> list[tuple[int, list[float]]]:
        """Return both ends of the axes that varied, as they are stored."""
        names = list(self.probe.group.axes)
        boundary = self.answer.details.get("boundary") or {}
        return [(names.index(name), ends) for name, ends in boundary.items() if None not in ends]

    @property
    def coverage(self) -> int:
        """Coverage bits, as the protocol tells them."""
        group = self.probe.group
        pairs = {name: group.pairs(axis) for axis, name in enumerate(group.axes)}
        varying = self.answer.details.get("axes") or ()
        told = zip(group.axes, group.regime.transforms, strict=True)
        transforms = [transform for name, transform in told if name in varying]
        spreads = [{"spread": self._spread_at(corner)} for corner in self.corners]
        return coverage_bits(self.answer, spreads, pairs, transforms)

    def compared(self) -> Result:
        """Return the same probe with the answer of the other side of a comparison."""
        if self.other is None:
            raise ValueError("there is no comparison")
        return replace(self, answer=self.other, other=None)


def _apart(one: float, other: float) -> float:
    if one > 0 and other > 0:
        return abs(math.log(other / one))
    return abs(other - one)
