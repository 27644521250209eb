"""Targets with dims that no row has are told from others without their keys."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, cursor_of, matmul_call, tensor, write_version
from databases_for_tests import call as op_call
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlinterp
from sqlinterp import queries
from sqlinterp.database import define_macros
from sqlinterp.lookup import measured_dims
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.measured_dims import FileDims
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, QueryContext
from sqlinterp.resources import resource_folder

Shapes = list[list[int]]
SHAPES = st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=4), min_size=1, max_size=3)
_MATCH = """
select operand_match(asked, bare, if($slot > 1 and len(bare) > 1,
    list_concat(bare[1:len(bare) - 2], [bare[-1], bare[-2]]), null),
    null, null, measured, strip(measured))
from (select $asked::bigint[] as asked, strip($asked) as bare, $measured::bigint[] as measured)
"""


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    opened = duckdb.connect()
    define_macros(opened)
    opened.execute("create macro strip(shape) as bare_shapes([shape::bigint[]])[1]")
    opened.execute("create table measurement (file_id integer, operand_shapes bigint[][])")
    [path] = resource_folder("migrations").glob("*_create_operand_dim.sql")
    opened.execute(path.read_text(encoding="utf-8"))
    yield opened
    opened.close()


def dims_of_rows(connection: duckdb.DuckDBPyConnection, rows: list[Shapes]) -> FileDims:
    """What is kept of a file with these rows, between rows of another one."""
    connection.execute("truncate measurement; truncate operand_dim")
    placed = [(1, shapes) for shapes in rows] + [(2, [[7777, 8888]])]
    connection.executemany("insert into measurement values (?, ?)", placed)
    connection.execute(queries.load("ingest.operand_dim").body)
    query = "select slot, place, dim, is_measured from operand_dim where file_id = 1"
    return FileDims.read(connection.execute(query).fetchall())


def changed(shapes: Shapes, chosen: random.Random) -> Shapes:
    """Operands that may match rows of these: with other leading ones, turned, padded."""
    found = []
    for shape in shapes:
        own = shape[1:] if len(shape) > 1 and shape[0] == 1 and chosen.random() < 0.5 else shape
        if len(own) > 1 and chosen.random() < 0.3:
            own = [*own[:-2], own[-1], own[-2]]
        if chosen.random() < 0.7:
            own = [-(-dim // b) * b for dim in own for b in [chosen.choice((1, 8, 16, 32, 64))]]
        found.append([1] * chosen.choice((0, 0, 1)) + own)
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(SHAPES, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_what_matches_a_row_is_never_ruled_out(
    connection: duckdb.DuckDBPyConnection, rows: list[Shapes], chosen: random.Random
) -> None:
    dims = dims_of_rows(connection, rows)
    for shapes in rows:
        asked = changed(shapes, chosen)
        matches = [
            connection.execute(_MATCH, {"asked": own, "measured": row, "slot": slot}).fetchall()
            for slot, (own, row) in enumerate(zip(asked, shapes, strict=True), start=1)
        ]
        held = [match[0][0] for match in matches]
        if None not in held:
            assert dims.may_pad(map(tuple, asked))
            if all("padded" not in match for match in held):
                assert dims.may_equal(map(tuple, asked))


def test_other_dims_are_ruled_out(connection: duckdb.DuckDBPyConnection) -> None:
    dims = dims_of_rows(connection, [[[60, 128], [128, 256]], [[1, 100, 128], [128, 512]]])
    assert dims.may_equal([(60, 128), (256, 128)])
    assert dims.may_equal([(1, 100, 128), (1, 128, 512)])
    assert dims.may_equal([(60, 128), (128, 512)])  # only keys tell that
    for padded in ((64, 128), (104, 128), (112, 128), (128, 128)):
        assert dims.may_pad([padded, (128, 256)])
    for shapes in (
        [(61, 128), (128, 256)],
        [(72, 128), (128, 256)],  # multiples of 8, to which neither 60 nor 100 is padded
        [(128, 60), (128, 256)],  # what is no weight is not turned
        [(60, 128), (128, 100)],
        [(60, 128), (7777, 8888)],
        [(60, 128), (128, 256), (3,)],
    ):
        assert not dims.may_pad(shapes)
        assert not dims.may_equal(shapes)
    assert not dims.may_equal([(64, 128), (128, 256)])


class Noted(Statements):
    """Statements that remember what was asked."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        super().__init__(cursor)
        self.asked: list[str] = []

    def _asked(self, query: Any, parameters: Any = None) -> Any:
        self.asked.append(getattr(query, "query", query))
        return super()._asked(query, parameters)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with dims that are multiples of 8, that are none, with a batch of 1, and turned."""
    folder = tmp_path_factory.mktemp("dims")
    sizes = [(m, k) for m in (1, 60, 64, 100, 137, 256, 1024) for k in (128, 200)]
    rows = [
        f'"{m},{k};{k},256",DT_BF16;DT_BF16,ND;ND,"{m},256",DT_BF16,ND,{m + k / 100}'
        for m, k in sizes
    ]
    rows.append('"1,77,128;512,128",DT_BF16;DT_BF16,ND;ND,"1,77,512",DT_BF16,ND,9.5')
    write_version(
        folder / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV2"}
    )
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def calls() -> list[dict[str, Any]]:
    ms = (1, 2, 16, 59, 60, 61, 64, 72, 77, 80, 100, 104, 112, 137, 144, 152, 256, 1000, 1024, 5000)
    found = [matmul_call(m, k, n) for m in ms for k in (128, 136, 200) for n in (256, 512)]
    turned = op_call("aten.mm.default", tensor(60, 128), tensor(256, 128))
    return [*found, turned, op_call("aten.mm.default", tensor(1, 60, 128), tensor(1, 128, 256))]


def answered(database: Path) -> tuple[list[Answer], list[Answer]]:
    """Answers of a batch and of single lookups."""
    with sqlinterp.open(database) as opened:
        cursor = cursor_of(opened)
        catalog = Catalog(cursor, opened.version_key)
        engine = Engine(Statements(cursor), catalog, QueryContext())
        invocations = [read_invocation(one) for one in calls()]
        batch = engine.lookup_many(invocations)
        return batch, [engine.lookup_many([one])[0] for one in invocations]


def test_answers_are_those_of_the_keys(database: Path) -> None:
    """A reader of the statements gets answers from keys alone, since those are shown."""
    batch, single = answered(database)
    with sqlinterp.open(database) as opened:
        by_keys = [opened.trace(one)[0] for one in calls()]
    assert batch == single == by_keys
    rules = {answer.shape_match_rule for answer in batch}
    assert {"identity", "batch_strip", "padding", "interpolated_1d_linear"} <= rules


def test_too_many_dims_are_not_kept(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = answered(database)
    monkeypatch.setattr(measured_dims, "_MOST_KEPT", 3)
    assert answered(database) == (expected, expected)


def test_a_target_with_other_dims_asks_for_no_keys(database: Path) -> None:
    with sqlinterp.open(database) as opened:
        cursor = cursor_of(opened)
        catalog = Catalog(cursor, opened.version_key)
        for m, reads_keys in ((61, False), (72, False), (60, True), (112, True), (104, True)):
            statements = Noted(cursor)
            Engine(statements, catalog, QueryContext()).lookup_many(
                [read_invocation(matmul_call(m, 128, 256))]
            )
            assert any("exact_key" in text for text in statements.asked) == reads_keys, m
