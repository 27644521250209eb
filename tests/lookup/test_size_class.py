"""All rows that a target may equal or pad to are read with one size class."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, call, cursor_of, matmul_call, tensor, write_version
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlinterp
from sqlinterp.database import define_macros
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.model import QueryContext

DIMS = st.integers(1, 300)
SHAPE = st.lists(DIMS, min_size=1, max_size=4)
_CLASS = "select size_class(padded_sizes(bare_shapes($shapes::bigint[][])))"


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect()
    define_macros(opened)
    return opened


def size_class(connection: duckdb.DuckDBPyConnection, shapes: list[list[int]]) -> int:
    found = connection.execute(_CLASS, {"shapes": shapes}).fetchone()
    assert found is not None
    return int(found[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(SHAPE, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_it_does_not_tell_ones_padding_or_order(
    connection: duckdb.DuckDBPyConnection, shapes: list[list[int]], chosen: random.Random
) -> None:
    changed = []
    for place, shape in enumerate(shapes):
        blocks = [chosen.choice((1, 16, 32, 64)) for _ in shape]
        padded = [-(-dim // block) * block for dim, block in zip(shape, blocks, strict=True)]
        if place > 0:  # a weight may be transposed
            chosen.shuffle(padded)
        changed.append([1] * chosen.choice((0, 1)) + padded)
    assert size_class(connection, shapes) == size_class(connection, changed)


def test_it_tells_sizes_and_operands_apart(connection: duckdb.DuckDBPyConnection) -> None:
    cases = ([[64, 128]], [[65, 128]], [[128, 128]], [[64], [128]], [[128], [64]], [[64, 192]])
    assert len({size_class(connection, shapes) for shapes in cases}) == len(cases) - 1
    assert size_class(connection, [[65, 128]]) == size_class(connection, [[128, 128]])


def test_it_is_the_same_number_for_good(connection: duckdb.DuckDBPyConnection) -> None:
    """Files keep it, so no release of DuckDB may change it: 63 bits of the MD5 of a text."""
    assert size_class(connection, [[100, 2000], [2000, 2304]]) == 882400186025979719


def test_single_lookups_find_by_class_what_batches_find_by_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = random.Random(11)
    sizes = (1, 8, 16, 24, 40, 60, 64, 65, 72, 100, 128)
    rows = []
    for place in range(300):
        m, k, n = (chosen.choice(sizes) for _ in range(3))
        left = chosen.choice((f"{m},{k}", f"1,{m},{k}"))
        right = chosen.choice((f"{k},{n}", f"{n},{k}"))
        rows.append(f'"{left};{right}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{1 + place / 8}')
    files = {"MatMulV2.csv": [MATMUL_HEADER, *rows]}
    write_version(tmp_path / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = []
    for _ in range(250):
        m, k, n = (chosen.choice((*sizes, 32, 48, 80, 112)) for _ in range(3))
        lead = chosen.choice(((), (1,)))
        calls.append(
            call("aten.mm.default", tensor(*lead, m, k), tensor(k, n), outputs=[tensor(m, n)])
        )
    with sqlinterp.open(tmp_path / "p.duckdb", disable_interpolation=True) as database:
        singles = [database.lookup(one) for one in calls]
        assert database.lookup_many(calls) == singles
        monkeypatch.setattr("sqlinterp.lookup.stored_groups.MOST_CLASSES", 2)
        assert database.lookup_many(calls) == singles
        rules = {answer.shape_match_rule for answer in singles}
        steps = {step.steps[-1] for one in calls[:9] for step in database.trace(one)[2]}
        size = cursor_of(database).execute("select block_size from pragma_database_size()")
        blocks = {row[0] for row in size.fetchall()}
    assert {"identity", "batch_strip", "transpose", "padding"} <= rules
    assert "lookup.classed_group" in steps and "lookup.keyed_group" not in steps
    assert 65536 in blocks


def test_a_few_targets_are_looked_for_in_their_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = '"{0},256;256,512",DT_BF16;DT_BF16,ND;ND,"{0},512",DT_BF16,ND,{0}.5'
    rows = (row.format(64 * place) for place in range(1, 40))
    write_version(
        tmp_path / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV2"}
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [read_invocation(matmul_call(64 * place, 256, 512)) for place in (1, 5, 9)]
    read = []
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        cursor = cursor_of(database)
        catalog = Catalog(cursor, database.version_key)
        for most in (3, 2):
            monkeypatch.setattr("sqlinterp.lookup.stored_groups.MOST_CLASSES", most)
            log: list[Step] = []
            answers = Engine(Statements(cursor, log), catalog, QueryContext()).lookup_many(calls)
            assert [answer.latency_us for answer in answers] == [64.5, 320.5, 576.5]
            [step] = [step for step in log if step.steps[-1] == "lookup.keyed_group"]
            read.append(len(step.parameters["classes"]))
    assert read == [3, 0]


def test_worse_matches_are_read_only_for_targets_without_a_better_one(tmp_path: Path) -> None:
    row = '"{0},256;{1}",DT_BF16;DT_BF16,ND;ND,"{0},512",DT_BF16,ND,{0}.5'
    rows = [row.format(64, "256,512"), row.format(128, "512,256"), row.format(192, "256,512")]
    write_version(
        tmp_path / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV2"}
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [read_invocation(matmul_call(m, 256, 512)) for m in (64, 128, 192, 1000)]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        cursor, log = cursor_of(database), list[Step]()
        catalog = Catalog(cursor, database.version_key)
        answers = Engine(Statements(cursor, log), catalog, QueryContext()).lookup_many(calls)
    rules = [answer.shape_match_rule for answer in answers]
    assert rules == ["identity", "transpose", "identity", None]
    read = [step for step in log if step.steps[-1] == "lookup.keyed_group"]
    asked = [sorted({key.split(",")[0] for key in step.parameters["keys"]}) for step in read]
    assert asked[:2] == [
        ["[[1000", "[[128", "[[192", "[[64"],
        ["[[1000", "[[128", "s[[1000", "s[[128"],
    ]
    lines = [{found["line_number"] for found in step.rows} for step in read[:2]]
    assert lines == [{2, 4}, {3}]


def test_only_rows_with_the_dims_that_are_not_padded_are_judged(tmp_path: Path) -> None:
    """All batch sizes up to 64 have one padded key, but only multiples of 8 are padded sizes."""
    row = '"{0},100,64;{0},64,256",DT_BF16;DT_BF16,ND;ND,"{0},100,256",DT_BF16,ND,{0}.5'
    sizes = (3, 5, 7, 11, 30, 31)
    rows = [row.format(size) for size in sizes]
    write_version(
        tmp_path / "v",
        {"BatchMatMulV2.csv": [MATMUL_HEADER, *rows]},
        {"aten.bmm.default": "BatchMatMulV2"},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [
        call("aten.bmm.default", tensor(size, 104, 64), tensor(size, 64, 256))
        for size in (*sizes, 32, 6, 40)
    ]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        cursor, log = cursor_of(database), list[Step]()
        catalog = Catalog(cursor, database.version_key)
        engine = Engine(Statements(cursor, log), catalog, QueryContext())
        answers = engine.lookup_many([read_invocation(one) for one in calls])
        assert answers == [database.lookup(one) for one in calls]
    assert [a.latency_us for a in answers[:6]] == [size + 0.5 for size in sizes]
    assert {a.shape_match_rule for a in answers[:6]} == {"padding"}
    [judged] = [step for step in log if step.steps[-1] == "lookup.padded_match"]
    asked = json.loads(judged.parameters["candidates"])
    assert {one["id"] for one in asked} == {0, 1, 2, 3, 4, 5, 6, 8}
    assert len(asked) == 6 + 2 * len(sizes)  # 32 and 40 may be any of the batch sizes, padded


def test_a_class_of_too_many_rows_is_left_to_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = '"{},32;32,16",DT_BF16;DT_BF16,ND;ND,"{},16",DT_BF16,ND,{}.5'
    files = {"MatMulV2.csv": [MATMUL_HEADER, *(row.format(m, m, m) for m in range(1, 20))]}
    write_version(tmp_path / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [matmul_call(m, 32, 16) for m in (1, 7, 8, 32, 48)]
    found = []
    for most in (2_000, 118, 117):  # there are 118 keys
        monkeypatch.setattr("sqlinterp.lookup.stored_groups.MOST_OF_CLASS", most)
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            answers = [database.trace(one) for one in calls]
        read = ["lookup.keyed_group" in [s.steps[-1] for s in steps] for _, _, steps in answers]
        found.append(([answer for answer, _, _ in answers], read))
    assert found[0][0] == found[1][0] == found[2][0]
    assert [answer.latency_us for answer in found[0][0][:4]] == [1.5, 7.5, 8.5, 19.5]
    assert not any(found[0][1]) and not any(found[1][1]) and all(found[2][1])


def test_rows_that_no_padding_can_reach_are_not_read(tmp_path: Path) -> None:
    """M = 100 is no multiple of 8, so it is nobody's padded size; M = 104 is that of 97 to 103."""
    row = '"{},256;256,512",DT_BF16;DT_BF16,ND;ND,"{},512",DT_BF16,ND,5.0'
    files = {"MatMulV2.csv": [MATMUL_HEADER, row.format(98, 98), row.format(120, 120)]}
    write_version(tmp_path / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        read = {}
        for m in (100, 104):
            answer, _, steps = database.trace(matmul_call(m, 256, 512))
            read[m] = (
                answer.shape_match_rule,
                "lookup.measured_operand" in [s.steps[-1] for s in steps],
            )
    assert read[104] == ("padding", True)
    assert read[100][1] is False and read[100][0] != "padding"


def test_a_batch_judges_only_rows_that_padding_can_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every target has the 64 rows of its block under its padded key; few can be padded to it."""
    row = '"{},256;256,{}",DT_BF16;DT_BF16,ND;ND,"{},512",DT_BF16,ND,{}.5'
    rows = [row.format(m, n, m, m) for n in (512, 640) for m in range(129, 193)]
    write_version(
        tmp_path / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV2"}
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    judged: list[int] = []
    evaluate = Statements.evaluate

    def counted(self: Statements, *steps: str, **texts: str) -> list[dict[str, Any]]:
        if steps == ("lookup.padded_match",):
            judged.append(len(json.loads(texts["candidates"])))
        return evaluate(self, *steps, **texts)

    monkeypatch.setattr(Statements, "evaluate", counted)
    calls = [
        call("aten.mm.default", tensor(1, m, 256), tensor(256, n), outputs=[tensor(m, n)])
        for n in (512, 640, 600)
        for m in (*range(193, 200), 131, 136, 192)
    ]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        together = database.lookup_many(calls)
        assert sum(judged) <= 64
        assert together == [database.lookup(one) for one in calls]
    assert {answer.shape_match_rule for answer in together} >= {"batch_strip"}
