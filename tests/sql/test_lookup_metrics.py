"""M1 to M5 and the miss reasons over logged lookups, with every number worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlinterp.database import connect_writer
from sqlinterp.migrations import migrate

MM, NORM, VIEW = "aten.mm.default", "tensor_cast.rms_norm.default", "aten.view.default"
ROUTE, GROUPED = "tensor_cast.init_routing_v2.default", "tensor_cast.grouped_matmul_quant.default"
EXCHANGE = "tensor_cast.all_to_all.default"
HIT, BETWEEN, PART, MISS = "MEASURED", "INTERPOLATED", "PARTIAL", None


@pytest.fixture
def log() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty log."""
    connection = connect_writer(Path(":memory:"))
    migrate(connection)
    yield connection
    connection.close()


def add(
    log: duckdb.DuckDBPyConnection,
    op: str,
    shapes: str,
    source: str | None,
    calls: int = 1,
    **columns: Any,
) -> None:
    """Log calls of one invocation."""
    row: dict[str, Any] = {
        "run_id": "run", "logged_at": "2026-01-01", "version_key": "d/b/v", "mode": "default",
        "context_json": "{}", "op": op, "dispatch": "compute", "input_shapes": shapes,
        "input_dtypes": "bfloat16", "call_count": calls, "source": source,
        "is_zero_cost": op == VIEW, "miss_reason": None if source in (HIT, BETWEEN) else "why",
        **columns,
    }  # fmt: skip
    names, places = ", ".join(row), ", ".join(f"${name}" for name in row)
    log.execute(f"insert into lookup_log ({names}) values ({places})", row)


