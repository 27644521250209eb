"""From a relation of targets to one of answers: ``python -m pytest -m benchmark ... -s``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sqlinterp import migrations
from sqlinterp.database import connect_writer
from sqlinterp.relational.canonical import INPUTS, Name, text

pytestmark = pytest.mark.benchmark
TARGETS = 100_000
EXACT_LIMIT_US, AXIS_LIMIT_US = 5, 15


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A million points and keys in the tables of a database file."""
    connection = connect_writer(Path(":memory:"))
    migrations.migrate(connection)
    connection.execute("set threads = 2")
    for name, columns in INPUTS.items():
        told = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        connection.execute(f"create table {name} ({told})")
    connection.execute(Path(__file__).with_name("relations.sql").read_text(encoding="utf-8"))
    yield connection
    connection.close()


def per_target_us(connection: duckdb.DuckDBPyConnection, name: Name) -> float:
    """The best of five runs from the relation of targets to a table of answers."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        query = f"create or replace temp table answers as {text(name)}"
        connection.execute(query, {"aggregation": "mean"})
        seconds.append(time.perf_counter() - start)
    return min(seconds) / TARGETS * 1e6


def count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])


@pytest.mark.parametrize(
    ("name", "source", "limit_us"),
    [
        ("exact_answers", "MEASURED", EXACT_LIMIT_US),
        ("axis_answers", "INTERPOLATED", AXIS_LIMIT_US),
    ],
)
def test_a_batch_of_targets_is_answered_in_microseconds_each(
    name: Name, source: str, limit_us: float, database: duckdb.DuckDBPyConnection
) -> None:
    relation = "target_key" if name == "exact_answers" else "target_place"
    assert count(database, "select count(*) from point") == 1_000_000
    assert count(database, f"select count(distinct target_id) from {relation}") == TARGETS
    spent_us = per_target_us(database, name)
    answered = count(database, f"select count(*) from answers where source = '{source}'")
    print(f"\n{name}: {TARGETS:,} targets, 1,000,000 points: {spent_us:.2f} us a target")
    assert answered == TARGETS
    assert spent_us <= limit_us
