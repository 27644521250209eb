"""What is remembered, under which key, how much of it, and when it is forgotten."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from simulator.stand_in import (
    FUSED,
    INT64,
    MM,
    NORM,
    Dtype,
    FakeTensor,
    OpInvokeInfo,
    ParallelConfig,
    attention,
    decompose,
    invoke,
    mla,
    mm,
    write_database,
)

import sqlinterp
from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.locks import file_identity
from sqlinterp.lookup.simulator_call import from_call
from sqlinterp.memo import Memo
from sqlinterp.simulator import SqlDataSource, snapshot
from sqlinterp.simulator.keys import call_key, invocation_key


def key(call: OpInvokeInfo, with_values: bool = True) -> Any:
    return call_key(str(call.func), call, with_values)


def test_a_remembered_answer_needs_no_database(database: Path) -> None:
    with SqlDataSource(database, decompose=decompose) as source:
        calls = [mm(64), mm(100), mm(9999), mla(100), attention(1024)]
        first = [source.lookup(call) for call in calls]
        source._snapshots.current().database.close()
        again = [mm(64), mm(100), mm(9999), mla(100), attention(1024)]  # other objects
        assert [source.lookup(call) for call in again] == first
        with pytest.raises(Exception, match="closed"):
            source.lookup(mm(65))


def test_equal_calls_have_equal_keys() -> None:
    assert key(mm(64)) == key(mm(64))
    as_text = FakeTensor(64, 64)
    as_text.dtype = "bfloat16"  # type: ignore[assignment]
    assert key(invoke(MM, as_text, FakeTensor(64, 32), out=FakeTensor(64, 32))) == key(mm(64))
    assert key(invoke(NORM, 1, b=2, a=1)) == key(invoke(NORM, 1, a=1, b=2))
    assert key(invoke(NORM, [1, 2])) == key(invoke(NORM, (1, 2)))


def test_calls_that_differ_in_anything_have_different_keys() -> None:
    bf16 = FakeTensor(4)
    calls = [
        invoke(NORM, bf16),
        invoke(MM, bf16),
        invoke(NORM, bf16, bf16),
        invoke(NORM, [bf16]),
        invoke(NORM, FakeTensor(4, 1)),
        invoke(NORM, FakeTensor(4, dtype=Dtype("float16"))),
        invoke(NORM, FakeTensor(4, dtype=INT64)),
        invoke(NORM, FakeTensor(4, dtype=INT64, data=[1, 2, 3, 4])),
        invoke(NORM, FakeTensor(4, dtype=INT64, data=[1, 2, 3, 5])),
        invoke(NORM, bf16, 1),
        invoke(NORM, bf16, True),
        invoke(NORM, bf16, 1.0),
        invoke(NORM, bf16, "1"),
        invoke(NORM, bf16, None),
        invoke(NORM, bf16, [1]),
        invoke(NORM, bf16, [True]),
        invoke(NORM, bf16, a=1),
        invoke(NORM, bf16, b=1),
        invoke(NORM, bf16, out=FakeTensor(4)),
        invoke(NORM, bf16, out=(FakeTensor(4), FakeTensor(4))),
    ]
    assert len({key(call) for call in calls}) == len(calls)
    assert len({invocation_key(from_call(call)) for call in calls}) == len(calls)


def test_values_count_only_where_a_lookup_reads_them(database: Path) -> None:
    with SqlDataSource(database) as source:
        for data in ([1, 2], [3, 4]):
            source.lookup(invoke(FUSED, FakeTensor(2, dtype=INT64, data=data)))
        memo = source._snapshots.current().memo
        assert len(memo) == 1
        assert source.lookup(attention(1024, 1024)).latency_us == 10
        assert source.lookup(attention(2048, 2048)).latency_us == 30
        assert len(memo) == 3


def test_long_lengths_of_an_invocation_are_all_in_its_key(database: Path) -> None:
    def op(last: int) -> dict[str, Any]:
        lengths = {"shape": [20_000], "dtype": "int64", "values": [1024] * 19_999 + [last]}
        query, cache = (
            {"shape": s, "dtype": "bfloat16"} for s in ([16, 8, 128], [64, 128, 2, 128])
        )
        args = [query, cache, cache, None, None, None, lengths]
        return {"op": "tensor_cast.attention.default", "args": args}

    with SqlDataSource(database) as source:
        assert source.lookup(op(1024)).latency_us == 10
        assert source.lookup(op(1024 + 1024 * 20_000)).latency_us == 30  # the mean is 2048


def test_the_context_is_part_of_what_is_remembered(database: Path) -> None:
    is_on = False
    with SqlDataSource(database, sequence_parallel=lambda: is_on) as source:
        source.lookup(mm(64))
        is_on = True
        source.lookup(mm(64))
        assert len(source._snapshots.current().memo) == 2
    config = ParallelConfig(tensor_parallel_size=4)
    config.sequence_parallel = True  # type: ignore[attr-defined]
    with SqlDataSource(database, parallel_config=config) as source:
        source.lookup(mm(64))
        ((is_parallel, _),) = source._snapshots.current().memo._young
        assert is_parallel is True


def test_a_memo_is_bounded_and_keeps_what_was_asked_for_lately() -> None:
    memo: Memo[int] = Memo(8)
    for number in range(100):
        memo.put((number,), number)
        memo.get((0,))
        assert len(memo) <= 8
        assert memo.get((number,)) == number and memo.get((0,)) == 0
    assert memo.get((50,)) is None
    assert all(memo.get((number,)) == number for number in (97, 98, 99))


def test_the_first_of_two_answers_is_kept() -> None:
    memo: Memo[str] = Memo(8)
    assert memo.put((1,), "one") == "one"
    assert memo.put((1,), "another") == "one"
    assert memo.get((1,)) == "one"


def test_more_distinct_invocations_than_the_memo_holds(database: Path) -> None:
    calls = [mm(m) for m in range(16, 200)]
    with SqlDataSource(database, memo_size=4) as source, sqlinterp.open(database) as plain:
        found = [result.latency_us for result in source.lookup_many(calls)]
        assert found == [answer.latency_us for answer in plain.lookup_many(calls)]
        assert len(set(found)) > 150
        assert len(source._snapshots.current().memo) <= 4


@pytest.fixture
def replaceable(tmp_path: Path) -> tuple[Path, Path]:
    """A database, and another one whose latencies are three times as long."""
    return write_database(tmp_path / "old"), write_database(tmp_path / "new", 3.0)


def test_a_thread_that_looked_before_another_one_opened_does_not_open_again(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = iter([file_identity(Path(__file__))])  # what had the name when it looked
    with SqlDataSource(database) as source:
        before = source._snapshots.current()
        monkeypatch.setattr(snapshot, "file_identity", lambda path: next(seen, file_identity(path)))
        assert source._snapshots.current() is before
        assert source._snapshots.reopened == 0


def test_a_file_opened_while_the_source_is_closed_is_closed_too(
    replaceable: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = replaceable
    source = SqlDataSource(path)
    opened = source._snapshots._opened

    def slowly(before: str | None = None) -> Any:
        source._snapshots._is_closed = True
        return opened(before)

    monkeypatch.setattr(source._snapshots, "_opened", slowly)
    os.replace(other, path)
    fresh = source._snapshots.current()
    with pytest.raises(Exception, match="closed"):
        fresh.database.lookup(mm(64))


def test_another_file_under_the_name_is_read_at_once(replaceable: tuple[Path, Path]) -> None:
    path, other = replaceable
    with SqlDataSource(path) as source, sqlinterp.open(path) as held:
        assert [source.lookup(mm(m)).latency_us for m in (64, 100)] == [64, 100]
        retired = source._snapshots.current().database
        os.replace(other, path)
        assert [source.lookup(mm(m)).latency_us for m in (64, 100)] == [192, 300]
        assert source.lookup_many([mm(64)])[0].latency_us == 192
        assert source._snapshots.reopened == 1
        assert held.lookup(mm(64)).latency_us == 192
        with pytest.raises(Exception, match="closed"):
            retired.lookup(mm(64))
    with sqlinterp.open(path) as fresh:
        assert fresh.lookup(mm(64)).latency_us == 192


def test_a_database_that_opens_while_the_old_file_is_held_reads_the_new_one(
    replaceable: tuple[Path, Path],
) -> None:
    path, other = replaceable
    with sqlinterp.open(path, follow=False) as held:
        os.replace(other, path)
        with sqlinterp.open(path) as fresh:
            assert (held.lookup(mm(64)).latency_us, fresh.lookup(mm(64)).latency_us) == (64, 192)


def test_a_file_that_is_gone_leaves_what_was_opened(replaceable: tuple[Path, Path]) -> None:
    path, other = replaceable
    with SqlDataSource(path) as source:
        source.lookup(mm(64))
        path.unlink()
        assert [source.lookup(mm(m)).latency_us for m in (64, 100)] == [64, 100]
        shutil.copyfile(other, path)
        assert source.lookup(mm(64)).latency_us == 192


def test_a_file_that_is_no_database_is_an_error_until_there_is_one(
    replaceable: tuple[Path, Path], tmp_path: Path
) -> None:
    path, other = replaceable
    junk = tmp_path / "junk"
    junk.write_text("not a database, but longer than its magic number")
    with SqlDataSource(path) as source:
        source.lookup(mm(64))
        os.replace(junk, path)
        for _ in range(2):
            with pytest.raises(DatabaseError, match="no DuckDB database"):
                source.lookup(mm(64))
        os.replace(other, path)
        assert source.lookup(mm(64)).latency_us == 192


def test_a_source_that_lacks_the_version_now_says_so(tmp_path: Path) -> None:
    path = write_database(tmp_path / "one")
    other = write_database(tmp_path / "two")
    (tmp_path / "two" / "v").rename(tmp_path / "two" / "w")
    other.unlink()
    sqlinterp.ingest([tmp_path / "two" / "w"], other)
    with SqlDataSource(path, "v") as source:
        os.replace(other, path)
        with pytest.raises(UsageError, match="version 'v' is unknown"):
            source.lookup(mm(64))
