"""The migration runner: order, ledger, old files, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlinterp import migrations
from sqlinterp.errors import MigrationError
from sqlinterp.migrations import Migration

OLD_COUNT = 8
ROWS = {
    "profile_version": "(1, 'D/B/V', 'kernel', 'folder', null, 'ab', '{}', timestamp '2026-01-02')",
    "source_file": "(1, 1, 'Add', 'Add.csv', 'folder/Add.csv', 'loaded', null, 'legacy36', 'cd',"
    " 'ef', 120, 1, ['Input Shapes'], [], 'Average Duration(us)', 3, 1, 1, 1)",
    "rejected_row": "(1, 2, 3, 'Input Shapes', 'malformed_shape', 'N/A')",
    "source_issue": "(1, 1, null, null, 'warning', 'repeated_bom', 'text')",
    "unmeasured_row": "(1, 1, 'Add', 3, 4, '8,8', 'DT_BF16', 'ND', '8,8', 'DT_BF16')",
    "measurement": "(1, 1, 1, 'Add', 1, 2, 'dynamic', 'AI_CORE', [[8, 8], null], ['DT_BF16', ''],"
    " ['ND', ''], [[8, 8]], ['DT_BF16'], ['ND'], [[8, 8]], ['DT_BF16'], ['ND'], [0], 1, 2.5,"
    " 'Average Duration(us)', 0, 2.5, 2.5, null, null, null, 2.4, 0.1, null, null)",
    "op_mapping": "(1, 'aten.add.Tensor', 'compute', 'Add', [], null, null, 2, '{}')",
    "interpolation_policy": "(1, 'kernel', 'Add', '{}')",
    "regime": "(1, 1, 1, 'Add', 'generic_axis_0', 0, '{}', 'ND', '', true, ['axis_0'], [0], 1)",
    "point": "(1, 'Average Duration(us)', 0, 8, 0, 0, 0, 2.5, 2.5, 2.5, 2.5, 2.5, 1, 1, 2)",
    "exact_key": "(1, 'key', false, 2.5, 2.5, 2.5, 2.5, 2.5, 1, 0, 'Duration(us)', 1, 1, 2)",
    "dropped_point": "(1, 'matmul', 'input_shapes_lt_2', 4)",
}


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database."""
    with duckdb.connect() as connection:
        yield connection


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def schema_dump(connection: duckdb.DuckDBPyConnection) -> list[list[tuple[Any, ...]]]:
    """Tables, columns, constraints and views, with their comments."""
    return [
        fetch(connection, f"select {columns} from {function}() where {condition} order by all")
        for function, columns, condition in (
            ("duckdb_tables", "table_name, comment", "not internal"),
            (
                "duckdb_columns",
                "table_name, column_index, column_name, data_type, is_nullable, column_default,"
                " comment",
                "not internal",
            ),
            ("duckdb_constraints", "table_name, constraint_type, constraint_text", "true"),
            ("duckdb_views", "view_name, sql, comment", "not internal"),
        )
    ]


