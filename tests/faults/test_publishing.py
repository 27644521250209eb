"""A database file is replaced as a whole or not at all, and nothing else stays beside it."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from databases_for_tests import matmul_call
from faults_support import Place, digest

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.errors import DatabaseError
from sqlinterp.publishing import publishing
from sqlinterp.simulator.log import LookupLog

PACKAGE = Path(sqlinterp.__file__).parent
# Where a file is opened for writing: the one that is published, and a copy in a private folder.
WRITERS = {"publishing.py", "fidelity/bench.py"}
CALL = matmul_call(64, 64, 32)


@pytest.fixture
def database(place: Place) -> Path:
    """A database file made from the CSV."""
    sqlinterp.ingest([place.sources], place.database)
    return place.database


def latency(path: Path) -> float | None:
    with sqlinterp.open(path) as opened:
        return opened.lookup(CALL).latency_us


def test_whoever_changes_a_database_file_publishes_it() -> None:
    found = set()
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_opened = isinstance(node, ast.Call) and ast.unparse(node.func) == "connect_writer"
            if is_opened and ast.unparse(node.args[0]) != "Path(':memory:')":
                found.add(str(file.relative_to(PACKAGE)))
    assert found == WRITERS


def test_readers_have_the_old_content_until_all_of_the_new_is_there(database: Path) -> None:
    before = database.read_bytes()
    with sqlinterp.open(database) as reader:
        with publishing(database) as connection:
            connection.execute("delete from exact_key; delete from point")
            connection.execute("checkpoint")
            assert database.read_bytes() == before
            assert (reader.lookup(CALL).latency_us, latency(database)) == (64, 64)
        assert reader.lookup(CALL).latency_us is None
    assert latency(database) is None


def test_nothing_but_the_database_file_is_left(database: Path, place: Place) -> None:
    assert place.litter() == []
    sqlinterp.ingest([place.sources], database)
    assert place.litter() == []


def test_a_failure_leaves_the_file_and_nothing_beside_it(database: Path, place: Place) -> None:
    before = database.read_bytes()
    with pytest.raises(ZeroDivisionError), publishing(database) as connection:
        connection.execute("drop table point")
        raise ZeroDivisionError
    problem = pytest.raises(DatabaseError, match=r"p.duckdb: cannot be written: .*nosuch")
    with problem, publishing(database) as connection:
        connection.execute("drop table nosuch")
    assert database.read_bytes() == before
    assert place.litter() == []


def test_a_failure_leaves_no_new_file_or_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "p.duckdb"
    with pytest.raises(ZeroDivisionError), publishing(path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with publishing(path) as connection:
        connection.execute("create table t (x integer)")
    assert [file.name for file in path.parent.iterdir()] == ["p.duckdb"]


def test_what_changes_nothing_publishes_nothing(database: Path, place: Place) -> None:
    before = os.stat(database)
    done = place.run(["migrate", "--db", database])
    assert done.code == 0 and "applied 0 migrations" in done.output
    with publishing(database) as connection:
        connection.execute("select count(*) from point")
    after = os.stat(database)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert place.litter() == []
    with publishing(database) as connection:
        connection.execute("delete from point where false; insert into derivation select 'x'")
    assert os.stat(database).st_ino != before.st_ino


def test_a_second_writer_is_told_at_once(database: Path, place: Place) -> None:
    before = database.read_bytes()
    with publishing(database):
        begin = time.monotonic()
        with pytest.raises(DatabaseError, match=f"being written by process {os.getpid()}"):
            sqlinterp.ingest([place.sources], database)
        assert time.monotonic() - begin < 2
        other = place.run(["migrate", "--db", database])
        assert other.code == 4 and "p.duckdb: the database is being written" in other.output
        with publishing(database.with_name("other.duckdb")) as connection:
            connection.execute("create table t (x integer)")
    assert database.read_bytes() == before
    assert place.litter() == ["other.duckdb"]


def test_of_many_writers_one_writes_at_a_time(database: Path) -> None:
    results: list[str] = []

    def add() -> None:
        try:
            with publishing(database, patience_s=60) as connection:
                connection.execute("insert into derivation values ('x')")
            results.append("written")
        except DatabaseError as error:
            results.append(str(error))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["written"] * 8
    with duckdb.connect(str(database), read_only=True) as connection:
        query = "select count(*) from derivation where sha256 = 'x'"
        assert connection.execute(query).fetchall() == [(8,)]


def test_a_link_stays_a_link_and_the_mode_stays(database: Path, place: Place) -> None:
    link = place.folder / "link.duckdb"
    link.symlink_to(database.name)
    database.chmod(0o640)
    place.write(2.0)
    sqlinterp.ingest([place.sources], link)
    assert link.is_symlink() and latency(database) == 128
    assert stat.S_IMODE(os.stat(database).st_mode) == 0o640
    assert place.litter() == ["link.duckdb"]


def test_calls_are_logged_into_a_file_that_is_read(database: Path, place: Place) -> None:
    log = LookupLog("v")
    with sqlinterp.open(database) as reader:
        reader.lookup(CALL)
        assert log.flush(database) == 0
        assert reader.lookup(CALL).latency_us == 64
    given = place.folder / "op.json"
    given.write_text('{"op": "aten.sin.default"}')
    with sqlinterp.open(database) as reader:
        for _ in range(2):
            done = place.run(["lookup", "--db", database, "--log", database, given])
            assert done.code == 1 and "1 rows were added to lookup_log" in done.output
        assert reader.sql("select count(*) from lookup_log").fetchall() == [(2,)]
        assert reader.lookup(CALL).latency_us == 64


@pytest.fixture
def other_program(database: Path) -> Iterator[subprocess.Popen[str]]:
    """Another program that has the file open for writing, with changes that are in its log."""
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]);"
        "c.execute('create table theirs as select 7 as x'); print('ready', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_what_another_program_writes_is_not_lost(
    database: Path, place: Place, other_program: subprocess.Popen[str]
) -> None:
    for arguments in (place.ingest, ["lookup", "--db", database, place.version / "op.json"]):
        refused = place.run(arguments)
        assert refused.code == 4
        assert "open" in refused.output and "Traceback" not in refused.output
    other_program.kill()
    other_program.wait()
    assert (place.folder / "p.duckdb.wal").exists()
    place.write(2.0)
    assert place.run(place.ingest).code == 0
    assert place.litter() == []
    assert latency(database) == 128
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("from theirs").fetchall() == [(7,)]


def test_another_program_cannot_write_while_a_file_is_built(database: Path) -> None:
    with publishing(database) as connection:
        connection.execute("delete from point")
        assert "lock" in _opened_by_another(database)
    assert _opened_by_another(database) == "opened"


def test_no_connection_that_closes_lets_another_program_write(database: Path) -> None:
    with sqlinterp.open(database) as reader:
        with sqlinterp.open(database) as other:
            other.lookup(CALL)
        database.read_bytes()
        assert "lock" in _opened_by_another(database)
        assert reader.lookup(CALL).latency_us == 64
    assert _opened_by_another(database) == "opened"


def _opened_by_another(database: Path) -> str:
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]); print('opened')"
    command = [sys.executable, "-c", code, str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.splitlines()[-1]


def test_changes_without_their_file_are_not_taken_for_those_of_a_new_one(place: Place) -> None:
    log = place.folder / "p.duckdb.wal"
    log.write_bytes(b"changes")
    with pytest.raises(DatabaseError, match="changes of a database file that is gone"):
        sqlinterp.ingest([place.sources], place.database)
    assert place.litter() == ["p.duckdb.wal"]
    assert log.read_bytes() == b"changes"


def test_only_what_a_writer_leaves_is_removed(database: Path, place: Place) -> None:
    for name in (".p.duckdb.building", ".p.duckdb.building.wal", ".p.duckdb.lock", "mine.building"):
        (place.folder / name).write_text("1")
    temporary = place.folder / ".p.duckdb.building.tmp"
    temporary.mkdir()
    (temporary / "block").write_text("1")
    place.write(2.0)
    sqlinterp.ingest([place.sources], database)
    assert place.litter() == ["mine.building"]


def test_a_plain_writer_keeps_its_temporary_files_beside_its_file(tmp_path: Path) -> None:
    connection = connect_writer(tmp_path / "x.duckdb")
    setting = connection.execute("select current_setting('temp_directory')").fetchall()
    connection.close()
    assert setting == [(f"{tmp_path}/x.duckdb.tmp",)]


def test_the_hash_of_a_content_notices_every_change(database: Path, place: Place) -> None:
    first = digest(database)
    sqlinterp.ingest([place.sources], database)
    assert digest(database) == first
    with publishing(database) as connection:
        connection.execute("update source_file set bom_count = bom_count + 1")
    assert digest(database) != first
