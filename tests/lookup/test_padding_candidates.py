"""Which measured rows the database is asked about when a target may be padded."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, cursor_of, tensor, write_version

import sqlinterp
from sqlinterp.lookup import padding
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.statements import Statements, Step
from sqlinterp.model import QueryContext

OP = "aten.bmm.default"
ROW = '"{h},{m},{k};{h},{k},{n}",DT_BF16;DT_BF16,ND;ND,"{h},{m},{n}",DT_BF16,ND,{us}'


def ingested(folder: Path, sizes: list[tuple[int, int, int, int]]) -> Path:
    rows = [
        ROW.format(h=h, m=m, k=k, n=n, us=1 + place / 8) for place, (h, m, k, n) in enumerate(sizes)
    ]
    files = {"BatchMatMulV2.csv": [MATMUL_HEADER, *rows]}
    write_version(folder / "v", files, {OP: "BatchMatMulV2"})
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def bmm(h: int, m: int, k: int, n: int) -> dict[str, Any]:
    return call(OP, tensor(h, m, k), tensor(h, k, n), outputs=[tensor(h, m, n)])


def test_no_row_that_a_target_pads_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are those of a judge that is asked about every row with the target's odd dims."""
    chosen = random.Random(5)
    small, asked = (
        (1, 2, 7, 15, 16, 33, 63, 64, 65, 71, 72, 100),
        (1, 2, 8, 16, 48, 64, 72, 80, 128),
    )

    def sizes(of: tuple[int, ...]) -> tuple[int, int, int, int]:
        h, m, k, n = (chosen.choice(of) for _ in range(4))
        return h, m, k, n

    database = ingested(tmp_path, [sizes(small) for _ in range(600)])
    calls = [bmm(*sizes(asked)) for _ in range(600)]
    with sqlinterp.open(database, disable_interpolation=True) as opened:
        answers = opened.lookup_many(calls)
        monkeypatch.setattr(padding, "_is_within_blocks", lambda dims, had: True)
        assert opened.lookup_many(calls) == answers
    padded = sum(answer.shape_match_rule == "padding" for answer in answers)
    assert 50 < padded < len(calls)


def test_rows_whose_dims_are_blocks_away_are_not_judged(tmp_path: Path) -> None:
    """Batch sizes below 64 share a key; with other sizes of M, no operand is larger for it."""
    database = ingested(tmp_path, [(h, 128, 256, 512) for h in range(1, 40)])
    calls = [read_invocation(bmm(h, m, 256, 512)) for h in (40, 48) for m in (72, 128)]
    with sqlinterp.open(database) as opened:
        cursor, log = cursor_of(opened), list[Step]()
        catalog = Catalog(cursor, opened.version_key)
        answers = Engine(Statements(cursor, log), catalog, QueryContext()).lookup_many(calls)
    judged = [
        (row["shapes"][0], row["measured_shapes"][0])
        for step in log
        if step.steps[-1] == "lookup.padded_match"
        for row in json.loads(step.parameters["candidates"])
    ]
    assert {tuple(asked) for asked, _ in judged} == {(40, 128, 256), (48, 128, 256)}
    assert [answer.shape_match_rule for answer in answers] == [None, None, None, "padding"]