def make_old(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the database that a sqlinterp with the first migrations would have left."""
    connection.execute(migrations._LEDGER)
    migrations._comment_ledger(connection)
    for migration in migrations.available()[:OLD_COUNT]:
        connection.execute(migration.sql)
        connection.execute(
            "insert into schema_migration values ($id, $name, $sha, now()::timestamp, '2.0', '0')",
            {"id": migration.number, "name": migration.name, "sha": migration.sha256},
        )
    for table, row in ROWS.items():
        connection.execute(f"insert into {table} values {row}")


def test_the_packaged_migrations_have_no_gaps() -> None:
    found = migrations.available()
    assert [migration.number for migration in found] == list(range(1, len(found) + 1))
    assert len(found) > OLD_COUNT
    for migration in found:
        assert re.fullmatch(r"\d{4}_[a-z]+(_[a-z0-9]+)+", migration.name)
        assert migration.sql.startswith("-- ")


@pytest.mark.parametrize("names", [["0001_a", "0003_b"], ["0001_a", "0001_b"], ["0002_a"]])
def test_a_gap_or_a_duplicate_is_refused(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names:
        tmp_path.joinpath(f"{name}.sql").write_text("select 1;", encoding="utf-8")
    monkeypatch.setattr(migrations, "resource_folder", lambda name: tmp_path)
    with pytest.raises(MigrationError, match="gap or a duplicate"):
        migrations.available()


def test_status_before_and_after(database: duckdb.DuckDBPyConnection) -> None:
    before = migrations.status(database)
    assert [migration.applied_at for migration in before] == [None] * len(before)
    applied = migrations.migrate(database)
    assert [migration.name for migration in applied] == [migration.name for migration in before]
    after = migrations.status(database)
    assert [migration.name for migration in after] == [migration.name for migration in before]
    assert all(migration.applied_at for migration in after)


def test_the_ledger_names_what_was_applied(database: duckdb.DuckDBPyConnection) -> None:
    migrations.migrate(database)
    ledger = fetch(database, "select id, name, sha256, duckdb_version from schema_migration")
    assert ledger == [
        (migration.number, migration.name, migration.sha256, duckdb.__version__)
        for migration in migrations.available()
    ]


def test_migrating_twice_changes_nothing(database: duckdb.DuckDBPyConnection) -> None:
    migrations.migrate(database)
    schema, ledger = schema_dump(database), fetch(database, "from schema_migration")
    assert migrations.migrate(database) == []
    assert schema_dump(database) == schema
    assert fetch(database, "from schema_migration") == ledger


def test_an_old_database_gains_the_rest_without_losing_a_row(
    database: duckdb.DuckDBPyConnection,
) -> None:
    make_old(database)
    columns = {
        table: ", ".join(row[1] for row in fetch(database, f"pragma table_info('{table}')"))
        for table in ROWS
    }
    before = {table: fetch(database, f"select {columns[table]} from {table}") for table in ROWS}
    applied = migrations.migrate(database)
    assert [migration.number for migration in applied] == [
        migration.number for migration in migrations.available()[OLD_COUNT:]
    ]
    for table, rows in before.items():
        assert len(rows) == 1
        assert fetch(database, f"select {columns[table]} from {table}") == rows
    added = fetch(database, "select ep_size, runtime_phase, runtime_topk from measurement")
    assert added == [(None, None, None)]
    assert fetch(database, "select rows_stored from ingest_balance") == [(1,)]


def test_an_old_database_ends_with_the_schema_of_a_fresh_one(
    database: duckdb.DuckDBPyConnection,
) -> None:
    make_old(database)
    migrations.migrate(database)
    with duckdb.connect() as fresh:
        migrations.migrate(fresh)
        expected = schema_dump(fresh)
    assert len(expected[1]) > 200
    assert schema_dump(database) == expected


def test_an_old_view_is_replaced(database: duckdb.DuckDBPyConnection) -> None:
    migrations.migrate(database)
    expected = schema_dump(database)
    database.execute("create or replace view ingest_balance as select 1 as stale")
    migrations.migrate(database)
    assert schema_dump(database) == expected


def test_a_file_that_lacks_migrations_cannot_be_opened_for_reading(
    database: duckdb.DuckDBPyConnection,
) -> None:
    make_old(database)
    missing = len(migrations.available()) - OLD_COUNT
    with pytest.raises(MigrationError, match=rf"lacks {missing} schema migrations.*migrate --db"):
        migrations.check_current(database, Path("old.duckdb"))
    migrations.migrate(database)
    migrations.check_current(database, Path("old.duckdb"))


@pytest.mark.parametrize("change", ["sha256 = '00'", "name = '0003_other'"])
def test_a_changed_migration_is_detected(change: str, database: duckdb.DuckDBPyConnection) -> None:
    migrations.migrate(database)
    database.execute(f"update schema_migration set {change} where id = 3")
    for action in (migrations.status, migrations.migrate):
        with pytest.raises(MigrationError, match="0003_create_row_ledger differs"):
            action(database)


def test_a_newer_database_is_refused(database: duckdb.DuckDBPyConnection) -> None:
    migrations.migrate(database)
    newer = len(migrations.available()) + 1
    database.execute(
        f"insert into schema_migration values ({newer}, 'x', 'y', now()::timestamp, '9', '9')"
    )
    for action in (migrations.status, migrations.migrate):
        with pytest.raises(MigrationError, match=rf"\[{newer}\].*does not know.*Update sqlinterp"):
            action(database)


def test_a_failed_migration_is_rolled_back(
    database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = migrations.available()[:2]
    bad = Migration(3, "0003_fail_halfway", "ab", "create table half (x integer); from nothing;")
    monkeypatch.setattr(migrations, "available", lambda: [*good, bad])
    with pytest.raises(MigrationError, match=r"0003_fail_halfway failed.*nothing"):
        migrations.migrate(database)
    assert fetch(database, "select id from schema_migration order by id") == [(1,), (2,)]
    tables = fetch(database, "select table_name from duckdb_tables() order by 1")
    assert tables == [("profile_version",), ("schema_migration",), ("source_file",)]
    monkeypatch.undo()
    assert len(migrations.migrate(database)) == len(migrations.available()) - 2


def test_a_view_that_cannot_be_created_is_named(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("create table kernel_coverage (x integer)")
    with pytest.raises(MigrationError, match=r"view views\.kernel_coverage cannot be created"):
        migrations.migrate(database)
