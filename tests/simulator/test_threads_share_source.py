"""Threads that share one data source get the answers, and the reasons, of a single thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from simulator.stand_in import PROFILE, all_reduce, attention, decompose, mla, mm, write_database
from waiting import wait_for

from sqlinterp.simulator import SqlDataSource


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def calls(start: int) -> list[Any]:
    """Exact, interpolated, missed, partial and collective calls in an order of their own."""
    found = [
        *(mm(m) for m in (16, 64, 100, 200, 9999, 256)),
        *(mla(t) for t in (16, 100, 256)),
        *(attention(length) for length in (1024, 1500, 99_999)),
        *(all_reduce(size, 0, 1) for size in (1024, 2000, 9_999_999)),
    ]
    start %= len(found)
    return found[start:] + found[:start]


def seen(source: SqlDataSource, call: Any) -> tuple[Any, ...]:
    """What a caller sees of one lookup."""
    result = source.lookup(call)
    rule = source.last_shape_match_info.shape_match_rule
    latency = None if result is None else (result.source.name, result.latency_us)
    return latency, source.last_miss_reason, rule


def name_of(call: Any) -> str:
    return f"{call.func} {[tuple(getattr(a, 'shape', ())) for a in call.args]} " + str(
        [a.tolist() for a in call.args if getattr(a, "is_meta", True) is False]
    )


def test_threads_see_what_one_thread_sees(database: Path, frequent_switches: None) -> None:
    with SqlDataSource(database, None, PROFILE, decompose=decompose) as source:
        expected = {name_of(call): seen(source, call) for call in calls(0)}
    assert len(expected) == 15 and len(set(expected.values())) >= 14
    with (
        SqlDataSource(
            database, None, PROFILE, decompose=decompose, memo_size=6, log=True
        ) as source,
        ThreadPoolExecutor(4) as pool,
    ):

        def work(start: int) -> list[tuple[str, tuple[Any, ...]]]:
            found = []
            for call in calls(start) * 2:
                found.append((name_of(call), seen(source, call)))
            return found

        results = [pair for found in pool.map(work, range(6)) for pair in found]
        assert sum(row.calls for row in source.log.rows) == len(results) == 6 * 2 * 15
    assert {pair for pair in results if expected[pair[0]] != pair[1]} == set()


def test_threads_see_one_file_or_the_other_while_it_is_replaced(
    tmp_path: Path, frequent_switches: None
) -> None:
    path = write_database(tmp_path / "a")
    copies = [write_database(tmp_path / f"b{i}", factor) for i, factor in enumerate((3, 1, 3))]
    stop = threading.Event()
    with SqlDataSource(path, memo_size=4) as source, ThreadPoolExecutor(3) as pool:

        def work(number: int) -> set[float]:
            found = set()
            while not stop.is_set():
                for m in (16, 64, 100, 130 + number):
                    found.add(source.lookup(mm(m)).latency_us / m)
            return found

        running = [pool.submit(work, number) for number in range(3)]
        for copy in copies:  # one after the other has been seen, which takes a busy machine long
            seen_before = source._snapshots.reopened
            os.replace(copy, path)
            wait_for(lambda before=seen_before: source._snapshots.reopened > before)
        threading.Event().wait(0.3)
        stop.set()
        found = {round(ratio, 9) for future in running for ratio in future.result()}
        assert source.lookup(mm(64)).latency_us == 192
        assert source._snapshots.reopened == 3
    assert found == {1.0, 3.0}
