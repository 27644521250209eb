"""The op ``grid``."""

from __future__ import annotations

import pytest
from protocol_support import DECLARED, ORDINARY, Ask, K, M, grid_of, latency

from sqlinterp.protocol.grid import boundary_pairs


def test_axes_and_counts(ask: Ask) -> None:
    grid = ask("grid", config={"dtype": "bf16", "gpu_name": "dev"})
    assert (grid["kind"], grid["version"]) == ("gemm", DECLARED)
    assert grid["input_fields"] == ["m", "k"]
    assert grid["input_units"] == ["rows", ""]
    assert grid["axis_transforms"] == ["identity", "identity"]
    assert grid["grid_axes"] == [list(M), list(K)]
    assert grid["regime_columns"] == ["dtype", "source"]
    assert grid["describe_config"] == {"gpu_name": "dev", "dtype": "bf16", "source": "none"}
    assert (grid["n_raw"], grid["n_points"], grid["n_feasible"]) == (30, 29, 30)
    assert (grid["is_rectangular"], grid["missing_cells"]) == (False, 1)
    assert (grid["over_ceiling"], grid["ceiling"]) == (False, 500)


def test_axis_statistics(ask: Ask) -> None:
    m, k = ask("grid", config={"dtype": "bf16"})["axis_stats"]
    assert (m["field"], m["min"], m["max"], m["n"]) == ("m", 1, 513, 10)
    assert m["max_step_ratio"] == 4
    assert (m["granularity"], k["granularity"]) == (1, 8)
    assert m["boundary_pairs"] == [[512, 513]]  # 255 to 258 is a run, no edge
    assert (m["step_axis"], k["step_axis"]) == (False, False)


def test_a_step_at_the_pairs_makes_a_step_axis(tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = [(m, 10.0 * (1 + (m > 256)) * (1 + (m > 512))) for m in (128, 256, 257, 512, 513, 768)]
    grid = grid_of(tmp_path_factory.mktemp("steps"), rows)
    assert grid["axis_stats"][0]["boundary_pairs"] == [[256, 257], [512, 513]]
    assert grid["axis_stats"][0]["step_axis"] is True
    assert grid["monotonicity_breaks"] == 0


def test_noise_and_breaks(tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = [(1, 10.0), (1, 11.0), (2, 20.0), (2, 26.0), (3, 15.0), (4, 14.0), (5, 12.5)]
    rows += [(6 + i, 30.0 + 0.5 * i) for i in range(10)]
    grid = grid_of(tmp_path_factory.mktemp("noise"), rows)
    assert grid["noise"]["n_repeat_points"] == 2
    assert grid["noise"]["spread_p50"] == pytest.approx((1.1 + 1.3) / 2)
    assert grid["noise"]["spread_p90"] == pytest.approx(1.28)
    assert grid["noise"]["resolution_us"] == 0.5
    assert grid["monotonicity_breaks"] == 2  # 23 to 15, and 14 to 12.5; 15 to 14 is within a tenth


def test_pairs_by_the_rule() -> None:
    assert boundary_pairs([1, 2, 4, 5]) == []  # below 16
    assert boundary_pairs([16, 17, 25, 26]) == [[16, 17], [25, 26]]
    assert boundary_pairs([16, 17, 24]) == []  # the next value is 7 away
    assert boundary_pairs([12, 20, 21, 40]) == [[20, 21]]
    assert boundary_pairs([13, 20, 21, 40]) == []
    assert boundary_pairs([16.5, 17.5, 40]) == []
    assert boundary_pairs([16, 18, 40]) == []
    assert boundary_pairs([]) == boundary_pairs([5]) == []


def test_feasible_cells_and_transformed_axes(ask: Ask) -> None:
    grid = ask("grid", "line")
    assert grid["grid_axes"] == [[0, 2, 6]]
    assert (grid["n_points"], grid["n_feasible"]) == (3, 2)


def test_backends_are_one_grid(ask: Ask) -> None:
    grid = ask("grid", config={"dtype": "fp8", "backends": ["a", "b"]})
    assert grid["grid_axes"] == [[1, 4], [8, 32, 128]]
    assert grid["describe_config"] == {"backends": ["a", "b"], "dtype": "fp8"}


def test_the_grid_of_an_ordinary_kernel(ask: Ask) -> None:
    config = {"input_dtypes": ["FLOAT16", "FLOAT16"]}
    grid = ask("grid", "MatMulV2", version=ORDINARY, config=config)
    assert grid["input_fields"] == ["M", "K", "N"]
    assert grid["grid_axes"] == [[16, 32], [64, 128], [256, 512]]
    assert (grid["n_points"], grid["is_rectangular"]) == (8, True)
    assert "input_dtypes" in grid["regime_columns"]


def test_every_grid_point_is_a_measured_point(ask: Ask) -> None:
    grid = ask("grid", config={"dtype": "bf16"})
    m, k = grid["grid_axes"]
    points = [[a, b] for a in m for b in k]
    results = ask("eval_coords", config={"dtype": "bf16"}, query_points=points)["results"]
    measured = [r for r in results if r["source"] == "MEASURED"]
    assert len(measured) == grid["n_points"]
    clean = [r for r in measured if r["coverage"] == 0]
    assert all(r["time_us"] == latency(*r["input"]) for r in clean)
