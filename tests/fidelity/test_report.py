"""What the files and the command say."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER
from fidelity_support import curved, grid_lines, linear, matmul_database, matmul_line
from typer.testing import CliRunner

from sqlinterp.cli.app import app
from sqlinterp.fidelity import Request, hold_out
from sqlinterp.fidelity.sample import Sample
from sqlinterp.fidelity.statistics import statistics_of
from sqlinterp.model import Answer

FIELDS = {
    "target", "removed_us", "answer_us", "absolute_error_us", "relative_error", "source",
    "confidence", "method", "candidate_count",
}  # fmt: skip


def command(*arguments: object) -> tuple[int, str, str]:
    """Run the command; return exit code, stdout and stderr."""
    given = ["fidelity", *map(str, arguments)]
    done = CliRunner().invoke(app, given, env={"COLUMNS": "160", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matmul_database(tmp_path_factory.mktemp("report"), grid_lines(curved))


def test_the_files_tell_every_sample_and_agree(database: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    code, stdout, stderr = command("--db", database, "--out", tmp_path / "o")
    assert code == 0 and "holdout.md" in stderr
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    document = json.loads((tmp_path / "o/holdout.json").read_text())
    samples = document["samples"]
    assert len(samples) == 12 and all(set(sample) >= FIELDS for sample in samples)
    with (tmp_path / "o/holdout.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["axis_1"]) for r in rows] == [s["target"]["M"] for s in samples]
    assert [r["answer_us"] for r in rows] == [
        "" if s["answer_us"] is None else repr(s["answer_us"]) for s in samples
    ]
    inner = next(s for s in samples if s["target"] == {"M": 128, "K": 1024, "N": 768})
    answer = curved(64, 1024, 768) + (curved(256, 1024, 768) - curved(64, 1024, 768)) / 3
    truth = curved(128, 1024, 768)
    assert inner["removed_us"] == truth and inner["answer_us"] == pytest.approx(answer)
    assert inner["absolute_error_us"] == pytest.approx(answer - truth)
    assert inner["relative_error"] == pytest.approx(answer / truth - 1)
    assert (inner["source"], inner["method"]) == ("INTERPOLATED", "linear_1d")
    figures = document["all"]
    assert (figures["n"], figures["answered"], figures["unanswered"]) == (12, 8, 4)
    assert figures["worst_ratio"] == max(s["ratio"] for s in samples if s["ratio"])
    line = next(line for line in stdout.splitlines() if line.startswith("ALL"))
    assert line.split()[1:3] == ["12", "8"] and f"{figures['worst_ratio']:.3f}" in line


def test_the_markdown_has_the_figures_and_every_sample(database: Path, tmp_path: Path) -> None:
    command("--db", database, "--out", tmp_path)
    text = (tmp_path / "holdout.md").read_text()
    document = json.loads((tmp_path / "holdout.json").read_text())
    assert "12 samples: 8 answered, 4 not answered" in text
    assert document["miss_reasons"] and sum(document["miss_reasons"].values()) == 4
    for reason, count in document["miss_reasons"].items():
        assert f"| {reason} | {count} |" in text
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles[0] == "## By kernel and region" and titles[-1] == "## Samples"
    shown = text.split("## Samples")[1].strip().splitlines()[2:]
    assert len(shown) == len(document["samples"])
    for line, sample in zip(shown, document["samples"], strict=True):
        assert f"{sample['removed_us']:.3f}" in line
        assert ("miss" in line) == (sample["answer_us"] is None)
    widths = {line.count("|") for line in shown}
    assert len(widths) == 1


def test_two_runs_write_the_same_bytes(database: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        command("--db", database, "--split", "plane", "--limit", 5, "--out", tmp_path / name)
    for name in ("holdout.json", "holdout.md", "holdout.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_exit_codes(database: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "o")
    assert command("--db", database, "--kernel", "MatMulV9", *out)[0] == 2
    assert command("--db", database, "--split", "half", *out)[0] == 2
    assert command("--db", database, "--version", "none", *out)[0] == 2
    assert command("--db", database)[0] == 2
    assert command("--db", database, "--limit", 0, *out)[0] == 2
    assert command("--db", tmp_path / "absent.duckdb", *out)[0] == 4
    assert not (tmp_path / "absent.duckdb").exists() and not (tmp_path / "o").exists()
    (tmp_path / "text.duckdb").write_text("no database at all")
    assert command("--db", tmp_path / "text.duckdb", *out)[0] == 4
    code, _, stderr = command("--db", database, "--split", "plane", "--axis", "N", *out)
    assert code == 1 and "nothing could be held out" in stderr
    assert "axis_constant" in (tmp_path / "o/holdout.md").read_text()


def test_misses_alone_are_a_report_and_no_figures(tmp_path: Path) -> None:
    lines = [matmul_line(m, 512, 768, linear(m, 512, 768)) for m in (64, 256)]
    path = matmul_database(tmp_path, [MATMUL_HEADER, *lines])
    assert command("--db", path, "--out", tmp_path / "o")[0] == 0
    figures = json.loads((tmp_path / "o/holdout.json").read_text())["all"]
    assert (figures["n"], figures["answered"], figures["n_within"]) == (2, 0, 0)
    assert figures["median_ratio"] is None and figures["within_rate"] is None


@pytest.fixture
def sample(database: Path) -> Sample:
    return hold_out(Request(database, limit=1)).samples[0]


def answered(sample: Sample, *ratios: float) -> list[Sample]:
    """The sample with other answers."""
    truth = sample.question.point.truth_us
    answers = [Answer("op", "INTERPOLATED", ratio * truth) for ratio in ratios]
    return [Sample(sample.question, answer, "answered") for answer in answers]


def test_the_bar_is_the_same_factor_up_and_down(sample: Sample) -> None:
    found = answered(sample, 1.15, 1.1501, 1 / 1.15, 0.8695, 0.85)
    assert [s.is_within for s in found] == [True, False, True, False, False]


def test_the_worst_is_the_largest_factor_and_a_negative_answer_fails(sample: Sample) -> None:
    figures = statistics_of(answered(sample, 1.0, 1.5, 0.6))
    assert figures.worst is not None and figures.worst.ratio == pytest.approx(0.6)
    assert figures.median_ratio == pytest.approx(1.0) and figures.within == 1
    assert figures.median_error == pytest.approx(0.4)
    negative = statistics_of(answered(sample, 1.0, 9.0, -0.1))
    assert negative.answered == 3 and negative.within == 1
    assert negative.worst is not None and negative.worst.ratio == pytest.approx(-0.1)
