"""Every file of ``sql/``: header, length, parameters, name, and whether DuckDB parses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sqlinterp.resources import resource_folder

ROOT = resource_folder("sql")
FILES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.sql"))}
MAX_LINES = 80


@pytest.fixture(scope="module")
def parser() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that only parses."""
    with duckdb.connect() as connection:
        yield connection


def header(path: Path) -> list[str]:
    """The comment lines at the top, without their dashes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next(place for place, line in enumerate(lines) if not line.startswith("--"))
    return [line.removeprefix("--").strip() for line in lines[:end]]


def body(path: Path) -> str:
    """The statements below the header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def without_strings(text: str) -> str:
    """SQL text with the content of quoted strings taken out."""
    return re.sub(r"'(?:[^']|'')*'", "''", text)


def of_folder(folder: str) -> list[str]:
    return [name for name in FILES if name.startswith(f"{folder}/")]


def test_every_folder_has_files() -> None:
    for folder in ("ingest", "lookup", "macros", "paths", "views"):
        assert of_folder(folder), folder


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_short(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("name", FILES)
def test_the_header_says_what_the_file_is_for(name: str) -> None:
    purpose = header(FILES[name])[0]
    assert re.fullmatch(r"[A-Z].{9,}\.", purpose), purpose


@pytest.mark.parametrize("name", FILES)
def test_the_comments_are_all_in_the_header(name: str) -> None:
    assert not re.search(r"^\s*--", body(FILES[name]), re.MULTILINE)


@pytest.mark.parametrize("name", FILES)
def test_the_params_of_the_header_are_those_of_the_body(name: str) -> None:
    lines = [line for line in header(FILES[name]) if line.startswith("param:")]
    declared = [re.fullmatch(r"param: (\w+) \w+(?:\[\])* \[.+\]", line) for line in lines]
    assert all(declared), lines
    used = set(re.findall(r"\$(\w+)", without_strings(body(FILES[name]))))
    assert sorted(match[1] for match in declared if match) == sorted(used)


@pytest.mark.parametrize("name", FILES)
def test_the_body_uses_the_steps_that_the_header_reads(name: str) -> None:
    lines = [line for line in header(FILES[name]) if line.startswith("reads:")]
    for step in ", ".join(lines).replace("reads:", "").replace(" ", "").split(","):
        assert re.search(rf"\b{step}\b", body(FILES[name])), step


@pytest.mark.parametrize("name", FILES)
def test_duckdb_parses_the_file(name: str, parser: duckdb.DuckDBPyConnection) -> None:
    statements = parser.extract_statements(body(FILES[name]))
    assert len(statements) >= 1
    assert name.startswith("views/") or len(statements) == 1


@pytest.mark.parametrize("name", of_folder("macros"))
def test_the_macro_has_the_name_of_its_file(name: str) -> None:
    defined = re.findall(r"create or replace temp macro (\w+)\(", body(FILES[name]))
    assert defined == [FILES[name].stem]


@pytest.mark.parametrize("name", of_folder("views"))
def test_the_view_has_the_name_of_its_file_and_comments_on_nothing_else(name: str) -> None:
    text, stem = without_strings(body(FILES[name])), FILES[name].stem
    assert re.findall(r"create or replace view (\w+)", text) == [stem]
    assert re.findall(r"comment on view (\w+)", text) == [stem]
    assert set(re.findall(r"comment on column (\w+)\.\w+", text)) == {stem}


@pytest.mark.parametrize("name", of_folder("views"))
def test_the_view_has_an_example_question(name: str) -> None:
    assert re.fullmatch(r"example: [A-Z].+\?", header(FILES[name])[1])


@pytest.mark.parametrize("name", FILES)
def test_keywords_are_lower_case(name: str) -> None:
    keywords = r"\b(SELECT|FROM|WHERE|JOIN|GROUP BY|ORDER BY|CREATE|WITH|UNION|INSERT)\b"
    assert not re.search(keywords, without_strings(body(FILES[name])))
