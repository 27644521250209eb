"""Large regimes are bracketed by their stored values, and nothing else comes of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases_for_tests import cursor_of, matmul_call
from lookup.boxes_support import GROUPS, VALUES, of_many, placed, scattered

import sqlinterp
from sqlinterp.cli.steps import decisive_rows
from sqlinterp.fidelity.bench import opened_copy
from sqlinterp.fidelity.source import Measured
from sqlinterp.lookup.boxes import Box
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.levels import Levels, StoredLevels, ignore_levels
from sqlinterp.lookup.octants import Octants
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.model import QueryContext

KEEP = "sqlinterp.ingestion.levels.MOST_READ_POINTS"


def ingested(place: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ingest the points so that regimes with more than ``most`` of them are large."""
    monkeypatch.setattr(KEEP, most)
    return scattered(place)


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """The same points with no regime, one regime and both regimes as large ones."""
    with pytest.MonkeyPatch.context() as patch:
        yield {
            name: ingested(tmp_path_factory.mktemp(name), most, patch)
            for name, most in (("none", 1000), ("one", 60), ("both", 3))
        }


def test_the_stored_values_are_those_of_the_points(databases: dict[str, Path]) -> None:
    with sqlinterp.open(databases["both"]) as database:
        cursor = cursor_of(database)
        groups = cursor.execute(
            "select varying, axis, sum(point_count), sum(measurement_count), count(*)"
            " from axis_level group by all order by all"
        ).fetchall()
        points, rows = cursor.execute(
            "select count(*), sum(measurement_count) from point"
        ).fetchall()[0]
        counted = {group[0] for group in groups if group[2:4] == (points, rows)}
        assert counted == set(range(1, 8)) and len(groups) == 12
        assert all(group[2] in (0, points) and group[4] <= points for group in groups)
        assert groups[0][4] == points  # on the lines along one axis every point is a value
        expected = "select count(distinct (regime_id, latency_column, axis_2)) from point"
        whole = [group[4] for group in groups if group[:2] == (7, 2)]
        assert whole == [cursor.execute(expected).fetchall()[0][0]]


def test_every_way_finds_the_same_boxes(databases: dict[str, Path]) -> None:
    found: dict[tuple[str, str], list[list[Box]]] = {}
    for name, path in databases.items():
        with sqlinterp.open(path) as database:
            cursor = cursor_of(database)
            statements, stored = Statements(cursor), StoredLevels(cursor)
            assert len(stored.regimes) == {"none": 0, "one": 1, "both": 2}[name]
            chosen = random.Random(5)
            for _ in range(150):
                axes = (
                    *(float(chosen.choice((4, *VALUES, 12, 20, 40, 99))) for _ in range(3)),
                    0.0,
                )
                placements = placed(chosen.choice(([1, 2], [1], [2])), axes)
                found.setdefault((name, "many"), []).append(of_many(statements, placements))
                one = (statements, 0, placements, "median")
                around = (
                    Levels(*one, stored=stored, axis_count=3) if name == "both" else Octants(*one)
                )
                found.setdefault((name, "one"), []).append(around.boxes(GROUPS))
    expected = found["none", "one"]
    assert sum(box.is_bracketed for boxes in expected for box in boxes) > 200
    assert sum(len(box.corners) >= 4 for boxes in expected for box in boxes) > 20
    assert all(answers == expected for answers in found.values())


def test_lookups_answer_as_without(databases: dict[str, Path]) -> None:
    chosen = random.Random(7)
    values = (4, *VALUES, 12, 20, 99, 200)
    calls = [matmul_call(*(chosen.choice(values) for _ in range(3))) for _ in range(120)]
    answers = []
    for path in databases.values():
        with sqlinterp.open(path) as database:
            answers += [[database.lookup(c) for c in calls], database.lookup_many(calls)]
    assert len({answer.source for answer in answers[0]}) == 3
    assert all(other == answers[0] for other in answers[1:])


def test_a_large_regime_is_not_read(databases: dict[str, Path]) -> None:
    with sqlinterp.open(databases["both"]) as database:
        names = [step.steps[-1] for step in database.trace(matmul_call(12, 64, 64))[2]]
        assert "lookup.octant" not in names and names.count("lookup.level") >= 1
        again = [step.steps[-1] for step in database.trace(matmul_call(20, 64, 64))[2]]
        assert "lookup.level_value" in names and "lookup.level_value" not in again
    with sqlinterp.open(databases["one"]) as database:
        names = [step.steps[-1] for step in database.trace(matmul_call(12, 64, 64))[2]]
        assert "lookup.octant" in names and "lookup.level" in names


def test_few_targets_do_not_join_a_large_regime(
    databases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlinterp.lookup.box_rounds._POINTS_OF_ONE_TARGET", 60)
    calls = [matmul_call(m, 64, n) for m in (12, 20, 40) for n in (16, 99)] * 3
    with sqlinterp.open(databases["both"]) as database:
        cursor = cursor_of(database)
        catalog = Catalog(cursor, database.version_key)
        found = {}
        for count in (4, 18):
            log: list[Step] = []
            engine = Engine(Statements(cursor, log), catalog, QueryContext())
            asked = [read_invocation(call) for call in calls[:count]]
            answers = engine.lookup_many(asked)
            assert answers == [database.lookup(call) for call in calls[:count]]
            found[count] = [step.steps[-1] for step in log]
    assert "lookup.neighbours" not in found[4] and found[4].count("lookup.level") >= 4
    assert "lookup.neighbours" in found[18] and "lookup.level" not in found[18]


def test_very_many_values_are_not_remembered(
    databases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [matmul_call(m, 64, n) for m in (12, 16, 20) for n in (64, 99)]
    with sqlinterp.open(databases["both"]) as database:
        expected = [database.lookup(call) for call in calls]
    monkeypatch.setattr("sqlinterp.lookup.levels._MOST_VALUES", 2)
    with sqlinterp.open(databases["both"]) as database:
        assert [database.lookup(call) for call in calls] == expected


def test_hold_outs_do_not_see_what_was_stored(databases: dict[str, Path]) -> None:
    with Measured(databases["both"], None) as measured:
        assert measured.catalog.levels.regimes == frozenset()
        assert measured.run("groups", version_key=measured.version_key)
    context = QueryContext()
    with opened_copy(databases["both"], measured.version_key, context) as bench:
        assert bench.catalog.levels.regimes == frozenset()
    with sqlinterp.open(databases["both"]) as database:
        cursor = cursor_of(database)
        ignore_levels(cursor)
        assert cursor.execute("select count(*) from levelled_regime").fetchall() == [(0,)]
        assert of_many(Statements(cursor), placed([1, 2], (12.0, 64.0, 64.0, 0.0)))


def test_explain_shows_the_values_next_to_a_target(databases: dict[str, Path]) -> None:
    with sqlinterp.open(databases["both"]) as database:
        call = read_invocation(matmul_call(12, 64, 64))
        _, engine, steps = database.trace(call)
        step = next(step for step in steps if step.steps[-1] == "lookup.level")
        titles, cells, _ = decisive_rows(step, engine.plan(call))
    assert "M:8..16" in [row[titles.index("box")] for row in cells]
