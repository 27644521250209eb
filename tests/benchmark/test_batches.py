"""From invocation objects to answers: ``python -m pytest -m benchmark tests/benchmark -s``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmark.scale import Grid, bmm, build, looked_up, median_seconds, shapes
from databases_for_tests import cursor_of

import sqlinterp
from sqlinterp.lookup.invocation import read_invocation

pytestmark = pytest.mark.benchmark
TARGETS, GRID = 100_000, Grid.of(1_000_000, 2_000)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlinterp.ProfilingDatabase]:
    """A million synthetic points of one kernel in 500 regimes."""
    path: Path = build(GRID, tmp_path_factory.mktemp("batches"))
    with sqlinterp.open(path) as opened:
        yield opened


@pytest.mark.parametrize(("off_grid", "source"), [(0, "MEASURED"), (1, "INTERPOLATED")])
def test_a_batch_costs_less_than_a_trivial_statement_for_each_target(
    off_grid: int, source: str, database: sqlinterp.ProfilingDatabase
) -> None:
    """80 us where a ``SELECT 1`` takes 100, which both follow the speed of the machine."""
    calls = [read_invocation(bmm(*shape)) for shape in shapes(TARGETS, GRID, off_grid)]
    spent = min(looked_up(database, calls, source) for _ in range(2))
    connection = cursor_of(database)
    trivial = median_seconds(lambda: connection.execute("select 1").fetchall(), 1000)
    print(
        f"\n{TARGETS:,} objects, 1,000,000 points, {source}: {spent * 1e6:.0f} us a target"
        f" = {spent / trivial:.2f} x SELECT 1 ({trivial * 1e6:.0f} us)"
    )
    assert spent <= 0.8 * trivial
