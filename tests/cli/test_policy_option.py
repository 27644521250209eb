"""``--policy`` of lookup and explain: named methods, extrapolation, and what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, mm
from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp.database import connect_writer

BEYOND = {"kernel_overrides": {"MatMulV2": {"extrapolation": {"allow": True}}}}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid over M and K without its middle, and figures of a hold-out run."""
    folder = tmp_path_factory.mktemp("policy")
    points = [(m, k) for m in (256, 512, 768, 1024) for k in (64, 128, 192) if (m, k) != (512, 128)]
    lines = [
        f'"{m},{k};{k},64",DT_BF16;DT_BF16,ND;ND,"{m},64",DT_BF16,ND,{m * k**1.5 / 65536!r}'
        for m, k in points
    ]
    files = {"MatMulV2.csv": [MATMUL_HEADER, *lines]}
    write_version(folder / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([folder / "d"], folder / "p.duckdb")
    connection = connect_writer(folder / "p.duckdb")
    connection.execute(
        "insert into error_quantile select version_id, 'MatMulV2', 'matmul', 0, 1, 1, 8, 120,"
        " 0.01, 0.0583, 0.1 from profile_version"
    )
    connection.close()
    return folder / "p.duckdb"


def answer(run: Run, database: Path, op: str, *arguments: str) -> dict[str, Any]:
    done = run("lookup", "--db", str(database), *arguments, "-", stdin=op)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if found["source"] is None else 0)
    return found


def test_json_text_and_a_file_say_the_same(run: Run, database: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("method: bracket_consensus\n")
    op = mm(512, 128, 64)
    plain = answer(run, database, op)
    told = answer(run, database, op, "--policy", '{"method": "bracket_consensus"}')
    assert answer(run, database, op, "--policy", str(file)) == told
    estimates = [one["latency_us"] for one in plain["details"]["error_bar"]["estimates"]]
    assert plain["latency_us"] == estimates[0]
    assert told["latency_us"] == pytest.approx(sum(estimates) / 2)


def test_extrapolation_is_an_option(run: Run, database: Path) -> None:
    op = mm(1536, 192, 64)
    assert answer(run, database, op)["miss_reason"] == "outside_axis_boundary"
    assert answer(run, database, op, "--policy", json.dumps(BEYOND))["source"] == "EXTRAPOLATED"


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ('{"method": "cubic"}', "method is 'cubic'"),
        ('{"methods": "multilinear"}', "methods is unknown"),
        ('{"extrapolation": {"allow": true}}', "kernel_overrides"),
        ("{", "no valid YAML"),
        ("missing.yaml", "cannot be read"),
        ("[1, 2]", "cannot be read"),
    ],
)
def test_a_policy_that_makes_no_sense_is_bad_usage(
    run: Run, database: Path, policy: str, problem: str
) -> None:
    done = run("lookup", "--db", str(database), "--policy", policy, "-", stdin=mm(512, 128, 64))
    assert done.returncode == 2 and done.stdout == ""
    assert problem in " ".join(done.stderr.split())


def test_explain_shows_the_error_bar(run: Run, database: Path) -> None:
    shown = run("explain", "--db", str(database), "-", stdin=mm(512, 128, 64)).stdout
    bar = shown[shown.index("6. Error bar") : shown.index("\nAnswer")]
    rows = [line.split() for line in bar.splitlines()]
    assert ["M", "256", "...", "768", "11.314"] in rows
    assert ["K", "64", "...", "192", "12.392"] in rows
    assert "the estimates differ by 9.5%" in bar
    assert "M: x 3" in bar
    assert "90 % of such answers were within 6.0 %" in bar and "(120 held-out points)" in bar


def test_explain_shows_where_the_range_ends(run: Run, database: Path) -> None:
    arguments = ("explain", "--db", str(database), "--policy", json.dumps(BEYOND), "-")
    shown = run(*arguments, stdin=mm(1536, 192, 64)).stdout
    assert "1536 lies above the largest measured value 1024" in shown
    assert "hold_rate: the work per microsecond at the edge is held" in shown
    assert "1.5 times the edge, work M" in shown and "extrapolated_1d_hold_rate" in shown
    missed = run(*arguments, stdin=mm(9000, 192, 64))
    assert missed.returncode == 1
    assert "hold_rate refused: ratio_guard, ratio 8.789" in missed.stdout