def metrics(log: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    found = log.execute("select * from lookup_metrics")
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def one(log: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    (found,) = metrics(log)
    return found


def test_m1_counts_calls_and_a_partial_answer_is_no_hit(log: duckdb.DuckDBPyConnection) -> None:
    add(log, MM, "16,64", HIT, 5)
    add(log, MM, "17,64", BETWEEN, 2)
    add(log, MM, "18,64", PART, 2)
    add(log, NORM, "16,64", MISS, 1)
    add(log, VIEW, "16,64", HIT, 10)
    found = one(log)
    assert (found["hit_calls"], found["calls"], found["m1"]) == (17, 20, 0.85)
    assert (found["interpolated_calls"], found["partial_calls"]) == (2, 2)
    assert found["extrapolated_calls"] == 0
    add(log, MM, "9,9", "EXTRAPOLATED", 3)
    assert one(log)["extrapolated_calls"] == 3


def test_m2_wants_every_call_of_an_operator_and_m3_leaves_out_what_is_free(
    log: duckdb.DuckDBPyConnection,
) -> None:
    add(log, MM, "16,64", HIT, 99)
    add(log, MM, "17,64", MISS)
    add(log, NORM, "16,64", HIT)
    add(log, VIEW, "16,64", HIT)
    add(log, "aten.alias.default", "4", HIT, is_zero_cost=True)
    found = one(log)
    assert (found["hit_operators"], found["operators"], found["m2"]) == (3, 4, 0.75)
    assert (found["hit_compute_operators"], found["compute_operators"]) == (1, 2)
    assert found["m3"] == 0.5


@pytest.mark.parametrize(("exchange", "hits"), [(HIT, 2), (MISS, 1)])
def test_operators_that_one_kernel_does_count_once(
    log: duckdb.DuckDBPyConnection, exchange: str | None, hits: int
) -> None:
    for op, source in ((ROUTE, HIT), (GROUPED, BETWEEN), (EXCHANGE, exchange), (NORM, HIT)):
        add(log, op, "16,64", source)
    found = one(log)
    assert (found["hit_operators"], found["operators"]) == (hits, 2)
    assert (found["m2"], found["m3"]) == (hits / 2, hits / 2)
    assert found["variants"] == 4  # shapes are missing per operator


def test_names_count_as_they_are_spelt(log: duckdb.DuckDBPyConnection) -> None:
    add(log, "tensor_castXall_to_all.default", "4", HIT)
    add(log, EXCHANGE, "4", MISS)
    assert one(log)["operators"] == 2  # an underscore stands for itself


def test_m4_counts_distinct_shapes_without_pessimism(log: duckdb.DuckDBPyConnection) -> None:
    add(log, MM, "16,64", HIT, 50)
    add(log, MM, "16,64", HIT, 50)  # written by a second flush
    add(log, MM, "17,64", MISS)
    add(log, MM, "18,64", HIT)
    add(log, MM, "18,64", MISS, input_dtypes="float16")
    add(log, NORM, "16,64", BETWEEN)
    add(log, VIEW, "16,64", HIT)
    found = one(log)
    assert (found["hit_variants"], found["variants"], found["m4"]) == (3, 4, 0.75)


def test_m5_weighs_with_the_estimates_of_the_simulator(log: duckdb.DuckDBPyConnection) -> None:
    add(log, MM, "16,64", HIT, 3, analytic_us=300.0)
    add(log, NORM, "16,64", MISS, 2, analytic_us=100.0)
    add(log, NORM, "17,64", PART, 1, analytic_us=100.0)
    add(log, VIEW, "16,64", HIT, 10, analytic_us=0.0)
    add(log, MM, "17,64", MISS, 7)  # no estimate: neither above nor below the line
    found = one(log)
    assert (found["hit_us"], found["analytic_us"], found["m5"]) == (300, 500, 0.6)


def test_what_cannot_be_divided_is_unknown(log: duckdb.DuckDBPyConnection) -> None:
    assert metrics(log) == []
    add(log, VIEW, "16,64", HIT)
    found = one(log)
    assert (found["m1"], found["m2"]) == (1, 1)
    assert (found["m3"], found["m4"], found["m5"]) == (None, None, None)
    assert (found["compute_operators"], found["variants"], found["analytic_us"]) == (0, 0, None)
    add(log, MM, "16,64", MISS, analytic_us=0.0)
    assert one(log)["m5"] is None
    log.execute("delete from lookup_log")
    add(log, MM, "16,64", MISS, analytic_us=8.0)
    assert (one(log)["m5"], one(log)["hit_us"]) == (0, 0)


def test_runs_versions_and_modes_are_apart(log: duckdb.DuckDBPyConnection) -> None:
    add(log, MM, "16,64", HIT, run_id="a")
    add(log, MM, "16,64", MISS, run_id="b")
    add(log, MM, "16,64", MISS, run_id="b", mode="shadow", candidate_source="INTERPOLATED")
    add(log, MM, "16,64", HIT, run_id="b", version_key="d/b/w")
    found = [(m["run_id"], m["version_key"], m["mode"], m["m1"], m["m4"]) for m in metrics(log)]
    assert found == [
        ("a", "d/b/v", "default", 1, 1),
        ("b", "d/b/v", "default", 0, 0),
        ("b", "d/b/v", "shadow", 0, 0),
        ("b", "d/b/w", "default", 1, 1),
    ]
    assert [m["candidate_calls"] for m in metrics(log)] == [0, 0, 1, 0]


def test_miss_reasons_the_most_frequent_first(log: duckdb.DuckDBPyConnection) -> None:
    add(log, MM, "16,64", HIT, 100)
    add(log, MM, "17,64", MISS, 3, miss_reason="outside_axis_boundary", analytic_us=30.0)
    add(
        log,
        MM,
        "18,64",
        MISS,
        2,
        miss_reason="outside_axis_boundary",
        candidate_source="INTERPOLATED",
    )
    add(log, MM, "19,64", MISS, 1, miss_reason="shape_mismatch")
    add(log, NORM, "17,64", PART, 9, miss_reason="sub_kernel_miss:X", dispatch="composite")
    add(log, NORM, "18,64", MISS, 1, miss_reason=None)
    found = log.execute("select * exclude (run_id, version_key, mode) from miss_reason").fetchall()
    assert found == [
        (NORM, "composite", "sub_kernel_miss:X", 9, 1, None, ["17,64"], 9, 0),
        (MM, "compute", "outside_axis_boundary", 5, 2, 30, ["17,64", "18,64"], 0, 2),
        (MM, "compute", "shape_mismatch", 1, 1, None, ["19,64"], 0, 0),
        (NORM, "compute", "unknown", 1, 1, None, ["18,64"], 0, 0),
    ]


@pytest.mark.parametrize("column", ["mode", "call_count"])
def test_a_row_that_makes_no_sense_is_refused(log: duckdb.DuckDBPyConnection, column: str) -> None:
    with pytest.raises(duckdb.ConstraintException):
        add(log, MM, "16,64", HIT, **{column: {"mode": "loud", "call_count": 0}[column]})
