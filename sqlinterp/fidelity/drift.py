"""Whether another version may be the truth: how far it differs where both measured.

Source: fidelity specification, section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlinterp.fidelity.grid import Coordinate, Group

_LEAST_SHARED, _MOST_DRIFT, _LEAST_WITHIN, _BAR = 30, 1.05, 0.90, 1.15
_MOST_IDENTICAL = 0.05
_ROUNDING = 1e-12

Family = tuple[str, str]  # kernel, dtype
Pair = tuple[Group, Group | None]


@dataclass(frozen=True)
class Drift:
    """How two versions compare on the points that both measured.

    Attributes
    ----------
    n_shared, n_identical : int
        Shared points; those of them with the same latency to the last bit.
    n : int
        Points that count: without the identical ones if those were copied.
    median : float or None
        Median of the truth over the version that is asked [ratio].
    within_rate : float or None
        Share of the ratios within a factor of 1.15.
    has_copies : bool
        Whether so many latencies are identical that the versions are not independent.
    """

    n_shared: int = 0
    n_identical: int = 0
    n: int = 0
    median: float | None = None
    within_rate: float | None = None
    has_copies: bool = False

    @property
    def is_truth(self) -> bool:
        """Whether the other version may be the truth."""
        if self.n < _LEAST_SHARED or self.median is None or self.within_rate is None:
            return False
        near = abs(math.log(self.median)) <= math.log(_MOST_DRIFT) + _ROUNDING
        return near and self.within_rate >= _LEAST_WITHIN

    def record(self) -> dict[str, Any]:
        """Return the figures as responses hold them."""
        return {
            "n_shared": self.n_shared,
            "n_identical": self.n_identical,
            "n": self.n,
            "median": self.median,
            "within_rate": self.within_rate,
            "pass": self.is_truth,
        }


def family_of(group: Group) -> Family:
    """Return the family of a group that drifts together: its kernel and dtypes."""
    return group.kernel_type, group.dtype


def copied_coordinates(group: Group, other: Group) -> set[Coordinate]:
    """Return the coordinates where both have the same latency to the last bit."""
    return {
        at
        for at, point in group.by_coordinate.items()
        if at in other.by_coordinate and other.by_coordinate[at].truth_us == point.truth_us
    }


def drift_of(pairs: Iterable[Pair], is_normalized: bool) -> Drift:
    """Return how groups and the same groups of another version compare, all taken together.

    Parameters
    ----------
    is_normalized : bool
        Whether the ratios are divided by their median before they are judged.
    """
    ratios: list[float] = []
    identical = 0
    for group, other in pairs:
        for at, point in group.by_coordinate.items():
            measured = None if other is None else other.by_coordinate.get(at)
            if measured is not None and point.truth_us > 0 and measured.truth_us > 0:
                ratios.append(measured.truth_us / point.truth_us)
                identical += measured.truth_us == point.truth_us
    shared = len(ratios)
    has_copies = shared > 0 and identical / shared > _MOST_IDENTICAL
    values = np.array([ratio for ratio in ratios if not has_copies or ratio != 1.0])
    if not values.size:
        return Drift(shared, identical, 0, None, None, has_copies)
    median = float(np.median(values))
    judged = values / median if is_normalized else values
    within = np.abs(np.log(judged)) <= math.log(_BAR) + _ROUNDING
    return Drift(
        n_shared=shared,
        n_identical=identical,
        n=int(values.size),
        median=float(np.median(judged)),
        within_rate=float(within.mean()),
        has_copies=has_copies,
    )


def drift_factor(pairs: Iterable[Pair]) -> float:
    """Return the median of the truth over the version that is asked, 1 without shared points."""
    found = drift_of(pairs, False)
    return found.median or 1.0
