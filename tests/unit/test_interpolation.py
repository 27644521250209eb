"""Interpolation on the points of one cell: values, reasons, weights and bounds."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import griddata
from scipy.optimize import linprog

from sqlinterp.interpolation import (
    cell_weights,
    confidence,
    envelope,
    find_boundary,
    griddata_linear,
    linear_interp,
    multilinear,
    validate_latency,
)
from sqlinterp.simplices import separating_direction

Floats = NDArray[np.float64]


def box(*axes: tuple[float, float]) -> Floats:
    """All corners in ascending order."""
    return np.array(list(product(*axes)), dtype=np.float64)


def scipy_answer(points: Floats, values: Floats, target: Floats) -> float:
    return float(griddata(points, values, target[None, :], method="linear").item())


def same_bits(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


def random_cells(seed: int, count: int) -> list[tuple[Floats, Floats, Floats]]:
    """Boxes, boxes with a missing corner and scattered points, each with targets on and off
    faces: ``(points, values, targets)``."""
    rng = np.random.default_rng(seed)
    cells = []
    for number in range(count):
        d = 2 + number % 2
        axes = [np.sort(rng.choice(np.arange(1.0, 65536), 2, replace=False)) for _ in range(d)]
        points = box(*[(axis[0], axis[1]) for axis in axes])
        if number % 3 == 1:
            points = np.delete(points, rng.integers(len(points)), axis=0)
        if number % 3 == 2:
            points = np.unique(rng.integers(0, 50, (12, d)).astype(float), axis=0)
        targets = rng.uniform(points.min(axis=0), points.max(axis=0), (4, d))
        pairs = rng.integers(len(points), size=(2, 6))
        middles = (points[pairs[0]] + points[pairs[1]]) / 2
        cells.append((points, rng.uniform(1, 100, len(points)), np.vstack([targets, middles])))
    return cells


def test_importing_the_module_does_not_import_scipy() -> None:
    modules = "sqlinterp.interpolation, sqlinterp.certified_cell"
    code = f"import sys, {modules}; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_missing_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def refuse(name: str, package: str | None = None) -> object:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(ImportError, match="pip install scipy"):
        griddata_linear(box((0, 1), (0, 1)), np.ones(4), np.array([[0.5, 0.5]]))


def test_linear_interp() -> None:
    assert linear_interp(150, 100, 10.0, 200, 20.0) == 15.0
    assert linear_interp(0.3, 0.1, 7.7, 0.3, 0.1) == 0.1
    assert linear_interp(5, 5, 3.0, 5, 3.0) == 3.0
    for outside in (99.0, 201.0, math.nan):
        with pytest.raises(ValueError, match="neighbours"):
            linear_interp(outside, 100, 10.0, 200, 20.0)


def test_find_boundary() -> None:
    axis = np.array([64.0, 1.0, math.nan, 16.0])
    assert find_boundary(axis, 20) == (16.0, 64.0)
    assert find_boundary(axis, 16) == (16.0, 16.0)
    assert find_boundary(axis, 0.5) is None
    assert find_boundary(axis, 65) is None
    assert find_boundary(axis, math.nan) is None
    assert find_boundary(np.array([]), 1) is None


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_validate_latency(bad: float) -> None:
    assert validate_latency(0.001)
    assert not validate_latency(bad)


def test_equals_griddata_bit_for_bit_alone_and_in_a_batch() -> None:
    answered = 0
    for points, values, targets in random_cells(seed=1, count=90):
        batch = griddata_linear(points, values, targets)
        for row, target in enumerate(targets):
            alone = griddata_linear(points, values, target[None, :])
            expected = scipy_answer(points, values, target)
            assert same_bits(float(alone.latencies[0]), expected)
            assert same_bits(float(batch.latencies[row]), expected)
            assert alone.reasons[0] == batch.reasons[row]
            assert math.isnan(expected) == (batch.reasons[row] == "outside_convex_hull")
            answered += not math.isnan(expected)
    assert answered > 700


def test_one_axis_equals_griddata() -> None:
    points, values = np.array([[1.0], [4.0], [9.0]]), np.array([1.0, 2.0, 5.0])
    result = griddata_linear(points, values, np.array([[3.0], [4.0], [9.5]]))
    assert result.latencies[0] == scipy_answer(points, values, np.array([3.0]))
    assert result.latencies[1] == 2.0
    assert result.reasons == (None, None, "outside_convex_hull")


def test_far_vertex_example() -> None:
    points = np.array([[16.0, 16], [16, 116], [116, 16], [136, 136]])
    result = griddata_linear(points, np.array([1.0, 9, 5, 40]), np.array([[76.0, 76]]))
    assert result.latencies[0] == pytest.approx(11.714285714285714, rel=1e-12)


def test_row_order_is_irrelevant_after_sorting() -> None:
    rng = np.random.default_rng(3)
    for points, values, targets in random_cells(seed=4, count=20):
        expected = griddata_linear(points, values, targets)
        shuffle = rng.permutation(len(points))
        mixed, mixed_values = points[shuffle], values[shuffle]
        order = np.lexsort(mixed.T[::-1])
        again = griddata_linear(mixed[order], mixed_values[order], targets)
        np.testing.assert_array_equal(again.latencies, expected.latencies)


CORNERS = box((0.0, 1.0), (0.0, 1.0))
MIDDLE = np.array([[0.5, 0.5]])


@pytest.mark.parametrize(
    ("points", "values", "reason"),
    [
        (np.empty((0, 2)), [], "insufficient_points"),
        ([[0, 0], [1, 1]], [1, 2], "insufficient_points"),
        ([[0, 0], [1, 1], [1, 1], [0, 0]], [1, 2, 2, 1], "insufficient_points"),
        ([[0, 0], [0.5, 0.5], [1, 1]], [1, 2, 3], "degenerate_point_cloud"),
        ([[0, 0.5], [0.5, 0.5], [1, 0.5]], [1, 2, 3], "degenerate_point_cloud"),
        ([[0, 0], [0.5, 0.5 + 1e-13], [1, 1]], [1, 2, 3], "degenerate_point_cloud"),
        ([[0, 0], [1e15, 0], [0, 1e-3]], [1, 2, 3], None),
        (CORNERS + 2, [1, 2, 3, 4], "outside_convex_hull"),
        (CORNERS, [1, 2, 3, math.nan], "non_finite_input"),
        ([[0, 0], [0, 1], [1, 0], [1, math.inf]], [1, 2, 3, 4], "non_finite_input"),
        (CORNERS, [0, 0, 0, 0], "latency_guard_rejected"),
        (CORNERS, [-1, -2, -3, -4], "latency_guard_rejected"),
        (CORNERS, [1.7e308, 1.7e308, 1.7e308, 1.7e308], None),
    ],
)
def test_reasons(points: Floats, values: Floats, reason: str | None) -> None:
    result = griddata_linear(np.asarray(points, float), np.asarray(values, float), MIDDLE)
    assert result.latencies.shape == (1,)
    if reason is None:  # extreme input: any answer is fine as long as it is named
        assert math.isnan(result.latencies[0]) == (result.reasons[0] is not None)
    else:
        assert result.reasons == (reason,)
        assert math.isnan(result.latencies[0])


def test_every_target_has_its_own_reason() -> None:
    targets = np.array([[0.5, 0.5], [2, 2], [math.nan, 0], [0, 0.25]])
    result = griddata_linear(CORNERS, np.array([1.0, 2, 3, 4]), targets)
    assert result.reasons == (None, "outside_convex_hull", "non_finite_input", None)
    np.testing.assert_array_equal(np.isnan(result.latencies), [False, True, True, False])


def test_rank_is_robust_to_units() -> None:
    flat = np.array([[1.0, 1, 7], [65536, 1, 7], [1, 30000, 7], [65536, 30000, 7]])
    target = np.array([[5.0, 5, 7]])
    assert griddata_linear(flat, np.ones(4), target).reasons == ("degenerate_point_cloud",)
    thin = np.array([[1.0, 1e-4], [65536, 1e-4], [1, 2e-4], [65536, 2e-4]])
    assert griddata_linear(thin, np.ones(4), np.array([[5.0, 1.5e-4]])).reasons == (None,)


def test_shapes_that_do_not_fit_raise() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        griddata_linear(CORNERS, np.ones(3), MIDDLE)
    with pytest.raises(ValueError, match="do not fit"):
        griddata_linear(CORNERS, np.ones(4), np.array([[0.5]]))
    with pytest.raises(ValueError, match="expected an array"):
        griddata_linear(np.ones(4), np.ones(4), MIDDLE)


def test_cell_weights_explain_the_answer() -> None:
    for points, values, targets in random_cells(seed=5, count=60):
        result = griddata_linear(points, values, targets)
        for target, latency in zip(targets, result.latencies, strict=True):
            used = cell_weights(points, target)
            assert (used is None) == math.isnan(latency)
            if used is None:
                continue
            chosen, weights = list(used.vertex_indices), np.array(used.weights)
            assert weights.min() > -1e-9
            assert weights.sum() == pytest.approx(1)
            assert weights @ values[chosen] == pytest.approx(latency, rel=1e-9)
            np.testing.assert_allclose(weights @ points[chosen], target, rtol=1e-7, atol=1e-9)


def test_cell_weights_of_one_axis_and_of_misses() -> None:
    axis = np.array([[1.0], [4.0], [9.0]])
    used = cell_weights(axis, np.array([5.0]))
    assert used is not None
    assert used.vertex_indices == (1, 2)
    assert used.weights == pytest.approx((0.8, 0.2))
    exact = cell_weights(axis, np.array([4.0]))
    assert exact is not None
    assert (exact.vertex_indices, exact.weights) == ((1,), (1.0,))
    assert cell_weights(axis, np.array([10.0])) is None
    assert cell_weights(CORNERS, np.array([3.0, 3.0])) is None
    assert cell_weights(CORNERS, np.array([math.nan, 3.0])) is None
    assert cell_weights(CORNERS[:2], np.array([0.0, 0.5])) is None


@pytest.mark.parametrize("d", [1, 2, 3])
def test_multilinear_is_exact_on_multi_affine_functions(d: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(50):
        powers = np.array(list(product((0, 1), repeat=d)))
        factors = rng.uniform(-1, 1, len(powers))

        lo = rng.uniform(0, 10, d)
        hi = lo + rng.uniform(0.1, 100, d)
        corners = box(*zip(lo.tolist(), hi.tolist(), strict=True))
        values = (corners[:, None, :] ** powers).prod(axis=2) @ factors
        target = rng.uniform(lo, hi)
        expected = float((target**powers).prod(axis=1) @ factors)
        found = multilinear(lo, hi, values, target)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        for corner, value in zip(corners, values, strict=True):
            assert multilinear(lo, hi, values, corner) == value


def test_multilinear_flat_axis_and_errors() -> None:
    lo, hi = np.array([0.0, 5.0]), np.array([10.0, 5.0])
    assert multilinear(lo, hi, np.array([1.0, math.nan, 3.0, math.nan]), np.array([5.0, 5])) == 2.0
    with pytest.raises(ValueError, match="outside"):
        multilinear(lo, hi, np.ones(4), np.array([11.0, 5]))
    with pytest.raises(ValueError, match="corner values"):
        multilinear(lo, hi, np.ones(3), np.array([5.0, 5]))


def test_envelope_holds_every_simplex_and_the_tensor_product() -> None:
    rng = np.random.default_rng(6)
    for d in (2, 3):
        for _ in range(40):
            lo = rng.integers(1, 5000, d).astype(float)
            hi = lo + rng.integers(1, 5000, d).astype(float)
            points = box(*zip(lo.tolist(), hi.tolist(), strict=True))
            values, target = rng.uniform(1, 100, len(points)), rng.uniform(lo, hi)
            low, high = envelope(points, values, target)
            slack = 1e-9 * high
            assert low - slack <= multilinear(lo, hi, values, target) <= high + slack
            for order in (np.arange(len(points)), rng.permutation(len(points))):
                answer = scipy_answer(points[order], values[order], target)
                assert low - slack <= answer <= high + slack
            for three in combinations(range(4), 3) if d == 2 else ():
                answer = scipy_answer(points[list(three)], values[list(three)], target)
                assert math.isnan(answer) or low - slack <= answer <= high + slack


def test_envelope_of_the_two_diagonals() -> None:
    points = box((100.0, 200.0), (64.0, 128.0))
    values = points.prod(axis=1) / 100
    assert envelope(points, values, np.array([150.0, 96.0])) == pytest.approx((128.0, 160.0))


@pytest.mark.parametrize("n", [9, 14, 18])
def test_envelope_equals_the_linear_program(n: int) -> None:
    rng = np.random.default_rng(n)
    for d in (2, 3):
        points, values = rng.uniform(0, 100, (n, d)), rng.uniform(1, 100, n)
        target = points.mean(axis=0)
        system, wanted = np.vstack([points.T, np.ones(n)]), np.append(target, 1)
        ends = [linprog(s * values, A_eq=system, b_eq=wanted) for s in (1, -1)]
        low, high = (float(values @ np.asarray(end.x)) for end in ends)
        assert envelope(points, values, target) == pytest.approx((low, high), rel=1e-6)


def test_envelope_of_one_simplex_flat_cells_and_misses() -> None:
    triangle = np.array([[0.0, 0], [0, 4], [4, 0]])
    low, high = envelope(triangle, np.array([1.0, 2, 4]), np.array([1.0, 1.0]))
    assert low == high == pytest.approx(2.0)
    wall = np.array([[7.0, 0, 0], [7, 0, 1], [7, 1, 0], [7, 1, 1]])
    found = envelope(wall, np.array([1.0, 3, 3, 1]), np.array([7.0, 0.5, 0.5]))
    assert found == pytest.approx((1.0, 3.0))
    slope = np.array([[0.0, 0], [1, 1], [2, 2]])
    assert envelope(slope, np.array([1.0, 5, 3]), np.array([1.0, 1])) == pytest.approx((2.0, 5.0))
    assert all(map(math.isnan, envelope(triangle, np.ones(3), np.array([4.0, 4.0]))))
    assert envelope(np.array([[3.0]]), np.array([2.0]), np.array([3.0])) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("dimension", "transformed", "lower", "upper", "expected"),
    [
        (1, False, [100], [200], 0.70),
        (2, False, [100, 100], [200, 100], 0.65),
        (3, False, [1, 1, 1], [2, 2, 2], 0.60),
        (1, True, [100], [200], 0.65),
        (1, False, [100], [400], 0.675),
        (2, False, [1, 100], [2, 800], 0.60),
        (2, False, [1, 1], [1, 65536], 0.60),
        (2, False, [0, 1], [8, 1], 0.60),
        (2, False, [0, 1], [0, 1], 0.65),
        (3, True, [1, 1, 1], [1, 1, 99], 0.50),
    ],
)
def test_confidence(
    dimension: int, transformed: bool, lower: list[float], upper: list[float], expected: float
) -> None:
    found = confidence(dimension, transformed, np.array(lower, float), np.array(upper, float))
    assert found == expected


def test_confidence_of_another_dimension_raises() -> None:
    with pytest.raises(ValueError, match="dimension 4"):
        confidence(4, False, np.ones(4), np.ones(4))


def test_separating_direction_is_a_witness() -> None:
    rng = np.random.default_rng(8)
    for d in (2, 3):
        for _ in range(50):
            points = rng.uniform(0, [1.0, 1e4, 1e-3][:d], (6, d)) + 1e-6
            direction = separating_direction(points - np.zeros(d))
            assert (points @ direction < 0).all()
