"""Batches in parts, however small, are answered like single lookups."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from databases_for_tests import kept_database, matmul_call, scattered_matmuls, write_version

import sqlinterp
from sqlinterp import session
from sqlinterp.lookup import exact, interpolate, padding
from sqlinterp.parts import parts

VALUES = (16, 32, 48, 64, 96, 128, 192, 256)


def test_parts_keep_every_value_in_order() -> None:
    assert [list(part) for part in parts(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(parts([], 3)) == []


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_batch_in_parts_equals_single_lookups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = scattered_matmuls(7, VALUES, 300)
    write_version(tmp_path / "v", {"MatMulV2.csv": lines}, {"aten.mm.default": "MatMulV2"})
    chosen = random.Random(size)
    dims = (*VALUES, 20, 40, 100, 200, 999)
    calls = [matmul_call(*(chosen.choice(dims) for _ in range(3))) for _ in range(120)]
    monkeypatch.setattr(exact, "_TOGETHER", size)
    monkeypatch.setattr(interpolate, "_PLACED_TOGETHER", size)
    monkeypatch.setattr(interpolate, "_SEARCHED_TOGETHER", size)
    monkeypatch.setattr(padding, "_CHUNK", size)
    monkeypatch.setattr(session, "_MOST_TOGETHER", 17 * size)
    with sqlinterp.open(kept_database(tmp_path / "v")) as database:
        together = database.lookup_many(calls)
        assert together == [database.lookup(call) for call in calls]
    rules = {answer.shape_match_rule for answer in together}
    assert {"identity", "padding", "interpolated_1d_linear", None} <= rules
    assert any("interpolated_2d" in str(rule) for rule in rules)
