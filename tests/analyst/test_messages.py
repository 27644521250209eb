"""Errors point at the place in the SQL."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from sqlinterp.analyst import place, run_sql
from sqlinterp.errors import QueryError


def message(database: Path, query: str) -> list[str]:
    with pytest.raises(QueryError) as caught:
        run_sql(database, query)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT *\n   FROM read_csv('x')",
            [
                "line 2, column 9: function 'read_csv' is unknown or refused",
                "  2 |    FROM read_csv('x')",
                "    |         ^^^^^^^^",
            ],
        ),
        (
            "SELECT axis_1 FROM pointt",
            [
                "line 1, column 20: table 'pointt' is unknown or refused; did you mean 'point'?",
                "  1 | SELECT axis_1 FROM pointt",
                "    |                    ^^^^^^",
            ],
        ),
        (
            "SELECT 'é', naïve FROM (SELECT 1 AS a)",
            [
                'line 1, column 13: Binder Error: Referenced column "naïve" not found in FROM'
                " clause!",
                'Candidate bindings: "a"',
                "  1 | SELECT 'é', naïve FROM (SELECT 1 AS a)",
                "    |             ^^^^^",
            ],
        ),
        (
            "SELECT 'é',\n\tCAST('x' AS INTEGER) FROM range(1)",
            [
                "line 2, column 2: Conversion Error: Could not convert string 'x' to INT32",
                "  2 |  CAST('x' AS INTEGER) FROM range(1)",
                "    |  ^^^^^^^^^^^^^^^^^^^^",
            ],
        ),
        (
            "SELECT 1 FORM point",
            [
                'line 1, column 15: Parser Error: syntax error at or near "point"',
                "  1 | SELECT 1 FORM point",
                "    |               ^^^^^",
            ],
        ),
        (
            "  DROP TABLE point",
            [
                "line 1, column 3: DROP is refused, one SELECT is expected",
                "  1 |   DROP TABLE point",
                "    |   ^^^^",
            ],
        ),
        ("SELECT 1; SELECT 2", ["the text holds 2 statements (expected one SELECT)"]),
        ("", ["the text holds 0 statements (expected one SELECT)"]),
        ("x" * 100_001, ["the text has 100,001 characters (expected at most 100,000)"]),
    ],
)
def test_the_message(database: Path, query: str, expected: list[str]) -> None:
    found = message(database, query)
    assert found[: len(expected) - 1] == expected[:-1]
    assert found[-1].startswith(expected[-1])


def test_a_place_in_a_view_is_not_taken_for_one_in_the_query(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("create table a as select 'x' as t")
        writer.execute("create view v as select t::integer as number from a")
    lines = message(path, "SELECT      number        FROM       v")
    assert lines[0].startswith("Conversion Error") and not any("^" in line for line in lines)
    named = message(path, "SELECT nope FROM v")
    assert named[0].startswith("line 1, column 8:") and named[-1].endswith("^^^^")


def test_a_long_line_is_cut_around_the_place(check: Callable[[str], str]) -> None:
    query = "SELECT " + ", ".join(["axis_1"] * 200) + ", getenv('A')" + ", axis_2" * 200
    with pytest.raises(QueryError) as caught:
        check(query)
    first, line, mark = str(caught.value).splitlines()
    assert first.startswith(f"line 1, column {query.index('getenv') + 1}:")
    assert len(line) < 110
    assert line[mark.index("^") :].startswith("getenv") and mark.count("^") == len("getenv")


def test_control_characters_do_not_reach_the_terminal(check: Callable[[str], str]) -> None:
    with pytest.raises(QueryError) as caught:
        check("SELECT '\x1b[31m', getenv('A')")
    assert "\x1b" not in str(caught.value)


def test_the_examples_of_the_module() -> None:
    assert doctest.testmod(place).attempted >= 1
    assert doctest.testmod(place).failed == 0
