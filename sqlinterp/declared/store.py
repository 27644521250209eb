"""Rows of declared tables into the database file: versions, files, measurements, coordinates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.declared.declaration import Declaration
from sqlinterp.declared.rows import ROW_COLUMNS, DeclaredRows, KernelRows
from sqlinterp.declared.tables import Table
from sqlinterp.errors import SourceError
from sqlinterp.ingestion.catalog import Catalog
from sqlinterp.ingestion.mapping import canonical_json

_KIND = "declared tables"


@dataclass(frozen=True)
class KnownFile:
    """A kernel of a table as the database knows it."""

    file_id: int
    version_id: int
    file_path: str
    sha256: str
    policy_sha256: str


class Store:
    """Writes what one run reads; the caller holds the transaction."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, declaration: Declaration) -> None:
        self._connection, self._declaration = connection, declaration
        self._catalog = Catalog(connection)

    def known_files(self) -> list[KnownFile]:
        """Return what the database holds of the declaration."""
        found = self._run("known_files", declaration=self._declaration.name)
        return [KnownFile(*row) for row in found]

    def forget(self, files: Iterable[KnownFile]) -> None:
        """Delete files and everything that came from them."""
        for file in files:
            self._catalog.forget(file.file_id)

    def move(self, files: Iterable[KnownFile], path: Path) -> None:
        """Note where an unchanged table lies now."""
        for file in files:
            self._connection.execute(
                "update source_file set file_path = $path, file_name = $name where file_id = $id",
                {"path": str(path), "name": path.name, "id": file.file_id},
            )

    def version(self, key: str) -> int:
        """Return the id of a version, a new one if need be.

        Raises
        ------
        SourceError
            If the key belongs to a version directory.
        """
        found = self._connection.execute(
            "select version_id, metadata_json from profile_version where version_key = $key",
            {"key": key},
        ).fetchall()
        if found:
            if json.loads(found[0][1]).get("kind") != _KIND:
                raise SourceError(
                    f"the version '{key}' is a version directory",
                    self._declaration.name,
                    todo="Declare the table under another version key.",
                )
            self._connection.execute(
                "update profile_version set ingested_at = now() at time zone 'UTC'"
                " where version_id = $id",
                {"id": found[0][0]},
            )
            return int(found[0][0])
        numbers = self._connection.execute(
            "select coalesce(max(version_id), 0) + 1 from profile_version"
        )
        version_id = int(numbers.fetchall()[0][0])
        self._connection.execute(
            "insert into profile_version values"
            " ($id, $key, 'kernel', '', null, null, $metadata, now() at time zone 'UTC')",
            {"id": version_id, "key": key,
             "metadata": canonical_json({"kind": _KIND, "device": key.split("/")[0]})},
        )  # fmt: skip
        return version_id

    def filtered(self, files: Iterable[KnownFile]) -> int:
        """Return how many rows of files the filters left out."""
        found = self._run("count_filtered", file_ids=[file.file_id for file in files])
        return int(found[0][0])

    def add(
        self, table: Table, rows: DeclaredRows, digest: str, values: Mapping[str, Any]
    ) -> set[int]:
        """Store every kernel of a table; return the versions that they belong to."""
        version_ids = set()
        for number, (_, own) in enumerate(sorted(rows.kernels.items(), key=lambda item: item[0])):
            file_id = self._next_file_id()
            version_id = self.version(own.version_key)
            self._add_file(file_id, version_id, table, own, digest)
            self._add_declared_file(file_id, 0 if number else rows.filtered, values)
            self._add_rows(file_id, own)
            self._policy(version_id, own.kernel)
            version_ids.add(version_id)
        return version_ids

    def check(self) -> None:
        """Make sure that every kernel has one set of axes and every regime lies in one file.

        Raises
        ------
        SourceError
            If not; the message names the files.
        """
        for version, kernel, axes, declarations in self._run("split_axes"):
            raise SourceError(
                f"kernel '{kernel}' of version '{version}' is declared on different axes:"
                f" {' and '.join(sorted(axes))} ({', '.join(sorted(declarations))})",
                todo="Give one of them another kernel name or version key.",
            )
        for version, kernel, regime, paths in self._run("split_regimes"):
            raise SourceError(
                f"kernel '{kernel}' of version '{version}' has the regime {regime} in several"
                f" tables: {', '.join(paths)}",
                todo="Add a regime field that tells them apart, join the tables into one, or"
                " replace what was stored before (--replace).",
            )

    def _run(self, step: str, **parameters: Any) -> list[tuple[Any, ...]]:
        text = queries.load(f"declared.{step}").body
        return self._connection.execute(text, parameters).fetchall()

    def _next_file_id(self) -> int:
        found = self._connection.execute("select coalesce(max(file_id), 0) + 1 from source_file")
        return int(found.fetchall()[0][0])

    def _add_file(
        self, file_id: int, version_id: int, table: Table, own: KernelRows, digest: str
    ) -> None:
        fields = {
            "file_id": file_id, "version_id": version_id, "kernel_type": own.kernel,
            "file_name": table.path.name, "file_path": str(table.path), "status": "loaded",
            "message": None, "layout": "declared", "sha256": table.sha256,
            "policy_sha256": digest, "size_bytes": table.size_bytes,
            "bom_count": table.bom_count, "column_names": table.header, "unknown_columns": [],
            "preferred_latency_column": own.latency_column or None, "rows_read": own.rows_read,
            "rows_stored": len(own.rows), "rows_rejected": len(own.rejected),
            "rows_without_latency": len(own.unmeasured),
        }  # fmt: skip
        self._run("add_file", file=json.dumps(fields))

    def _add_declared_file(self, file_id: int, filtered: int, values: Mapping[str, Any]) -> None:
        declaration = self._declaration
        fields = {
            "file_id": file_id, "declaration": declaration.name,
            "declaration_json": canonical_json({"declaration": declaration.content,
                                                "values": dict(values)}),
            "repository": declaration.source.get("repository"),
            "source_commit": declaration.source.get("commit"),
            "licence": declaration.source.get("licence"), "axis_names": declaration.axis_names,
            "axis_units": [axis.unit for axis in declaration.axes],
            "axis_transforms": [axis.transform for axis in declaration.axes],
            "regime_columns": [field.name for field in declaration.regime],
            "backend_column": declaration.backend, "feasible_cells": declaration.feasible,
            "rows_filtered": filtered,
        }  # fmt: skip
        self._run("add_declared_file", file=json.dumps(fields))

    def _add_rows(self, file_id: int, own: KernelRows) -> None:
        if own.rows:
            import pandas as pd

            frame = pd.DataFrame.from_records(own.rows, columns=list(ROW_COLUMNS))
            numbers = [name for name in ROW_COLUMNS if name.endswith("_us")]
            frame = frame.astype(dict.fromkeys(numbers, "float64"))
            self._connection.register("incoming_row", frame)
            self._run("number_rows")
            self._connection.unregister("incoming_row")
            self._run("insert_measurements", file_id=file_id, latency_column=own.latency_column)
            self._run("insert_rows")
            self._connection.execute("drop table numbered_row")
        if own.unmeasured:
            rows, lines = (list(numbers) for numbers in zip(*own.unmeasured, strict=True))
            self._run("insert_unmeasured", file_id=file_id, row_numbers=rows, line_numbers=lines)
        if own.rejected:
            rejections = [
                {"row_number": r.row_number, "line_number": r.line_number, "cell": r.cell,
                 "column_name": r.column, "reason": r.reason}
                for r in sorted(own.rejected, key=lambda r: (r.row_number, r.reason))
            ]  # fmt: skip
            self._run("insert_rejected", file_id=file_id, rejections=json.dumps(rejections))

    def _policy(self, version_id: int, kernel: str) -> None:
        """Store the policy of the declaration for a kernel, instead of what was stored before."""
        own = {"id": version_id, "kernel": kernel}
        self._connection.execute(
            "delete from interpolation_policy"
            " where version_id = $id and scope = 'kernel' and subject = $kernel",
            own,
        )
        if self._declaration.policy:
            self._connection.execute(
                "insert into interpolation_policy values ($id, 'kernel', $kernel, $json)",
                {**own, "json": canonical_json(self._declaration.policy)},
            )
