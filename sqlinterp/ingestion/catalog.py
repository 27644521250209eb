"""Rows of versions, files, mappings and policies: what is known, what changed, what is gone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.ingestion.folders import VersionFolder
from sqlinterp.ingestion.inspection import LATENCY_HEADERS, Inspection
from sqlinterp.ingestion.mapping import OpMapping, canonical_json

_COUNTS = ("rows_read", "rows_stored", "rows_rejected", "rows_without_latency")
_ROW_TABLES = ("rejected_row", "unmeasured_row", "measurement", "source_issue")


@dataclass(frozen=True)
class KnownFile:
    """A file as the database knows it."""

    file_id: int
    sha256: str
    policy_sha256: str


@dataclass(frozen=True)
class NotedVersion:
    """A version directory whose row is written.

    Attributes
    ----------
    has_changed : bool
        Whether it is new or has another mapping.
    other_folder : str or None
        Where its files were before, None if they are there still or it is new.
    """

    version_id: int
    has_changed: bool
    other_folder: str | None


class Catalog:
    """Writes the bookkeeping tables of one ingest run."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._next_file = self._next("source_file", "file_id")
        self._new_files: dict[int, dict[str, Any]] = {}

    def _next(self, table: str, column: str) -> int:
        query = f"select coalesce(max({column}), 0) + 1 from {table}"
        return int(self._connection.execute(query).fetchall()[0][0])

    def version(self, folder: VersionFolder, mapping: OpMapping) -> NotedVersion:
        """Insert or update a version.

        A folder of collectives that was known by another key keeps its rows.
        """
        found = self._connection.execute(
            "select version_id, mapping_sha256, folder from profile_version"
            " where version_key = $key"
            " or (kind = 'communication' and kind = $kind and folder = $folder)"
            " order by version_key = $key desc limit 1",
            {"key": folder.key, "kind": folder.kind, "folder": str(folder.path)},
        ).fetchall()
        version_id = found[0][0] if found else self._next("profile_version", "version_id")
        self._connection.execute(
            "delete from profile_version where version_id = $id", {"id": version_id}
        )
        self._connection.execute(
            "insert into profile_version values"
            " ($id, $key, $kind, $folder, null, $sha, $metadata, now() at time zone 'UTC')",
            {"id": version_id, "key": folder.key, "kind": folder.kind, "folder": str(folder.path),
             "sha": mapping.sha256, "metadata": canonical_json(mapping.metadata)},
        )  # fmt: skip
        has_changed = not found or found[0][1] != mapping.sha256
        is_same = not found or found[0][2] == str(folder.path)
        return NotedVersion(int(version_id), has_changed, None if is_same else found[0][2])

    def link_communication(self, version_id: int, communication_key: str | None) -> None:
        """Point a version at the communication folder that its mapping names."""
        self._connection.execute(
            "update profile_version set communication_version_id ="
            " (select version_id from profile_version where version_key = $key)"
            " where version_id = $id",
            {"key": communication_key, "id": version_id},
        )

    def mapping(self, version_id: int, mapping: OpMapping) -> None:
        """Replace the mapping, the policies and the mapping issues of a version."""
        run = self._connection.execute
        run("delete from op_mapping where version_id = $id", {"id": version_id})
        run("delete from interpolation_policy where version_id = $id and scope <> 'confidence'",
            {"id": version_id})  # fmt: skip
        run("delete from source_issue where version_id = $id and file_id is null",
            {"id": version_id})  # fmt: skip
        entries = [
            {"version_id": version_id, "operator": e.operator, "dispatch": e.dispatch,
             "kernel_type": e.kernel_type, "alternate_kernel_types": list(e.alternates),
             "query_mode": e.query_mode, "compute_subcategory": e.subcategory,
             "tc_input_count": e.input_limit, "entry_json": canonical_json(e.fields)}
            for e in mapping.entries
        ]  # fmt: skip
        run(queries.load("ingest.add_mapping").body, {"entries": json.dumps(entries)})
        for scope, subject, fields in mapping.policies:
            run("insert into interpolation_policy values ($id, $scope, $subject, $json)",
                {"id": version_id, "scope": scope, "subject": subject,
                 "json": canonical_json(fields)})  # fmt: skip
        for severity, key, message in mapping.problems:
            self.issue(version_id, None, severity, ("mapping", key or None, message))

    def issue(
        self, version_id: int, file_id: int | None, severity: str, what: tuple[str, str | None, str]
    ) -> None:
        """Record an issue: reason, column or key, message."""
        reason, column, message = what
        self._connection.execute(
            "insert into source_issue values ($file, $version, null, $column, $severity, $reason,"
            " $message)",
            {"file": file_id, "version": version_id, "column": column, "severity": severity,
             "reason": reason, "message": message},
        )  # fmt: skip

    def known_files(self, version_id: int) -> dict[str, KnownFile]:
        """Return the files of a version by file name."""
        found = self._connection.execute(
            "select file_name, file_id, sha256, policy_sha256 from source_file"
            " where version_id = $id",
            {"id": version_id},
        ).fetchall()
        return {row[0]: KnownFile(*row[1:]) for row in found}

    def forget(self, file_id: int) -> None:
        """Delete a file and everything that came from it."""
        run = self._connection.execute
        for table in ("hardware_counter", "declared_row"):
            rows_of_file = "select row_id from measurement where file_id = $id"
            run(f"delete from {table} where row_id in ({rows_of_file})", {"id": file_id})
        for table in (*_ROW_TABLES, "declared_file", "source_file"):
            run(f"delete from {table} where file_id = $id", {"id": file_id})

    def add_file(self, version_id: int, inspection: Inspection, latency: dict[str, Any]) -> int:
        """Note a file with its issues and return its id; ``write_files`` stores it."""
        file_id, self._next_file = self._next_file, self._next_file + 1
        path = inspection.path
        counts = dict.fromkeys(_COUNTS, 0)
        self._new_files[file_id] = {
            "file_id": file_id, "version_id": version_id, "kernel_type": path.stem,
            "file_name": path.name, "file_path": str(path), "status": inspection.status,
            "message": inspection.message, "layout": layout(inspection),
            "sha256": inspection.sha256, "policy_sha256": policy_digest(latency),
            "size_bytes": inspection.size_bytes, "bom_count": inspection.bom_count,
            "column_names": inspection.header, "unknown_columns": inspection.unknown,
            "preferred_latency_column": next(
                (name for name in LATENCY_HEADERS if name in inspection.header), None
            ), **counts,
        }  # fmt: skip
        if inspection.message:
            what = (inspection.status, None, inspection.message)
            self.issue(version_id, file_id, "error", what)
        if inspection.bom_count > 1:
            text = f"{path.name} starts with {inspection.bom_count} byte order marks"
            self.issue(version_id, file_id, "warning", ("repeated_bom", None, text))
        for reason, text in inspection.warnings:
            self.issue(version_id, file_id, "warning", (reason, None, f"{path.name}: {text}"))
        return file_id

    def reject_rows(self, file_id: int, inspection: Inspection, rows_staged: int) -> None:
        """Record the rows that could not be read, and how many rows the file has."""
        rejections = [
            (file_id, r.row_number, r.line_number, None, r.reason, r.cell)
            for r in inspection.rejections
        ]
        if rejections:
            self._connection.executemany(
                "insert into rejected_row values (?, ?, ?, ?, ?, ?)", rejections
            )
        self._new_files[file_id]["rows_read"] = rows_staged + len(rejections)

    def write_files(self) -> None:
        """Store the files noted since the last call."""
        if self._new_files:
            files = json.dumps(list(self._new_files.values()))
            step = queries.load("ingest.add_source_files")
            self._connection.execute(step.body, {"files": files})
        self._new_files = {}


def policy_digest(latency: dict[str, Any]) -> str:
    """Return the SHA-256 of the latency policy that a file was read under."""
    return hashlib.sha256(canonical_json(latency).encode()).hexdigest()


def layout(inspection: Inspection) -> str | None:
    """Return the name of the column set of a file."""
    if inspection.status != "loaded":
        return None
    names = set(inspection.header)
    if inspection.is_communication:
        return "comm6"
    if "MicroBench aicore_time(us)" in names:
        return "current62"
    if "Profiling Average aicore_time(us)" in names:
        return "prefixed36"
    if "Average aicore_time(us)" in names:
        return "legacy36"
    return "minimal9" if len(inspection.header) == 9 else "other"
