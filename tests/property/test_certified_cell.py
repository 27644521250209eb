"""The certified cell of a target against one Delaunay triangulation of the whole cloud."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.interpolate import griddata
from scipy.spatial import QhullError

from sqlinterp.certified_cell import (
    MAX_ROUNDS,
    Cell,
    CellOutcome,
    NearestQuestion,
    NoCell,
    SupportQuestion,
    answer_question,
    certified_cell,
    find_cell,
    nearest_per_orthant,
)
from sqlinterp.interpolation import envelope, griddata_linear

Floats = NDArray[np.float64]
AXIS = np.array([1, 2, 4, 8, 16, 64, 128, 384, 1024, 1536, 4096, 7168, 16384, 30000, 65536.0])


@dataclass(frozen=True, eq=False)
class Trace:
    outcome: CellOutcome
    rounds: int
    widest_answer: int


def trace(target: Floats, cloud: Floats) -> Trace:
    search = certified_cell(target, nearest_per_orthant(cloud, target))
    rounds = widest = 0
    try:
        question = next(search)
        while True:
            rounds += 1
            answer = answer_question(question, cloud)
            widest = max(widest, len(answer))
            question = search.send(answer)
    except StopIteration as stop:
        return Trace(stop.value, rounds, widest)


def grid(rng: np.random.Generator, d: int, size: int) -> Floats:
    axes = [np.sort(rng.choice(AXIS, size, replace=False)) for _ in range(d)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, d)


def make_cloud(kind: str, rng: np.random.Generator, d: int) -> Floats:
    if kind == "random":
        return rng.uniform(0, [1e3, 5e4, 5e4][:d], (int(rng.integers(d + 2, 50)), d))
    if kind == "integers":
        return rng.integers(0, 12, (int(rng.integers(d + 2, 50)), d)).astype(float)
    if kind == "holed":
        full = grid(rng, d, int(rng.integers(3, 6)))
        return full[rng.random(len(full)) > 0.3]
    if kind == "ragged":
        firsts = [a for a in rng.choice(AXIS, 4, replace=False) for _ in range(6)]
        rest = rng.choice(AXIS, (len(firsts), d - 1))
        return np.column_stack([firsts, rest])
    if kind == "collinear":
        return rng.integers(0, 20, (12, 1)) * rng.integers(1, 5, d) + rng.integers(0, 9, d) * 1.0
    near, far = rng.uniform(0, 10, (20, d)), rng.uniform(0, 1e5, (4, d))
    return np.vstack([near, far])


def make_targets(cloud: Floats, rng: np.random.Generator, on_faces: bool) -> Floats:
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    targets = [rng.uniform(low, high, (5, cloud.shape[1]))]
    if on_faces:
        pairs = rng.integers(len(cloud), size=(2, 3))
        targets.append((cloud[pairs[0]] + cloud[pairs[1]]) / 2)
        on_line = cloud[rng.integers(len(cloud), size=3)].copy()
        on_line[:, 0] = rng.uniform(low[0], high[0], 3)
        targets.append(on_line)
        targets.append(np.array([[rng.choice(axis) for axis in cloud.T] for _ in range(3)]))
    every = np.vstack(targets)
    return np.array([t for t in every if not (cloud == t).all(axis=1).any()]).reshape(-1, len(low))


def global_answer(cloud: Floats, values: Floats, target: Floats) -> float | None:
    try:
        return float(griddata(cloud, values, target[None, :], method="linear")[0])
    except QhullError:
        return None


def check(cloud: Floats, values: Floats, target: Floats) -> Trace:
    """Compare one target with the global triangulation; all that the module promises."""
    expected = global_answer(cloud, values, target)
    found = trace(target, cloud)
    assert found.rounds <= MAX_ROUNDS
    if expected is None:
        assert found.outcome == NoCell("degenerate_point_cloud")
        return found
    if math.isnan(expected):
        if isinstance(found.outcome, Cell):  # on the hull: a cell, where scipy lost it to rounding
            inward = target + 1e-9 * (cloud.mean(axis=0) - target)
            assert math.isfinite(global_answer(cloud, values, inward) or math.nan)
        else:
            assert found.outcome == NoCell("outside_convex_hull")
        return found
    assert isinstance(found.outcome, Cell), (found.outcome, expected)
    points = found.outcome.points
    np.testing.assert_array_equal(points, np.unique(points, axis=0))
    lookup = {tuple(point): value for point, value in zip(cloud, values, strict=True)}
    chosen = np.array([lookup[tuple(point)] for point in points])
    answer = griddata_linear(points, chosen, target[None, :])
    assert answer.reasons == (None,)
    latency = float(answer.latencies[0])
    if len(points) == cloud.shape[1] + 1:
        assert latency == pytest.approx(expected, rel=1e-9)
    else:
        low, high = envelope(points, chosen, target)
        assert low * (1 - 1e-9) <= min(latency, expected)
        assert max(latency, expected) <= high * (1 + 1e-9)
    return found


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", ["random", "integers", "holed", "ragged", "collinear", "far"])
def test_equals_the_global_triangulation(kind: str, d: int) -> None:
    rng = np.random.default_rng([d, *kind.encode()])
    traces = []
    for _ in range(25):
        cloud = np.unique(make_cloud(kind, rng, d), axis=0)
        values = np.asarray(rng.uniform(1, 100, len(cloud)))
        for target in make_targets(cloud, rng, on_faces=kind != "far"):
            traces.append(check(cloud, values, target))
    assert len(traces) > 100
    cells = [t.outcome for t in traces if isinstance(t.outcome, Cell)]
    assert (kind == "collinear") != bool(cells)
    assert max((len(cell.points) for cell in cells), default=0) <= 14
    assert max(t.rounds for t in traces) <= 12
    assert np.median([t.rounds for t in traces]) <= 3


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    data=st.data(),
    d=st.sampled_from([2, 3]),
    scale=st.sampled_from([1.0, 16.0, 1024.0]),
)
def test_small_integer_clouds(data: st.DataObject, d: int, scale: float) -> None:
    coordinate = st.tuples(*[st.integers(0, 6)] * d)
    rows = data.draw(st.lists(coordinate, min_size=d + 2, max_size=30, unique=True))
    cloud = np.unique(np.array(rows, dtype=float), axis=0)
    cloud[:, 0] *= scale
    halves = data.draw(st.tuples(*[st.integers(0, 12)] * d))
    target = np.array(halves, dtype=float) / 2
    target[0] *= scale
    if not (cloud == target).all(axis=1).any():
        check(cloud, (1 + np.arange(len(cloud)) % 7).astype(float), target)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), d=st.sampled_from([2, 3]))
def test_row_order_is_irrelevant(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    cloud = np.unique(make_cloud("holed", rng, d), axis=0)
    for target in make_targets(cloud, rng, on_faces=True)[:3]:
        first = find_cell(target, cloud)
        again = find_cell(target, cloud[rng.permutation(len(cloud))])
        if isinstance(first, Cell):
            assert isinstance(again, Cell)
            np.testing.assert_array_equal(first.points, again.points)
        else:
            assert first == again


def test_far_vertex_example() -> None:
    cloud = np.array([[16.0, 16], [116, 16], [16, 116], [136, 136]])
    outcome = find_cell(np.array([76.0, 76]), cloud)
    assert isinstance(outcome, Cell)
    assert outcome.points.tolist() == [[16, 116], [116, 16], [136, 136]]
    found = griddata_linear(outcome.points, np.array([9.0, 5, 40]), np.array([[76.0, 76]]))
    assert found.latencies[0] == pytest.approx(11.714285714285714, rel=1e-12)


def test_complete_boxes_are_their_own_cell_whatever_is_far() -> None:
    rng = np.random.default_rng(11)
    for d in (2, 3):
        cloud = np.vstack([grid(rng, d, 4), np.full((1, d), 1e6)])
        low = np.unique(cloud[:-1, 0])[1:3], *[np.unique(cloud[:-1, k])[1:3] for k in range(1, d)]
        corners = np.stack(np.meshgrid(*low, indexing="ij"), -1).reshape(-1, d)
        outcome = find_cell(corners.mean(axis=0) * 1.0001, cloud)
        assert isinstance(outcome, Cell)
        np.testing.assert_array_equal(outcome.points, corners)


def test_hull_edges_are_inside_and_beyond_is_not() -> None:
    cloud = grid(np.random.default_rng(12), 2, 4)[:-1]
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    middle = (low + high) / 2
    for inside in ([low[0], middle[1]], [middle[0], low[1]]):
        assert isinstance(find_cell(np.array(inside), cloud), Cell)
    for outside in ([low[0] - 1, middle[1]], [middle[0], low[1] - 1e-6], high):
        assert find_cell(np.array(outside), cloud) == NoCell("outside_convex_hull")


def test_a_measured_point_has_a_cell() -> None:
    cloud = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1], [5, 5]])
    outcome = find_cell(np.array([1.0, 1.0]), cloud)
    assert isinstance(outcome, Cell)
    assert [1.0, 1.0] in outcome.points.tolist()


def test_one_axis() -> None:
    cloud = np.array([[1.0], [4.0], [9.0], [20.0]])
    outcome = find_cell(np.array([5.0]), cloud)
    assert isinstance(outcome, Cell)
    assert outcome.points.tolist() == [[4.0], [9.0]]
    assert find_cell(np.array([21.0]), cloud) == NoCell("outside_convex_hull")


def test_clouds_that_cannot_answer() -> None:
    target = np.array([1.0, 1.0, 1.0])
    assert find_cell(target, np.empty((0, 3))) == NoCell("insufficient_points")
    assert find_cell(target, np.ones((1, 3))) == NoCell("degenerate_point_cloud")
    wall = np.array([[7.0, 0, 0], [7, 0, 1], [7, 1, 0], [7, 1, 1]])
    assert find_cell(np.array([7.0, 0.5, 0.5]), wall) == NoCell("degenerate_point_cloud")
    assert find_cell(np.array([math.nan, 0, 0]), wall) == NoCell("non_finite_input")
    with pytest.raises(ValueError, match="at most 3"):
        find_cell(np.full(4, 0.5), np.vstack([np.eye(4), np.zeros(4)]))


def test_an_answer_that_never_helps_ends_the_search() -> None:
    cloud = np.array([[0.0, 0], [4, 0], [0, 4], [5, 5], [1.5, 1]])
    target = np.array([1.0, 1.0])
    search = certified_cell(target, nearest_per_orthant(cloud[:4], target))
    question = next(search)
    with pytest.raises(StopIteration) as stop:
        for _ in range(MAX_ROUNDS + 1):
            stuck = cloud[:1] if isinstance(question, SupportQuestion) else cloud[4:]
            question = search.send(stuck)
    assert isinstance(stop.value.value, Cell | NoCell)


def test_answers() -> None:
    cloud = np.array([[3.0, 0], [0, 0], [1, 0], [0, 1]])
    assert answer_question(SupportQuestion(np.array([1.0, 0])), cloud).tolist() == [[3, 0]]
    assert answer_question(SupportQuestion(np.array([-1.0, 0])), cloud).tolist() == [[0, 0]]
    near = NearestQuestion(np.array([0.0, 0.0]), radius=1.0)
    assert answer_question(near, cloud).tolist() == [[0, 0], [0, 1], [1, 0]]
    few = NearestQuestion(np.array([0.0, 0.0]), radius=9.0, limit=2)
    assert answer_question(few, cloud).tolist() == [[0, 0], [0, 1]]


def test_seeds_cover_closed_orthants() -> None:
    cloud = np.array([[2.0, 1], [1, 2], [-1, 0], [0, -5], [9, 9]])
    seeds = nearest_per_orthant(cloud, np.zeros(2))
    assert seeds.tolist() == [[-1, 0], [0, -5], [1, 2]]
