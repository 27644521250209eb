"""Cold lookups of attention and of collectives as ratios in one run; the tables are synthetic."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmark.test_ratios import beside_trivial
from databases_for_tests import cursor_of, write_version
from lookup.attention_support import attention_call, ingested, shaped
from lookup.communication_support import ALL_REDUCE, ENTRY, HEADER, collective, row

import sqlinterp

pytestmark = pytest.mark.benchmark


def show(title: str, path: Path, calls: Sequence[dict[str, Any]]) -> dict[str | None, float]:
    """Print and return what a lookup costs by source, in ``SELECT 1`` just before each."""
    spent, trivial = defaultdict(list), []
    with sqlinterp.open(path) as database:
        connection = cursor_of(database)
        for op in calls:
            answer, before, seconds = beside_trivial(database, connection, op)
            trivial.append(before)
            spent[answer.source].append(seconds)
    floor = statistics.median(trivial)
    costs = {source: statistics.median(own) for source, own in spent.items()}
    for source, cost in costs.items():
        print(
            f"\n{title}, {source}: {cost * 1e3:.2f} ms = {cost / floor:.1f} x SELECT 1 between"
            f" lookups ({floor * 1e3:.2f} ms; {len(spent[source])} lookups)",
            end="",
        )
    return {source: cost / floor for source, cost in costs.items()}


def test_cold_attention_lookups_cost_few_trivial_statements(tmp_path: Path) -> None:
    """3,000 rows; sequence lengths that were measured, and others between them."""
    rows = [
        shaped(seq / 100 + batch, seq, (tokens, heads, 128), runtime_batch_size=batch)
        for seq in range(256, 256 * 76, 256)
        for batch in (1, 2, 4, 8, 16)
        for tokens in (16, 64, 96, 256)
        for heads in (8, 16)
    ]
    calls = [
        attention_call(query=(16, 8, 128), lengths=[seq] * 16)
        for step in range(75)
        for seq in (256 * (step + 1), 256 * (step + 1) + 100)
        if seq < 256 * 75
    ]
    found = show("cold attention", ingested(tmp_path, rows), calls)
    assert found["MEASURED"] <= 30 and found["INTERPOLATED"] <= 45


def test_cold_collectives_cost_few_trivial_statements(tmp_path: Path) -> None:
    rows = [
        row(2**power, 10 + 2**power / 1e5, devices=devices)
        for power in range(10, 33)
        for devices in (2, 4, 8, 16, 32, 64, 128, 256)
    ]
    write_version(tmp_path / "v", {"hcom_allReduce_.csv": [HEADER, *rows]}, {ALL_REDUCE: ENTRY})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [
        collective(size, range(devices))
        for power in range(11, 31)
        for devices in (2, 4, 8, 16, 32)
        for size in (2**power, 2**power + 77)
    ]
    found = show("cold collective", tmp_path / "p.duckdb", calls)
    assert max(found.values()) <= 20
