"""Worked examples of the profiling RFC, phase 1: M, K, N in one, two and three dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version
from scipy.interpolate import griddata

import sqlinterp
from sqlinterp.session import ProfilingDatabase

M_VALUES, K_VALUES, N_VALUES = (16, 64, 256), (512, 1024, 4096), (128, 512, 1024)


def latency(m: float, k: float, n: float) -> float:
    """A law with a twist, so that the choice of cell and diagonal shows."""
    return 4.0 + m * k * n / 2**20 + (m + k + n) / 512


def grid(skip: set[tuple[int, int, int]] = frozenset()) -> list[str]:  # type: ignore[assignment]
    return [
        f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency(m, k, n)!r}'
        for m in M_VALUES
        for k in K_VALUES
        for n in N_VALUES
        if (m, k, n) not in skip
    ]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> ProfilingDatabase:
    folder = tmp_path_factory.mktemp("worked")
    write_version(
        folder / "v", {"MatMulV3.csv": [MATMUL_HEADER, *grid()]}, {"aten.mm.default": "MatMulV3"}
    )
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return sqlinterp.open(folder / "p.duckdb")


def repeat_scipy(answer: sqlinterp.Answer) -> float:
    """The number that anybody gets from scipy with the printed corner points."""
    details = answer.details
    axes = details["axes"]
    points = np.array([[p[a] for a in axes] for p in details["corner_points"]])
    values = np.array([p["latency_us"] for p in details["corner_points"]])
    target = np.array([[details["target"][a] for a in axes]])
    return float(griddata(points, values, target, method="linear")[0])


def test_exact_wins_over_interpolation(database: ProfilingDatabase) -> None:
    answer = database.lookup(matmul_call(64, 1024, 512))
    assert (answer.source, answer.shape_match_rule) == ("MEASURED", "identity")
    assert answer.latency_us == latency(64, 1024, 512)


@pytest.mark.parametrize(
    ("target", "axis"), [((100, 1024, 512), "M"), ((64, 2048, 512), "K"), ((64, 1024, 300), "N")]
)
def test_one_axis_is_linear_between_its_neighbours(
    database: ProfilingDatabase, target: tuple[int, int, int], axis: str
) -> None:
    answer = database.lookup(matmul_call(*target))
    assert answer.shape_match_rule == "interpolated_1d_linear"
    assert answer.details["axes"] == [axis]
    low, high = answer.details["corner_points"]
    share = (answer.details["target"][axis] - low[axis]) / (high[axis] - low[axis])
    expected = low["latency_us"] + share * (high["latency_us"] - low["latency_us"])
    assert answer.latency_us == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("target", "axes"),
    [
        ((100, 2048, 512), ["M", "K"]),
        ((100, 1024, 300), ["M", "N"]),
        ((64, 2048, 300), ["K", "N"]),
        ((100, 2048, 300), ["M", "K", "N"]),
    ],
)
def test_more_axes_are_scipy_on_the_printed_corners(
    database: ProfilingDatabase, target: tuple[int, int, int], axes: list[str]
) -> None:
    answer = database.lookup(matmul_call(*target))
    assert answer.source == "INTERPOLATED"
    assert answer.details["axes"] == axes
    assert answer.details["method"] == "griddata_linear"
    assert len(answer.details["corner_points"]) == 2 ** len(axes)
    assert answer.latency_us == repeat_scipy(answer)
    low, high = answer.details["envelope_us"]
    assert low <= answer.latency_us <= high


def test_missing_corners_use_the_certified_cell(tmp_path: Path) -> None:
    points = {(16, 16): 1.0, (116, 16): 5.0, (16, 116): 9.0, (136, 136): 40.0}
    rows = [
        f'"{m},{k};{k},64",DT_BF16;DT_BF16,ND;ND,"{m},64",DT_BF16,ND,{value}'
        for (m, k), value in points.items()
    ]
    write_version(
        tmp_path / "v", {"MatMulV3.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV3"}
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answer = database.lookup(matmul_call(76, 76, 64))
    assert answer.latency_us == pytest.approx(11.714285714285714, rel=1e-12)
    assert {(p["M"], p["K"]) for p in answer.details["corner_points"]} == {
        (116.0, 16.0), (16.0, 116.0), (136.0, 136.0),
    }  # fmt: skip
    assert answer.latency_us == repeat_scipy(answer)


def test_outside_every_axis_is_a_miss_that_says_so(database: ProfilingDatabase) -> None:
    answer = database.lookup(matmul_call(1000, 2048, 300))
    assert answer.source is None and answer.latency_us is None
    assert answer.miss_reason == "outside_axis_boundary"
    dims = {attempt["interpolation_dim"] for attempt in answer.details["attempts"]}
    assert dims == {1, 2, 3}


def _policy(**fields: Any) -> dict[str, Any]:
    return {"interpolation_policy": {"kernel_overrides": {"MatMulV3": fields}}}


@pytest.mark.parametrize(
    ("policy", "rule", "reason"),
    [
        (_policy(max_interpolation_dim=1), None, "insufficient_filtered_candidates"),
        (_policy(max_interpolation_dim=0), None, "interpolation_dim_disabled"),
        (
            _policy(max_interpolation_dim=3, method="multilinear"),
            "interpolated_2d_multilinear",
            None,
        ),
        (_policy(axes=["N"]), None, "insufficient_filtered_candidates"),
    ],
)
def test_policy_limits_and_methods(
    tmp_path: Path, policy: dict[str, Any], rule: str | None, reason: str | None
) -> None:
    rows = {"MatMulV3.csv": [MATMUL_HEADER, *grid()]}
    write_version(tmp_path / "v", rows, {"aten.mm.default": "MatMulV3"}, policy)
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answer = database.lookup(matmul_call(100, 2048, 512))
    assert (answer.shape_match_rule, answer.miss_reason) == (rule, reason)
    if rule:
        lows = [latency(m, k, 512) for m in (64, 256) for k in (1024, 4096)]
        u, v = (100 - 64) / 192, (2048 - 1024) / 3072
        weights = [(1 - u) * (1 - v), (1 - u) * v, u * (1 - v), u * v]
        expected = sum(w * x for w, x in zip(weights, lows, strict=True))
        assert answer.latency_us == pytest.approx(expected, rel=1e-12)
