"""A single target is bracketed by other statements than many are, and finds the same boxes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import cursor_of, matmul_call
from lookup.boxes_support import GROUPS, of_many, placed, scattered

import sqlinterp
from sqlinterp.lookup.around import are_neighbours
from sqlinterp.lookup.octants import Octants
from sqlinterp.lookup.statements import Statements


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlinterp.ProfilingDatabase]:
    with sqlinterp.open(scattered(tmp_path_factory.mktemp("octants"))) as opened:
        yield opened


def test_both_ways_find_the_same_boxes(database: sqlinterp.ProfilingDatabase) -> None:
    cursor = cursor_of(database)
    statements = Statements(cursor)
    ids = [row[0] for row in cursor.execute("select regime_id from regime order by all").fetchall()]
    columns = {
        row[0] for row in cursor.execute("select distinct latency_column from point").fetchall()
    }
    assert len(ids) == 2 and len(columns) == 2
    chosen, bracketed = random.Random(5), 0
    for _ in range(150):
        axes = (*(float(chosen.choice((4, 8, 12, 16, 64, 99, 128, 200))) for _ in range(3)), 0.0)
        placements = placed(chosen.choice((ids, ids[:1], ids[1:])), axes)
        found = Octants(statements, 0, placements, "median").boxes(GROUPS)
        expected = of_many(statements, placements)
        for box in expected:
            bracketed += box.is_bracketed
        assert found == expected
    assert bracketed > 200


def test_only_regimes_without_others_between_them_are_neighbours() -> None:
    axes = (1.0, 2.0, 3.0, 0.0)
    assert are_neighbours(placed([4], axes)) and are_neighbours(placed([5, 4, 6, 5], axes))
    assert not are_neighbours(placed([4, 6], axes))
    assert not are_neighbours([*placed([4], axes), *placed([5], (1.0, 2.0, 4.0, 0.0))])


def names(database: sqlinterp.ProfilingDatabase, call: dict[str, Any]) -> list[str]:
    """Last step of each statement of a lookup."""
    return [step.steps[-1] for step in database.trace(call)[2]]


def test_a_regime_is_asked_for_once(tmp_path: Path) -> None:
    with sqlinterp.open(scattered(tmp_path)) as database:
        asked = [names(database, matmul_call(m, 64, 64)) for m in (12, 20)]
        assert asked[0].count("lookup.regime_of_one") == 1
        assert "lookup.regime_of_one" not in asked[1]
        assert asked[1][-2:] == ["lookup.octant", "lookup.box_corner"]
        other = names(database, matmul_call(12, 64, 64, dtype="float32"))
        assert other.count("lookup.regime_of_one") == 1


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlinterp.lookup.catalog._KEPT_ROWS", 2)
    with sqlinterp.open(scattered(tmp_path)) as database:
        catalog = database._content.get().catalog
        calls = [
            matmul_call(12, 64, 64, dtype=d) for d in ("bfloat16", "float32", "float16", "int8")
        ]
        answers = [database.lookup(call) for call in calls * 3]
        assert len(catalog.kept_rows) <= 4
        assert answers[:4] == answers[4:8] == answers[8:]
