"""One run: declared tables into a database file, all in one transaction."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import migrations
from sqlinterp.database import load_aliases
from sqlinterp.declared.declaration import Declaration
from sqlinterp.declared.reading import read_declaration
from sqlinterp.declared.rows import declared_rows
from sqlinterp.declared.store import KnownFile, Store
from sqlinterp.declared.tables import fingerprint, read_table
from sqlinterp.definitions import is_current
from sqlinterp.errors import DatabaseError, SourceError
from sqlinterp.given import path_of, paths_of
from sqlinterp.ingestion.derive import derive
from sqlinterp.ingestion.mapping import canonical_json
from sqlinterp.ingestion.summary import IngestSummary, summarise
from sqlinterp.publishing import publishing

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class TableSummary(IngestSummary):
    """The result of :func:`sqlinterp.ingest_table`; ``files`` counts kernels of tables.

    Attributes
    ----------
    rows_filtered : int
        Rows that the filters of the declaration left out; they are not in ``rows_read``.
    """

    rows_filtered: int = 0


def ingest_table(
    declaration: str | os.PathLike[str],
    tables: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    database: str | os.PathLike[str],
    values: Mapping[str, Any] | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> TableSummary:
    """Make measured CSV or Parquet tables queryable as a declaration says.

    Unchanged tables are not read again; a new file takes the place of the database file at the end.

    Parameters
    ----------
    declaration : path or str
        YAML file, or the name of a shipped declaration.
    tables : path or iterable of path
        CSV or Parquet files of the layout that the declaration describes.
    database : path
        DuckDB file to write; it is created or migrated.
    values : mapping, optional
        Columns that the tables lack, with their one value; they win over the declaration's.
    replace : bool
        Forget everything that the declaration has stored before from other files.
    progress : callable, optional
        Called as ``progress(file name, files done, files in all)``.

    Raises
    ------
    SourceError, UsageError
        If declaration or tables cannot be used; nothing is stored then.
    DatabaseError
        If the database file cannot be written, or somebody else writes it.
    """
    path, paths = path_of(database, "the database"), _paths(tables)
    told = read_declaration(path_of(declaration, "the declaration"))
    with publishing(path) as connection:
        migrations.migrate(connection)
        load_aliases(connection)
        return _Run(connection, path, told, values or {}).execute(paths, replace, progress)


def _paths(tables: Any) -> list[Path]:
    """Return the paths of the tables, each once."""
    paths = list(
        dict.fromkeys(Path(os.path.abspath(table)) for table in paths_of(tables, "a table"))
    )
    if not paths:
        raise SourceError("no table was given")
    return paths


class _Run:
    """The state of one run."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        declaration: Declaration,
        values: Mapping[str, Any],
    ) -> None:
        self._connection, self._path = connection, path
        self._declaration, self._values = declaration, values
        self._store = Store(connection, declaration)
        self._changed = False
        self._filtered = 0
        self._unchanged: dict[int, int] = {}
        self._removed = 0

    def execute(self, paths: list[Path], replace: bool, progress: Progress | None) -> TableSummary:
        """Run everything in one transaction."""
        try:
            self._connection.execute("begin")
            known = self._store.known_files()
            if replace:
                known = self._forget_others(known, paths)
            version_ids: set[int] = set()
            for done, path in enumerate(paths):
                if progress is not None:
                    progress(path.name, done, len(paths))
                version_ids |= self._load(path, known)
            if self._changed:
                self._store.check()
            if self._changed or not is_current(self._connection):
                derive(self._connection)
            summary = summarise(
                self._connection, str(self._path), sorted(version_ids), self._unchanged,
                self._removed,
            )  # fmt: skip
            self._connection.execute("commit")
            return TableSummary(**vars(summary), rows_filtered=self._filtered)
        except duckdb.Error as error:
            raise DatabaseError(f"ingest failed: {error}", str(self._path)) from error

    def _forget_others(self, known: list[KnownFile], paths: list[Path]) -> list[KnownFile]:
        given = {str(path) for path in paths}
        others = [file for file in known if file.file_path not in given]
        self._store.forget(others)
        self._removed, self._changed = len(others), self._changed or bool(others)
        return [file for file in known if file.file_path in given]

    def _load(self, path: Path, known: list[KnownFile]) -> set[int]:
        """Store one table unless it is known as it is; return its versions."""
        values = self._values_of(path)
        digest = _digest(self._declaration, values)
        sha256 = fingerprint(path)
        own = [file for file in known if file.file_path == str(path)]
        own = own or [file for file in known if file.sha256 == sha256]
        if own and all((f.sha256, f.policy_sha256) == (sha256, digest) for f in own):
            self._store.move((file for file in own if file.file_path != str(path)), path)
            for file in own:
                self._unchanged[file.version_id] = self._unchanged.get(file.version_id, 0) + 1
            self._filtered += self._store.filtered(own)
            return {file.version_id for file in own}
        self._store.forget(own)
        self._changed = True
        table = read_table(path, sha256, self._connection)
        rows = declared_rows(table, self._declaration, values)
        self._filtered += rows.filtered
        return self._store.add(table, rows, digest, values)

    def _values_of(self, path: Path) -> dict[str, Any]:
        """Return constants, parts of the path and given values; the later ones win."""
        values = dict(self._declaration.constants)
        for pattern in self._declaration.patterns:
            match = re.search(pattern, path.as_posix())
            if match:
                values.update({k: v for k, v in match.groupdict().items() if v is not None})
                break
        return {**values, **self._values}


def _digest(declaration: Declaration, values: Mapping[str, Any]) -> str:
    text = canonical_json({"declaration": declaration.content, "values": dict(values)})
    return hashlib.sha256(text.encode()).hexdigest()
