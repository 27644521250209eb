"""Geometry of a handful of points around a target: ranks, simplices that hold it, hull witnesses.

Everything is decided from determinants of target-centred coordinates, which are exact for integer
axes of ordinary size, so a target on a face, an edge or a grid line is inside.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlinterp.forks import Lock

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

RANK_TOLERANCE = 1e-10
FLATNESS = 1e-12
WEIGHT_TOLERANCE = 1e-12
_ROUNDING = 1e-15
_MAX_SLACK = 1e-6
_BLAS_LIMIT = Lock()


@dataclass(frozen=True, eq=False)
class EnclosingSubsets:
    """Simplices that contain the target: vertex rows ``(s, d + 1)``, weights ``(s, d + 1)``.

    ``solidity``, shape ``(s,)``, is the volume as a share of the vertices' bounding box: near zero
    for a sliver.
    """

    rows: Indices
    weights: Floats
    solidity: Floats


def scipy_module(name: str) -> Any:
    """Return ``scipy.<name>``, imported on first use.

    Raises
    ------
    ImportError
        scipy is not installed.
    """
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError as error:
        raise ImportError(
            "2D and 3D interpolation needs scipy, which is not installed: run 'pip install scipy'"
        ) from error


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, where threads only cost; does nothing without threadpoolctl.

    The limit is one of the process, so one thread at a time sets and restores it.
    """
    scipy_module("interpolate")
    controller = _blas_controller()
    if controller is None:
        yield
        return
    with _BLAS_LIMIT, controller.limit(limits=1, user_api="blas"):
        yield


def triangulation(points: Floats) -> Any:
    """Return scipy's Delaunay triangulation of points, shape ``(n, d)``; the latest are kept.

    Targets of a run tend to lie in few cells, and most of the time that ``griddata`` takes for
    the corners of a cell goes into their triangulation. It follows from the points alone.

    Raises
    ------
    ImportError
        scipy is not installed.
    scipy.spatial.QhullError
        The points are degenerate.
    """
    return _kept_triangulation(points.shape, points.tobytes())


@lru_cache(maxsize=1024)
def _kept_triangulation(shape: tuple[int, ...], coordinates: bytes) -> Any:
    points = np.frombuffer(coordinates, dtype=np.float64).reshape(shape).copy()
    cells = scipy_module("spatial").Delaunay(points)
    # scipy works out the transforms on first use. Two threads that are first together each store
    # theirs, and the one stored later frees what the other, without the GIL, is reading.
    _ = cells.transform
    return cells


def affine_rank(points: Floats) -> int:
    """Return the affine rank of the points, shape ``(n, d)``, with each axis scaled by its span."""
    corners = set(map(tuple, points.tolist()))
    if len(corners) == 2 ** points.shape[1] and all(len(set(x)) == 2 for x in points.T.tolist()):
        return int(points.shape[1])  # a whole box, as most cells are
    span = np.ptp(points, axis=0)
    scaled = (points - points[0]) / np.where(span == 0, 1.0, span)
    return int((np.linalg.svd(scaled, compute_uv=False) > RANK_TOLERANCE).sum())


def ascending(*points: Floats) -> Floats:
    """Return the distinct points of several arrays ``(n, d)`` in ascending lexicographic order."""
    rows = np.vstack(points)
    distinct = sorted(set(map(tuple, rows.tolist())))
    return np.array(distinct, dtype=np.float64).reshape(-1, rows.shape[1])


def enclosing_subsets(offsets: Floats) -> EnclosingSubsets:
    """Return every non-flat simplex of the points that contains the target.

    Offsets, shape ``(n, d)`` with ``d`` of 1 to 3, are the points minus the target. The cost is
    that of ``n`` choose ``d + 1`` small determinants. Weights may be negative by rounding only.

    Raises
    ------
    ValueError
        ``d`` is more than 3.

    >>> enclosing_subsets(np.array([[-1.0], [1.0], [3.0]])).rows.tolist()
    [[0, 1], [0, 2]]
    """
    n, d = offsets.shape
    if d > 3:
        raise ValueError(f"{d} axes: at most 3 are supported")
    faces, subsets, opposite = _subset_tables(n, d)
    with np.errstate(all="ignore"):
        signs = np.where(np.arange(d + 1) % 2 == 0, 1.0, -1.0)
        shares = _minors(offsets, faces)[opposite] * signs
        volumes = shares.sum(axis=1)
        weights = shares / volumes[:, None]
        rounding = _ROUNDING * _minors(np.abs(offsets), faces, 1.0)[opposite]
        slack = WEIGHT_TOLERANCE + rounding / np.abs(volumes)[:, None]
        holds = ((weights >= -slack) & (slack < _MAX_SLACK)).all(axis=1)
        rows, weights = subsets[holds], weights[holds]
        solidity = np.abs(volumes[holds]) / np.ptp(offsets[rows], axis=1).prod(axis=1)
        solid = solidity > FLATNESS
    return EnclosingSubsets(rows[solid], weights[solid], solidity[solid])


def circumcentre(vertices: Floats) -> Floats:
    """Return the point, shape ``(d,)``, equally far from the ``d + 1`` vertices of a simplex.

    Raises
    ------
    numpy.linalg.LinAlgError
        The simplex is exactly flat.

    >>> circumcentre(np.array([[0.0, 0], [2, 0], [0, 2]])).tolist()
    [1.0, 1.0]
    """
    edges = vertices[1:] - vertices[0]
    centre: Floats = np.linalg.solve(2 * edges, (edges**2).sum(axis=1)) + vertices[0]
    return centre


