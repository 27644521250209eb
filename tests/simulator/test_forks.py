"""A process that is forked while threads look up answers as its parent does."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import rows_of
from simulator.stand_in import PROFILE, all_reduce, attention, decompose, mla, mm

import sqlinterp
from sqlinterp import forks
from sqlinterp.errors import DatabaseError
from sqlinterp.simulator import SqlDataSource

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
CALLS = (mm(16), mm(100), mla(100), attention(1500), all_reduce(2000, 0, 1))


def in_fork(question: Callable[[], Any]) -> Any:
    """What a question comes to in a forked process, told as text; fails when it never ends."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def answer() -> None:
        try:
            writer.send(question())
        except BaseException as error:
            writer.send(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads is the point
        child = context.Process(target=answer)
        child.start()
    try:
        assert reader.poll(30), "the forked process does not answer"
        return reader.recv()
    finally:
        child.kill()
        child.join()


@contextmanager
def every_lock_held() -> Iterator[None]:
    """Have another thread in the middle of everything that is locked."""
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as locks:
            for lock in [one for one in forks._RENEWED if isinstance(one, forks.Lock)]:
                locks.enter_context(lock)
            is_held.set()
            is_over.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait(60)
    yield
    is_over.set()
    holder.join()


def answers(source: SqlDataSource) -> list[str]:
    return [str(result and result.latency_us) for result in map(source.lookup, CALLS)]


@pytest.mark.parametrize("memo_size", [2, 10_000])
def test_a_fork_beside_busy_threads_gets_the_same_answers(database: Path, memo_size: int) -> None:
    with SqlDataSource(database, None, PROFILE, decompose=decompose, memo_size=memo_size) as source:
        expected = answers(source)
        with every_lock_held():
            assert in_fork(lambda: answers(source)) == expected
        assert answers(source) == expected
    assert len(set(expected)) == len(CALLS)


def test_a_fork_of_a_fork_and_a_closed_database(database: Path) -> None:
    with sqlinterp.open(database) as opened:
        expected = opened.lookup(CALLS[0])
        with every_lock_held():
            told = in_fork(lambda: (opened.lookup(CALLS[0]), in_fork_again(opened), opened.close()))
        assert told == (expected, expected, None)
        assert opened.lookup(CALLS[0]) == expected


def in_fork_again(opened: sqlinterp.session.ProfilingDatabase) -> Any:
    return in_fork(lambda: opened.lookup(CALLS[0]))


def test_a_fork_never_opens_another_file_than_its_parent(database: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "p.duckdb", tmp_path / "other.duckdb"
    for copy in (path, other):
        shutil.copyfile(database, copy)
    with sqlinterp.open(path, follow=False) as stays, sqlinterp.open(path) as follows:
        expected = stays.lookup(CALLS[0])
        other.replace(path)
        assert stays.lookup(CALLS[0]) == in_fork(lambda: follows.lookup(CALLS[0])) == expected
        error = in_fork(lambda: stays.lookup(CALLS[0]))
    assert isinstance(error, DatabaseError)
    assert "another file took its place" in str(error)


def test_a_fork_logs_its_own_calls_only(database: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.duckdb"
    with SqlDataSource(database, None, PROFILE, log=True) as source:
        source.lookup(CALLS[0])
        source.lookup(CALLS[1])
        assert in_fork(lambda: (source.lookup(CALLS[1]), source.flush_log(log))[1]) == 1
        assert source.flush_log(log) == 2
    counts = rows_of(log, "select op, sum(call_count)::int from lookup_log group by op")
    assert counts == [("aten.mm.default", 3)]
