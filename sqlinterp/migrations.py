"""The runner of ``migrations/``: forward only, one transaction each, recorded with their hash."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb

from sqlinterp import queries
from sqlinterp.density import load_default
from sqlinterp.errors import MigrationError
from sqlinterp.resources import resource_folder
from sqlinterp.version import __version__

_LEDGER = (
    "create table if not exists schema_migration (id integer primary key, name varchar not null,"
    " sha256 varchar not null, applied_at timestamp not null, duckdb_version varchar not null,"
    " package_version varchar not null)"
)
_LEDGER_COMMENTS = {
    "id": "Number of the migration, without gaps [integer]",
    "name": "File name of the migration without suffix [text]",
    "sha256": "SHA-256 of the migration file when it was applied [hex]",
    "applied_at": "When it was applied [UTC]",
    "duckdb_version": "DuckDB that applied it [text]",
    "package_version": "sqlinterp that applied it [text]",
}


@dataclass(frozen=True)
class Migration:
    """One migration file and, once applied, when."""

    number: int
    name: str
    sha256: str
    sql: str
    applied_at: str | None = None


def available() -> list[Migration]:
    """Return the packaged migrations in order.

    Raises
    ------
    MigrationError
        If their numbers have a gap or a duplicate.
    """
    found = [_read(path) for path in sorted(resource_folder("migrations").glob("[0-9]*.sql"))]
    numbers = [migration.number for migration in found]
    if numbers != list(range(1, len(found) + 1)):
        raise MigrationError(f"migration numbers have a gap or a duplicate: {numbers}")
    return found


def _read(path: Path) -> Migration:
    text = path.read_text(encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Migration(int(path.stem[:4]), path.stem, digest, text)


def status(connection: duckdb.DuckDBPyConnection) -> list[Migration]:
    """Return every packaged migration, with ``applied_at`` set where it has been applied.

    Raises
    ------
    MigrationError
        If the file was made by a newer sqlinterp, or a migration changed after it was applied.
    """
    applied = _applied(connection)
    known = available()
    newer = sorted(set(applied) - {migration.number for migration in known})
    if newer:
        raise MigrationError(
            f"the database has migrations {newer} that this sqlinterp does not know",
            todo="Update sqlinterp, or ingest into a new file.",
        )
    result = []
    for migration in known:
        name, digest, when = applied.get(migration.number, (migration.name, None, None))
        if digest is not None and (digest != migration.sha256 or name != migration.name):
            raise MigrationError(
                f"migration {migration.name} differs from the one that was applied",
                todo="Ingest into a new file.",
            )
        result.append(Migration(migration.number, name, migration.sha256, migration.sql, when))
    return result


def _applied(connection: duckdb.DuckDBPyConnection) -> dict[int, tuple[str, str, str]]:
    exists = connection.execute(
        "select count(*) from duckdb_tables() where table_name = 'schema_migration'"
        " and database_name = current_database()"
    ).fetchall()[0][0]
    if not exists:
        return {}
    rows = connection.execute("select id, name, sha256, applied_at from schema_migration")
    return {row[0]: (row[1], row[2], str(row[3])) for row in rows.fetchall()}


def migrate(connection: duckdb.DuckDBPyConnection) -> list[Migration]:
    """Apply what is missing, each migration in its own transaction, then rules and views.

    Returns
    -------
    list of Migration
        The migrations that were applied now, in order.

    Raises
    ------
    MigrationError
        If the file is newer than this package, or a migration fails (it is rolled back).
    """
    pending = [migration for migration in status(connection) if migration.applied_at is None]
    for migration in pending:
        _apply(connection, migration)
    load_default(connection)
    create_views(connection)
    return pending


def _apply(connection: duckdb.DuckDBPyConnection, migration: Migration) -> None:
    try:
        connection.execute("begin")
        connection.execute(_LEDGER)
        if migration.number == 1:
            _comment_ledger(connection)
        connection.execute(migration.sql)
        connection.execute(
            "insert into schema_migration values"
            " ($id, $name, $sha, now() at time zone 'UTC', $db, $me)",
            {"id": migration.number, "name": migration.name, "sha": migration.sha256,
             "db": duckdb.__version__, "me": __version__},
        )  # fmt: skip
        connection.execute("commit")
    except duckdb.Error as error:
        connection.execute("rollback")
        raise MigrationError(f"migration {migration.name} failed: {error}") from error


def _comment_ledger(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("comment on table schema_migration is 'Applied migrations [source: runner]'")
    for column, comment in _LEDGER_COMMENTS.items():
        connection.execute(f"comment on column schema_migration.{column} is '{comment}'")


def create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create or replace the analyst views of ``sql/views`` unless the file has just these.

    Raises
    ------
    MigrationError
        If a view cannot be created.
    """
    bodies = {name: queries.load(name).body for name in queries.names("views")}
    if _views_digest(connection, bodies) in connection.execute("from view_definition").fetchall():
        return
    name = ""
    connection.execute("begin")
    try:
        for name in _in_order(bodies):
            connection.execute(bodies[name])
        connection.execute("delete from view_definition")
        made = _views_digest(connection, bodies)
        connection.execute("insert into view_definition values (?)", made)
        connection.execute("commit")
    except duckdb.Error as error:
        connection.execute("rollback")
        raise MigrationError(f"view {name} cannot be created: {error}") from error


def _in_order(bodies: dict[str, str]) -> list[str]:
    """Return the names of view files so that a view comes after the views that it reads."""
    reads = {}
    for name, body in bodies.items():
        found = {f"views.{table}" for table in re.findall(r"\b(?:from|join)\s+(\w+)", body)}
        reads[name] = (found & set(bodies)) - {name}
    return list(TopologicalSorter(reads).static_order())


def _views_digest(connection: duckdb.DuckDBPyConnection, bodies: dict[str, str]) -> tuple[str]:
    """Return the SHA-256 of the packaged SQL and of the views that the file has now, as a row."""
    found = connection.execute(
        "select view_name, sql, comment from duckdb_views()"
        " where not internal and database_name = current_database() order by view_name"
    ).fetchall()
    # DuckDB writes the names after EXCLUDE in another order each time that it reads the file.
    stored = [(name, sorted(re.findall(r"\w+", sql)), comment) for name, sql, comment in found]
    return (hashlib.sha256(repr((bodies, stored)).encode()).hexdigest(),)


def check_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make sure that a file opened for reading has every migration of this package.

    Raises
    ------
    MigrationError
        If migrations are missing, or the file is newer than this package.
    """
    missing = [migration.name for migration in status(connection) if not migration.applied_at]
    if missing:
        raise MigrationError(
            f"the database lacks {len(missing)} schema migrations ({missing[0]} ...)",
            str(path),
            todo=f"Run 'sqlinterp migrate --db {path}'.",
        )
