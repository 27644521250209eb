"""Whether derived tables were made with the definitions of this package."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path as FilePath

import duckdb

from sqlinterp import queries
from sqlinterp.errors import MigrationError
from sqlinterp.paths import PATHS


@cache
def definition_digest() -> str:
    """Return the SHA-256 of everything that keys, regimes and points are made with."""
    digest = hashlib.sha256(repr(sorted(PATHS.items())).encode())
    for folder in ("macros", "paths", "ingest"):
        for name in queries.names(folder):
            digest.update(queries.load(name).body.encode())
    return digest.hexdigest()


def is_current(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the derived tables of a file were made with these definitions.

    A file without measurements has nothing to derive and is current.
    """
    found = connection.execute(
        "select (select any_value(sha256) from derivation), (select count(*) from source_file)"
    ).fetchall()
    digest, files = found[0]
    return bool(files == 0 or digest == definition_digest())


def check_derived(connection: duckdb.DuckDBPyConnection, path: FilePath) -> None:
    """Make sure that lookups and derived tables share one definition of every path.

    Raises
    ------
    MigrationError
        If the file was derived by another version of the package.
    """
    if not is_current(connection):
        raise MigrationError(
            "keys and regimes of the database were made by another sqlinterp",
            str(path),
            todo=f"Run 'sqlinterp migrate --db {path}'.",
        )
