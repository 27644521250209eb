"""Interpolation is introduced in steps: beside the exact answers, for some kernels, for all."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from simulator.stand_in import (
    ADD,
    MM,
    NORM,
    FakeTensor,
    attention,
    decompose,
    invoke,
    mla,
    mm,
)

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.simulator import SqlDataSource

BETWEEN = mm(100)
NORM_CALL = invoke(NORM, FakeTensor(100, 64), FakeTensor(64), out=FakeTensor(100, 64))
ADD_CALL = invoke(ADD, FakeTensor(100, 64), FakeTensor(100, 64), out=FakeTensor(100, 64))
CALLS = [mm(64), BETWEEN, mm(9999), NORM_CALL, ADD_CALL, attention(1500), mla(64), mla(100)]


def latencies(source: SqlDataSource, calls: list[Any] = CALLS) -> list[float | None]:
    return [None if r is None else r.latency_us for r in source.lookup_many(calls)]


def exact_answers(database: Path) -> list[float | None]:
    with SqlDataSource(database, disable_interpolation=True, decompose=decompose) as source:
        return latencies(source)


def all_answers(database: Path) -> list[float | None]:
    with SqlDataSource(database, decompose=decompose) as source:
        return latencies(source)


def test_the_steps_differ_on_these_calls(database: Path) -> None:
    exact, full = exact_answers(database), all_answers(database)
    differs = [a != b for a, b in zip(exact, full, strict=True)]
    assert differs == [False, True, False, True, True, True, False, True]


def test_shadow_gives_exact_answers_and_tells_the_others(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sqlinterp.simulator")
    with SqlDataSource(database, decompose=decompose, mode="shadow") as source:
        assert latencies(source) == exact_answers(database)
        assert len(caplog.records) == 5  # once for each that interpolation would have answered
        assert source.lookup(BETWEEN) is None
        assert source.last_miss_reason == "shape_mismatch"
        candidate = source.last_candidate
        assert candidate is not None
        assert (candidate.source, candidate.latency_us) == ("INTERPOLATED", 100)
        with sqlinterp.open(database) as plain:
            assert candidate == plain.lookup(BETWEEN)
        assert source.lookup(mm(64)).latency_us == 64 and source.last_candidate is None
        assert source.lookup(mm(9999)) is None
        assert source.last_candidate is not None
        assert source.last_candidate.miss_reason == "outside_axis_boundary"
    assert caplog.messages[0] == (
        f"shadow op={MM} query_mode=compute source=INTERPOLATED dim=1 axes=M method=linear_1d"
        " confidence=0.675 latency_us=100.0 base=shape_mismatch"
    )


@pytest.mark.parametrize(
    ("allowed", "given"),
    [
        (["MatMulV2"], [MM]),
        ([MM], [MM]),
        (["RmsNorm", "Add"], [NORM, ADD]),
        ("tensor_cast.attention.default", ["tensor_cast.attention.default"]),
        (["MatMulV2", "RmsNorm"], [MM, NORM, "tensor_cast.multihead_latent_attention.default"]),
        (["tensor_cast.multihead_latent_attention.default"],
         ["tensor_cast.multihead_latent_attention.default"]),
        (["NoSuchKernel"], []),
    ],
)  # fmt: skip
def test_only_what_is_allowed_is_interpolated(
    allowed: list[str] | str, given: list[str], database: Path
) -> None:
    exact, full = exact_answers(database), all_answers(database)
    expected = [full[i] if str(call.func) in given else exact[i] for i, call in enumerate(CALLS)]
    with SqlDataSource(
        database, decompose=decompose, mode="allowlist", allowlist=allowed
    ) as source:
        assert latencies(source) == expected


def test_a_partial_answer_is_kept_where_interpolation_is_not_allowed(database: Path) -> None:
    with SqlDataSource(database, decompose=decompose, mode="shadow") as source:
        assert source.lookup(mla(256)).source.name == "PARTIAL"
        assert source.last_miss_reason == "sub_kernel_miss:Nowhere"
        assert source.last_candidate is None  # interpolation says the same


def test_the_hard_switch_wins_over_the_mode(database: Path) -> None:
    with SqlDataSource(
        database, disable_interpolation=True, mode="allowlist", allowlist=[MM]
    ) as source:
        assert source.lookup(BETWEEN) is None and source.last_candidate is None


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "allowlist"},
        {"mode": "allowlist", "allowlist": []},
        {"mode": "shadow", "allowlist": ["MatMulV2"]},
        {"allowlist": ["MatMulV2"]},
    ],
)
def test_a_list_and_the_mode_go_together(options: dict[str, Any], database: Path) -> None:
    with pytest.raises(UsageError, match="names in the allowlist"):
        SqlDataSource(database, **options)
