"""A lookup in one large regime costs about what it costs in a small one (synthetic points)."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest
from benchmark.scale import Grid, bmm, build

import sqlinterp

pytestmark = pytest.mark.benchmark
LOOKUPS = 120


def medians_ms(grid: Grid, folder: Path) -> dict[str, float]:
    """Milliseconds of cold lookups on the grid, and beside it along one, two and three axes."""
    folder.mkdir()
    found: dict[str, float] = {}
    with sqlinterp.open(build(grid, folder)) as database:
        for axes in range(4):
            seconds = []
            for number in range(LOOKUPS):
                h, *sizes = grid.shape(int(number * grid.points / LOOKUPS))
                beside = [
                    size - (1 + number % 50) * (axis < axes) for axis, size in enumerate(sizes)
                ]
                start = time.perf_counter()
                answer = database.lookup(bmm(h, *beside))
                seconds.append(time.perf_counter() - start)
                if answer.source is not None:
                    assert answer.details.get("interpolation_dim", 0) == axes
            found[f"{axes}D" if axes else "exact"] = statistics.median(seconds) * 1e3
    return found


def test_a_large_regime_costs_at_most_twice_a_small_one(tmp_path: Path) -> None:
    small, large = (
        medians_ms(Grid.of(points, points), tmp_path / str(points)) for points in (10_000, 500_000)
    )
    for name, cost in large.items():
        print(f"\ncold {name} lookup: {small[name]:.2f} ms in 10,000 points, {cost:.2f} in 500,000")
    assert all(cost <= 2 * small[name] for name, cost in large.items())


def test_a_batch_on_three_axes_does_not_read_every_point_for_every_target(tmp_path: Path) -> None:
    grid = Grid.of(500_000, 500_000)
    spent = {}
    with sqlinterp.open(build(grid, tmp_path)) as database:
        for count in (50, 1_000):
            shapes = [grid.shape(int(number * grid.points / count)) for number in range(count)]
            calls = [bmm(h, m - 1, k - 1, n - 1) for h, m, k, n in shapes if k > 128 and n > 256]
            start = time.perf_counter()
            answers = database.lookup_many(calls)
            spent[count] = time.perf_counter() - start
            assert sum(answer.source == "INTERPOLATED" for answer in answers) > 0.8 * len(calls)
    print(
        f"\n3D in 500,000 points: 50 targets {spent[50]:.2f} s, 1,000 targets {spent[1_000]:.2f} s"
    )
    assert spent[1_000] <= 5 * spent[50]
