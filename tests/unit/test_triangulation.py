"""Kept triangulations answer as new ones do; a rectangle has two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.interpolate import griddata
from scipy.spatial import QhullError
from threadpoolctl import threadpool_info, threadpool_limits

from sqlinterp.interpolation import cell_weights, griddata_linear
from sqlinterp.simplices import (
    program_bounds,
    rectangle_bounds,
    single_blas_thread,
    triangulation,
)

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


def test_threads_find_nothing_left_to_work_out() -> None:
    """Two that both work the transforms out read what the other has freed, one time in 4,000."""
    assert triangulation(CELL + 7)._transform is not None


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
        if weights is not None:
            used = latencies[list(weights.vertex_indices)] @ weights.weights
            assert used == pytest.approx(found.latencies[0], rel=1e-9)
        return float(found.latencies[0])

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(answer, targets))
    expected = [griddata(points, latencies, target[None, :]).item() for target in targets]
    assert np.array_equal(together, expected, equal_nan=True)


def test_threads_give_blas_its_own_threads_back() -> None:
    """The limit is one of the process: who saw another's limit restored that one."""

    def limited(_: int) -> set[int]:
        inside = set()
        for _ in range(50):
            with single_blas_thread():
                inside |= set(_blas_threads())
        return inside

    triangulation(CELL)  # loads the BLAS of scipy
    with ThreadPoolExecutor(1) as ended:  # a thread that set a limit and lives may own it
        two = ended.submit(threadpool_limits, limits=2, user_api="blas").result()
    before = _blas_threads()
    with ThreadPoolExecutor(8) as threads:
        inside = list(threads.map(limited, range(8)))
    after = _blas_threads()
    two.restore_original_limits()
    assert inside == [{1}] * 8
    assert after == before
    assert set(before) == {2}


def _blas_threads() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_other_latencies_on_the_same_points_have_their_own_answer() -> None:
    target = np.array([[1234.0, 1700]])
    for latencies in (LATENCIES, LATENCIES[::-1], LATENCIES):
        expected = griddata(CELL, latencies, target, method="linear").item()
        assert griddata_linear(CELL, latencies, target).latencies[0] == expected


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_in_a_rectangle_are_those_of_its_two_diagonals(seed: int) -> None:
    chosen = np.random.default_rng(seed)
    (left, right), (low, high) = np.sort(chosen.uniform(1, 5000, (2, 2)), axis=1)
    corners = np.array([[left, low], [left, high], [right, low], [right, high]])
    latencies = chosen.uniform(1, 90, 4)
    targets = [*corners, *chosen.uniform([left, low], [right, high], (20, 2)), corners.mean(axis=0)]
    for target in targets:
        bounds = rectangle_bounds(corners, latencies, np.array(target))
        assert bounds == pytest.approx(program_bounds(corners - target, latencies), rel=1e-9)
        answer = griddata_linear(corners, latencies, np.array([target])).latencies[0]
        assert min(abs(answer - bound) for bound in bounds) < 1e-9 * answer


def test_other_cells_have_no_bounds_of_a_rectangle() -> None:
    inside = np.array([1234.0, 1700])
    bent = CELL + np.array([[0, 0], [0, 0], [0, 0], [1, 0]])
    others = (bent, CELL[::-1], CELL[:3], np.hstack([CELL, CELL[:, :1]]))
    assert [rectangle_bounds(points, LATENCIES, inside) for points in others] == [None] * 4
    flat = CELL * np.array([1, 0])
    assert rectangle_bounds(flat, LATENCIES, np.array([1234.0, 0])) is None
    assert rectangle_bounds(CELL, LATENCIES, np.array([1000.0, 1700])) is None
