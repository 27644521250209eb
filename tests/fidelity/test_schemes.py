"""What leaves together, and what is answered without it, on grids with a known law."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER
from fidelity_support import (
    KS,
    MS,
    at,
    curve_database,
    curved,
    grid_lines,
    linear,
    matmul_database,
    matmul_line,
    ratios,
    region,
    run,
    targets,
)

from sqlinterp.errors import UsageError
from sqlinterp.fidelity import SCHEMES, Run
from sqlinterp.fidelity.grid import boundary_pairs


@pytest.fixture(scope="module")
def linear_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    axes = (MS, KS, (768, 1024, 1280))
    return matmul_database(tmp_path_factory.mktemp("linear"), grid_lines(linear, axes))


@pytest.fixture(scope="module")
def curved_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matmul_database(tmp_path_factory.mktemp("curved"), grid_lines(curved))


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x squared at 8, 16 ... 256, and a kernel with latencies in proportion to x."""
    squares = {float(x): 64 + x * x / 16 for x in range(8, 257, 8)}
    line = {float(x): x / 4 for x in range(8, 257, 8)}
    return curve_database(tmp_path_factory.mktemp("dense"), {"1": dict(squares)}, line=line)


@pytest.mark.parametrize("scheme", ["loo", "plane", "thin", "gap", "kfold", "cross"])
def test_a_linear_function_is_answered_with_ratios_of_exactly_one(
    linear_grid: Path, scheme: str
) -> None:
    found = run(linear_grid, scheme, cells=1)
    answered = [result for result in found.results if result.is_answered]
    assert len(answered) >= 2
    assert all(r.ratio == 1 or r.dims != 1 for r in answered)
    assert ratios(answered) == pytest.approx([1] * len(answered), rel=1e-12)
    assert found.figures.total.statistics.within_rate == 1


def test_a_point_alone_is_answered_along_another_axis(curved_grid: Path) -> None:
    found = run(curved_grid)
    assert {r.region for r in found.results} == {"loo", "edge"}
    assert len(found.results) == len(MS) * len(KS)
    corner = at(found, M=64.0, K=512.0, N=768.0)
    assert corner.region == "edge" and corner.pred_us is None
    side = at(found, M=64.0, K=1024.0, N=768.0)  # M has no smaller value, K brackets it
    assert side.answer.details["axes"] == ["K"] and side.ratio == 1
    inner = at(found, M=128.0, K=1024.0, N=768.0)
    assert inner.answer.details["boundary"] == {"M": [64.0, 192.0]}
    expected = (curved(64, 1024, 768) + curved(192, 1024, 768)) / 2
    assert inner.pred_us == pytest.approx(expected, rel=1e-12)


def test_a_plane_is_answered_along_its_axis_only(curved_grid: Path) -> None:
    found = run(curved_grid, "plane")
    names = {r.probe.holdout.name for r in found.results if r.probe.holdout}
    assert names == {f"M={m}" for m in MS} | {f"K={k}" for k in KS}
    answered = [r for r in found.results if r.is_answered]
    assert {(r.region, *r.answer.details["axes"]) for r in answered} == {
        ("axis0", "M"),
        ("axis1", "K"),
    }
    assert all(result.pred_us is None for result in region(found, "edge"))
    inner = [r for r in region(found, "axis0") if r.probe.target["M"] == 128]
    truth, chord = curved(128, 512, 768), (curved(64, 512, 768) + curved(192, 512, 768)) / 2
    assert inner[0].ratio == pytest.approx(chord / truth, rel=1e-12)


def test_plane_and_leave_one_out_differ_where_the_law_is_curved(tmp_path: Path) -> None:
    """M is read first, so that leave-one-out never sees K where M has neighbours."""
    law = lambda m, k, n: 16 + m * m / 1024 + k * k / 16384  # noqa: E731
    path = matmul_database(tmp_path, grid_lines(law))
    together = [r for r in run(path, "plane").results if r.probe.target["K"] == 1024]
    by_region = {r.region: r.ratio for r in together if r.probe.target["M"] == 128}
    loo = at(run(path), M=128.0, K=1024.0, N=768.0)
    assert by_region["axis0"] == loo.ratio and by_region["axis1"] != loo.ratio


