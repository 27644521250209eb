"""Rules in a database file: the shipped ones come with it, others stay until they are replaced."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp import migrations
from sqlinterp.database import connect_writer
from sqlinterp.density import load_default, load_rules, table

MINE = "rules:\n- {name: mine, axis: M, paths: [matmul], kernels: [A, B], required: [3, 1]}\n"


@pytest.fixture
def database(tmp_path: Path, migrated_file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database without measurements."""
    (tmp_path / "p.duckdb").write_bytes(migrated_file.read_bytes())
    connection = connect_writer(tmp_path / "p.duckdb")
    yield connection
    connection.close()


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def mine(folder: Path, text: str = MINE) -> Path:
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_fresh_database_has_the_shipped_rules(database: duckdb.DuckDBPyConnection) -> None:
    content = table.default_text().encode()
    assert fetch(database, "from density_source") == [
        ("default_rules.yaml", hashlib.sha256(content).hexdigest(), True)
    ]
    assert fetch(
        database, "select count(*) > 100, count(distinct rule_name) from density_rule"
    ) == [(True, 12)]
    assert not load_default(database)


def test_a_row_for_each_limit_and_value_of_each_subject(
    database: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    text = "rules:\n- name: r\n  axis: K\n  kernels: [A, B]\n  required: [2]\n  source: here\n"
    text += "  limits: [{from: 1, to: 4, max_gap: 1}, {from: 4, max_ratio: 2}]\n"
    load_rules(database, mine(tmp_path, text))
    nothing = (None,) * 4
    assert fetch(database, "from density_rule") == [
        ("r", "K", None, kernel, *limit, "here")
        for kernel in "AB"
        for limit in ((1, 4, 1, None, None), (4, None, None, 2, None), (*nothing, 2))
    ]


def test_own_rules_stay_when_the_database_is_migrated_or_ingested_into(tmp_path: Path) -> None:
    row = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,4'
    version = write_version(tmp_path / "v", {"MatMulV2.csv": [MATMUL_HEADER, row]}, {})
    path = tmp_path / "p.duckdb"
    sqlinterp.ingest([version], path)
    for step in (lambda: None, lambda: sqlinterp.ingest([version], path)):
        step()
        connection = connect_writer(path)
        migrations.migrate(connection)
        load_rules(connection, mine(tmp_path))
        migrations.migrate(connection)
        assert fetch(connection, "select file_name, is_default from density_source") == [
            ("mine.yaml", False)
        ]
        rows = fetch(connection, "select kernel_type, required_value from density_rule")
        assert rows == [("A", 1), ("A", 3), ("B", 1), ("B", 3)]
        connection.close()


def test_shipped_rules_are_renewed_with_the_package(
    database: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_default", MINE.encode)
    migrations.migrate(database)
    assert fetch(database, "select distinct rule_name from density_rule") == [("mine",)]
    assert fetch(database, "select is_default from density_source") == [(True,)]
    monkeypatch.undo()
    load_rules(database, mine(tmp_path))
    monkeypatch.setattr(table, "_default", lambda: MINE.replace("mine", "newer").encode())
    migrations.migrate(database)
    assert fetch(database, "select distinct rule_name from density_rule") == [("mine",)]


def test_an_empty_list_switches_every_rule_off(
    database: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    assert load_rules(database, mine(tmp_path, "rules: []\n")) == []
    assert fetch(database, "select count(*) from density_rule") == [(0,)]


def test_a_failure_half_way_leaves_the_rules(
    database: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fetch(database, "from density_rule"), fetch(database, "from density_source")
    monkeypatch.setattr(table, "_rows", lambda rules: iter([("r", "M", *[None] * 8)]))
    with pytest.raises(duckdb.ConstraintException):
        load_rules(database, mine(tmp_path))
    assert (fetch(database, "from density_rule"), fetch(database, "from density_source")) == before
