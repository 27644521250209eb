"""A single question about a cloud has a statement of its own, and the answer of the others."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER, cursor_of, kept_database, matmul_call, write_version

import sqlinterp
from sqlinterp.certified_cell import NearestQuestion, SupportQuestion
from sqlinterp.lookup.boxes import Box
from sqlinterp.lookup.clouds import CloudRounds
from sqlinterp.lookup.placement import CloudRequest
from sqlinterp.lookup.statements import Statements

GROUPS = ((0, 1), (0, 2), (1, 2), (0, 1, 2))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlinterp.ProfilingDatabase]:
    """Points on a coarse grid, so that many are equally far away, in two latency columns."""
    folder = tmp_path_factory.mktemp("clouds")
    chosen = random.Random(11)
    lines = [f"{MATMUL_HEADER},Profiling Average Duration(us)"]
    for _ in range(300):
        m, k, n = (8 * chosen.randint(1, 6) for _ in range(3))
        latency, other = chosen.choice(((f"{m + k / n:.3f}", ""), ("", "6.0")))
        lines.append(
            f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency},{other}'
        )
    write_version(folder / "v", {"MatMulV2.csv": lines}, {"aten.mm.default": "MatMulV2"})
    with sqlinterp.open(kept_database(folder / "v")) as opened:
        yield opened


def request(chosen: random.Random, column: str) -> CloudRequest:
    """A question about the points of a group; fixed axes are measured, the others mostly not."""
    group = chosen.choice(GROUPS)
    varying = [chosen.uniform(4, 52) for _ in range(3)]
    fixed = [8.0 * chosen.randint(1, 6) for _ in range(3)]
    axes = (*(varying[axis] if axis in group else fixed[axis] for axis in range(3)), 0.0)
    is_curved = chosen.random() < 0.3
    values = np.array([chosen.uniform(1, 50) for _ in group])
    if chosen.random() < 0.5:
        values = np.round(values / 8) * 8  # on the grid: many ties
    question: SupportQuestion | NearestQuestion
    if chosen.random() < 0.4:
        question = SupportQuestion(values - 25)
    else:
        question = NearestQuestion(values, chosen.uniform(1, 40), chosen.choice((3, 24)))
    box = Box(1, group, column, 0, (None,) * 4, (None,) * 4, 0, 0)
    return CloudRequest(box, axes, question, is_curved)


def test_one_question_is_answered_as_many_are(database: sqlinterp.ProfilingDatabase) -> None:
    cursor = cursor_of(database)
    columns = [
        row[0]
        for row in cursor.execute("select distinct latency_column from point order by 1").fetchall()
    ]
    rounds = CloudRounds(Statements(cursor), "mean")
    chosen = random.Random(13)
    found = 0
    for _ in range(200):
        asked = request(chosen, chosen.choice(columns))
        alone = rounds.answer({7: asked})[7]
        together = rounds.answer({7: asked, 8: request(chosen, columns[0])})[7]
        assert alone == together
        found += len(alone)
    assert found > 500 and len(columns) == 2


def test_a_single_target_asks_small_questions(database: sqlinterp.ProfilingDatabase) -> None:
    chosen = random.Random(17)
    calls = [matmul_call(*(chosen.randint(8, 48) for _ in range(3))) for _ in range(40)]
    steps = [step.steps[-1] for call in calls for step in database.trace(call)[2]]
    assert steps.count("lookup.nearest_of_cloud") > 10
    assert not {"lookup.cloud_nearest", "lookup.cloud_support"} & set(steps)
    assert [database.lookup(call) for call in calls] == database.lookup_many(calls)
