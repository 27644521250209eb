"""How much memory DuckDB may take beside the answers, and what happens where that is not enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases_for_tests import (
    cursor_of,
    kept_database,
    matmul_call,
    scattered_matmuls,
    write_version,
)

import sqlinterp
from sqlinterp.lookup import lanes
from sqlinterp.session import ProfilingDatabase

SET_LIMIT = lanes.Lane._limit
CALLS = [matmul_call(16 * m, 16 * k, 48) for m in range(1, 70, 3) for k in range(1, 70, 3)]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[ProfilingDatabase]:
    lines = scattered_matmuls(3, range(16, 1100, 16), 400)
    write_version(tmp_path / "v", {"MatMulV2.csv": lines}, {"aten.mm.default": "MatMulV2"})
    with sqlinterp.open(kept_database(tmp_path / "v")) as database:
        yield database


def limit_of(database: ProfilingDatabase) -> str:
    [(limit,)] = cursor_of(database).execute("select current_setting('memory_limit')").fetchall()
    return str(limit)


def test_a_statement_that_needs_more_memory_gets_it(
    opened: ProfilingDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    expected = opened.lookup_many(CALLS)
    cursor_of(opened).execute("set memory_limit = '2MB'")
    assert opened.lookup_many(CALLS) == expected
    assert "GiB" in limit_of(opened)
    assert set(tmp_path.iterdir()) == before  # no folder for what does not fit into memory


def test_a_large_batch_leaves_the_memory_to_its_answers(
    opened: ProfilingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = opened.lookup_many(CALLS)
    assert limit_of(opened) == "512.0 MiB"
    seen = []
    monkeypatch.setattr(lanes, "_BATCH", len(CALLS))
    monkeypatch.setattr(
        lanes.Lane, "_limit", lambda own, memory: (seen.append(memory), SET_LIMIT(own, memory))
    )
    assert opened.lookup_many(CALLS) == expected
    assert opened.lookup_many(CALLS[:-1]) == expected[:-1]
    assert seen == ["192MiB", "512MiB"]
    assert limit_of(opened) == "512.0 MiB"
