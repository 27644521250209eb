"""One ingest run: find, compare, read, place, derive, all in one transaction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import duckdb

from sqlinterp import migrations
from sqlinterp.database import load_aliases
from sqlinterp.definitions import is_current
from sqlinterp.errors import DatabaseError
from sqlinterp.given import path_of, paths_of
from sqlinterp.ingestion.catalog import Catalog, KnownFile, policy_digest
from sqlinterp.ingestion.derive import derive
from sqlinterp.ingestion.folders import scan
from sqlinterp.ingestion.mapping import OpMapping
from sqlinterp.ingestion.reading import Inspected, check_unchanged, inspect
from sqlinterp.ingestion.references import Source, with_communication
from sqlinterp.ingestion.staging import LoadingFile, Staging, prepare
from sqlinterp.ingestion.summary import IngestSummary, summarise
from sqlinterp.publishing import publishing

Progress = Callable[[str, int, int], None]
_ROWS_PER_FLUSH = 600_000


def ingest(
    folders: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    database: str | os.PathLike[str],
    progress: Progress | None = None,
) -> IngestSummary:
    """Ingest every version directory below the folders into a database file.

    The file is created or migrated. Files whose content and latency policy are unchanged are not
    read again; files that are gone are removed. Everything happens in another file that takes the
    place of the database file at the end, so that readers see all of it or nothing.

    Parameters
    ----------
    folders : path or iterable of path
        Folders that are, or contain, version directories.
    database : path
        DuckDB file to write.
    progress : callable, optional
        Called as ``progress(file name, files done, files in all)``.

    Returns
    -------
    IngestSummary
        Counts per version with rows read = stored + rejected + without latency.

    Raises
    ------
    SourceError, UsageError
        If a folder is no path, not there or without versions, or a file changes meanwhile.
    DatabaseError
        If the database file cannot be written, or somebody else writes it.
    """
    path, found = path_of(database, "the database"), scan(paths_of(folders, "a folder"))
    sources = with_communication(found.versions)
    with publishing(path) as connection:
        migrations.migrate(connection)
        load_aliases(connection)
        summary = _Run(connection, path, sources, progress).execute()
    return replace(summary, messages=(*found.notes, *summary.messages))


class _Run:
    """The state of one run."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        sources: list[Source],
        progress: Progress | None,
    ) -> None:
        self._connection, self._path, self._sources = connection, path, sources
        self._progress = progress or (lambda name, done, total: None)
        self._catalog = Catalog(connection)
        self._known = prepare(connection)
        self._staging = Staging(connection, self._known)
        self._inspections: dict[Path, Future[Inspected]] = {}
        self._unchanged: dict[int, int] = {}
        self._removed = 0
        self._batch: list[LoadingFile] = []
        self._read: list[Inspected] = []
        self._done = 0
        self._total = sum(len(source.folder.csv_files) for source in sources)
        self._changed = False

    def execute(self) -> IngestSummary:
        """Run everything in one transaction."""
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inspect")
        try:
            self._connection.execute("begin")
            self._inspect_ahead(pool)
            version_ids = [self._load_version(source) for source in self._sources]
            self._flush()
            if self._changed or not is_current(self._connection):
                derive(self._connection)
            summary = summarise(
                self._connection, str(self._path), version_ids, self._unchanged, self._removed
            )
            self._connection.execute("commit")
            return summary
        except duckdb.Error as error:
            raise DatabaseError(f"ingest failed: {error}", str(self._path)) from error
        finally:
            pool.shutdown(cancel_futures=True)

    def _inspect_ahead(self, pool: ThreadPoolExecutor) -> None:
        """Let another thread inspect files while the rows of earlier ones are placed."""
        for source in self._sources:
            for path in source.folder.csv_files:
                self._inspections[path] = pool.submit(
                    inspect, source.folder, path, self._known.by_header
                )

    def _load_version(self, source: Source) -> int:
        folder, mapping = source.folder, source.mapping
        noted = self._catalog.version(folder, mapping)
        version_id = noted.version_id
        self._changed |= noted.has_changed
        self._catalog.mapping(version_id, mapping)
        if noted.other_folder is not None:
            message = (
                f"its files came from '{noted.other_folder}' before, a folder of the same key;"
                f" they are replaced by those of '{folder.path}'"
            )
            self._catalog.issue(version_id, None, "warning", ("other_folder", None, message))
        for name, message in folder.ignored:
            self._catalog.issue(version_id, None, "error", ("not_read", name, message))
        if source.communication is not None:
            self._catalog.link_communication(version_id, source.communication.key)
        known = self._catalog.known_files(version_id)
        self._unchanged[version_id] = 0
        for path in folder.csv_files:
            self._load_file(version_id, path, mapping, known.get(path.name))
        for name in known.keys() - {path.name for path in folder.csv_files}:
            self._catalog.forget(known[name].file_id)
            self._removed += 1
            self._changed = True
        return version_id

    def _load_file(
        self, version_id: int, path: Path, mapping: OpMapping, known: KnownFile | None
    ) -> None:
        self._progress(path.name, self._done, self._total)
        self._done += 1
        latency = mapping.overrides("latency", path.stem)
        inspected = self._inspections.pop(path).result()
        inspection = inspected.inspection
        if known is not None:
            same = (known.sha256, known.policy_sha256)
            if same == (inspection.sha256, policy_digest(latency)):
                self._unchanged[version_id] += 1
                return
            self._catalog.forget(known.file_id)
        self._changed = True
        file_id = self._catalog.add_file(version_id, inspection, latency)
        if inspection.status != "loaded":
            return
        self._batch.append(LoadingFile(file_id, inspection, latency))
        self._read.append(inspected)
        if sum(file.inspection.row_count for file in self._batch) >= _ROWS_PER_FLUSH:
            self._flush()

    def _flush(self) -> None:
        """Read the files of the batch and give every row its final place."""
        try:
            self._staging.stage(self._batch)
        except duckdb.Error:
            self._check_unchanged()  # a better reason
            raise
        self._check_unchanged()
        for file in self._batch:
            self._catalog.reject_rows(file.file_id, file.inspection, file.rows_staged)
        self._catalog.write_files()
        self._staging.place(self._batch)
        self._batch = []
        self._read = []

    def _check_unchanged(self) -> None:
        """Make sure that what was stored of the batch is what its hashes stand for."""
        for inspected in self._read:
            check_unchanged(inspected)
