"""What leaves together, and what is answered without it, on grids with a known law."""

from __future__ import annotations

import hashlib
from itertools import product
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call
from fidelity_support import (
    KS,
    MS,
    NS,
    curved,
    grid_lines,
    linear,
    matmul_database,
    matmul_line,
    run,
    targets,
)

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.fidelity.sample import ANSWERED, ON_GRID, UNANSWERED


@pytest.fixture(scope="module")
def linear_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matmul_database(tmp_path_factory.mktemp("linear"), grid_lines(linear))


@pytest.fixture(scope="module")
def curved_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matmul_database(tmp_path_factory.mktemp("curved"), grid_lines(curved))


@pytest.mark.parametrize(("split", "count"), [("loo", 12), ("plane", 24), ("thin", 7)])
def test_a_linear_law_has_no_error_wherever_there_is_an_answer(
    linear_grid: Path, split: str, count: int
) -> None:
    report = run(linear_grid, split=split)
    assert len(report.samples) == count
    for sample in report.samples:
        if sample.question.region == "edge":
            continue
        assert sample.outcome == ANSWERED and sample.answer.source == "INTERPOLATED"
        assert sample.ratio == pytest.approx(1, abs=1e-9)
        assert sample.question.point.truth_us == linear(*sample.question.point.coordinate[:3])


def test_an_end_that_nothing_surrounds_is_unanswered_and_never_scored(linear_grid: Path) -> None:
    report = run(linear_grid)
    corners = [s for s in report.samples if s.question.region == "edge"]
    assert targets(report, "edge") == [
        {"M": m, "K": k, "N": 768} for m, k in product((64, 512), (512, 2048))
    ]
    assert {s.outcome for s in corners} == {UNANSWERED}
    assert {(s.answer.latency_us, s.ratio, s.is_within) for s in corners} == {(None, None, None)}


def test_the_end_of_an_axis_can_be_answered_along_another(linear_grid: Path) -> None:
    found = {
        s.question.point.coordinate[:2]: s.answer.details.get("axes")
        for s in run(linear_grid).samples
    }
    assert found[(64, 1024)] == ["K"] and found[(128, 512)] == ["M"] and found[(128, 1024)] == ["M"]


def test_a_plane_leaves_together(curved_grid: Path) -> None:
    report = run(curved_grid, split="plane", axis="M")
    by_target = {s.question.point.coordinate[:2]: s for s in report.samples}
    assert sorted(by_target) == sorted(product(map(float, MS), map(float, KS)))
    inner = by_target[(128, 1024)]
    expected = curved(64, 1024, 768) + (curved(256, 1024, 768) - curved(64, 1024, 768)) / 3
    assert inner.answer.latency_us == pytest.approx(expected, rel=1e-12)
    assert inner.answer.details["boundary"] == {"M": [64.0, 256.0]} and inner.cell_ratio == 4
    assert by_target[(64, 1024)].outcome == UNANSWERED
    assert by_target[(64, 1024)].question.region == "edge"


def test_a_point_that_left_alone_is_answered_from_closer_points_than_its_plane(
    curved_grid: Path,
) -> None:
    alone = {s.question.point.coordinate: s for s in run(curved_grid).samples}
    corner = (64, 1024, 768, 0)
    assert alone[corner].answer.details["axes"] == ["K"]
    assert alone[corner].ratio == pytest.approx(1, abs=1e-9)


def test_every_second_value_leaves_at_once_and_the_ends_stay(tmp_path: Path) -> None:
    lines = [matmul_line(m, 512, 768, curved(m, 512, 768)) for m in (64, 128, 192, 256, 320, 384)]
    report = run(matmul_database(tmp_path, [MATMUL_HEADER, *lines]), split="thin")
    assert [t["M"] for t in targets(report)] == [128, 256]
    bounds = [s.answer.details["boundary"]["M"] for s in report.samples]
    assert bounds == [[64, 192], [192, 320]]
    assert {s.question.leaving.coordinates for s in report.samples} == {
        ((128, 512, 768, 0), (256, 512, 768, 0))
    }


