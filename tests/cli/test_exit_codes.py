"""Exit codes and split streams of the commands, good and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from cli_support import VERSION, Outcome, Run, environment, invocation, mm

MM = "aten.mm.default"
HUGE = 2**40


def quiet(result: Outcome) -> str:
    """Return stderr after checking that it holds no traceback."""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_an_answer_is_one_json_line_and_exit_0(spawn: Run, sample: Path) -> None:
    result = spawn("lookup", "--db", sample, "--version", VERSION, stdin=mm(64, 1536, 2304))
    assert (result.returncode, quiet(result)) == (0, "")
    answer = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert (answer["op"], answer["source"], answer["latency_us"]) == (MM, "MEASURED", 11.025298)


def test_a_pretty_printed_object_from_a_file_and_the_environment_variable(
    run: Run, sample: Path, tmp_path: Path
) -> None:
    file = tmp_path / "op.json"
    file.write_text(json.dumps(json.loads(mm(64, 1536, 2304)), indent=4))
    result = run("lookup", "--version", VERSION, file, SQLINTERP_DB=str(sample))
    assert result.returncode == 0
    assert json.loads(result.stdout)["source"] == "MEASURED"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (mm(64, 1536, 99999), "outside_axis_boundary"),
        (invocation("aten.nosuch.default", [4]), "unmapped"),
        (invocation(MM, [64], [1536, 2304]), "matmul_axes_unextractable"),
        (invocation(MM, [64, 7], [1536, 2304]), "matmul_axes_unextractable"),
        (invocation(MM, [HUGE, HUGE], [HUGE, HUGE]), "outside_axis_boundary"),
        (invocation(MM, [64, 1536], [1536, 2304], dtype="odd9"), "dtype_unmapped:args[0]:odd9"),
        ('{"op": "\\ud800"}', "unmapped"),
    ],
)
def test_a_miss_says_why_and_exits_with_1(run: Run, sample: Path, given: str, reason: str) -> None:
    result = run("lookup", "--db", sample, "--version", VERSION, stdin=given)
    assert (result.returncode, quiet(result)) == (1, "")
    answer = json.loads(result.stdout)
    assert (answer["source"], answer["latency_us"]) == (None, None)
    assert answer["miss_reason"] == reason


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("", "there is no invocation"),
        ("{", "no valid JSON"),
        ("[1]", "expected an object"),
        ("[" * 100_000, "no valid JSON"),
        ("\udcff", "malformed invocation"),
        (invocation(MM, [-4, 2]), "args[0].shape is [-4, 2]"),
        (invocation(MM, [4], [HUGE + 1]), "args[1].shape"),
        ('{"op": "a", "args": [{"shape": [4]}]}', "args[0].dtype"),
        ('{"op": "a", "args": 3}', "args is 3"),
        ('{"op": 3}', "op is 3"),
        ('{"op": "a", "arg": []}', "unknown keys: arg"),
        ('{\n "op": "a",\n "args": [\n}', "no valid JSON"),
    ],
)
def test_a_malformed_invocation_is_named_and_exits_with_2(
    run: Run, sample: Path, given: str, named: str
) -> None:
    data = given.encode("utf-8", "surrogateescape")
    file = sample.with_name("bad.json")
    file.write_bytes(data)
    result = run("lookup", "--db", sample, "--version", VERSION, file)
    assert (result.returncode, result.stdout) == (2, "")
    assert named in quiet(result)


@pytest.mark.parametrize(
    ("flags", "code", "named"),
    [
        (["--version", "nope"], 2, "vllm0.13.0_torch2.8.0_cann8.3, SYNTHETIC_NPU/vllm_ascend"),
        ([], 2, "holds 3 versions"),
        (["--version", VERSION, "--aggregation", "most"], 2, "expected mean"),
        (["--version", VERSION, "--comm-grid", "4y4"], 2, "48x8x2"),
        (["--version", VERSION, "--ep-size", "0"], 2, "--ep-size"),
        (["--version", VERSION, "absent.json"], 2, "absent.json"),
        (["--version", VERSION, "."], 2, "cannot be read"),
        (["--nosuch"], 2, "--nosuch"),
        (["--db", "absent.duckdb"], 4, "absent.duckdb: there is no such database file"),
        (["--db", __file__], 4, "no DuckDB database"),
    ],
)
def test_bad_usage(run: Run, sample: Path, flags: list[str], code: int, named: str) -> None:
    result = run("lookup", "--db", sample, *flags, stdin=mm(1, 2, 3))
    assert (result.returncode, result.stdout) == (code, "")
    assert named in quiet(result)


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["lookup", "--version", VERSION], "{", 2),
        (["lookup", "--version", VERSION], mm(64, 1536, 99999), 1),
        (["lookup", "--nosuch"], "", 2),
        (["sql", "SELEC 1"], "", 4),
        (["ingest", "nowhere"], "", 3),
    ],
)
def test_exit_codes_of_a_process(
    spawn: Run, sample: Path, arguments: list[str], stdin: str, code: int
) -> None:
    result = spawn(*arguments, stdin=stdin, SQLINTERP_DB=str(sample))
    assert result.returncode == code
    assert bool(result.stdout) == (code == 1)
    assert bool(quiet(result)) == (code != 1)


def test_flags_reach_the_lookup(run: Run, sample: Path) -> None:
    common = ["--db", sample, "--version", VERSION]
    given = mm(100, 1536, 2304)
    flags = ["--ep-size", "16", "--tp-size", "2", "--comm-grid", "48x8x2", "--sequence-parallel"]
    assert run("lookup", *common, *flags, "--aggregation", "reference", stdin=given).returncode == 0
    exact = run("lookup", *common, "--disable-profiling-interpolation", "-", stdin=given)
    assert exact.returncode == 1
    assert json.loads(exact.stdout)["miss_reason"] == "shape_mismatch"


def test_a_stream_is_answered_in_order_around_its_bad_lines(spawn: Run, sample: Path) -> None:
    lines = [mm(64, 1536, 2304), "{oops", "", mm(64, 1536, 99999), '{"op": 1}', mm(100, 1536, 2304)]
    result = spawn("lookup", "--db", sample, "--version", VERSION, stdin="\n".join(lines))
    assert (result.returncode, quiet(result)) == (0, "")
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [a["source"] for a in answers] == ["MEASURED", None, None, None, "INTERPOLATED"]
    assert [a["op"] for a in answers] == [MM, None, MM, None, MM]
    bad = answers[1]
    assert bad["miss_reason"].startswith("bad_request: line 2: ")
    assert answers[3]["miss_reason"].startswith("bad_request: line 5: ")
    assert set(bad) == set(answers[0])


def test_a_stream_may_begin_with_a_bad_line(run: Run, sample: Path) -> None:
    stdin = "\n".join(['{"op": "x", "args": [', mm(64, 1536, 2304), mm(64, 1536, 2304)])
    result = run("lookup", "--db", sample, "--version", VERSION, stdin=stdin)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [a["source"] for a in answers] == [None, "MEASURED", "MEASURED"]
    assert result.returncode == 0


def test_a_database_that_lacks_migrations_says_what_to_run(run: Run, tmp_path: Path) -> None:
    old = tmp_path / "old.duckdb"
    duckdb.connect(str(old)).close()
    result = run("lookup", "--db", old, stdin=mm(1, 2, 3))
    assert result.returncode == 4
    assert f"sqlinterp migrate --db {old}" in quiet(result)
    assert "pending" in run("migrate", "--db", old, "--status").stdout
    done = run("migrate", "--db", old)
    assert (done.returncode, "pending" in done.stdout) == (0, False)
    assert "applied" in done.stderr
    assert "pending" not in run("migrate", "--db", old, "--status").stdout
    assert run("migrate", "--db", tmp_path / "absent.duckdb").returncode == 4


def test_closing_the_output_early_is_quiet(run: Run, sample: Path, tmp_path: Path) -> None:
    lines = tmp_path / "many.jsonl"
    lines.write_text((mm(64, 1536, 2304) + "\n") * 3000)
    command = [sys.executable, "-m", "sqlinterp", "lookup", "--db", str(sample)]
    with subprocess.Popen(
        [*command, "--version", VERSION, str(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