def test_a_cross_takes_every_line_away(linear_grid: Path) -> None:
    found = run(linear_grid, "cross")
    inner = [r for r in found.results if r.region == "diag"]
    assert {(r.probe.target["M"], r.probe.target["K"]) for r in inner} == {
        (m, 1024.0) for m in (128.0, 192.0)
    }
    assert all(r.dims == 3 and len(r.corners) >= 4 for r in inner)
    for result in inner:
        own = result.probe.target
        for corner in result.corners:
            assert all(corner[axis] != own[axis] for axis in ("M", "K", "N"))


def test_error_grows_with_the_square_of_the_cell(dense: Path) -> None:
    """A chord of x squared over a cell of width 2 h is off by h squared in the middle."""
    errors = {}
    for cells in (1, 3):
        found = run(dense, "gap", cells=cells, kernels=("copy",), max_probes=None)
        assert {r.region for r in found.results} == {f"gap0_b{cells}"}
        middle = [
            r
            for r in found.results
            if r.probe.target == {"x": 128.0} and r.answer.details["boundary"]["x"][0]
            == 128 - 8 * (cells + 1) / 2
        ]  # fmt: skip
        (result,) = middle
        errors[cells] = result.pred_us - result.probe.truth_us
    assert errors[1] == pytest.approx(8 * 8 / 16) and errors[3] == pytest.approx(4 * errors[1])


def test_thin_keeps_every_kth_value_and_both_ends(dense: Path) -> None:
    found = run(dense, "thin", keep_every=4, kernels=("copy",), max_probes=None)
    kept = {8.0 + 32 * i for i in range(8)} | {256.0}
    asked = {r.probe.target["x"] for r in found.results}
    assert asked == {float(x) for x in range(8, 257, 8)} - kept
    for result in found.results:
        assert set(result.answer.details["boundary"]["x"]) <= kept


def test_thin_tells_single_axes_from_the_diagonal(linear_grid: Path) -> None:
    found = run(linear_grid, "thin", max_probes=None)
    for result in found.results:
        own = result.probe.target
        off = [axis for axis, dropped in (("M", 128), ("K", 1024), ("N", 1024))
               if own[axis] == dropped]  # fmt: skip
        expected = "diag" if len(off) > 1 else f"axis{'MKN'.index(off[0])}"
        assert result.region == expected


def test_tail_holds_out_what_lies_beyond_a_factor(dense: Path) -> None:
    found = run(dense, "tail", factors=(2.0, 4.0), kernels=("line",), max_probes=None)
    beyond = {name: {r.probe.target["x"] for r in region(found, name)} for name in
              ("extrap0_x2", "extrap0_x4")}  # fmt: skip
    assert beyond["extrap0_x2"] == {float(x) for x in range(136, 257, 8)}
    assert beyond["extrap0_x4"] == {float(x) for x in range(72, 257, 8)}
    assert all(r.pred_us is None for r in found.results)
    opted = {"extrapolation": {"allow": True, "form": "hold_rate", "work": "x",
                               "max_ratio": 2.0}}  # fmt: skip
    allowed = run(dense, "tail", factors=(2.0,), kernels=("line",), max_probes=None, policy=opted)
    extrapolated = [r for r in allowed.results if r.source == "EXTRAPOLATED"]
    assert extrapolated and ratios(extrapolated) == pytest.approx([1] * len(extrapolated))
    for result in extrapolated:
        assert all(corner["x"] <= 128 for corner in result.corners)


def test_tail_needs_enough_values_to_be_left(tmp_path: Path) -> None:
    doubling = {float(2**i): float(2**i) for i in range(4, 12)}
    found = run(curve_database(tmp_path, {"1": doubling}), "tail")  # two values in the top octave
    assert found.results == []
    assert found.skipped == {("copy", "declared:x", "too_few_values"): len(doubling)}


