"""Ratios, bars and figures, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from fidelity_support import curve_database, run

from sqlinterp.fidelity.figures import figures_of
from sqlinterp.fidelity.regions import final_region, region_at
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.source import Measured
from sqlinterp.fidelity.statistics import statistics_of
from sqlinterp.fidelity.verdicts import verdict_of
from sqlinterp.model import Answer


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    curve = {float(x): 32.0 for x in range(64, 640, 64)}
    return run(curve_database(tmp_path_factory.mktemp("flat"), {"1": dict(curve)})).results[3]


def answered(result: Result, *ratios: float) -> list[Result]:
    """The result with other answers."""
    truth = result.probe.truth_us or 0.0
    answers = [Answer("op", "INTERPOLATED", ratio * truth) for ratio in ratios]
    return [replace(result, probe_id=i, answer=answer) for i, answer in enumerate(answers)]


def blind(result: Result, truth: float | None) -> Result:
    """The result with another truth."""
    return replace(result, probe=replace(result.probe, truth_us=truth))


def test_the_bar_is_the_same_factor_up_and_down(result: Result) -> None:
    found = answered(result, 1.15, 1.1501, 1 / 1.15, 0.8696, 0.8695, 0.85)
    assert [r.is_within for r in found] == [True, False, True, True, False, False]
    assert [replace(r, bar=0.2).is_within for r in found] == [True] * 6


def test_figures_of_a_handful(result: Result) -> None:
    found = statistics_of([
        *answered(result, 0.5, 0.9, 1.0, 1.1, 2.0),
        replace(result, answer=Answer("op", miss_reason="outside_axis_boundary")),
        blind(answered(result, 1.0)[0], None),
        blind(answered(result, 1.0)[0], 0.0),
    ])  # fmt: skip
    assert (found.n_probe, found.n_truth, found.n_answered) == (8, 6, 5)
    assert (found.n_within, found.n_optimistic) == (3, 2)
    assert found.answer_rate == 5 / 6
    assert found.within_rate == 3 / 5 and found.within_of_truth == 3 / 6
    assert found.med == 1.0
    assert found.geomean == pytest.approx((0.5 * 0.9 * 1.1 * 2) ** 0.2)
    assert (found.p10, found.p90) == pytest.approx((0.66, 1.64))
    assert found.mape == pytest.approx((0.5 + 0.1 + 0 + 0.1 + 1) / 5)
    assert found.worst == 0.5  # ties with 2.0 by its logarithm; the first one counts
    assert found.record()["worst_input"] == result.probe.target


def test_a_missing_truth_is_never_scored(result: Result) -> None:
    """A peer's harness scores it 0 and calls it the worst."""
    for truth in (None, 0.0, -1.0, math.inf, math.nan):
        figures = statistics_of([blind(result, truth)])
        assert (figures.n_probe, figures.n_truth, figures.n_answered) == (1, 0, 0)
        assert figures.worst is None and figures.within_rate is None and figures.med is None


def test_an_answer_that_is_not_positive_fails_and_is_the_worst(result: Result) -> None:
    figures = statistics_of(answered(result, 1.0, 9.0, -0.1))
    assert (figures.n_answered, figures.n_within, figures.worst) == (3, 1, 0.0)
    assert figures.worst_result is not None and figures.worst_result.probe_id == 2
    assert figures.geomean == pytest.approx(3.0)
    zero = statistics_of(answered(result, 0.0))
    assert (zero.n_answered, zero.worst, zero.med) == (1, 0.0, 0.0)


def test_what_is_inside_the_noise_is_told(result: Result) -> None:
    found = [replace(r, noise_floor=1.5) for r in answered(result, 1.4, 1.6, 1.0)]
    assert statistics_of(found).n_within_noise == 2
    assert [r.is_within_noise for r in found] == [True, False, True]


