"""What one version knows, read once when it is opened: mapping, files, families, policies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import duckdb

from sqlinterp.database import rows
from sqlinterp.policy import Policy


@dataclass(frozen=True)
class KernelFile:
    """The CSV of a kernel: ``file_id`` is None when there is no such file."""

    kernel_type: str
    file_id: int | None = None
    status: str = "absent"
    path: str = ""
    file_name: str = ""


@dataclass(frozen=True)
class Trait:
    """The family of a kernel, from the table ``kernel_trait``."""

    is_matmul: bool = False
    is_batched: bool = False
    is_flattened: bool = False
    is_merged: bool = False
    is_relaxed_dtype: bool = False
    rearrangement: str | None = None

    @property
    def is_swapped(self) -> bool:
        """Whether (1, n) is stored as (n, 1)."""
        return self.rearrangement == "index"

    @property
    def is_folded(self) -> bool:
        """Whether any of the rules for folded shapes applies."""
        return self.is_flattened or self.is_merged or self.is_swapped


@dataclass(frozen=True)
class MappedOperator:
    """One entry of the mapping."""

    operator: str
    dispatch: str
    kernels: tuple[str, ...]
    input_limit: int
    fields: dict[str, Any]


class Catalog:
    """Mapping, files, kernel families, dtype names and policies of one version."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, version_key: str) -> None:
        self.version_key = version_key
        version = rows(
            cursor.execute(
                "select version_id, communication_version_id from profile_version"
                " where version_key = $key",
                {"key": version_key},
            )
        )[0]
        self.version_id: int = version["version_id"]
        own = {"id": self.version_id}
        self._files = _files(cursor, own["id"])
        self._shared_files = _files(cursor, version["communication_version_id"])
        self._traits = {
            row.pop("kernel_type"): Trait(**row)
            for row in rows(cursor.execute("select * exclude is_transposable from kernel_trait"))
        }
        self._aliases = dict(cursor.execute("select alias, dtype from dtype_alias").fetchall())
        self.operators = {
            row["operator"]: _operator(row)
            for row in rows(cursor.execute("select * from op_mapping where version_id = $id", own))
        }
        self._policies = {
            (row["scope"], row["subject"]): json.loads(row["policy_json"])
            for row in rows(
                cursor.execute("select * from interpolation_policy where version_id = $id", own)
            )
        }
        self._kernels = {
            file.file_id: file
            for files in (self._files, self._shared_files)
            for file in files.values()
        }
        self.dropped_rows = _dropped_rows(cursor)
        self.effective_policies: dict[tuple[str, str, str], Policy] = {}

    def file(self, kernel: str) -> KernelFile:
        """Return the CSV of a kernel; collectives are looked for in the shared folder first."""
        if kernel.startswith("hcom_") and kernel in self._shared_files:
            return self._shared_files[kernel]
        return self._files.get(kernel, KernelFile(kernel))

    def kernel_of(self, file_id: int) -> str:
        """Return the kernel whose CSV has the id."""
        return self._kernels[file_id].kernel_type

    def file_name_of(self, file_id: int) -> str:
        """Return the file name of the CSV with the id."""
        return self._kernels[file_id].file_name

    def trait(self, kernel: str) -> Trait:
        """Return the family of a kernel."""
        return self._traits.get(kernel, Trait())

    def dtype(self, name: str) -> str | None:
        """Return the database's name of a torch dtype, None when it has none."""
        return self._aliases.get(name.upper())

    def policy(self, scope: str, subject: str) -> dict[str, Any]:
        """Return the policy fields of one scope and subject."""
        fields: dict[str, Any] = self._policies.get((scope, subject), {})
        return fields


def _files(cursor: duckdb.DuckDBPyConnection, version_id: int | None) -> dict[str, KernelFile]:
    found = cursor.execute(
        "select kernel_type, file_id, status, file_path, file_name from source_file"
        " where version_id = $id",
        {"id": version_id},
    ).fetchall()
    return {row[0]: KernelFile(*row) for row in found}


def _dropped_rows(cursor: duckdb.DuckDBPyConnection) -> dict[tuple[int, str], int]:
    found = cursor.execute("select file_id, path, sum(row_count) from dropped_point group by all")
    return {(row[0], row[1]): int(row[2]) for row in found.fetchall()}


def _operator(row: dict[str, Any]) -> MappedOperator:
    names = ([row["kernel_type"]] if row["kernel_type"] else []) + row["alternate_kernel_types"]
    return MappedOperator(
        operator=row["operator"],
        dispatch=row["dispatch"],
        kernels=tuple(dict.fromkeys(names)),
        input_limit=row["tc_input_count"] or 0,
        fields=json.loads(row["entry_json"]),
    )
