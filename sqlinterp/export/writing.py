"""Writes the tables of a database file as Parquet, partitioned by version and kernel."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb

from sqlinterp import migrations, queries
from sqlinterp.database import connect_analyst, damaged, is_damage
from sqlinterp.definitions import check_derived, definition_digest
from sqlinterp.errors import DatabaseError
from sqlinterp.export.folder import replaced_folder
from sqlinterp.export.manifest import NAME, File, Manifest, Table, file_sha256
from sqlinterp.interrupts import is_interrupt
from sqlinterp.migrations import check_current
from sqlinterp.version import __version__

PARTITION = ("version_id", "kernel_type")
# One thread writes, so that the same rows give the same bytes.
_SETTINGS: dict[str, str | int | list[str]] = {"threads": 1, "preserve_insertion_order": "true"}
_OPTIONS = "(format parquet, compression zstd)"

Advance = Callable[[str, int, int], None]
Kernel = tuple[int, str]


def export_parquet(
    database: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    advance: Advance | None = None,
) -> Manifest:
    """Write every table of a database file into a folder.

    Tables of measured rows and what is derived from them are partitioned by ``version_id`` and
    ``kernel_type``; the others are one file each. The folder appears when it is complete; an
    earlier export there is replaced. The same database file gives the same bytes under the same
    DuckDB.

    Parameters
    ----------
    advance : callable, optional
        Told table, tables done and tables in all.

    Returns
    -------
    Manifest
        What was written, as in ``manifest.json``.

    Raises
    ------
    UsageError
        If something else than an earlier export is in the folder.
    DatabaseError
        If the database file cannot be read, or the folder cannot be written.
    MigrationError
        If the file lacks migrations, or was derived by another sqlinterp.
    """
    path, target = Path(database), Path(folder)
    with replaced_folder(target) as building:
        manifest = _filled(path, target, building, advance or (lambda *_: None))
        (building / NAME).write_text(manifest.to_json(), encoding="utf-8")
    return manifest


def _filled(path: Path, target: Path, building: Path, advance: Advance) -> Manifest:
    """Write every table into a folder, on a connection that can write nowhere else."""
    spill = building / "spill"  # what does not fit into memory
    settings = {
        **_SETTINGS,
        "allowed_directories": [str(building)],
        "temp_directory": str(spill),
    }
    connection = connect_analyst(path, settings)
    try:
        check_current(connection, path)
        check_derived(connection, path)
        return _write(connection, building, advance)
    except duckdb.Error as error:
        if is_damage(error):
            raise damaged(error, path) from error
        what = f"the export cannot be written: {str(error).splitlines()[0]}"
        raise DatabaseError(what, str(target)) from error
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)


def _write(connection: duckdb.DuckDBPyConnection, folder: Path, advance: Advance) -> Manifest:
    columns: dict[str, list[tuple[str, str]]] = {}
    for table, name, kind in _rows(connection, "export.table_column"):
        columns.setdefault(table, []).append((name, kind))
    kernels = [(int(row[0]), str(row[1])) for row in _rows(connection, "export.partition")]
    tables = []
    for place, (name, own) in enumerate(columns.items()):
        advance(name, place, len(columns))
        tables.append(_table(connection, folder, (name, tuple(own)), kernels))
    advance("", len(columns), len(columns))
    query = "select version_key from profile_version order by version_key"
    versions = tuple(row[0] for row in connection.execute(query).fetchall())
    return Manifest(
        schema_version=max(m.number for m in migrations.status(connection)),
        definition_digest=definition_digest(),
        package_version=__version__,
        duckdb_version=duckdb.__version__,
        versions=versions,
        tables=tuple(tables),
    )


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(queries.load(query).body).fetchall()


def _table(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    table: tuple[str, tuple[tuple[str, str], ...]],
    kernels: list[Kernel],
) -> Table:
    """Write one table, and make sure that no row is left out.

    Raises
    ------
    DatabaseError
        If some of its rows belong to no kernel of any version.
    """
    name, columns = table
    rows = connection.execute(f'select count(*) from "{name}"').fetchall()[0][0]
    is_partitioned = f"export.{name}" in queries.names("export")
    parts: list[tuple[Path, str, dict[str, Any]]]
    if is_partitioned:
        body = queries.load(f"export.{name}").body
        parts = [(_place(name, kernel), body, _values(kernel)) for kernel in kernels if rows]
    else:
        parts = [(Path(name), f'select * from "{name}" order by all', {})]
    files = [_copied(connection, folder, *part) for part in parts]
    kept = tuple(file for file in files if file.rows or not is_partitioned)
    written = sum(file.rows for file in kept)
    if written != rows:
        what = f"{rows - written} of {rows} rows of {name} belong to no kernel"
        raise DatabaseError(what, todo="Ingest into a new file.")
    return Table(name, rows, columns, PARTITION if is_partitioned else (), kept)


def _place(name: str, kernel: Kernel) -> Path:
    """Return the folder of a partition, with the kernel's name as Hive and Spark read it."""
    version_id, kernel_type = kernel
    encoded = quote(kernel_type, safe="") or "__HIVE_DEFAULT_PARTITION__"
    return Path(name) / f"version_id={version_id}" / f"kernel_type={encoded}"


def _values(kernel: Kernel) -> dict[str, Any]:
    return dict(zip(PARTITION, kernel, strict=True))


def _copied(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    place: Path,
    body: str,
    parameters: dict[str, Any],
) -> File:
    """Write the rows of a query into a folder; without rows, a partition leaves no file."""
    new, path = folder / "new.parquet", place / "rows.parquet"
    statement = f"copy ({body}) to $file {_OPTIONS}"
    found = connection.execute(statement, {**parameters, "file": str(new)}).fetchall()
    file = File(path.as_posix(), int(found[0][0]), new.stat().st_size, file_sha256(new))
    if file.rows or not parameters:
        (folder / place).mkdir(parents=True)
        new.rename(folder / path)
    else:
        new.unlink()
    return file
