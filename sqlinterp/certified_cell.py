"""Find the Delaunay cell of a target by asking for single points, without reading the whole cloud.

The search is a generator: it yields a question, the caller sends the answer, and it returns the
cell or the reason there is none. So a caller can keep many targets in flight and answer all their
questions with one statement per round. A simplex whose circumsphere holds no other point of the
cloud is a Delaunay simplex, whatever else the cloud holds: that is what the last answer certifies.
Coordinates are raw, because rescaling an axis is another triangulation.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sqlinterp.simplices import (
    affine_rank,
    ascending,
    circumcentre,
    enclosing_subsets,
    separating_direction,
)

Floats = NDArray[np.float64]
NoCellReason = Literal[
    "insufficient_points",
    "degenerate_point_cloud",
    "outside_convex_hull",
    "non_finite_input",
    "certification_failed",
]

MAX_ROUNDS = 64
MAX_ANSWER_POINTS = 24
_MAX_WORKING_POINTS = 14
_SPHERE_TOLERANCE = 1e-9
_PLANE_TOLERANCE = 1e-12
_SCIPY_TOLERANCE = 1e-14


@dataclass(frozen=True, eq=False)
class SupportQuestion:
    """Which point has the greatest ``direction @ point``? Answer ``(1, d)``.

    ``direction`` has shape ``(d,)`` and is in raw units. Break a tie by ascending coordinates.
    """

    direction: Floats


@dataclass(frozen=True, eq=False)
class NearestQuestion:
    """Which points are within ``radius`` of ``centre``? Answer ``(j, d)``, nearest first.

    ``centre`` has shape ``(d,)``; ``radius`` already includes the tolerance. ``limit`` nearest
    points are enough; break a tie by ascending coordinates. An answer is never empty: the points
    known so far are among those within.
    """

    centre: Floats
    radius: float
    limit: int = MAX_ANSWER_POINTS


Question = SupportQuestion | NearestQuestion


@dataclass(frozen=True, eq=False)
class Cell:
    """All points on the empty circumsphere around the target, ``(j, d)``, ascending.

    With ``d + 1`` points the cell is the one Delaunay simplex; with more they are co-spherical.
    """

    points: Floats


@dataclass(frozen=True)
class NoCell:
    """The target has no cell, and why."""

    reason: NoCellReason


CellOutcome = Cell | NoCell
CellSearch = Generator[Question, Floats, CellOutcome]


@dataclass(frozen=True, eq=False)
class _Sphere:
    """Circumsphere of a simplex, in coordinates relative to the target.

    ``rows`` numbers the vertices, shape ``(d + 1,)``, among the working points.
    """

    rows: NDArray[np.intp]
    vertices: Floats
    centre: Floats

    @property
    def radius(self) -> float:
        return float(np.sqrt(((self.vertices - self.centre) ** 2).sum(axis=1).max()))

    def power(self, offsets: Floats) -> Floats:
        """Return how far outside each point is: about -1 to 1, zero on the sphere.

        Written so that the squares of a huge radius never appear and so never cancel.
        """
        corner = self.vertices[0]
        squares = (offsets**2).sum(axis=1), (corner**2).sum()
        terms = 2 * self.centre * (offsets - corner)
        size = squares[0] + squares[1] + np.abs(terms).sum(axis=1)
        power: Floats = (squares[0] - squares[1] - terms.sum(axis=1)) / np.where(size, size, 1.0)
        return power


def certified_cell(target: Floats, seeds: Floats) -> CellSearch:
    """Search the cell of a target, shape ``(d,)`` with ``d`` of 1 to 3.

    Seeds, shape ``(k, d)``, are the nearest point in each closed orthant around the target (see
    `nearest_per_orthant`); with none, the cloud is taken to be empty. Needs at most 64 answers.

    Raises
    ------
    ValueError
        More than 3 axes.
    ImportError
        scipy is not installed and a target outside the hull of the known points needs it.
    """
    target = np.asarray(target, dtype=np.float64)
    if not np.isfinite(target).all():
        return NoCell("non_finite_input")
    if not len(seeds):
        return NoCell("insufficient_points")
    working = ascending(np.asarray(seeds, dtype=np.float64))
    rounds = 0
    while (normal := _normal(working)) is not None:
        spanned = affine_rank(working)
        for direction in _towards(normal, target - working[0]):
            found = yield SupportQuestion(direction)
            working = ascending(working, found)
            rounds += 1
            if affine_rank(working) > spanned:
                break
        else:
            return NoCell("degenerate_point_cloud")
    return (yield from _search(target, working, MAX_ROUNDS - rounds))


def nearest_per_orthant(points: Floats, target: Floats) -> Floats:
    """Return the nearest point in each closed orthant around the target: ``(k, d)``, ascending.

    >>> nearest_per_orthant(np.array([[0.0], [4], [9]]), np.array([5.0])).tolist()
    [[4.0], [9.0]]
    """
    ordered = ascending(points)
    offsets = ordered - target
    distance = (offsets**2).sum(axis=1)
    chosen = set()
    for signs in product((-1.0, 1.0), repeat=offsets.shape[1]):
        inside = np.flatnonzero((offsets * signs >= 0).all(axis=1))
        if inside.size:
            chosen.add(int(inside[distance[inside].argmin()]))
    return ordered[sorted(chosen)]


def answer_question(question: Question, cloud: Floats) -> Floats:
    """Answer a question from all points of a cloud, shape ``(n, d)``, in any order."""
    ordered = ascending(cloud)
    if isinstance(question, SupportQuestion):
        best = int((ordered @ question.direction).argmax())
        return ordered[best : best + 1]
    distance = np.sqrt(((ordered - question.centre) ** 2).sum(axis=1))
    nearest = np.argsort(distance, kind="stable")[: question.limit]
    return ordered[[row for row in nearest if distance[row] <= question.radius]]


def find_cell(target: Floats, cloud: Floats) -> CellOutcome:
    """Search the cell of a target in a cloud held in memory, shape ``(n, d)``.

    >>> cloud = np.array([[16.0, 16], [116, 16], [16, 116], [136, 136]])
    >>> find_cell(np.array([76.0, 76]), cloud).points.tolist()
    [[16.0, 116.0], [116.0, 16.0], [136.0, 136.0]]
    """
    search = certified_cell(target, nearest_per_orthant(cloud, target))
    try:
        question = next(search)
        while True:
            question = search.send(answer_question(question, cloud))
    except StopIteration as stop:
        outcome: CellOutcome = stop.value
        return outcome


def _search(target: Floats, known: Floats, rounds: int) -> CellSearch:
    """Grow the known points, of full rank, until their simplex around the target is certified."""
    working = known
    for _ in range(rounds):
        working, sphere = _settle(target, known, working)
        n_known = len(known)
        if sphere is None:
            direction = separating_direction(working - target)
            found = yield SupportQuestion(direction)
            known = working = ascending(known, found)
            if _is_beyond(direction, found - target) or len(known) == n_known:
                return NoCell("outside_convex_hull")
            continue
        radius = sphere.radius * (1 + _SPHERE_TOLERANCE)
        found = yield NearestQuestion(sphere.centre + target, radius)
        power = sphere.power(found - target)
        if not (power < -_SPHERE_TOLERANCE).any():
            return Cell(ascending(working[sphere.rows], found[power <= _SPHERE_TOLERANCE]))
        known = ascending(known, found)
        if len(known) == n_known:
            break
    return NoCell("certification_failed")


def _settle(target: Floats, known: Floats, working: Floats) -> tuple[Floats, _Sphere | None]:
    """Return the few working points and the sphere of theirs that no known point is inside of."""
    sphere = _delaunay_sphere(working - target)
    for _ in range(MAX_ROUNDS):
        if sphere is None:
            break
        power = sphere.power(known - target)
        if power.min() >= -_SPHERE_TOLERANCE:
            break
        if len(working) >= _MAX_WORKING_POINTS:
            near = np.argsort(sphere.power(working - target))[: _MAX_WORKING_POINTS // 2]
            working = ascending(working[sphere.rows], working[near])
        n_working = len(working)
        working = ascending(working, known[[int(power.argmin())]])
        if len(working) == n_working:
            break
        sphere = _delaunay_sphere(working - target)
    return working, sphere


def _delaunay_sphere(offsets: Floats) -> _Sphere | None:
    """Return the circumsphere of the Delaunay simplex around the target, None outside the hull.

    That simplex has the least mean square distance of its vertices to the target, by weight. A
    target on a face ties all simplices with the face: the emptiest sphere is taken, and among
    those the simplex that scipy's own tolerance will accept and that is least of a sliver.
    """
    subsets = enclosing_subsets(offsets)
    if not len(subsets.rows):
        return None
    lift = (subsets.weights * (offsets**2).sum(axis=1)[subsets.rows]).sum(axis=1)
    tied = np.flatnonzero(lift <= lift.min() * (1 + 1e-6))
    best: tuple[tuple[float, float, float], _Sphere] | None = None
    for number in tied:
        rows = subsets.rows[number]
        sphere = _Sphere(rows, offsets[rows], circumcentre(offsets[rows]))
        deepest = min(0.0, float(sphere.power(offsets).min()) + _SPHERE_TOLERANCE)
        outside = min(0.0, float(subsets.weights[number].min()) + _SCIPY_TOLERANCE)
        rank = (deepest, outside, float(subsets.solidity[number]))
        if best is None or rank > best[0]:
            best = (rank, sphere)
    return best[1] if best else None


def _normal(working: Floats) -> Floats | None:
    """Return a raw direction normal to the span of the points, or None when they span the space."""
    edges = working - working[0]
    scale = np.abs(edges).max(axis=0)
    scale[scale == 0] = 1.0
    if affine_rank(working) == working.shape[1]:
        return None
    normal: Floats = np.linalg.svd(edges / scale, full_matrices=True)[2][-1] / scale
    return normal


def _towards(normal: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return the normal and its opposite, the one on the side of the target first."""
    return (normal, -normal) if normal @ offset >= 0 else (-normal, normal)


def _is_beyond(direction: Floats, offsets: Floats) -> bool:
    """Return whether the target is beyond every point, given those farthest in the direction."""
    terms = offsets * direction
    size = np.abs(terms).sum(axis=1)
    return bool((terms.sum(axis=1) < -_PLANE_TOLERANCE * size).all())
