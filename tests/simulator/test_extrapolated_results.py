"""The simulator gets latencies beyond the measured range as EXTRAPOLATED, and they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, write_version
from simulator.stand_in import MM, matmul_row, mm
from simulator.test_result_types import THEIRS, TheirResult, TheirSource, install

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.simulator import QuerySource, SqlDataSource

POLICY = {"kernel_overrides": {"MatMulV2": {"extrapolation": {"allow": True}}}}


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose matmul grid has three points in its top octave."""
    folder = tmp_path_factory.mktemp("dense")
    lines = [MATMUL_HEADER, *(matmul_row(m, m / 2) for m in (64, 128, 192, 256))]
    write_version(folder / "v", {"MatMulV2.csv": lines}, {MM: "MatMulV2"})
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def test_a_result_of_the_simulator(dense: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqlDataSource(dense, policy=POLICY) as source:
        result = source.lookup(mm(384))
        assert (result.source, result.latency_us) == (QuerySource.EXTRAPOLATED, 192)
        assert result.confidence < 0.60
        assert result.details["source"] == "EXTRAPOLATED"
        info = source.last_shape_match_info
        assert (info.shape_match_rule, info.source) == ("extrapolated_1d_hold_rate", "EXTRAPOLATED")
        assert info.fallback_reason == "interpolation_miss"
    install(monkeypatch, **THEIRS)
    with SqlDataSource(dense, policy=POLICY) as source:
        result = source.lookup(mm(384))
        assert type(result) is TheirResult and result.source is TheirSource.EXTRAPOLATED


def test_off_by_default_and_for_exact_lookups(dense: Path) -> None:
    with SqlDataSource(dense) as source:
        assert source.lookup(mm(384)) is None
        assert source.last_miss_reason == "outside_axis_boundary"
    with SqlDataSource(dense, policy=POLICY, disable_interpolation=True) as source:
        assert source.lookup(mm(384)) is None


def test_shadow_mode_keeps_it_beside(dense: Path) -> None:
    with SqlDataSource(dense, policy=POLICY, mode="shadow") as source:
        assert source.lookup(mm(384)) is None
        assert source.last_candidate is not None
        assert source.last_candidate.source == "EXTRAPOLATED"


def test_metrics_and_summary_count_it(dense: Path) -> None:
    with SqlDataSource(dense, policy=POLICY, log=True) as source:
        for m in (64, 100, 384, 384, 9000):
            source.lookup(mm(m))
        report, summary = source.metrics(), source.summary()
    assert (report["interpolated_calls"], report["extrapolated_calls"]) == (1, 2)
    assert report["m1"]["ratio"] == 4 / 5
    (line,) = (line.split() for line in summary.splitlines() if "EXTRAPOLATED" in line)
    assert line == [MM, "EXTRAPOLATED", "0.55", "hold_rate", "M", "192.000", "1", "2",
                    "extrapolated_1d_hold_rate"]  # fmt: skip


def test_a_policy_that_makes_no_sense_is_refused(dense: Path) -> None:
    with pytest.raises(UsageError, match="method"):
        SqlDataSource(dense, policy={"method": "cubic"})
