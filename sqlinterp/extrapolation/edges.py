"""What extrapolation works on and what it gives: edges of axes, refusals, latencies.

Source: the proposed Phase 3 rule set, rules 1 to 8 (fidelity specification, section 3.4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# In the order in which a search meets them: the last one met came furthest.
REASONS = (
    "not_allowed",
    "joint_axes",
    "below_min",
    "too_few_edge_points",
    "edge_noisy",
    "ratio_guard",
    "rate_not_flat",
    "forms_disagree",
    "max_bound",
)
_CONFIDENCE = ((1.5, 0.55), (2.0, 0.50), (3.0, 0.40), (4.0, 0.30))


@dataclass(frozen=True)
class EdgePoint:
    """A latency at one value of the axis that is left.

    Attributes
    ----------
    value : float
        Value of the axis.
    latency_us : float
        Latency [us], measured or interpolated along the other axes.
    spread : float
        Greatest over least repeated measurement [factor].
    """

    value: float
    latency_us: float
    spread: float = 1.0


@dataclass(frozen=True)
class Edge:
    """The end of an axis that a target lies beyond.

    Attributes
    ----------
    axis : str
        The axis.
    is_upper : bool
        Whether the target lies above the largest value.
    held : mapping
        Values of all axes at the edge.
    points : tuple of EdgePoint
        From the edge inwards: the top octave above, the lowest values below.
    """

    axis: str
    is_upper: bool
    held: Mapping[str, float]
    points: tuple[EdgePoint, ...]


@dataclass(frozen=True)
class Refusal:
    """Why there is no extrapolation: one of `REASONS`, and the numbers that decided."""

    reason: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Extrapolation:
    """A latency beyond the range [us] with the label of its trust and the numbers behind it.

    ``places`` numbers the points of the edges that are in the latency, the edge itself first.
    """

    latency_us: float
    confidence: float
    facts: Mapping[str, Any]
    places: tuple[int, ...] = (0,)


def factor_between(one: float, other: float) -> float:
    """Return the greater over the lesser of two latencies, infinite when one is none."""
    if not (one > 0 and other > 0) or math.isinf(one) or math.isinf(other):
        return math.inf
    return max(one, other) / min(one, other)


def trust(ratio: float) -> float:
    """Return the confidence at a ratio to the edge, below that of any interpolation."""
    return next((trust for most, trust in _CONFIDENCE if ratio <= most), 0.20)
