"""Every failure class, on data made to fail in just that way."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest
from fidelity_support import curve_database, curved, grid_lines, matmul_database, matmul_line, run

from sqlinterp.fidelity import Run
from sqlinterp.fidelity.failures import REMEDIES
from sqlinterp.fidelity.verdicts import Figure

DENSE = [float(x) for x in range(64, 64 * 33, 64)]


def figure(found: Run, name: str) -> Figure:
    (told,) = [f for f in found.figures.regions if f.name == name]
    return told


def curve_run(folder: Path, curve: dict[float, float], scheme: str = "loo", **more: object) -> Run:
    return run(curve_database(folder, {"1": dict(curve)}), scheme, **more)  # type: ignore[arg-type]


def test_a_region_that_passes_has_no_class(tmp_path: Path) -> None:
    told = figure(curve_run(tmp_path, {x: 10 + x / 64 for x in DENSE}), "axis0")
    assert (told.verdict, told.failure_class, told.remediation) == ("pass", None, ())


def noisy_curve(x: float) -> float:
    """A curve that goes up and down by more than the bar."""
    return (20 + x / 64) * (1.18 if (x / 64) % 2 else 0.85)


def test_noise(tmp_path: Path) -> None:
    """Repetitions differ by half, so that ups and downs of a quarter say nothing."""
    lines = grid_lines(curved, ((64,), (512,), (768,)))[:1]
    for m in range(64, 64 * 20, 64):
        lines += [matmul_line(m, 512, 768, noisy_curve(m) * f) for f in (0.8, 1.2)]
    told = figure(run(matmul_database(tmp_path, lines)), "axis0")
    assert (told.verdict, told.failure_class) == ("fail", "noisy_measurement")
    assert told.statistics.n_within_noise > told.statistics.n_within


def test_an_outlier_among_the_failing_probes(tmp_path: Path) -> None:
    curve = {x: 10 + x / 64 for x in DENSE[:12]}
    curve[DENSE[5]] *= 30
    told = figure(curve_run(tmp_path, curve), "axis0")
    assert (told.verdict, told.failure_class) == ("fail", "outlier_row")


def test_an_outlier_that_others_lean_on(tmp_path: Path) -> None:
    """Along K and N nothing fails but what is answered from one wrong row."""
    lines = grid_lines(lambda m, k, n: 100.0 + k / 512, ((64,), (512, 1024, 1536, 2048), (768,)))
    lines += [matmul_line(m, 1024, 768, 400.0) for m in (128,)]
    lines += [matmul_line(m, 1024, 768, 102.0) for m in (80, 96, 112, 144, 160, 176, 192)]
    told = figure(run(matmul_database(tmp_path, lines), "gap", axis="M", cells=3), "gap0_b3")
    assert (told.verdict, told.failure_class) == ("fail", "outlier_row")


def test_steps(tmp_path: Path) -> None:
    curve = {}
    for tile in range(1, 12):
        curve |= {tile * 128.0: 20.0 * tile, tile * 128.0 + 1: 20.0 * (tile + 1)}
    told = figure(curve_run(tmp_path, curve, "loo"), "boundary")
    assert (told.verdict, told.failure_class) == ("fail", "step_boundary")
    assert told.jump == pytest.approx(7 / 6)


def test_extrapolation(tmp_path: Path) -> None:
    """In proportion to x up to a quarter of the range, twice that beyond it."""
    curve = {x: x / 32 if x <= 512 else x / 16 for x in DENSE}
    rule = {"extrapolation": {"allow": True, "work": "x", "max_ratio": 2.0, "hard_max_ratio": 2.0}}
    found = curve_run(tmp_path, curve, "tail", factors=(4.0,), policy=rule)
    told = figure(found, "extrap0_x4")
    assert (told.verdict, told.failure_class) == ("fail", "extrapolation")
    assert told.statistics.med == pytest.approx(0.5)
    assert told.statistics.answer_rate == pytest.approx(8 / 24)  # up to twice the edge


def test_two_branches_at_equal_axes(tmp_path: Path) -> None:
    """Every other stretch of three runs another algorithm."""
    curve = {x: (20 + x / 640) * (1 if i % 6 < 3 else 3) for i, x in enumerate(DENSE)}
    told = figure(curve_run(tmp_path, curve, "gap", cells=1), "gap0_b1")
    assert (told.verdict, told.failure_class) == ("fail", "regime_mix")


def test_a_bias_of_all_regions(tmp_path: Path) -> None:
    """The truth is in other units than the table."""
    from sqlinterp.fidelity import Truth

    path = curve_database(tmp_path, {"1": {x: 10 + x / 64 for x in DENSE}})
    rows = "".join(f"{x + 32},{(10 + (x + 32) / 64) / 2}\n" for x in DENSE[:-1])
    table = tmp_path / "t.csv"
    table.write_text("x,time_us\n" + rows)
    told = figure(run(path, truth=Truth("table", path=table)), "axis0")
    assert (told.verdict, told.failure_class) == ("fail", "projection")


def test_cells_that_are_too_wide(tmp_path: Path) -> None:
    """Dense where the law is straight, sparse where it bends."""
    sizes = [*map(float, range(64, 129, 4)), 256.0, 512.0, 1024.0, 2048.0, 4096.0]
    curve = {x: 50.0 if x <= 128 else 50 + (x - 128) ** 2 / 2000 for x in sizes}
    told = figure(curve_run(tmp_path, curve), "axis0")
    assert (told.verdict, told.failure_class) == ("fail", "interior_coarse")


def test_what_no_question_fits(tmp_path: Path) -> None:
    """Errors of many sizes, up and down, in equal cells, on a rising curve."""
    curve, level = {}, 10.0
    for i in range(40):
        digest = hashlib.md5(str(i).encode(), usedforsecurity=False).digest()
        level *= 1 + digest[0] / 256
        curve[10000.0 + 10 * i] = level
    told = figure(curve_run(tmp_path, curve), "axis0")
    assert told.verdict == "fail" and math.isfinite(told.statistics.worst or math.nan)
    assert told.failure_class == "unclassified"


def test_every_class_has_a_remedy() -> None:
    classes = {
        "not_evaluable", "noisy_measurement", "outlier_row", "step_boundary", "extrapolation",
        "regime_mix", "projection", "interior_coarse", "unclassified",
    }  # fmt: skip
    assert set(REMEDIES) == classes and all(REMEDIES.values())