def test_repetitions_columns_and_formats_of_a_coordinate_leave_together(tmp_path: Path) -> None:
    """Whatever of (128, 512) stayed would answer in place of its neighbours, or as measured."""
    header = MATMUL_HEADER + ",Duration(us)"
    inner = [
        matmul_line(128, 512, 768, "20,"),
        matmul_line(128, 512, 768, "24,"),
        matmul_line(128, 512, 768, ",700"),
        matmul_line(128, 512, 768, "90,", formats="ND;FRACTAL_NZ"),
    ]
    ends = [matmul_line(64, 512, 768, "10,"), matmul_line(256, 512, 768, "40,")]
    report = run(matmul_database(tmp_path, [header, *inner, *ends]))
    nd = next(s for s in report.samples if s.question.point.truth_us == 22)
    assert nd.question.point.measurement_count == 2 and nd.question.point.spread == 1.2
    assert nd.answer.latency_us == pytest.approx(20) and nd.answer.source == "INTERPOLATED"
    assert nd.record()["absolute_error_us"] == pytest.approx(2)
    assert nd.record()["relative_error"] == pytest.approx(2 / 22)
    assert nd.answer.details["raw_count"] == 2
    assert [s.record()["target"]["M"] for s in report.samples] == [64, 128, 256]
    assert report.skipped == {("MatMulV2", "matmul", "not_answered_by_its_own_point"): 1}


def test_the_truth_follows_the_aggregation(tmp_path: Path) -> None:
    lines = [matmul_line(128, 512, 768, x) for x in (20, 21, 40)]
    ends = [matmul_line(64, 512, 768, 10), matmul_line(256, 512, 768, 40)]
    path = matmul_database(tmp_path, [MATMUL_HEADER, *lines, *ends])
    truths = {
        name: [s.question.point.truth_us for s in run(path, aggregation=name).samples][1]
        for name in ("mean", "median", "min", "first")
    }
    assert truths == {"mean": 27, "median": 21, "min": 20, "first": 20}


def test_a_measurement_of_the_same_coordinate_elsewhere_is_told_and_not_scored(
    tmp_path: Path,
) -> None:
    rows = [matmul_line(m, 512, 768, linear(m, 512, 768)) for m in (64, 128, 256)]
    half = [row.replace("DT_BF16", "FLOAT16") for row in rows]
    report = run(matmul_database(tmp_path, [MATMUL_HEADER, *rows, *half]))
    inner = {
        s.question.call.args[0].dtype: s.outcome
        for s in report.samples
        if s.question.point.coordinate[0] == 128
    }
    assert inner == {"bfloat16": ANSWERED, "float16": ON_GRID}


def test_nothing_of_a_run_stays_in_the_file_or_in_later_samples(linear_grid: Path) -> None:
    before = hashlib.sha256(linear_grid.read_bytes()).hexdigest()
    first, second = run(linear_grid), run(linear_grid)
    assert [s.record() for s in first.samples] == [s.record() for s in second.samples]
    assert hashlib.sha256(linear_grid.read_bytes()).hexdigest() == before
    assert [path.name for path in linear_grid.parent.iterdir() if "duckdb" in path.name] == [
        linear_grid.name
    ]


def test_a_call_is_answered_by_its_own_row_while_nothing_is_held_out(linear_grid: Path) -> None:
    samples = run(linear_grid).samples
    with sqlinterp.open(linear_grid) as database:
        answers = database.lookup_many([s.question.call for s in samples])
        told = database.lookup(matmul_call(128, 1024, 768))
    assert [a.latency_us for a in answers] == [s.question.point.truth_us for s in samples]
    assert [a.details["line"] for a in answers] == [s.question.point.line_number for s in samples]
    assert told in answers and len(answers) == len(MS) * len(KS) * len(NS)


def test_a_seed_draws_the_same_samples_again_and_another_one_others(linear_grid: Path) -> None:
    drawn = [targets(run(linear_grid, limit=4, seed=seed)) for seed in (1, 1, 2, 3)]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 4
    assert drawn[0] != drawn[2] or drawn[0] != drawn[3]
    assert all(target in targets(run(linear_grid)) for target in drawn[0])


def test_an_unknown_name_is_told_with_the_known_ones(linear_grid: Path) -> None:
    for request, known in (
        ({"kernels": ("MatMulV9",)}, "MatMulV2"),
        ({"paths": ("nowhere",)}, "matmul"),
        ({"split": "half"}, "loo, plane, thin"),
        ({"axis": "seq"}, "K, M, N"),
        ({"aggregation": "max"}, "mean"),
    ):
        with pytest.raises(UsageError, match=known):
            run(linear_grid, **request)


def test_what_is_not_asked_for_is_counted_by_reason(linear_grid: Path) -> None:
    report = run(linear_grid, split="plane", axis="N")
    assert report.samples == [] and report.skipped == {("MatMulV2", "matmul", "axis_constant"): 12}
