"""What the files and the command say."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fidelity_support import curved, grid_lines, linear, matmul_database, matmul_line
from typer.testing import CliRunner

import sqlinterp
from sqlinterp.cli.app import app

FILES = ("fidelity.json", "fidelity.md", "fidelity.html", "probes.csv", "regions.csv", "groups.csv")
# What the profiling RFC, phase 1, section 11.3, asks a hold-out report for.
FIELDS = {
    "target", "truth_us", "pred_us", "absolute_error_us", "relative_error", "source",
    "confidence", "method", "n_candidates",
}  # fmt: skip


def command(*arguments: object) -> tuple[int, str, str]:
    """Run the command; return exit code, stdout and stderr."""
    given = ["fidelity", *map(str, arguments)]
    done = CliRunner().invoke(app, given, env={"COLUMNS": "160", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return matmul_database(tmp_path_factory.mktemp("report"), grid_lines(curved))


@pytest.fixture(scope="module")
def written(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    code, _, _ = command(
        "--db", database, "--scheme", "loo", "--scheme", "plane", "--set", "small_us=0",
        "--compare", '{"policy": {"max_interpolation_dim": 0}}', "--out", folder,
    )  # fmt: skip
    assert code == 0
    return folder


def test_the_files_tell_every_probe_and_agree(database: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    out = tmp_path / "o"
    code, stdout, stderr = command("--db", database, "--out", out, "--set", "small_us=0")
    assert code == 0 and "fidelity.html" in stderr
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    (document,) = json.loads((out / "fidelity.json").read_text())["runs"]
    probes = document["probes"]
    assert len(probes) == 12 and all(set(probe) >= FIELDS for probe in probes)
    with (out / "probes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["x0"]) for r in rows] == [p["target"]["M"] for p in probes]
    assert [r["x0_name"] for r in rows] == ["M"] * 12
    assert [r["pred_us"] for r in rows] == [
        "" if p["pred_us"] is None else repr(p["pred_us"]) for p in probes
    ]
    inner = next(p for p in probes if p["target"] == {"M": 128, "K": 1024, "N": 768})
    answer = (curved(64, 1024, 768) + curved(192, 1024, 768)) / 2
    truth = curved(128, 1024, 768)
    assert inner["truth_us"] == truth and inner["pred_us"] == pytest.approx(answer)
    assert inner["absolute_error_us"] == pytest.approx(answer - truth)
    assert inner["relative_error"] == pytest.approx(answer / truth - 1)
    assert (inner["source"], inner["method"]) == ("INTERPOLATED", "linear_1d")
    figures = document["all"]
    assert (figures["n_probe"], figures["n_truth"], figures["n_answered"]) == (12, 12, 8)
    line = next(line for line in stdout.splitlines() if line.startswith("ALL"))
    assert line.split()[3:6] == ["12", "12", "8"] and f"{figures['worst']:.3f}" in line


def test_the_markdown_has_the_figures_and_every_probe(database: Path, tmp_path: Path) -> None:
    command("--db", database, "--out", tmp_path)
    text = (tmp_path / "fidelity.md").read_text()
    (document,) = json.loads((tmp_path / "fidelity.json").read_text())["runs"]
    assert "12 probes of 1 regimes: 12 with a truth, 8 of them answered" in text
    assert document["miss_reasons"] and sum(document["miss_reasons"].values()) == 4
    for reason, count in document["miss_reasons"].items():
        assert f"| {reason} | {count} |" in text
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles[0] == "## Regions" and titles[-1] == "## Probes"
    shown = text.split("## Probes")[1].strip().splitlines()[2:]
    assert len(shown) == len(document["probes"])
    for line, probe in zip(shown, document["probes"], strict=True):
        assert f"{probe['truth_us']:.3f}" in line
        assert ("MISS" in line) == (probe["pred_us"] is None)
    assert len({line.count("|") for line in shown}) == 1


def test_several_schemes_are_sections_of_one_report(written: Path) -> None:
    runs = json.loads((written / "fidelity.json").read_text())["runs"]
    assert [run["request"]["truth"]["scheme"] for run in runs] == ["loo", "plane"]
    assert len({run["run_id"] for run in runs}) == 2
    text = (written / "fidelity.md").read_text()
    assert "## Hold-out loo" in text and "## Hold-out plane" in text and "### Comparison" in text
    with (written / "regions.csv").open(newline="") as file:
        regions = list(csv.DictReader(file))
    assert {row["scheme"] for row in regions} == {"loo", "plane"}
    with (written / "probes.csv").open(newline="") as file:
        probes = list(csv.DictReader(file))
    assert {row["run_id"] for row in probes} == {run["run_id"] for run in runs}
    assert all(row["cmp_us"] == "" for row in probes)  # the other policy interpolates nothing


def test_the_page_loads_nothing_and_repeats_no_id(written: Path) -> None:
    page = (written / "fidelity.html").read_text()
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page) and "@import" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("<svg") >= 6
    for name in re.findall(r'href="([^"#]+\.csv)"', page):
        assert (written / name).is_file(), name
    for anchor in re.findall(r'<a href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page


def test_a_browser_sorts_every_table_of_the_page(written: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("there is no browser")
    page = (written / "fidelity.html").as_uri()
    done = subprocess.run(
        [browser, "--headless=new", "--disable-gpu", "--no-sandbox", "--no-first-run",
         f"--user-data-dir={tmp_path}", "--window-size=500,900", "--enable-logging=stderr",
         "--disable-dev-shm-usage", "--virtual-time-budget=3000", "--dump-dom", f"{page}#check"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    root = re.search(r"<html[^>]*>", done.stdout)
    assert root, done.stderr
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', root[0]))
    assert found["problems"] == "" and found["overflow"] == "0" and int(found["presses"]) > 50
    assert "CONSOLE" not in done.stderr, done.stderr


def test_two_runs_write_the_same_bytes(database: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        command("--db", database, "--scheme", "plane", "--max-probes", 5, "--out", tmp_path / name)
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_names_that_are_no_html_stay_text(tmp_path: Path) -> None:
    lines = grid_lines(linear)
    path = matmul_database(tmp_path, lines, **{"A<script>B": lines})
    assert command("--db", path, "--kernel", "A<script>B", "--out", tmp_path / "o")[0] == 0
    page = (tmp_path / "o/fidelity.html").read_text()
    assert "A<script>B" not in page and "A&lt;script&gt;B" in page


def test_exit_codes(database: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "o")
    assert command("--db", database, "--kernel", "MatMulV9", *out)[0] == 2
    assert command("--db", database, "--scheme", "half", *out)[0] == 2
    assert command("--db", database, "--version", "none", *out)[0] == 2
    assert command("--db", database, "--max-probes", 0, *out)[0] == 2
    assert command("--db", database, "--bar", 0, *out)[0] == 2
    assert command("--db", database, "--set", "colour=1", *out)[0] == 2
    assert command("--db", database, "--set", "cells=many", *out)[0] == 2
    assert command("--db", database, "--compare", "{}", *out)[0] == 2
    assert command("--db", database, "--truth-command", "ls -l", *out)[0] == 2
    assert command("--db", database, "--truth-command", '["/no/such/program"]', *out)[0] == 2
    assert command("--db", database, "--truth-command", '["false"]', *out)[0] == 4
    table = tmp_path / "t.csv"
    table.write_text("M,K,N,time_us\n")
    both = ("--truth-table", table, "--scheme", "loo")
    assert command("--db", database, *both, *out)[0] == 2
    assert command("--db", database, "--truth-table", table, *out)[0] == 3
    assert command("--db", tmp_path / "absent.duckdb", *out)[0] == 4
    assert not (tmp_path / "absent.duckdb").exists() and not (tmp_path / "o").exists()
    (tmp_path / "text.duckdb").write_text("no database at all")
    assert command("--db", tmp_path / "text.duckdb", *out)[0] == 4
    code, _, stderr = command("--db", database, "--scheme", "plane", "--axis", "N", *out)
    assert code == 1 and "axis_constant" in stderr
    assert "axis_constant" in (tmp_path / "o/fidelity.md").read_text()


def test_strict_fails_on_a_failed_region_only(tmp_path: Path) -> None:
    good = matmul_database(tmp_path / "good", grid_lines(linear))
    assert command("--db", good, "--strict")[0] == 0
    bad = matmul_database(
        tmp_path / "bad", grid_lines(lambda m, k, n: 1.0 * m**3, ((64, 128, 256, 512, 1024, 2048,
                                                                   4096, 8192), (512,), (768,)))
    )  # fmt: skip
    assert command("--db", bad)[0] == 0
    assert command("--db", bad, "--strict")[0] == 5


def test_misses_alone_are_a_report_and_no_figures(tmp_path: Path) -> None:
    lines = [matmul_line(m, 512, 768, linear(m, 512, 768)) for m in (64, 256)]
    path = matmul_database(tmp_path, [grid_lines(linear)[0], *lines])
    assert command("--db", path, "--out", tmp_path / "o")[0] == 0
    (document,) = json.loads((tmp_path / "o/fidelity.json").read_text())["runs"]
    figures = document["all"]
    assert (figures["n_probe"], figures["n_answered"], figures["n_within"]) == (2, 0, 0)
    assert figures["med"] is None and figures["within_rate"] is None


def test_recording_calibrating_and_suggesting(database: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(database, tmp_path / "p.duckdb"))
    code, stdout, stderr = command("calibrate", "--db", path)
    assert code == 1 and "fidelity --record" in stderr
    code, _, stderr = command("--db", path, "--scheme", "plane", "--record", "--set", "small_us=0")
    assert code == 0 and "recorded: " in stderr
    code, stdout, _ = command("calibrate", "--db", path, "--least", 4)
    assert code == 0 and "MatMulV2" in stdout
    with sqlinterp.open(path) as opened:
        rows = opened.sql("select count(*) from fidelity_run").fetchall()
    assert rows == [(1,)]
    code, stdout, stderr = command("suggest", "--db", path, "--kernel", "MatMulV2", "--limit", 3)
    assert code == 0 and stdout.splitlines()[0].startswith("kernel,")
    assert len(stdout.splitlines()) <= 4
