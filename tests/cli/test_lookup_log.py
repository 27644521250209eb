"""``lookup`` on traces: lines that come again, weights, and what is reported at the end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import VERSION, Run, invocation, mm

from sqlinterp.cli.requests import Line
from sqlinterp.cli.stream import Stream
from sqlinterp.session import open_database
from sqlinterp.simulator.log import LookupLog

EXACT, BETWEEN, BEYOND = mm(64, 1536, 2304), mm(100, 1536, 2304), mm(64, 1536, 99_999)
SIN, VIEW = invocation("aten.sin.default", [4]), invocation("aten.view.default", [4])


def weighted(text: str, **keys: Any) -> str:
    return json.dumps({**json.loads(text), **keys})


def trace(folder: Path, *lines: str) -> Path:
    path = folder / "trace.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_lines_that_come_again_get_the_same_answer(run: Run, sample: Path, tmp_path: Path) -> None:
    lines = [EXACT, BETWEEN, EXACT, BEYOND, "{", EXACT, "{"]
    done = run("lookup", "--db", sample, "--version", VERSION, trace(tmp_path, *lines))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(found) == 7
    assert found[0] == found[2] == found[5] and found[0]["source"] == "MEASURED"
    assert found[1]["source"] == "INTERPOLATED"
    reasons = [found[place]["miss_reason"] for place in (4, 6)]
    assert [reason.split(": ")[:2] for reason in reasons] == [
        ["bad_request", "line 5"],
        ["bad_request", "line 7"],
    ]


def test_a_line_that_comes_again_is_not_asked_again(sample: Path) -> None:
    with open_database(sample, VERSION) as database:
        stream = Stream(database, None)
        lines = [Line(n, text.encode()) for n, text in enumerate((EXACT, BEYOND), start=1)]
        first = stream.answer(lines)
        database.close()
        assert stream.answer(lines * 3) == first * 3
        assert "the database is closed" in stream.answer([Line(9, BETWEEN.encode())])[0]


def test_metrics_log_and_summary(run: Run, sample: Path, tmp_path: Path) -> None:
    lines = [
        weighted(EXACT, count=6, analytic_us=10),
        weighted(EXACT, count=6, analytic_us=10),
        weighted(BETWEEN, count=2, analytic_us=5.5),
        weighted(BEYOND, analytic_us=9),
        VIEW,
        SIN,
    ]
    done = run(
        "lookup", "--db", sample, "--version", VERSION, "--log", "log.duckdb",
        "--export-metrics", "metrics.json", "--summary", trace(tmp_path, *lines),
    )  # fmt: skip
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 6
    report = json.loads((tmp_path / "metrics.json").read_text())
    shares = [(report[m]["hit"], report[m]["total"]) for m in ("m1", "m2", "m3", "m4", "m5")]
    assert shares == [(15, 17), (1, 3), (0, 2), (2, 4), (131, 140)]
    assert [miss["op"] for miss in report["misses"]] == ["aten.mm.default", "aten.sin.default"]
    assert "5 rows were added to lookup_log in log.duckdb" in done.stderr
    table = done.stderr.splitlines()
    assert table[0] == "Profiling interpolation summary"
    assert table[1].split()[:6] == [
        "op_name", "source", "confidence", "method", "axes", "latency_us",
    ]  # fmt: skip
    assert [line.split()[0] for line in table[2:5]] == ["aten.mm.default"] * 3
    rows = run("sql", "--db", "log.duckdb", "--format", "json", "SELECT m1, m5 FROM lookup_metrics")
    assert json.loads(rows.stdout) == [{"m1": 15 / 17, "m5": 131 / 140}]
    reasons = run(
        "sql", "--db", "log.duckdb", "--format", "csv",
        "SELECT op, miss_reason, calls FROM miss_reason ORDER BY op",
    )  # fmt: skip
    assert reasons.stdout == (
        "op,miss_reason,calls\naten.mm.default,outside_axis_boundary,1\naten.sin.default,unmapped,1\n"
    )


def test_the_log_may_be_the_database_itself(run: Run, sample: Path, tmp_path: Path) -> None:
    shutil.copyfile(sample, tmp_path / "own.duckdb")
    for expected in (1, 1):
        done = run("lookup", "--db", "own.duckdb", "--version", VERSION, "--log", "own.duckdb",
                   stdin=BEYOND)  # fmt: skip
        assert done.returncode == expected
    counted = run("sql", "--db", "own.duckdb", "--format", "csv",
                  "SELECT count(*) AS n, min(m1) AS m1 FROM lookup_metrics")  # fmt: skip
    assert counted.stdout == "n,m1\n2,0.0\n"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"count": 0}, "count is 0, expected a positive integer"),
        ({"count": True}, "count is True"),
        ({"count": "2"}, "count is '2'"),
        ({"analytic_us": -1}, "analytic_us is -1, expected a latency"),
        ({"analytic_us": "soon"}, "analytic_us is 'soon'"),
        ({"weight": 1}, "unknown keys: weight"),
    ],
)
def test_wrong_weights_are_bad_requests(
    keys: dict[str, Any], message: str, run: Run, sample: Path
) -> None:
    arguments = ("lookup", "--db", sample, "--version", VERSION)
    alone = run(*arguments, stdin=weighted(EXACT, **keys))
    assert alone.returncode == 2 and message in alone.stderr and alone.stdout == ""
    among = run(*arguments, stdin=f"{weighted(EXACT, **keys)}\n{weighted(EXACT, count=2)}\n")
    first, second = map(json.loads, among.stdout.splitlines())
    assert among.returncode == 0
    assert (
        first["miss_reason"].startswith("bad_request: line 1: ") and message in first["miss_reason"]
    )
    assert second["source"] == "MEASURED"


def test_a_tensor_may_have_keys_of_any_name_in_its_text(run: Run, sample: Path) -> None:
    op = {**json.loads(EXACT), "kwargs": {"count": 3}}
    done = run("lookup", "--db", sample, "--version", VERSION, stdin=json.dumps(op))
    assert done.returncode == 0 and json.loads(done.stdout)["source"] == "MEASURED"


def test_calls_of_one_invocation_are_logged_too(run: Run, sample: Path, tmp_path: Path) -> None:
    done = run("lookup", "--db", sample, "--version", VERSION, "--export-metrics", "m.json",
               "--disable-profiling-interpolation", stdin=weighted(BETWEEN, count=4))  # fmt: skip
    report = json.loads((tmp_path / "m.json").read_text())
    assert done.returncode == 1
    assert (report["mode"], report["m1"]["total"], report["m1"]["ratio"]) == ("exact", 4, 0)


def test_a_stream_has_one_row_per_distinct_line(sample: Path) -> None:
    with open_database(sample, VERSION) as database:
        log = LookupLog(database.version_key)
        stream = Stream(database, log)
        for _ in range(3):
            stream.answer([Line(1, EXACT.encode()), Line(2, b"{"), Line(3, EXACT.encode())])
    assert [row.calls for row in log.rows] == [6]
