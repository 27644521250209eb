"""The weight that each measured point has in an interpolated answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from sqlinterp.interpolation import cell_weights
from sqlinterp.lookup.estimates import CONSENSUS
from sqlinterp.model import Answer


def neighbour_weights(answer: Answer) -> list[float]:
    """Return the weight of every corner point of an interpolated answer, in their order.

    Source: the simplex in which scipy's griddata finds the target; products of the two linear
    shares per axis for the multilinear method; the linear shares of those estimates that are in
    the middle for the consensus.
    """
    details = answer.details
    corners, axes = details["corner_points"], details["axes"]
    if len(corners) == 1:
        return [1.0]
    if details["method"] == CONSENSUS:
        return _in_consensus(details)
    points = np.array([[corner[axis] for axis in axes] for corner in corners], dtype=np.float64)
    target = np.array([details["target"][axis] for axis in axes], dtype=np.float64)
    if details.get("axis_transform"):  # of the first axis, for points and target alike
        points[:, 0], target[0] = np.sqrt(points[:, 0]), np.sqrt(target[0])
    if details["method"] == "multilinear":
        return _products(points, target)
    found = cell_weights(points, target)
    weights = [0.0] * len(corners)
    if found is not None:
        for index, weight in zip(found.vertex_indices, found.weights, strict=True):
            weights[index] = float(weight)
    return weights


def _products(points: Any, target: Any) -> list[float]:
    low, high = points.min(axis=0), points.max(axis=0)
    shares = (target - low) / (high - low)
    return [float(np.prod(np.where(point == high, shares, 1 - shares))) for point in points]


def _in_consensus(details: dict[str, Any]) -> list[float]:
    """Return the shares of the middle one of the estimates along single axes, of the middle two."""
    estimates = sorted(details["error_bar"]["estimates"], key=lambda one: one["latency_us"])
    half = len(estimates) // 2
    middle = estimates[half : half + 1] if len(estimates) % 2 else estimates[half - 1 : half + 1]
    target, weights = details["target"], []
    for corner in details["corner_points"]:
        shares = [_share(corner, target, one, details) for one in middle]
        weights.append(sum(shares) / len(middle))
    return weights


def _share(
    corner: dict[str, Any], target: dict[str, float], one: dict[str, Any], details: dict[str, Any]
) -> float:
    """Return the share of a corner in the estimate along one axis, 0 when it is not on the line."""
    axis = one["axis"]
    if any(corner[name] != target[name] for name in target if name != axis):
        return 0.0
    low, high = one["bracket"]
    ends = [float(low), float(high), float(target[axis])]
    if details.get("axis_transform") == f"sqrt({axis})":
        ends = [end**0.5 for end in ends]
    upper = (ends[2] - ends[0]) / (ends[1] - ends[0])
    return upper if corner[axis] == high else 1.0 - upper
