"""Triangulations are kept, and a kept one answers as a new one does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.interpolate import griddata
from scipy.spatial import QhullError

from sqlinterp.interpolation import cell_weights, griddata_linear
from sqlinterp.simplices import triangulation

CELL = np.array([[1024.0, 1536], [1024, 2048], [2048, 1536], [2048, 2048]])
LATENCIES = np.array([11.0, 14.0, 19.0, 30.0])


def test_equal_points_share_a_triangulation() -> None:
    assert triangulation(CELL) is triangulation(CELL.copy())
    assert triangulation(CELL) is triangulation(np.asfortranarray(CELL))
    assert triangulation(CELL) is not triangulation(CELL + 1)
    assert triangulation(CELL[:, ::-1]) is not triangulation(CELL)


def test_the_order_of_dims_is_no_matter_of_the_same_numbers() -> None:
    """Twelve numbers are six points in a plane or four in space."""
    numbers = np.array([0.0, 1, 8, 0, 3, 9, 2, 7, 5, 4, 6, 11])
    plane, space = triangulation(numbers.reshape(6, 2)), triangulation(numbers.reshape(4, 3))
    assert (plane.points.shape, space.points.shape) == ((6, 2), (4, 3))


def test_a_kept_triangulation_does_not_change_with_the_points() -> None:
    points = CELL.copy()
    kept = triangulation(points)
    points += 5
    assert (kept.points == CELL).all()


def test_degenerate_points_are_refused_every_time() -> None:
    line = np.array([[0.0, 0], [1, 1], [2, 2]])
    for _ in range(2):
        with pytest.raises(QhullError):
            triangulation(line)


@pytest.mark.parametrize("seed", range(20))
def test_threads_that_share_a_triangulation_get_what_griddata_gives(seed: int) -> None:
    chosen = np.random.default_rng(seed)
    points = np.unique(chosen.integers(0, 60, (9, 2 + seed % 2)).astype(float), axis=0)
    latencies = chosen.uniform(1, 9, len(points))
    targets = chosen.uniform(points.min(axis=0), points.max(axis=0), (16, points.shape[1]))

    def answer(target: np.ndarray) -> float:
        found = griddata_linear(points, latencies, target[None, :])
        weights = cell_weights(points, target)
        assert (weights is None) == (found.reasons[0] == "outside_convex_hull")
        return float(found.latencies[0])

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(answer, targets))
    expected = [griddata(points, latencies, target[None, :]).item() for target in targets]
    assert np.array_equal(together, expected, equal_nan=True)


def test_other_latencies_on_the_same_points_have_their_own_answer() -> None:
    target = np.array([[1234.0, 1700]])
    for latencies in (LATENCIES, LATENCIES[::-1], LATENCIES):
        expected = griddata(CELL, latencies, target, method="linear").item()
        assert griddata_linear(CELL, latencies, target).latencies[0] == expected
