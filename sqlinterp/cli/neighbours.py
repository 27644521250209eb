"""The measured points behind an answer, with the weight that each one has in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from sqlinterp.cli.output import make_table, microseconds
from sqlinterp.interpolation import cell_weights
from sqlinterp.model import Answer


def neighbour_weights(answer: Answer) -> list[float]:
    """Return the weight of every corner point of an interpolated answer, in their order.

    Source: the simplex in which scipy's griddata finds the target; products of the two linear
    shares per axis for the multilinear method.
    """
    details = answer.details
    corners, axes = details["corner_points"], details["axes"]
    if len(corners) == 1:
        return [1.0]
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


def neighbour_table(answer: Answer) -> Table:
    """Return the corner points with axis values, latency, weight and place in the CSV."""
    details = answer.details
    names = list(details["target"])
    weights = neighbour_weights(answer)
    rows = [
        [
            f"{corner['file']}:{corner['line']}",
            *(corner[name] for name in names),
            microseconds(corner["latency_us"]),
            f"{weight:.4f}",
            microseconds(weight * corner["latency_us"]),
        ]
        for corner, weight in zip(details["corner_points"], weights, strict=True)
    ]
    columns = ["row", *names, "latency us", "weight", "product us"]
    return make_table(columns, rows, columns[1:])
