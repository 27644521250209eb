"""``sqlinterp density`` as a person calls it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from databases_for_tests import MATMUL_HEADER, write_version
from typer.testing import CliRunner, Result

import sqlinterp
from sqlinterp.cli.app import app
from sqlinterp.density import default_text

MINE = {"name": "mine", "axis": "M", "limits": [{"from": 1, "max_gap": 2}], "required": [9]}


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with M of 1, 4 and 8."""
    folder = tmp_path_factory.mktemp("density")
    rows = [f'"{m},16;16,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m}' for m in (1, 4, 8)]
    files = {"MatMulV2.csv": [MATMUL_HEADER, *rows]}
    version = write_version(folder / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([version], folder / "p.duckdb")
    return folder / "p.duckdb"


@pytest.fixture
def database(ingested: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(ingested, tmp_path / "p.duckdb"))


def run(*arguments: str | Path, width: int = 130) -> Result:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1"}
    return CliRunner().invoke(app, ["density", *map(str, arguments)], env=environment)


def write(folder: Path, *rules: object) -> Path:
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump({"rules": list(rules)}), encoding="utf-8")
    return file


def lines(result: Result) -> list[str]:
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_it_shows_the_rules_in_force_and_what_breaks_them(database: Path) -> None:
    before = database.read_bytes()
    shown = run("--db", database, width=250)
    assert shown.exit_code == 0 and "12 rules shipped with sqlinterp" in shown.stderr
    found = lines(shown)
    assert found[2] == (  # 2, 3; 5, 6, 7; and 26 steps from 8 to 32768
        "matmul M M matmul, quantized_matmul 1..8:+1 8..16:+2 16..32:+4 32..64:+8 64..128:+16"
        " 128..256:+64 256..1024:+256 1024..32768:x2 1 32768 1 3 31"
    )
    assert database.read_bytes() == before


def test_a_file_takes_their_place_and_the_shipped_ones_come_back(
    database: Path, tmp_path: Path
) -> None:
    loaded = run(write(tmp_path, MINE), "--db", database)
    assert loaded.exit_code == 0 and "1 rule from mine.yaml" in loaded.stderr
    # 3 between 1 and 4; 6 between 4 and 8; 9 is required.
    assert lines(loaded)[-1] == "mine M any 1..:+2 9 1 3 3"
    assert run("--db", database).stdout == loaded.stdout
    restored = run("--default", "--db", database)
    assert "12 rules shipped" in restored.stderr and "matmul M" in restored.stdout


def test_the_template_can_be_loaded(database: Path, tmp_path: Path) -> None:
    template = run("--template")
    assert template.exit_code == 0 and template.stdout == default_text()
    file = tmp_path / "copy.yaml"
    file.write_text(template.stdout, encoding="utf-8")
    assert run(file, "--db", database).stdout == run("--default", "--db", database).stdout


def test_all_faults_are_told_and_nothing_is_loaded(database: Path, tmp_path: Path) -> None:
    before = run("--db", database).stdout
    bad = [{**MINE, "axis": "Q"}, {"name": "b", "axis": "M", "limits": [{"from": 1}]}]
    done = run(write(tmp_path, *bad), "--db", database)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "2 faults, nothing was loaded:\n  - rule 1 'mine': axis 'Q'" in done.stderr
    assert "\n  - rule 2 'b', limit 1: max_gap" in done.stderr
    assert run("--db", database).stdout == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.yaml"], 3, "none.yaml: the rules cannot be read: No such file"),
        (["x.yaml", "--default"], 2, "exclude each other"),
        (["--default", "--template"], 2, "exclude each other"),
        (["--db", "none.duckdb"], 4, "there is no such database file"),
        (["--db", "none.duckdb", "--default"], 4, "there is no such database file"),
    ],
)
def test_bad_usage(
    database: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.setenv("SQLINTERP_DB", str(database))
    monkeypatch.chdir(database.parent)
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr
    assert not Path("none.duckdb").exists()
