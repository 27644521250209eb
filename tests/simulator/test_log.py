"""The opt-in log: what was asked, how often, and what came of it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from simulator.stand_in import (
    MM,
    SIN,
    VIEW,
    FakeTensor,
    attention,
    decompose,
    invoke,
    mla,
    mm,
)

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator import SqlDataSource

VIEW_CALL, SIN_CALL = invoke(VIEW, FakeTensor(4, 4), [2, 8]), invoke(SIN, FakeTensor(4))


def logged(path: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query on a log file, as analyst SQL gives them."""
    from sqlinterp.analyst import run_sql

    return list(run_sql(path, query).fetchall())


def test_distinct_invocations_are_counted_and_written_once(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "log" / "calls.duckdb"
    with SqlDataSource(database, "v", log=True, analytic_us=lambda call: 2.5) as source:
        source.prefetch([mm(64), mm(100)])  # asks nothing yet
        assert source.log.rows == [] and source.flush_log(path) == 0
        for _ in range(3):
            source.lookup(mm(64))
        source.lookup_many([mm(100), mm(9999)])
        assert source.flush_log(path) == 3
        assert source.flush_log(path) == 0
        source.lookup(mm(64))
        assert source.flush_log(path) == 1
        run_id = source.log.run_id
    rows = logged(
        path,
        "select run_id, version_key, mode, op, dispatch, input_shapes, input_dtypes, call_count,"
        " source, latency_us, confidence, kernel_type, method, interpolation_dim, axes,"
        " shape_match_rule, miss_reason, is_zero_cost, analytic_us, candidate_source"
        " from lookup_log order by logged_at, input_shapes",
    )
    key = rows[0][1]
    assert key.endswith("/v")
    common, dtypes = (run_id, key, "default", MM, "compute"), "bfloat16;bfloat16"
    between = (
        "INTERPOLATED",
        100,
        0.675,
        "MatMulV2",
        "linear_1d",
        1,
        "M",
        "interpolated_1d_linear",
    )
    exact = ("MEASURED", 64, 1.0, "MatMulV2", "exact", None, None, "identity")
    missed = (None,) * 8
    assert rows == [
        (*common, "100,64;64,32", dtypes, 1, *between, None, False, 2.5, None),
        (*common, "64,64;64,32", dtypes, 3, *exact, None, False, 7.5, None),
        (*common, "9999,64;64,32", dtypes, 1, *missed, "outside_axis_boundary", False, 2.5, None),
        (*common, "64,64;64,32", dtypes, 1, *exact, None, False, 2.5, None),
    ]
    ((context, hashes),) = logged(
        path, "select any_value(context_json), count(policy_hash) from lookup_log"
    )
    assert json.loads(context)["aggregation"] == "mean" and hashes == 3


def test_what_interpolation_would_have_said_is_logged(database: Path, tmp_path: Path) -> None:
    with SqlDataSource(database, log=True, mode="shadow") as source:
        source.lookup_many([mm(64), mm(100), mm(9999)])
        source.flush_log(tmp_path / "log.duckdb")
    rows = logged(
        tmp_path / "log.duckdb",
        "select mode, source, miss_reason, candidate_source, candidate_latency_us,"
        " candidate_confidence, candidate_kernel_type, candidate_rule, candidate_miss_reason"
        " from lookup_log order by latency_us nulls last, input_shapes",
    )
    assert rows == [
        ("shadow", "MEASURED", None, *[None] * 6),
        ("shadow", None, "shape_mismatch", "INTERPOLATED", 100, 0.675, "MatMulV2",
         "interpolated_1d_linear", None),
        ("shadow", None, "shape_mismatch", *[None] * 5, "outside_axis_boundary"),
    ]  # fmt: skip


def test_the_log_does_not_grow_with_what_the_memo_forgets(database: Path) -> None:
    with SqlDataSource(database, log=True, memo_size=2) as source:
        for _ in range(3):
            source.lookup_many([mm(m) for m in (64, 100, 256)])
        assert len(source.log._rows) == 3
        assert [row.calls for row in source.log.rows] == [3, 3, 3]
        assert source.metrics()["m1"]["total"] == 9


def test_many_rows_are_written(database: Path, tmp_path: Path) -> None:
    with SqlDataSource(database, log=True) as source:
        source.lookup_many([invoke(SIN, FakeTensor(size)) for size in range(1, 10_102)])
        assert source.flush_log(tmp_path / "log.duckdb") == 10_101
    query = "select count(*), count(distinct input_shapes), sum(call_count) from lookup_log"
    assert logged(tmp_path / "log.duckdb", query) == [(10_101, 10_101, 10_101)]


def test_the_log_is_opt_in_and_has_a_file_of_its_own(database: Path, tmp_path: Path) -> None:
    with SqlDataSource(database) as source:
        source.lookup(mm(64))
        for use in (
            source.metrics,
            source.summary,
            lambda: source.flush_log(tmp_path / "l.duckdb"),
        ):
            with pytest.raises(UsageError, match=r"log=True"):
                use()
    with SqlDataSource(database, log=True) as source:
        (tmp_path / "link.duckdb").symlink_to(database)
        for same in (database, tmp_path / "link.duckdb"):
            with pytest.raises(UsageError, match="lookups read this file"):
                source.flush_log(same)


def test_a_failed_flush_loses_nothing(database: Path, tmp_path: Path) -> None:
    with SqlDataSource(database, log=True) as source:
        source.lookup(mm(64))
        (tmp_path / "file").write_text("")
        with pytest.raises(sqlinterp.errors.DatabaseError):
            source.flush_log(tmp_path / "file" / "log.duckdb")
        assert source.flush_log(tmp_path / "log.duckdb") == 1


def test_metrics_and_misses_of_a_run(database: Path, tmp_path: Path) -> None:
    estimates = {MM: 10.0, VIEW: 0.0, SIN: 30.0}
    with SqlDataSource(
        database, log=True, decompose=decompose, analytic_us=lambda c: estimates.get(str(c.func))
    ) as source:
        calls = [mm(64), mm(64), mm(100), mm(9999), VIEW_CALL, VIEW_CALL, SIN_CALL, mla(256)]
        source.lookup_many(calls)
        report = source.metrics()
        source.flush_log(tmp_path / "log.duckdb")
        assert source.metrics() == report  # of the whole run, written or not
        source.export_metrics(tmp_path / "metrics.json")
    assert json.loads((tmp_path / "metrics.json").read_text()) == report
    shares = {
        name: (m["hit"], m["total"], m["ratio"])
        for name, m in report.items()
        if name[0] == "m" and name[1:].isdigit()
    }
    assert shares == {
        "m1": (5, 8, 0.625),  # mm, mm, mm and two views
        "m2": (1, 4, 0.25),  # view; mm is missed once, sin always, mla is partial
        "m3": (0, 3, 0),
        "m4": (2, 5, 0.4),  # two shapes of three of mm, sin, mla
        "m5": (30, 70, pytest.approx(3 / 7)),  # mla has no estimate
    }  # fmt: skip
    assert (report["interpolated_calls"], report["partial_calls"]) == (1, 1)
    keys = ("op", "miss_reason", "calls", "input_shapes")
    assert [tuple(miss[key] for key in keys) for miss in report["misses"]] == [
        (MM, "outside_axis_boundary", 1, ["9999,64;64,32"]),
        (SIN, "unmapped", 1, ["4"]),
        ("tensor_cast.multihead_latent_attention.default", "sub_kernel_miss:Nowhere", 1,
         ["256,64;256,64"]),
    ]  # fmt: skip
    ((m1, m5),) = logged(tmp_path / "log.duckdb", "select m1, m5 from lookup_metrics")
    assert (m1, m5) == (0.625, pytest.approx(3 / 7))


def test_metrics_of_nothing(database: Path) -> None:
    with SqlDataSource(database, log=True, disable_interpolation=True) as source:
        report = source.metrics()
    assert (report["mode"], report["misses"]) == ("exact", [])
    assert [report[name]["ratio"] for name in ("m1", "m2", "m3", "m4", "m5")] == [None] * 5


def test_the_debug_line_has_its_fields_in_order(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sqlinterp.simulator")
    with SqlDataSource(database, decompose=decompose) as source:
        for call in (mm(100), mm(100), mm(100, 100), attention(1500), mm(64), mm(9999), mla(100)):
            source.lookup(call)
    line = f"op={MM} query_mode=compute source=INTERPOLATED"
    assert caplog.messages == [
        f"{line} dim=1 axes=M method=linear_1d confidence=0.675",
        f"{line} dim=1 axes=M method=linear_1d confidence=0.675",
        f"{line} dim=2 axes=M,K method=griddata_linear confidence=0.625",
        "op=tensor_cast.attention.default query_mode=attention_special source=INTERPOLATED dim=1"
        " axes=seq method=linear_1d confidence=0.700",
        f"op={MM} query_mode=compute source=MEASURED dim=- axes=- method=exact confidence=1.000",
        f"op={MM} query_mode=compute source=MISS reason=outside_axis_boundary",
        "op=tensor_cast.multihead_latent_attention.default query_mode=composite"
        " source=INTERPOLATED dim=1 axes=M,axis_0 method=sum_of_children confidence=0.500",
    ]


def test_the_summary_shows_every_operator(database: Path) -> None:
    with SqlDataSource(database, log=True) as source:
        for call in (mm(100, 100), mm(64), mm(64), VIEW_CALL, SIN_CALL):
            source.lookup(call)
        lines = source.summary().splitlines()
    assert lines[0] == "Profiling interpolation summary"
    assert [line.split() for line in lines[1:]] == [
        ["op_name", "source", "confidence", "method", "axes", "latency_us", "dim", "calls",
         "shape_match_rule"],
        [MM, "INTERPOLATED", "0.62", "griddata_linear", "M,K", "172.000", "2", "1",
         "interpolated_2d_griddata_linear"],
        [MM, "MEASURED", "1.00", "exact", "-", "64.000", "-", "2", "identity"],
        [VIEW, "MEASURED", "1.00", "zero_cost", "-", "0.000", "-", "1", "zero_cost"],
        [SIN, "MISS", "-", "-", "-", "-", "-", "1", "unmapped"],
    ]  # fmt: skip
    starts = {
        line.index(word) for line, word in zip(lines[2:], ("I", "ME", "ME", "MISS"), strict=True)
    }
    assert len(starts) == 1


def test_a_plain_database_takes_the_objects_of_a_simulator(database: Path) -> None:
    with sqlinterp.open(database) as plain:
        assert isinstance(plain, ProfilingDatabase)
        assert [a.latency_us for a in plain.lookup_many([mm(64), mm(100)])] == [64, 100]
        assert plain.lookup(attention(1024)).latency_us == 10
