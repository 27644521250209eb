"""One ingest run: find, compare, read, place, derive, all in one transaction."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import duckdb

from sqlinterp import migrations
from sqlinterp.database import connect_writer, load_aliases
from sqlinterp.definitions import is_current
from sqlinterp.errors import DatabaseError, SqlinterpError
from sqlinterp.ingestion.catalog import Catalog, KnownFile, policy_digest
from sqlinterp.ingestion.derive import derive
from sqlinterp.ingestion.folders import VersionFolder, communication_folder, find_versions
from sqlinterp.ingestion.inspection import Inspection, inspect_file
from sqlinterp.ingestion.mapping import OpMapping, read_mapping
from sqlinterp.ingestion.staging import LoadingFile, Staging, prepare
from sqlinterp.ingestion.summary import IngestSummary, summarise

Progress = Callable[[str, int, int], None]
_ROWS_PER_FLUSH = 600_000


def ingest(
    folders: Iterable[str | os.PathLike[str]],
    database: str | os.PathLike[str],
    progress: Progress | None = None,
) -> IngestSummary:
    """Ingest every version directory below the folders into a database file.

    The file is created or migrated. Files whose content and latency policy are unchanged are not
    read again; files that are gone are removed. Everything happens in one transaction.

    Parameters
    ----------
    folders : iterable of path
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
    SourceError
        If a folder does not exist or holds no version directory.
    DatabaseError
        If the database file cannot be written.
    """
    versions = _with_communication(find_versions(list(folders)))
    path = Path(database)
    connection = connect_writer(path)
    try:
        migrations.migrate(connection)
        load_aliases(connection)
        return _Run(connection, path, versions, progress).execute()
    finally:
        connection.close()


def _with_communication(
    versions: list[VersionFolder],
) -> list[tuple[VersionFolder, OpMapping, VersionFolder | None]]:
    """Pair versions with their mapping and communication folder, found or referred to."""
    by_path = {version.path: version for version in versions}
    result: list[tuple[VersionFolder, OpMapping, VersionFolder | None]] = []
    for version in versions:
        if version.kind == "communication":
            continue
        mapping = read_mapping(version.mapping_path)
        folder = None
        if mapping.communication_ref is not None:
            target = Path(os.path.normpath(version.path / mapping.communication_ref))
            folder = by_path.get(target)
            if folder is None and target.is_dir():
                folder = by_path[target] = communication_folder(target)
            if folder is None:
                text = f"communication_data_ref points to {target}, which does not exist"
                mapping.problems.append(("warning", "communication_data_ref", text))
        result.append((version, mapping, folder))
    shared = [folder for folder in by_path.values() if folder.kind == "communication"]
    return [(folder, OpMapping(), None) for folder in shared] + result


class _Run:
    """The state of one run."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        versions: list[tuple[VersionFolder, OpMapping, VersionFolder | None]],
        progress: Progress | None,
    ) -> None:
        self._connection, self._path, self._versions = connection, path, versions
        self._progress = progress or (lambda name, done, total: None)
        self._catalog = Catalog(connection)
        self._known = prepare(connection)
        self._staging = Staging(connection, self._known)
        self._inspections: dict[Path, Future[Inspection]] = {}
        self._unchanged: dict[int, int] = {}
        self._removed = 0
        self._batch: list[LoadingFile] = []
        self._done = 0
        self._total = sum(len(version.csv_files) for version, _, _ in versions)
        self._changed = False

    def execute(self) -> IngestSummary:
        """Run everything in one transaction; on failure the file stays as it was."""
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="inspect")
        try:
            self._connection.execute("begin")
            self._inspect_ahead(pool)
            version_ids = [self._load_version(*version) for version in self._versions]
            self._flush()
            if self._changed or not is_current(self._connection):
                derive(self._connection)
            summary = summarise(
                self._connection, str(self._path), version_ids, self._unchanged, self._removed
            )
            self._connection.execute("commit")
            self._connection.execute("checkpoint")
            return summary
        except duckdb.Error as error:
            self._roll_back()
            raise DatabaseError(f"ingest failed: {error}", str(self._path)) from error
        except (SqlinterpError, OSError, KeyboardInterrupt):
            self._roll_back()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _inspect_ahead(self, pool: ThreadPoolExecutor) -> None:
        """Let another thread inspect files while the rows of earlier ones are placed."""
        for version, _, _ in self._versions:
            for path in version.csv_files:
                self._inspections[path] = pool.submit(inspect_file, path, self._known.by_header)

    def _roll_back(self) -> None:
        try:
            self._connection.execute("rollback")
        except duckdb.Error:  # the engine has already rolled back
            return

    def _load_version(
        self, folder: VersionFolder, mapping: OpMapping, communication: VersionFolder | None
    ) -> int:
        version_id, changed = self._catalog.version(folder, mapping)
        self._changed |= changed
        self._catalog.mapping(version_id, mapping)
        if communication is not None:
            self._catalog.link_communication(version_id, communication.key)
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
        inspection = self._inspections.pop(path).result()
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
        if sum(file.inspection.row_count for file in self._batch) >= _ROWS_PER_FLUSH:
            self._flush()

    def _flush(self) -> None:
        self._staging.stage(self._batch)
        for file in self._batch:
            self._catalog.reject_rows(file.file_id, file.inspection, file.rows_staged)
        self._catalog.write_files()
        self._staging.place(self._batch)
        self._batch = []