def test_head_holds_out_what_lies_below_a_factor(dense: Path) -> None:
    found = run(dense, "head", factors=(4.0,), kernels=("copy",))
    assert {r.region for r in found.results} == {"under0_x4"}
    assert {r.probe.target["x"] for r in found.results} == {8.0, 16.0, 24.0}


def test_joint_tails_need_all_axes_out(tmp_path: Path) -> None:
    sizes = tuple(range(64, 577, 64))
    path = matmul_database(tmp_path, grid_lines(linear, (sizes, sizes, (768,))))
    found = run(path, "tail", factors=(1.5,), max_probes=None)
    joint = region(found, "extrap_joint")
    assert {tuple(t.values())[:2] for t in targets(joint)} == {
        (m, k) for m in sizes for k in sizes if m > 384 and k > 384
    }


def test_kfold_asks_for_every_point_once_and_its_parts_come_from_the_salt(dense: Path) -> None:
    parts = []
    for salt in ("a", "a", "b"):
        found = run(dense, "kfold", k=4, salt=salt, kernels=("copy",), max_probes=None)
        told = {r.probe.target["x"]: r.probe.holdout.name for r in found.results if r.probe.holdout}
        assert len(told) == len(found.results) == 32
        assert len(set(told.values())) == 4
        parts.append(told)
    assert parts[0] == parts[1] != parts[2]


def pairs_of(path: Path, scheme: str) -> Run:
    return run(path, scheme, max_probes=None)


def test_both_sides_of_a_step_leave_as_one(tmp_path: Path) -> None:
    """Latency is flat up to 256 and half as much again from 257 on."""
    sizes = [128, 192, 256, 257, 320, 384, 385, 448]
    path = curve_database(tmp_path, {"1": {float(x): 20.0 if x <= 256 else 30.0 for x in sizes}})
    for scheme in ("plane", "cross"):
        found = pairs_of(path, scheme)
        step = region(found, "boundary")
        assert [r.probe.target["x"] for r in step] == [256, 257, 384, 385]
        assert [r.jump for r in step] == [1.5, 1.5, 1.0, 1.0]
        assert step[0].answer.details["boundary"] == {"x": [192.0, 320.0]}
        assert step[0].probe.holdout is step[1].probe.holdout or scheme == "cross"
        assert [r.probe.target["x"] for r in region(found, "axis0")] == [192, 320]
        assert at(found, x=192.0).ratio == 1  # from 128 and 256, both below the step
    alone = at(pairs_of(path, "loo"), x=257.0)
    assert alone.region == "boundary"
    assert alone.answer.details["boundary"] == {"x": [256.0, 320.0]}
    (figure,) = [f for f in pairs_of(path, "plane").figures.regions if f.name == "boundary"]
    assert figure.jump == 1.25  # median of 1, 1, 1.5 and 1.5


def test_a_pair_is_next_to_itself_large_enough_and_far_from_others() -> None:
    assert boundary_pairs([128, 256, 257, 512, 513]) == ((256, 257), (512, 513))
    assert boundary_pairs([15, 16, 17, 32]) == ()  # 15 is too near
    assert boundary_pairs([8, 9, 64]) == ()  # too small
    assert boundary_pairs([16, 17]) == ((16, 17),)
    assert boundary_pairs([248, 256, 257, 264]) == ()  # 264 is 7 away
    assert boundary_pairs([256, 257, 300.5]) == ()  # no axis of integers


def test_the_same_latencies_in_another_order_give_the_same_run(tmp_path: Path) -> None:
    lines = grid_lines(curved)
    first = matmul_database(tmp_path / "a", lines)
    second = matmul_database(tmp_path / "b", [lines[0], *reversed(lines[1:])])
    drawn = []
    for path in (first, first, second):
        found = run(path, "plane", max_probes=7, salt="1")
        assert found.is_sampled and found.possible == 24 and len(found.results) == 7
        drawn.append([(r.probe.target, r.region, r.pred_us) for r in found.results])
    assert drawn[0] == drawn[1] == drawn[2]
    other = run(first, "plane", max_probes=7, salt="2")
    assert targets(other.results) != [target for target, _, _ in drawn[0]]


