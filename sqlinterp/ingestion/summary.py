"""What an ingest run did, version by version."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from sqlinterp.database import rows


@dataclass(frozen=True)
class VersionSummary:
    """Counts of one version; ``rows_read`` is always the sum of the three ends a row can have."""

    version_key: str
    files: int
    files_unchanged: int
    files_unusable: int
    rows_read: int
    rows_stored: int
    rows_rejected: int
    rows_without_latency: int
    warnings: int
    errors: int


@dataclass(frozen=True)
class IngestSummary:
    """The result of :func:`sqlinterp.ingest`.

    Attributes
    ----------
    versions : tuple of VersionSummary
        Versions found below the given folders, in key order.
    removed_files : int
        Files that the database had and the folders no longer have.
    messages : tuple of (severity, version key, message)
        Folders that were not looked into, by their path, then issues of those versions, errors
        first.
    """

    database: str
    versions: tuple[VersionSummary, ...]
    removed_files: int
    messages: tuple[tuple[str, str, str], ...]

    @property
    def is_clean(self) -> bool:
        """Whether every folder, file, row and mapping entry could be used."""
        is_faulty = any(severity == "error" for severity, _, _ in self.messages)
        return not (is_faulty or any(v.rows_rejected or v.errors for v in self.versions))

    def total(self, field: str) -> int:
        """Return the sum of one count over the versions."""
        return sum(int(getattr(version, field)) for version in self.versions)


def summarise(
    connection: duckdb.DuckDBPyConnection,
    database: str,
    version_ids: list[int],
    unchanged: dict[int, int],
    removed: int,
) -> IngestSummary:
    """Read the summary of the given versions back from the tables, so that it cannot disagree."""
    versions = []
    query = (
        "select version_key, version_id, count(file_id) as files,"
        " count(*) filter (status <> 'loaded') as files_unusable,"
        " coalesce(sum(rows_read), 0) as rows_read, coalesce(sum(rows_stored), 0) as rows_stored,"
        " coalesce(sum(rows_rejected), 0) as rows_rejected,"
        " coalesce(sum(rows_without_latency), 0) as rows_without_latency,"
        " (select count(*) from source_issue as i where i.version_id = v.version_id"
        "  and severity = 'warning') as warnings,"
        " (select count(*) from source_issue as i where i.version_id = v.version_id"
        "  and severity = 'error') as errors"
        " from profile_version as v left join source_file using (version_id)"
        " where list_contains($ids, version_id) group by version_key, version_id"
        " order by version_key"
    )
    for row in rows(connection.execute(query, {"ids": version_ids})):
        version_id = row.pop("version_id")
        versions.append(VersionSummary(files_unchanged=unchanged.get(version_id, 0), **row))
    messages = connection.execute(
        "select severity, version_key, message from source_issue join profile_version"
        " using (version_id) where list_contains($ids, version_id)"
        " order by severity, version_key, message",
        {"ids": version_ids},
    ).fetchall()
    return IngestSummary(database, tuple(versions), removed, tuple(messages))
