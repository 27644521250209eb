"""Interpolate a latency from the measured points of one cell: arrays in, answers or reasons out.

Nothing here knows SQL. Only this module and its `simplices` use scipy, imported on first use.
The answers are functions of the points alone: callers hand points over in ascending lexicographic
order, so ``scipy.interpolate.griddata`` on the same points as printed gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sqlinterp.simplices import (
    affine_rank,
    enclosing_subsets,
    program_bounds,
    rectangle_bounds,
    scipy_module,
    single_blas_thread,
    triangulation,
)

Floats = NDArray[np.float64]
Ends = Iterable[float]
CellReason = Literal[
    "insufficient_points",
    "degenerate_point_cloud",
    "outside_convex_hull",
    "non_finite_input",
    "latency_guard_rejected",
]

ENUMERATED_POINTS = 14
_BASE_CONFIDENCE = {1: 0.70, 2: 0.65, 3: 0.60}


@dataclass(frozen=True, eq=False)
class CellResult:
    """Interpolated latencies of one cell, one per target.

    ``latencies`` has shape ``(n_targets,)`` in the unit of the given values and is NaN exactly
    where ``reasons`` names why there is no answer.
    """

    latencies: Floats
    reasons: tuple[CellReason | None, ...]


@dataclass(frozen=True)
class SimplexWeights:
    """Vertices of the simplex that answers a target: row numbers, and weights that sum to one."""

    vertex_indices: tuple[int, ...]
    weights: tuple[float, ...]


def linear_interp(x: float, x0: float, y0: float, x1: float, y1: float) -> float:
    """Return the value at ``x`` on the line through two points; the ends give their own value.

    Raises
    ------
    ValueError
        ``x`` is not between ``x0`` and ``x1``; this function never extrapolates.

    Source: ``y0 + (x - x0) / (x1 - x0) * (y1 - y0)``.

    >>> linear_interp(150, 100, 10.0, 200, 20.0)
    15.0
    """
    if not min(x0, x1) <= x <= max(x0, x1):
        raise ValueError(f"{x} is outside [{x0}, {x1}]: pass the two neighbours that bracket it")
    if x == x0:
        return float(y0)
    if x == x1:
        return float(y1)
    return float(y0 + (x - x0) / (x1 - x0) * (y1 - y0))


def find_boundary(values: Floats, target: float) -> tuple[float, float] | None:
    """Return the largest value ``<= target`` and the smallest ``>= target``, or None outside.

    Values, shape ``(n,)``, may come in any order; NaN is ignored.

    >>> find_boundary(np.array([64.0, 1.0, 16.0]), 20)
    (16.0, 64.0)
    """
    axis = np.asarray(values, dtype=np.float64)
    below, above = axis[axis <= target], axis[axis >= target]
    if not below.size or not above.size:
        return None
    return float(below.max()), float(above.min())


def validate_latency(value: float) -> bool:
    """Return whether a latency is finite and strictly positive."""
    return math.isfinite(value) and value > 0


def griddata_linear(points: Floats, values: Floats, targets: Floats) -> CellResult:
    """Return ``griddata(points, values, target, method="linear")`` of every target, or why not.

    Points have shape ``(n, d)``, values ``(n,)``, targets ``(m, d)``. Every target is evaluated on
    its own: one joint scipy call starts each search in the simplex of the previous target, which
    on co-spherical corners can end in another simplex and differ in the last bits.

    Raises
    ------
    ValueError
        The shapes do not fit together.
    ImportError
        scipy is not installed.
    """
    points, targets = _matrix(points), _matrix(targets)
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(points),) or points.shape[1] != targets.shape[1]:
        raise ValueError(
            f"points {points.shape}, values {values.shape} and targets {targets.shape} do not fit: "
            "expected (n, d), (n,) and (m, d)"
        )
    reason = _cloud_reason(points, values)
    if reason is not None:
        return CellResult(np.full(len(targets), np.nan), (reason,) * len(targets))
    with single_blas_thread():
        try:
            evaluate = _griddata(points, values)
            raw = [evaluate(t) if np.isfinite(t).all() else math.inf for t in targets]
        except scipy_module("spatial").QhullError:
            degenerate: CellReason = "degenerate_point_cloud"
            return CellResult(np.full(len(targets), np.nan), (degenerate,) * len(targets))
    reasons = tuple(_answer_reason(t, y) for t, y in zip(targets, raw, strict=True))
    kept = [y if why is None else math.nan for y, why in zip(raw, reasons, strict=True)]
    return CellResult(np.array(kept, dtype=np.float64), reasons)


def cell_weights(points: Floats, target: Floats) -> SimplexWeights | None:
    """Return the simplex and weights with which `griddata_linear` answers, or None for a miss.

    Points have shape ``(n, d)`` and the order given to `griddata_linear`; target ``(d,)``.

    Raises
    ------
    ImportError
        scipy is not installed.
    """
    points, target = _matrix(points), np.asarray(target, dtype=np.float64)
    if _cloud_reason(points, np.zeros(len(points))) is not None or not np.isfinite(target).all():
        return None
    if points.shape[1] == 1:
        return _segment_weights(points[:, 0], float(target[0]))
    with single_blas_thread():
        try:
            cells = triangulation(points)
        except scipy_module("spatial").QhullError:
            return None
        simplex = int(cells.find_simplex(target))
        affine = cells.transform[simplex]
    if simplex < 0 or not np.isfinite(affine).all():
        return None
    leading = [float(row @ (target - affine[-1])) for row in affine[:-1]]
    vertices = tuple(int(vertex) for vertex in cells.simplices[simplex])
    return SimplexWeights(vertices, (*leading, 1.0 - sum(leading)))


def multilinear(lo: Floats, hi: Floats, corner_values: Floats, target: Floats) -> float:
    """Return the tensor-product interpolation in the box ``[lo, hi]``.

    Corner values, shape ``(2**d,)``, come in ascending order of the corners: the last axis varies
    fastest and low comes before high. A flat axis (``lo == hi``) takes its low corners.

    Raises
    ------
    ValueError
        The shapes do not fit, or the target is outside the box.

    >>> unit = np.array([0.0, 0]), np.array([1.0, 1])
    >>> multilinear(*unit, np.array([0.0, 1, 2, 7]), np.array([0.5, 0.5]))
    2.5
    """
    corners = np.asarray(corner_values, dtype=np.float64)
    if corners.shape != (2 ** len(target),) or not len(lo) == len(hi) == len(target):
        raise ValueError(f"{corners.shape[0]} corner values for {len(target)} axes")
    shares: list[tuple[float, float]] = []
    for low, high, at in zip(lo, hi, target, strict=True):
        if not low <= at <= high:
            raise ValueError(f"{at} is outside [{low}, {high}]: pass the box that holds the target")
        upper = 0.0 if high == low else float((at - low) / (high - low))
        shares.append((1.0 - upper, upper))
    weights = [math.prod(choice) for choice in product(*shares)]
    return float(sum(w * float(y) for w, y in zip(weights, corners, strict=True) if w))


def envelope(points: Floats, values: Floats, target: Floats) -> tuple[float, float]:
    """Return the least and greatest value that any triangulation of the cell gives the target.

    The bounds are over all convex combinations of the points, shape ``(n, d)``, that reproduce the
    target. They differ where the points are co-spherical; with ``d + 1`` points they are equal.
    Axes on which all points agree are allowed. No such combination gives ``(nan, nan)``.

    Raises
    ------
    ImportError
        More than 14 or rank-deficient points, and scipy is not installed.
    """
    points, target = _matrix(points), np.asarray(target, dtype=np.float64)
    values = np.asarray(values, dtype=np.float64)
    if (bounds := rectangle_bounds(points, values, target)) is not None:
        return bounds
    flat = np.all(points == target, axis=0)
    if flat.all():
        return float(values.min()), float(values.max())
    offsets = points[:, ~flat] - target[~flat]
    if len(points) <= offsets.shape[1] or len(points) > ENUMERATED_POINTS:
        return program_bounds(offsets, values)
    subsets = enclosing_subsets(offsets)
    if not len(subsets.rows):
        return program_bounds(offsets, values)
    weights = np.clip(subsets.weights, 0.0, None)
    found = (weights * values[subsets.rows]).sum(axis=1) / weights.sum(axis=1)
    return float(found.min()), float(found.max())


def confidence(dimension: int, curved: bool, lower: Ends, upper: Ends) -> float:
    """Return the displayed trust in an interpolated answer, between 0.50 and 0.70.

    0.70, 0.65 or 0.60 for 1, 2 or 3 axes; 0.05 less for a curved axis; up to 0.05 less for the
    widest axis of the cell, whose ends differ by a factor from 2 to 8, on a log scale.

    Raises
    ------
    ValueError
        Dimension is not 1, 2 or 3.

    >>> confidence(2, False, [16.0, 64.0], [64.0, 128.0])
    0.625
    """
    if dimension not in _BASE_CONFIDENCE:
        raise ValueError(f"dimension {dimension} is not 1, 2 or 3")
    widest = max(map(_width, lower, upper), default=1.0)
    excess = 1.0 if math.isinf(widest) else min(max(math.log(widest / 2, 4), 0.0), 1.0)
    return round(max(_BASE_CONFIDENCE[dimension] - 0.05 * curved - 0.05 * excess, 0.50), 4)


def _griddata(points: Floats, values: Floats) -> Callable[[Floats], float]:
    """Return griddata as a function of one target; on several axes from a kept triangulation."""
    interpolate = scipy_module("interpolate")
    if points.shape[1] == 1:
        return lambda at: float(interpolate.griddata(points, values, at[None, :], "linear").item())
    shared = interpolate.LinearNDInterpolator(triangulation(points), values)
    return lambda target: float(shared(target[None, :]).item())


def _cloud_reason(points: Floats, values: Floats) -> CellReason | None:
    """Return why no target of this cloud can be answered, with the rank taken on scaled axes."""
    if not (np.isfinite(points).all() and np.isfinite(values).all()):
        return "non_finite_input"
    if len(set(map(tuple, points.tolist()))) <= points.shape[1]:
        return "insufficient_points"
    return "degenerate_point_cloud" if affine_rank(points) < points.shape[1] else None


def _answer_reason(target: Floats, answer: float) -> CellReason | None:
    """Return why one evaluated target has no answer."""
    if not np.isfinite(target).all():
        return "non_finite_input"
    if math.isnan(answer):
        return "outside_convex_hull"
    return None if validate_latency(answer) else "latency_guard_rejected"


def _segment_weights(axis: Floats, at: float) -> SimplexWeights | None:
    """Return the weights of the two neighbours on one axis."""
    bounds = find_boundary(axis, at)
    if bounds is None:
        return None
    low, high = (int(np.flatnonzero(axis == bound)[0]) for bound in bounds)
    if low == high:
        return SimplexWeights((low,), (1.0,))
    upper = (at - bounds[0]) / (bounds[1] - bounds[0])
    return SimplexWeights((low, high), (1.0 - upper, upper))


def _width(low: float, high: float) -> float:
    """Return how many times wider the upper bound is; a cell that starts at zero has no bound."""
    if high <= low:
        return 1.0
    return float(high / low) if low > 0 else math.inf


def _matrix(array: Floats) -> Floats:
    """Return a two-dimensional float array, or raise ValueError."""
    matrix = np.asarray(array, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"expected an array (n, d) with d > 0, got shape {matrix.shape}")
    return matrix
