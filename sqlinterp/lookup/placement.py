"""Targets on the axes of measured regimes, what a search asks for, and what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlinterp.certified_cell import Question
from sqlinterp.extrapolation import Extrapolation
from sqlinterp.lookup.boxes import Box, Corner, numbered


@dataclass(slots=True)  # not frozen, which makes one five times dearer
class Placement:
    """A target on the axes of one measured regime.

    Attributes
    ----------
    axes : tuple of float
        Target coordinates, 0 on unused axes.
    distance : int
        0 for the true dtype, 1 when FLOAT16 is answered by DT_BF16 rows.
    preference : tuple of float
        What the regime differs in although it may answer, least first: padding ratio, gap.
    fixed_axes : frozenset of int
        Places of axes that may not vary, because target or rows do not tell them.
    notes : dict
        What answers from the regime tell in their details besides.
    """

    file_id: int
    regime_id: int
    axes: tuple[float, ...]
    is_nd: bool
    measurement_count: int
    latency_ranks: tuple[int, ...]
    distance: int
    fields: dict[str, Any]
    preference: tuple[float, ...] = ()
    fixed_axes: frozenset[int] = frozenset()
    notes: dict[str, Any] = field(default_factory=dict)

    def target(self, number: int) -> dict[str, Any]:
        """Return the target as statements take it."""
        return {"id": number, "regime_id": self.regime_id, **numbered("t", self.axes)}

    @property
    def rank(self) -> tuple[Any, ...]:
        """Order in which the regimes of a target are searched."""
        return (self.preference, self.distance)


class BoxRequest(NamedTuple):
    """Asks for the boxes of all placements in the axis groups of one dimension."""

    placements: tuple[Placement, ...]
    dimension: int


@dataclass(frozen=True)
class CloudRequest:
    """Asks for points of the cloud of a box; ``question`` None asks for the orthant seeds.

    Centres, radii and directions of a curved request are in the transformed space.
    """

    box: Box
    axes: tuple[float, ...]
    question: Question | None
    is_curved: bool = False


@dataclass(frozen=True)
class EdgeRequest:
    """Asks what was measured at the ends of the lines through placements, and for the ranges."""

    placements: tuple[Placement, ...]


@dataclass(frozen=True)
class Survey:
    """What the measured points of one regime and latency column say around a target.

    Attributes
    ----------
    lower, upper : tuple of float
        Range of each axis.
    lines : dict
        Points next to the target, nearest first, by the place of an axis that has them on one side
        only while all others are equal.
    """

    regime_id: int
    latency_column: str
    latency_rank: int
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    lines: dict[int, list[Corner]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaneRequest:
    """Asks for the values at one end of an axis in the cloud of a survey."""

    survey: Survey
    axis: int
    is_upper: bool


@dataclass(frozen=True)
class ProbeRequest:
    """Asks for the boxes around one more coordinate, in every axis group."""

    placement: Placement


Request = BoxRequest | CloudRequest | EdgeRequest | PlaneRequest | ProbeRequest


@dataclass(frozen=True)
class Estimate:
    """What the two neighbours along one axis say of a target, all other axes being equal."""

    box: Box
    points: tuple[Corner, ...]
    latency_us: float


@dataclass(slots=True)
class Solution:
    """An exactly measured, interpolated or extrapolated coordinate.

    Attributes
    ----------
    is_curved : bool
        Whether the first axis counts by its root.
    estimates : tuple of Estimate
        What every single axis with two neighbours says, where one axis was enough and several have.
    extrapolation : Extrapolation or None
        How the latency lies beyond the measured range, None when it does not.
    """

    placement: Placement
    box: Box
    points: tuple[Corner, ...]
    latency_us: float
    method: str
    is_curved: bool = False
    estimates: tuple[Estimate, ...] = ()
    extrapolation: Extrapolation | None = None

    def coordinates(self, axes: tuple[float, ...]) -> list[float]:
        """Return the coordinates on the varying axes in which the answer is linear."""
        return coordinates(axes, self.box.group, self.is_curved)


def coordinates(
    axes: tuple[float, ...], group: tuple[int, ...], is_curved: bool = False
) -> list[float]:
    """Return the values of the axes of a group, the first axis by its root when it is curved."""
    values = [axes[axis] for axis in group]
    if is_curved and group[0] == 0:
        values[0] = math.sqrt(values[0])
    return values
