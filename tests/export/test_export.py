"""``sqlinterp export``: every row, in the same bytes, all at once or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from cli.cli_support import ROOT, environment
from databases_for_tests import MATMUL_HEADER, rows_of, write_version

import sqlinterp
from sqlinterp.database import connect_reader, connect_writer
from sqlinterp.errors import DatabaseError, MigrationError, UsageError
from sqlinterp.export import Manifest, check_files, export_parquet, folder, read_manifest
from sqlinterp.export.manifest import NAME
from sqlinterp.resources import resource_folder

ODD = "Odd é=%20 '../x"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped sample."""
    file = tmp_path_factory.mktemp("export") / "profiling.duckdb"
    sqlinterp.ingest([resource_folder("databases") / "SYNTHETIC_NPU"], file)
    return file


@pytest.fixture(scope="module")
def exported(database: Path) -> Path:
    """The export of the sample."""
    export_parquet(database, database.parent / "out")
    return database.parent / "out"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """One kernel, and one whose name no folder may have as it is."""
    row = '"4,8;8,2",DT_BF16;DT_BF16,ND;ND,"4,2",DT_BF16,ND,5'
    files = {"MatMulV2.csv": [MATMUL_HEADER, row], "Odd.csv": [MATMUL_HEADER, row]}
    write_version(tmp_path / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
    connection = connect_writer(tmp_path / "p.duckdb")
    for table in ("source_file", "measurement", "regime"):
        query = f"update {table} set kernel_type = $odd where kernel_type = 'Odd'"
        connection.execute(query, {"odd": ODD})
    connection.close()
    return tmp_path / "p.duckdb"


@pytest.fixture
def reader() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def content(place: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    files = [path for path in place.rglob("*") if path.is_file()]
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in files}


def litter(place: Path) -> list[str]:
    """What an export left beside its folder."""
    return [path.name for path in place.parent.iterdir() if path.name.startswith(".")]


def test_every_row_of_every_table_is_there(
    database: Path, exported: Path, reader: duckdb.DuckDBPyConnection
) -> None:
    manifest = read_manifest(exported)
    opened = connect_reader(database)
    names = opened.execute(
        "select table_name from duckdb_tables() where database_name = current_database()"
    ).fetchall()
    assert {table.name for table in manifest.tables} == {row[0] for row in names}
    for table in manifest.tables:
        columns = ", ".join(f'"{name}"' for name, _ in table.columns)
        stored = opened.execute(f'select {columns} from "{table.name}"').fetchall()
        read: list[tuple[object, ...]] = []
        if table.files:
            paths = [str(exported / file.path) for file in table.files]
            query = f"select {columns} from read_parquet($paths, hive_partitioning = true)"
            read = reader.execute(query, {"paths": paths}).fetchall()
        assert sorted(map(str, read)) == sorted(map(str, stored)), table.name
        assert table.rows == len(stored) == sum(file.rows for file in table.files)
    opened.close()
    assert manifest.rows > 5000


@pytest.mark.parametrize(
    ("table", "owner", "key"),
    [("point", "regime", "regime_id"), ("exact_key", "source_file", "file_id")],
)
def test_rows_lie_with_their_version_and_kernel(
    table: str, owner: str, key: str, database: Path, exported: Path,
    reader: duckdb.DuckDBPyConnection,
) -> None:  # fmt: skip
    expected = rows_of(
        database,
        f"select o.version_id, o.kernel_type, count(*) from {table} join {owner} as o using ({key})"
        " group by all order by all",
    )
    found = reader.execute(
        "select version_id, kernel_type, count(*)"
        f" from read_parquet('{exported}/{table}/*/*/*.parquet', hive_partitioning = true)"
        " group by all order by all"
    ).fetchall()
    assert found == expected and len(found) > 50


def test_the_same_database_gives_the_same_bytes(
    database: Path, exported: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(database, tmp_path / "copy.duckdb"))
    again = export_parquet(copy, tmp_path / "again")
    assert again.sha256 == read_manifest(exported).sha256
    assert content(tmp_path / "again") == content(exported)
    check_files(exported, again, with_content=True)


def test_the_manifest_is_read_as_it_was_written(small: Path, tmp_path: Path) -> None:
    manifest = export_parquet(small, tmp_path / "out")
    assert read_manifest(tmp_path / "out") == manifest
    assert manifest.versions == ("d/b/v",)
    path = tmp_path / "out" / manifest.table("measurement").files[0].path
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    check_files(tmp_path / "out", manifest)
    with pytest.raises(DatabaseError, match="differs from what the export wrote"):
        check_files(tmp_path / "out", manifest, with_content=True)
    with pytest.raises(DatabaseError, match="no table 'other'"):
        manifest.table("other")


def test_a_kernel_may_have_any_name(
    small: Path, tmp_path: Path, reader: duckdb.DuckDBPyConnection
) -> None:
    manifest = export_parquet(small, tmp_path / "out")
    found = reader.execute(
        f"select kernel_type from read_parquet('{tmp_path}/out/measurement/*/*/*.parquet',"
        " hive_partitioning = true) order by all"
    ).fetchall()
    assert found == [("MatMulV2",), (ODD,)]
    assert all(".." not in Path(file.path).parts for file in manifest.files)


def test_an_earlier_export_is_replaced(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "out"
    first = export_parquet(small, place)
    connection = connect_writer(small)
    connection.execute("delete from fused_operator")
    connection.close()
    second = export_parquet(small, place)
    assert second.sha256 != first.sha256
    assert read_manifest(place) == second
    assert content(place).keys() == {NAME, *(file.path for file in second.files)}
    assert litter(place) == []


@pytest.mark.parametrize("has_exchange", [True, False])
def test_a_link_stays_a_link(
    has_exchange: bool, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_exchange:  # as on systems that cannot swap two folders at once
        monkeypatch.setattr(folder, "_exchanged", lambda one, other: False)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        manifest = export_parquet(small, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read_manifest(tmp_path / "real") == manifest
    assert litter(tmp_path / "real") == []


def foreign_file(place: Path) -> None:
    place.mkdir()
    (place / "notes.txt").write_text("mine")


def foreign_folder(place: Path) -> None:
    (place / "measurement").mkdir(parents=True)


def a_file(place: Path) -> None:
    place.write_text("mine")


def a_damaged_export(place: Path) -> None:
    foreign_file(place)
    (place / NAME).write_text("{}")


@pytest.mark.parametrize("make", [foreign_file, foreign_folder, a_file, a_damaged_export])
def test_nothing_but_an_export_is_overwritten(make: object, small: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    make(place)  # type: ignore[operator]
    before = content(tmp_path)
    with pytest.raises(UsageError, match="out: "):
        export_parquet(small, place)
    assert content(tmp_path) == before and litter(place) == []


def test_a_file_among_those_of_an_export_is_not_lost(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    export_parquet(small, place)
    (place / "point" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds notes\.txt, which no export wrote"):
        export_parquet(small, place)
    assert (place / "point" / "notes.txt").read_text() == "mine"


def test_a_failed_export_leaves_the_earlier_one(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    export_parquet(small, place)
    before = content(place)
    connection = connect_writer(small)
    connection.execute("update regime set version_id = 77")
    connection.close()
    with pytest.raises(DatabaseError, match=r"2 of 2 rows of point belong to no kernel"):
        export_parquet(small, place)
    assert content(place) == before and litter(place) == []
    with pytest.raises(DatabaseError):
        export_parquet(small, tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()


def test_a_database_of_another_schema_is_not_exported(small: Path, tmp_path: Path) -> None:
    connection = connect_writer(small)
    connection.execute("update derivation set sha256 = 'x'")
    connection.close()
    with pytest.raises(MigrationError, match="sqlinterp migrate"):
        export_parquet(small, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error(small: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(DatabaseError, match="cannot be written"):
        export_parquet(small, tmp_path / "closed" / "out")


def test_two_exports_to_one_folder_do_not_mix(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    with folder.replaced_folder(place) as building:
        with pytest.raises(DatabaseError, match="is being written by process"):
            export_parquet(small, place)
        assert building.is_dir()
        building.joinpath(NAME).write_text("{}")
    assert place.is_dir() and litter(place) == []


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "sqlinterp", *map(str, arguments)]


def test_the_command_shows_what_it_wrote(small: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command("export", "--format", "parquet", "out", "--db", small),
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "point" in done.stdout and "version_id, kernel_type" in done.stdout
    assert done.stderr.startswith("exported ") and done.stderr.endswith(" rows to out\n")
    for arguments, code in ((("x", "--format", "csv"), 2), (("x", "--db", "none.duckdb"), 4)):
        failed = subprocess.run(
            command("export", *arguments), cwd=tmp_path, env=environment(), capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (failed.returncode, failed.stdout) == (code, "")
        assert "Traceback" not in failed.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("after", [0, 200])
def test_a_killed_export_leaves_nothing_half_done(
    after: int, database: Path, small: Path, tmp_path: Path
) -> None:
    """Kill it once so many files lie in the folder that is being filled."""
    place = tmp_path / "out"
    export_parquet(small, place)
    before = content(place)
    process = subprocess.Popen(
        command("export", place, "--db", database), cwd=ROOT, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    building, deadline = tmp_path / ".out.exporting", time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if building.exists() and sum(1 for _ in building.rglob("*.parquet")) >= after:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    assert content(place) == before
    manifest: Manifest = export_parquet(database, place)
    check_files(place, manifest, with_content=True)
    assert litter(place) == []


def test_a_kill_between_two_renames_is_undone(small: Path, tmp_path: Path) -> None:
    """Where folders cannot be swapped, the earlier export is away for a moment."""
    place = tmp_path / "out"
    manifest = export_parquet(small, place)
    place.rename(tmp_path / ".out.before")
    with pytest.raises(MigrationError):
        _other = connect_writer(small)
        _other.execute("update derivation set sha256 = 'x'")
        _other.close()
        export_parquet(small, place)
    assert read_manifest(place) == manifest and litter(place) == []