def test_verdicts(result: Result) -> None:
    good, low = [1.0] * 9, [0.94] * 10
    assert verdict_of(statistics_of(answered(result, *good, 2.0)), False, 5) == "pass"
    assert verdict_of(statistics_of(answered(result, *good[:7], 2.0)), False, 5) == "fail"
    assert verdict_of(statistics_of(answered(result, *low)), False, 5) == "fail"  # off centre
    assert verdict_of(statistics_of(answered(result, *([1.05] * 5))), False, 5) == "pass"
    assert verdict_of(statistics_of(answered(result, *good[:4])), False, 5) == "insufficient"
    assert verdict_of(statistics_of(answered(result, *good)), True, 5) == "not_evaluable"
    assert verdict_of(statistics_of([blind(result, None)]), False, 5) == "not_evaluable"


def test_misses_stay_in_their_region_and_are_repeated(result: Result) -> None:
    missed = replace(result, answer=Answer("op", miss_reason="outside_axis_boundary"))
    figures = figures_of([*answered(result, 1.0, 1.0), missed], 1, set(), lambda *_: 0)
    by_name = {figure.name: figure.statistics for figure in figures.regions}
    assert (by_name["axis0"].n_truth, by_name["axis0"].n_answered) == (3, 2)
    assert by_name["axis0"].within_of_truth == pytest.approx(2 / 3)
    assert (by_name["unanswered"].n_truth, by_name["unanswered"].n_answered) == (1, 0)
    assert figures.total.statistics.n_probe == 3


def test_both_sides_of_a_comparison(result: Result) -> None:
    pairs = [(1.0, 1.1), (1.2, 1.1), (0.5, 2.0), (1.0, None)]
    found = []
    for one, two in pairs:
        base = answered(result, one)[0]
        other = Answer("op") if two is None else answered(result, two)[0].answer
        found.append(replace(base, other=other))
    figures = figures_of(found, 1, set(), lambda *_: 0)
    total = figures.compared[0]
    assert (total["region"], total["n_better"], total["n_worse"]) == ("ALL", 1, 1)
    assert total["base"]["n_answered"] == 4 and total["cmp"]["n_answered"] == 3
    assert total["delta_within"] == pytest.approx(2 / 3 - 2 / 4)


def test_regions_of_coordinates(tmp_path: Path) -> None:
    from fidelity_support import grid_lines, linear, matmul_database

    lines = grid_lines(linear, ((64, 128, 256), (512, 1024), (768,)))
    path = matmul_database(tmp_path, lines[:-1])  # without M=256 K=1024
    with Measured(path, None) as measured:
        (group,) = measured.groups(measured.regimes(), "mean")
    places = {
        (64, 512, 768): ("on_grid", None),
        (256, 1024, 768): ("hole", None),
        (96, 512, 768): ("axis0", 0),
        (64, 600, 768): ("axis1", 1),
        (96, 600, 768): ("diag", None),
        (300, 512, 768): ("extrap0_x1.5", 0),
        (512, 600, 768): ("extrap0_x2", 0),
        (5000, 512, 768): ("extrap0_x8", 0),
        (16, 512, 768): ("under0_x4", 0),
        (512, 2048, 768): ("extrap_joint", None),
    }
    for at, expected in places.items():
        assert region_at(group, (*map(float, at), 0.0)) == expected, at


def test_small_goes_before_regions_of_schemes_only() -> None:
    assert final_region("axis0", 9.0, 10.0) == "small"
    assert final_region("axis0", 10.0, 10.0) == "axis0"
    assert final_region("axis0", None, 10.0) == "axis0"
    for fixed in ("edge", "boundary", "on_grid"):
        assert final_region(fixed, 1.0, 10.0) == fixed


def test_the_cell_and_its_widest_axis(result: Result) -> None:
    assert result.cell_ratio == pytest.approx(320 / 192)
    assert (result.dims, result.n_candidates, result.coverage) == (1, 8, 8)
    assert result.nearest_us == 32.0