def test_a_sample_has_every_region_in_proportion(linear_grid: Path) -> None:
    whole = run(linear_grid, "plane", max_probes=None)
    drawn = run(linear_grid, "plane", max_probes=36)
    for name in {r.region for r in whole.results}:
        share = len(region(whole, name)) * 36 / len(whole.results)
        assert abs(len(region(drawn, name)) - share) < 1.001
    assert len(drawn.results) == 36


def test_small_truths_are_a_region_of_their_own(curved_grid: Path) -> None:
    whole = run(curved_grid, "plane")
    found = run(curved_grid, "plane", small_us=36.0)
    small = [r for r in whole.results if r.region != "edge" and (r.probe.truth_us or 0) < 36]
    assert small and targets(region(found, "small")) == targets(small)
    assert len(region(found, "edge")) == len(region(whole, "edge"))  # an end stays an end
    assert any((r.probe.truth_us or 0) < 36 for r in region(found, "edge"))


def test_nothing_of_a_run_stays_in_the_file(linear_grid: Path) -> None:
    before = hashlib.sha256(linear_grid.read_bytes()).hexdigest()
    first, second = run(linear_grid, "cross"), run(linear_grid, "cross")
    assert ratios(first.results) == ratios(second.results) and first.run_id == second.run_id
    assert hashlib.sha256(linear_grid.read_bytes()).hexdigest() == before
    assert [path.name for path in linear_grid.parent.iterdir() if "duckdb" in path.name] == [
        linear_grid.name
    ]


def test_an_unknown_name_is_told_with_the_known_ones(linear_grid: Path) -> None:
    for request, known in (
        ({"kernels": ("MatMulV9",)}, "MatMulV2"),
        ({"paths": ("nowhere",)}, "matmul"),
        ({"scheme": "half"}, "loo, plane, cross"),
        ({"aggregation": "max"}, "mean"),
        ({"version": "v9"}, "/v"),
        ({"config": {"colour": 1}}, "input_dtypes"),
        ({"where": "colour = 1"}, "kernel"),
        ({"where": "1; drop table point"}, "SQL"),
        ({"where": "kernel in (select 1)"}, "where"),
    ):
        with pytest.raises(UsageError, match=known):
            run(linear_grid, **request)


def test_what_is_not_asked_for_is_counted_by_reason(curved_grid: Path) -> None:
    found = run(curved_grid, "plane", axis="N")
    assert found.results == [] and found.skipped == {("MatMulV2", "matmul", "axis_constant"): 12}
    found = run(curved_grid, "plane", axis="seq")
    assert found.skipped == {("MatMulV2", "matmul", "axis_absent"): 12}
    along = run(curved_grid, "plane", axis="K")
    assert {r.probe.axis for r in along.results} == {1}


def test_regimes_are_chosen_by_fields_and_conditions(tmp_path: Path) -> None:
    wide = [matmul_line(m, 512, 768, 9.0).replace("DT_BF16", "FLOAT16") for m in MS]
    path = matmul_database(tmp_path, [*grid_lines(curved), *wide])
    both = run(path, "plane")
    assert len(both.groups) == 2
    chosen = run(path, "plane", config={"output_dtypes": ["FLOAT16"]})
    assert {r.probe.truth_us for r in chosen.results} == {9.0}
    for condition in ("dtype like '%FLOAT16%' and measurement_count < 5",
                      "not (measurement_count between 5 and 100)",
                      "measurement_count in (3, 4) or kernel is null"):  # fmt: skip
        assert len(run(path, "plane", where=condition).groups) == 1
    assert len(run(path, "plane", limit_groups=1).groups[0].points) == 12


def test_every_scheme_of_the_specification_is_there() -> None:
    assert list(SCHEMES) == ["loo", "plane", "cross", "thin", "tail", "head", "gap", "kfold"]


def test_a_header_alone_is_nothing_to_ask(tmp_path: Path) -> None:
    path = matmul_database(tmp_path, [MATMUL_HEADER, matmul_line(64, 512, 768, 5.0)])
    found = run(path)
    assert found.results == []
    assert found.skipped == {("MatMulV2", "matmul", "single_coordinate"): 1}
