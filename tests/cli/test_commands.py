"""The other commands: ingest, explain, views, demo, quickstart, help."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cli_support import VERSION, Run, mm
from typer.testing import CliRunner

from sqlinterp.cli.app import app
from sqlinterp.resources import resource_folder

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def version_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "NPU" / "backend" / "v1"
    folder.mkdir(parents=True)
    source = resource_folder("databases") / "SYNTHETIC_NPU" / "vllm_ascend" / VERSION
    for name in ("op_mapping.yaml", "RmsNorm.csv", "MatMulV2.csv"):
        shutil.copy(source / name, folder / name)
    return folder


def test_ingest_shows_counts_that_add_up(run: Run, tmp_path: Path) -> None:
    version_folder(tmp_path)
    first = run("ingest", "data", "--strict")
    assert first.returncode == 0
    assert "= stored" in first.stdout and "+ rejected" in first.stdout
    line = next(line for line in first.stdout.splitlines() if "v1" in line)
    _, files, read, stored, rejected, without, *_ = line.split()
    assert int(files) == 2
    assert int(read) == int(stored) + int(rejected) + int(without)
    again = run("ingest", "data")
    assert "unchanged" in again.stdout
    counted = run("sql", "--format", "csv", "SELECT sum(rows_read) AS n FROM kernel_coverage")
    assert counted.stdout == f"n\n{read}\n"


def test_strict_fails_on_an_lfs_pointer_and_the_rest_is_loaded(run: Run, tmp_path: Path) -> None:
    folder = version_folder(tmp_path)
    (folder / "Add.csv").write_text(POINTER)
    relaxed = run("ingest", "data")
    assert relaxed.returncode == 0
    assert "Add.csv" in relaxed.stderr and "LFS" in relaxed.stderr
    assert "Add.csv" not in relaxed.stdout
    strict = run("ingest", "data", "--strict")
    assert strict.returncode == 3
    assert "strict" in strict.stderr and "Traceback" not in strict.stderr
    assert run("lookup", stdin=mm(64, 1536, 2304)).returncode == 0


def test_many_messages_are_cut_with_a_way_to_the_rest(run: Run, tmp_path: Path) -> None:
    folder = version_folder(tmp_path)
    for number in range(25):
        (folder / f"Kernel{number}.csv").write_text("")
    result = run("ingest", "data")
    assert result.returncode == 0
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert 0 < len(errors) <= 20
    assert re.search(r"\.\.\. and \d+ more, see: sqlinterp sql", result.stderr)


def test_sources_that_are_not_there(run: Run, tmp_path: Path) -> None:
    absent = run("ingest", "nowhere")
    assert (absent.returncode, absent.stdout) == (3, "")
    assert "nowhere" in absent.stderr
    (tmp_path / "empty").mkdir()
    assert run("ingest", "empty").returncode == 3
    assert run("ingest").returncode == 2
    (tmp_path / "file.duckdb").write_text("this is no database, but it is long enough to look at")
    version_folder(tmp_path)
    wrong = run("ingest", "data", "--db", "file.duckdb")
    assert wrong.returncode == 4
    assert "file.duckdb" in wrong.stderr and "Traceback" not in wrong.stderr


def test_explain_shows_every_step(run: Run, sample: Path) -> None:
    result = run("explain", "--db", sample, "--version", VERSION, stdin=mm(100, 2000, 2304))
    assert (result.returncode, result.stderr) == (0, "")
    for text in (
        "1. Dispatch",
        "MatMulCommon.csv",
        "2. Operands",
        "lookup.classed_group",
        "paths.matmul",
        "M:16..64,K:1024..1536,N:2304",
        "M = 100, K = 2000, N = 2304",
        "MatMulV2.csv:25",
        "0.6250",
        "13.329 us",
    ):
        assert text in result.stdout
    products = re.findall(r"MatMulV2\.csv:\d+ .* (\d+\.\d{3})\n", result.stdout)
    assert sum(map(float, products)) == pytest.approx(13.3287640625, abs=2e-3)


def test_explain_of_a_miss_of_a_measured_row_and_of_nothing_to_do(run: Run, sample: Path) -> None:
    common = ["explain", "--db", sample, "--version", VERSION]
    miss = run(*common, stdin=mm(64, 1536, 99999))
    assert miss.returncode == 1
    assert "4. Attempts" in miss.stdout and "outside_axis_boundary" in miss.stdout
    exact = run(*common, stdin=mm(1, 5120, 768))
    assert exact.returncode == 0 and "MatMulV2.csv:3" in exact.stdout
    free = run(*common, stdin='{"op": "aten.view.default"}')
    assert free.returncode == 0 and "costs nothing" in free.stdout
    unmapped = run(*common, stdin='{"op": "aten.nosuch.default"}')
    assert unmapped.returncode == 1 and "no entry" in unmapped.stdout
    assert run(*common, stdin=f"{mm(1, 2, 3)}\n{mm(1, 2, 3)}").returncode == 2


def test_views_lists_names_columns_and_units(run: Run, sample: Path) -> None:
    everything = run("views", "--db", sample)
    assert everything.returncode == 0
    for text in ("kernel_coverage (view)", "measurement (table)", "[us]"):
        assert text in everything.stdout
    assert everything.stdout.index("(view)") < everything.stdout.index("(table)")
    one = run("views", "--db", sample, "--name", "point")
    assert "point (table)" in one.stdout and "regime (table)" not in one.stdout
    assert run("views", "--db", sample, "--name", "nope").returncode == 2


def test_demo_writes_where_it_may(run: Run, tmp_path: Path) -> None:
    result = run("demo", "out", "--scale", "0.002", "--seed", "3")
    assert (result.returncode, result.stderr) == (0, "")
    assert "total" in result.stdout
    assert (tmp_path / "out" / "SYNTHETIC_NPU" / "README.md").is_file()
    assert run("demo", "out", "--scale", "0").returncode == 2
    (tmp_path / "file").write_text("")
    assert run("demo", "file").returncode == 2


@pytest.mark.parametrize("columns", ["80", "100"])
def test_quickstart_shows_every_kind_of_answer(run: Run, columns: str) -> None:
    result = run("quickstart", COLUMNS=columns)
    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert all(len(line) <= int(columns) for line in result.stdout.splitlines())
    shown = re.sub(r"\s", "", result.stdout)
    for text in ("identity", "transpose", "padding", "zero_cost", "unmapped", "MEASURED"):
        assert text in shown
    assert "synthetic" in shown and "noanswer" in shown
    if columns == "100":
        plain = result.stdout
        for text in ("interpolated_1d", "interpolated_2d", "interpolated_3d", "axis_0 in 16"):
            assert text in plain
        for text in ("outside_axis_boundary", "kernel_coverage", "rows read", "RmsNorm.csv:"):
            assert text in plain
        assert "tour" in plain


def test_help_names_every_command_and_nothing_else_exists() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    names = ("quickstart", "ingest", "lookup", "explain", "sql", "views", "migrate", "demo")
    assert all(name in result.stdout for name in names)
    unknown = CliRunner().invoke(app, ["nosuch"])
    assert unknown.exit_code == 2
    assert "nosuch" in unknown.stderr and unknown.stdout == ""
    assert "sqlinterp" in CliRunner().invoke(app, ["--version"]).stdout


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlinterp.cli import main

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sqlinterp.cli.views_command.connect_reader", interrupted)
    with pytest.raises(SystemExit) as left:
        main(["views"])
    assert left.value.code == 130


def test_what_nobody_expected_is_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sqlinterp.cli import main

    def broken(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("sqlinterp.cli.views_command.connect_reader", broken)
    with pytest.raises(SystemExit) as left:
        main(["views"])
    assert left.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "unexpected RuntimeError: out of order" in captured.err
