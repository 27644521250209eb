"""What one lookup read and later ones need is read once, and changes no answer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import kept_database, write_version
from lookup.attention_support import attention_call, ingested, shaped
from lookup.communication_support import ALL_REDUCE, ENTRY, HEADER, collective, row

import sqlinterp
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase


def steps_of(database: ProfilingDatabase, op: Mapping[str, Any]) -> tuple[Answer, list[str]]:
    """An answer, and the names of the last steps of the statements that ran for it."""
    answer, _, log = database.trace(op)
    return answer, [step.steps[-1].split("=")[-1] for step in log]


def alone(path: Path, ops: Sequence[Mapping[str, Any]]) -> list[Answer]:
    """Every answer from a database that was asked nothing else."""
    found = []
    for op in ops:
        with sqlinterp.open(path) as database:
            found.append(database.lookup(op))
    return found


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Regimes that differ in tokens, phase and in whether they tell the batch; some rows blank."""
    chosen = random.Random(11)
    rows = [
        shaped(
            chosen.randint(10, 99), seq, (tokens, 8, 128),
            runtime_batch_size=batch, runtime_phase=phase,
        )
        for seq in (512, 1024, 2048)
        for tokens in (16, 32, 60)
        for batch, phase in ((16, "decode"), (4, "decode"), ("", "prefill"), (4, ""))
        if chosen.random() < 0.8
    ]  # fmt: skip
    return ingested(tmp_path_factory.mktemp("attention"), rows)


def test_regimes_are_asked_for_once_for_all_sequence_lengths(attention: Path) -> None:
    with sqlinterp.open(attention) as database:
        first, ran = steps_of(database, attention_call(lengths=(700,) * 16))
        second, then = steps_of(database, attention_call(lengths=(800,) * 16))
    assert "lookup.attention_equal_tokens" in ran
    assert "lookup.attention_equal_tokens" not in then
    assert [first.source, second.source] == ["INTERPOLATED"] * 2
    assert first.details["target"] != second.details["target"]


def test_what_is_kept_answers_as_what_is_read_again(attention: Path) -> None:
    chosen = random.Random(5)
    calls = [
        attention_call(
            query=(chosen.choice((16, 32, 48, 60, 64)), chosen.choice((8, 12)), 128),
            lengths=(chosen.choice((512, 520, 700, 900, 2048, 4096)),) * chosen.choice((2, 4, 16)),
        )
        for _ in range(40)
    ]
    expected = alone(attention, calls)
    assert {answer.source for answer in expected} == {"MEASURED", "INTERPOLATED", None}
    with sqlinterp.open(attention) as database:
        assert [database.lookup(op) for op in calls] == expected
        assert [database.lookup(op) for op in reversed(calls)] == expected[::-1]
        assert database.lookup_many(calls * 4) == expected * 4


@pytest.fixture(scope="module")
def collectives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Groups of two and four devices on two tiers; one of them measured a single size."""
    folder = tmp_path_factory.mktemp("collectives")
    rows = [
        row(size, 10 + size / 333 + devices / 7 + tier, tier, devices)
        for devices, tier in ((2, 0), (2, 1), (4, 1))
        for size in (1000, 2000, 2000, 4000)
    ]
    files = {"hcom_allReduce_.csv": [HEADER, *rows, row(1000, 9.5, devices=8)]}
    write_version(folder / "v", files, {ALL_REDUCE: ENTRY})
    return kept_database(folder / "v")


def reduce_call(size: int, devices: int) -> dict[str, Any]:
    return collective(size, range(devices))


def test_a_group_of_devices_is_read_once(collectives: Path) -> None:
    with sqlinterp.open(collectives, comm_grid=((2, 4), (0, 1))) as database:
        _, ran = steps_of(database, reduce_call(1500, 4))
        answer, then = steps_of(database, reduce_call(3000, 4))
    assert "lookup.communication_size" in ran
    assert then == ["lookup.communication_bracket"]
    assert answer.source == "INTERPOLATED"


def test_kept_groups_answer_as_those_read_again(collectives: Path) -> None:
    calls = [
        reduce_call(size, devices)
        for devices in (2, 4, 8, 16)
        for size in (999, 1000, 1500, 2000, 3999, 4000, 5000)
    ]
    expected = alone(collectives, calls)
    assert {answer.source for answer in expected} == {"MEASURED", "INTERPOLATED", None}
    with sqlinterp.open(collectives) as database:
        assert [database.lookup(op) for op in calls] == expected
        many = [reduce_call(size, devices) for size in range(900, 5100, 40) for devices in (2, 4)]
        assert [database.lookup(op) for op in many] == database.lookup_many(many)
