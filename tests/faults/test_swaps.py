"""Readers while the file is replaced again and again: never blocked, never a part, never back."""

from __future__ import annotations

import json
import threading
import time
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import matmul_call
from faults_support import SIZES, Place, context

import sqlinterp
from sqlinterp.errors import DatabaseError, SqlinterpError, UsageError
from sqlinterp.publishing import publishing
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator import SqlDataSource

CALLS = [matmul_call(m, 64, 32) for m in (*SIZES, 40)]
SWAPS, READERS = 20, 4
LAST = float(SWAPS + 1)


def scale_of(database: ProfilingDatabase | SqlDataSource) -> float:
    """The scale of the CSV that a whole batch was answered from."""
    answers = database.lookup_many(CALLS)
    scales = {answer.latency_us / m for answer, m in zip(answers, (*SIZES, 40), strict=True)}
    assert len(scales) == 1, f"one batch from two contents: {scales}"
    return scales.pop()


def read(path: Path, stop: Path, told: Path) -> None:
    """Look up until the last content is read; write down the scales in order, and any error."""
    scales: list[float] = []
    problem = ""
    longest_s = 0.0
    try:
        with sqlinterp.open(path) as held:
            while not stop.exists() and (not scales or scales[-1] < LAST):
                begin = time.monotonic()
                scales.append(scale_of(held))
                with sqlinterp.open(path) as fresh:
                    scales.append(scale_of(fresh))
                longest_s = max(longest_s, time.monotonic() - begin)
                time.sleep(0.005)
    except BaseException as error:
        problem = repr(error)
    told.write_text(json.dumps({"scales": scales, "problem": problem, "longest_s": longest_s}))


def publish(path: Path, scale: float) -> None:
    """Publish a content whose latencies are those of another scale."""
    with publishing(path) as connection:
        for table in ("exact_key", "point"):
            columns = connection.execute(
                "select column_name from duckdb_columns() where table_name = $table"
                " and column_name like 'latency_%_us' and database_name = current_database()",
                {"table": table},
            ).fetchall()
            before = connection.execute("select scale from told_scale").fetchall()[0][0]
            for (column,) in columns:
                connection.execute(f"update {table} set {column} = {column} / {before} * {scale}")
        connection.execute(f"update told_scale set scale = {scale}")


@pytest.fixture
def path(place: Place) -> Path:
    """A database file whose products of (m, 64) and (64, 32) take m us."""
    sqlinterp.ingest([place.sources], place.database)
    with publishing(place.database) as connection:
        connection.execute("create table told_scale as select 1.0::double as scale")
    return place.database


def check_scales(scales: list[float]) -> None:
    assert scales == sorted(scales), "an older content was read after a newer one"
    assert set(scales) <= {float(number) for number in range(1, SWAPS + 2)}


def test_processes_read_while_the_file_is_replaced(path: Path, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    readers: list[tuple[ForkServerProcess, Path]] = []
    for number in range(READERS):
        told = tmp_path / f"told-{number}"
        process = context().Process(target=read, args=(path, stop, told), daemon=True)
        process.start()
        readers.append((process, told))
    for scale in range(2, SWAPS + 2):
        publish(path, float(scale))
        time.sleep(0.02)
    for process, _ in readers:
        process.join(60)
    stop.touch()
    for process, told in readers:
        process.join(60)
        assert process.exitcode == 0
        process.close()
        found: dict[str, Any] = json.loads(told.read_text())
        assert found["problem"] == ""
        check_scales(found["scales"])
        assert found["scales"][-1] == LAST and len(set(found["scales"])) > 3
        assert found["longest_s"] < 30
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_threads_share_one_database_while_the_file_is_replaced(path: Path) -> None:
    swaps = 8
    results: dict[int, list[float]] = {}
    problems: list[str] = []
    is_over = threading.Event()

    def ask(number: int, database: ProfilingDatabase | SqlDataSource) -> None:
        scales = results[number] = []
        try:
            while not is_over.is_set() or scales[-1] < swaps + 1:
                scales.append(scale_of(database))
        except Exception as error:
            problems.append(repr(error))

    with sqlinterp.open(path) as database, SqlDataSource(path) as source:
        threads = [
            threading.Thread(target=ask, args=(number, database if number % 2 else source))
            for number in range(READERS)
        ]
        for thread in threads:
            thread.start()
        for scale in range(2, swaps + 2):
            publish(path, float(scale))
        is_over.set()
        for thread in threads:
            thread.join(60)
    assert problems == []
    for scales in results.values():
        check_scales(scales)
        assert scales[-1] == swaps + 1


def test_what_was_prepared_and_remembered_is_renewed(path: Path) -> None:
    with sqlinterp.open(path) as database, SqlDataSource(path) as source:
        first = (database.identity, database.catalog)
        for scale in (1.0, 3.0):
            if scale > 1:
                publish(path, scale)
            assert (scale_of(database), scale_of(source)) == (scale, scale)
            assert database.sql("from told_scale").fetchall() == [(scale,)]
        assert database.identity != first[0] and database.catalog is not first[1]
        answer, _, steps = database.trace(CALLS[0])
        assert answer.latency_us == 3 * SIZES[0] and steps


def test_a_database_may_stay_with_the_file_that_it_opened(path: Path) -> None:
    with sqlinterp.open(path, follow=False) as stays, sqlinterp.open(path) as follows:
        publish(path, 2.0)
        assert (scale_of(stays), scale_of(follows)) == (1, 2)
        path.unlink()
        assert (scale_of(stays), scale_of(follows)) == (1, 2)


def test_another_version_in_the_file_does_not_disturb(path: Path, place: Place) -> None:
    with sqlinterp.open(path) as database, SqlDataSource(path) as source:
        key = database.version_key
        place.version.rename(place.sources / "d" / "b" / "w")
        sqlinterp.ingest([place.sources], path)
        assert database.versions() == [key, key[:-1] + "w"]
        assert (scale_of(database), database.version_key) == (1, key)
        assert scale_of(source) == 1
    with pytest.raises(UsageError, match="holds 2 versions"):
        sqlinterp.open(path)


def test_a_file_that_is_no_database_is_an_error_until_there_is_one(path: Path) -> None:
    good = path.read_bytes()
    with sqlinterp.open(path) as database:
        junk = path.with_name("junk")
        junk.write_text("no database")
        junk.replace(path)
        for _ in range(2):
            with pytest.raises(DatabaseError, match="no DuckDB database"):
                database.lookup(CALLS[0])
        path.with_name("good").write_bytes(good)
        path.with_name("good").replace(path)
        assert scale_of(database) == 1
        database.close()
        with pytest.raises(SqlinterpError, match="the database is closed"):
            database.lookup(CALLS[0])


def test_what_is_replaced_is_closed_when_nobody_asks_it(path: Path) -> None:
    with sqlinterp.open(path) as database:
        old = database._content.get()
        with old.use() as is_open:
            assert is_open
            publish(path, 2.0)
            assert scale_of(database) == 2
            with old.lanes.lane() as lane:
                assert lane.cursor.execute("from told_scale").fetchall() == [(1,)]
        with pytest.raises(duckdb.ConnectionException, match="closed"):
            lane.cursor.execute("from told_scale")
        with old.use() as is_open:
            assert not is_open
