"""Work expressions: what is read, what it gives, and everything that is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlinterp.extrapolation.work import read_work

AT = {"M": 17.0, "K": 4.0, "seq len": 9.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("M", 17),
        ("M*K", 68),
        ("M + K * 2", 25),
        ("(M + K) * 2", 42),
        ("M - K - 1", 12),
        ("M / K / 2", 17 / 8),
        ("-K + M", 13),
        ("2 * -(-M)", 34),
        ("M -- K", 21),
        ("ceil(M / 16) * 16", 32),
        ("floor(M / 16)", 1),
        ("greatest(M, K, 20)", 20),
        ("LEAST(M, K)", 4),
        ("power(K, 0.5) + sqrt(K)", 4),
        ('"seq len" * 1.5e1', 135),
        (".5*M", 8.5),
    ],
)
def test_arithmetic(text: str, value: float) -> None:
    assert read_work(text).at(AT) == value


@pytest.mark.parametrize(
    "text",
    ["M - 17", "K - M", "M / (K - 4)", "sqrt(K - M)", "power(K, 10000)", "power(K - M, 0.5)"],
)
def test_work_that_is_no_positive_number_is_unknown(text: str) -> None:
    assert math.isnan(read_work(text).at(AT))


def test_an_axis_that_is_not_there_leaves_the_work_unknown() -> None:
    work = read_work("M * N")
    assert work.names == {"M", "N"}
    assert math.isnan(work.at(AT))


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "1", "2 * 3", "M *", "* M", "M K", "M M", "(M", "M)", "ceil()", "ceil(M", "M, K",
        "ceil(M, K)", "power(M)", "abs(M)", "M ** 2", "M ^ 2", "M // 2", "M % 2", "M; drop table t",
        "'M'", "M.x", "M[0]", "M if K else 1", "lambda: M", "__import__('os').system('id')",
        "exec(M)", "select M", "M = K", "1_000 * M", "0x10 * M", "1.2.3 * M", "1e * M", "\0",
        "M\n\0", "M \u00d7 K", "M" * 201, "(" * 40 + "M" + ")" * 40, "-" * 60 + "M",
        "ceil(" * 35 + "M" + ")" * 35,
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_work(text)


@given(st.text(max_size=60))
def test_no_text_does_anything_but_give_a_number_or_a_refusal(text: str) -> None:
    try:
        work = read_work(text)
    except ValueError:
        return
    value = work.at(dict.fromkeys(work.names, 3.0))
    assert math.isnan(value) or value > 0