def separating_direction(offsets: Floats) -> Floats:
    """Return a direction, shape ``(d,)``, along which the target is beyond all of the points.

    Offsets, shape ``(n, d)``, are the points minus the target. The direction is the residual of the
    closest convex combination with each axis scaled by its span: zero for a target in the hull.

    Raises
    ------
    ImportError
        scipy is not installed.

    >>> bool(separating_direction(np.array([[1.0, 0], [2, 1]])) @ np.array([1.0, 0]) < 0)
    True
    """
    span = np.maximum(offsets.max(axis=0), 0.0) - np.minimum(offsets.min(axis=0), 0.0)
    span[span == 0] = 1.0
    system, wanted = _convexity(offsets / span)
    shares, _ = scipy_module("optimize").nnls(system, wanted)
    direction: Floats = (wanted - system @ shares)[:-1] / span
    return direction


def rectangle_bounds(points: Floats, values: Floats, target: Floats) -> tuple[float, float] | None:
    """Return what the two diagonals of a rectangle make of a target in it, the lesser first.

    None unless the points are the four corners of one, in ascending order, as most cells are.

    >>> corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    >>> rectangle_bounds(corners, np.array([0.0, 0, 0, 4]), np.array([0.5, 0.5]))
    (0.0, 2.0)
    """
    if points.shape != (4, 2):
        return None
    (left, low), (left_too, high), (right, low_too), end = points.tolist()
    x, y = target.tolist()
    is_whole = left == left_too and low == low_too and end == [right, high]
    if not (is_whole and left <= x <= right and low <= y <= high and left < right and low < high):
        return None
    u, v = (x - left) / (right - left), (y - low) / (high - low)
    a, b, c, d = values.tolist()  # at (left, low), (left, high), (right, low), (right, high)
    rising = a + u * (c - a) + v * (d - c) if u >= v else a + v * (b - a) + u * (d - b)
    falling = a + u * (c - a) + v * (b - a)
    if u + v > 1:
        falling = d + (1 - u) * (b - d) + (1 - v) * (c - d)
    return min(rising, falling), max(rising, falling)


def program_bounds(offsets: Floats, values: Floats) -> tuple[float, float]:
    """Return the least and greatest value of a convex combination of the points at the target.

    Two linear programs, for clouds too large or too flat for `enclosing_subsets`; offsets have
    shape ``(n, d)``, values ``(n,)``. ``(nan, nan)`` when the target is outside the hull.

    Raises
    ------
    ImportError
        scipy is not installed.
    """
    span = np.abs(offsets).max(axis=0)
    system, wanted = _convexity(offsets / np.where(span == 0, 1.0, span))
    linprog = scipy_module("optimize").linprog
    ends = [linprog(sign * values, A_eq=system, b_eq=wanted) for sign in (1.0, -1.0)]
    if not all(end.success for end in ends):
        return math.nan, math.nan
    return float(ends[0].fun), -float(ends[1].fun)


def _convexity(offsets: Floats) -> tuple[Floats, Floats]:
    """Return the equations of convex weights ``(n,)`` that average the offsets to zero."""
    system = np.vstack([offsets.T, np.ones(len(offsets))])
    wanted = np.zeros(len(system))
    wanted[-1] = 1.0
    return system, wanted


def _minors(offsets: Floats, faces: Indices, sign: float = -1.0) -> Floats:
    """Return the determinant of each ``d``-subset of the offsets, shape ``(len(faces),)``.

    A sign of 1 adds all products instead, which bounds the rounding error of the determinant.
    """
    columns = [offsets[faces[:, k]].T for k in range(offsets.shape[1])]
    minors: Floats
    if len(columns) == 1:
        minors = columns[0][0]
    elif len(columns) == 2:
        (ax, ay), (bx, by) = columns
        minors = ax * by + sign * (ay * bx)
    else:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = columns
        minors = ax * (by * cz + sign * (bz * cy)) + sign * (ay * (bx * cz + sign * (bz * cx)))
        minors = minors + az * (bx * cy + sign * (by * cx))
    return minors


@lru_cache(maxsize=128)
def _subset_tables(n: int, d: int) -> tuple[Indices, Indices, Indices]:
    """Return the ``d``-subsets and ``d + 1``-subsets of ``n`` rows and how they are related.

    The third table has, for each vertex of a ``d + 1``-subset, the number of the ``d``-subset
    that remains without it.
    """
    faces = list(combinations(range(n), d))
    subsets = list(combinations(range(n), d + 1))
    number = {face: position for position, face in enumerate(faces)}
    opposite = [[number[s[:k] + s[k + 1 :]] for k in range(d + 1)] for s in subsets]
    return (
        np.array(faces, dtype=np.intp).reshape(-1, d),
        np.array(subsets, dtype=np.intp).reshape(-1, d + 1),
        np.array(opposite, dtype=np.intp).reshape(-1, d + 1),
    )


@lru_cache(maxsize=1)
def _blas_controller() -> Any:
    """Return the controller of the loaded BLAS libraries, or None without threadpoolctl."""
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None
