"""What one version knows, read once when it is opened: mapping, files, families, policies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from sqlinterp.database import rows
from sqlinterp.lookup.error_bars import Quantiles, read_quantiles
from sqlinterp.lookup.levels import StoredLevels
from sqlinterp.lookup.measured_dims import MeasuredDims
from sqlinterp.lookup.statements import Statements
from sqlinterp.memo import Memo
from sqlinterp.policy import Policy

_MTP_OPERANDS = 2
_KEPT_ROWS = 10_000
_KEPT_CANDIDATES = 10_000


@dataclass(frozen=True)
class KernelFile:
    """The CSV of a kernel: ``file_id`` is None when there is no such file.

    Attributes
    ----------
    columns : tuple of str
        Names in the header.
    """

    kernel_type: str
    file_id: int | None = None
    status: str = "absent"
    path: str = ""
    file_name: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trait:
    """The family of a kernel, from the table ``kernel_trait``."""

    is_matmul: bool = False
    is_transposable: bool = False
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


_NO_FAMILY = Trait()


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
        files = _every_file(cursor, self.version_id)
        shared = _every_file(cursor, version["communication_version_id"])
        self._files = {file.kernel_type: file for file in files}
        self._shared_files = {file.kernel_type: file for file in shared}
        self._kernels = {file.file_id: file for file in (*files, *shared)}
        self._traits = _traits(cursor)
        self._aliases = dict(cursor.execute("select alias, dtype from dtype_alias").fetchall())
        self.operators = {
            row["operator"]: _operator(row)
            for row in rows(cursor.execute("select * from op_mapping where version_id = $id", own))
        }
        self._policies = _policies(cursor, self.version_id)
        self.dropped_rows = _dropped_rows(cursor)
        self.stored_cuts = _stored_cuts(self.operators.values(), self._files)
        self._cut_regimes = _cut_regimes(cursor, self.version_id)
        self._kernel_paths = dict(
            cursor.execute("select kernel_type, path from kernel_path").fetchall()
        )
        self.quantiles = _quantiles(cursor, self.version_id)
        self.levels = StoredLevels(cursor)
        self.dims = MeasuredDims()
        self.effective_policies: dict[tuple[str, str, str, str | None], Policy] = {}
        self.kept_candidates: Memo[Any] = Memo(_KEPT_CANDIDATES)
        # What queries of the file said, by their name and parameters.
        self.kept_rows: Memo[list[dict[str, Any]]] = Memo(_KEPT_ROWS)

    def kept(self, statements: Statements, *steps: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query that only the file decides, which is run once."""
        key = (steps, repr(parameters))
        found = self.kept_rows.get(key)
        if found is None:
            found = self.kept_rows.put(key, statements.run(*steps, **parameters))
        return found

    def file(self, kernel: str) -> KernelFile:
        """Return the CSV of a kernel; collectives are looked for in the shared folder first."""
        if kernel.startswith("hcom_") and kernel in self._shared_files:
            return self._shared_files[kernel]
        return self._files.get(kernel) or KernelFile(kernel)

    def kernel_of(self, file_id: int) -> str:
        """Return the kernel whose CSV has the id."""
        return self._kernels[file_id].kernel_type

    def file_name_of(self, file_id: int) -> str:
        """Return the file name of the CSV with the id."""
        return self._kernels[file_id].file_name

    def file_of(self, file_id: int) -> KernelFile:
        """Return the file with the id."""
        return self._kernels[file_id]

    @property
    def kernel_names(self) -> list[str]:
        """Kernels of the version, sorted, with the collectives that it refers to."""
        return sorted({file.kernel_type for file in self._kernels.values()})

    def trait(self, kernel: str) -> Trait:
        """Return the family of a kernel."""
        return self._traits.get(kernel, _NO_FAMILY)

    def path_of_kernel(self, kernel: str) -> str | None:
        """Return the path that a kernel has of its own, None when it has none."""
        return self._kernel_paths.get(kernel)

    def regime_limit(self, file_id: int | None, path: str, limit: int) -> int:
        """Return ``limit`` if rows cut to so many operands are placed on a path, else 0."""
        return limit if (file_id, path, limit) in self._cut_regimes else 0

    def dtype(self, name: str) -> str | None:
        """Return the database's name of a torch dtype, None when it has none."""
        return self._aliases.get(name.upper())

    def policy(self, scope: str, subject: str) -> dict[str, Any]:
        """Return the policy fields of one scope and subject."""
        fields: dict[str, Any] = self._policies.get((scope, subject), {})
        return fields


def _every_file(cursor: duckdb.DuckDBPyConnection, version_id: int | None) -> list[KernelFile]:
    """Return every file of a version; only declared kernels have several."""
    found = cursor.execute(
        "select kernel_type, file_id, status, file_path, file_name, column_names from source_file"
        " where version_id = $id order by file_id",
        {"id": version_id},
    ).fetchall()
    return [
        KernelFile(kernel, file_id, status, path, name, tuple(columns or ()))
        for kernel, file_id, status, path, name, columns in found
    ]


def _traits(cursor: duckdb.DuckDBPyConnection) -> dict[str, Trait]:
    found = rows(cursor.execute("select * from kernel_trait"))
    return {row.pop("kernel_type"): Trait(**row) for row in found}


def _policies(
    cursor: duckdb.DuckDBPyConnection, version_id: int
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the policy fields of a version by scope and subject."""
    query = "select * from interpolation_policy where version_id = $id"
    return {
        (row["scope"], row["subject"]): json.loads(row["policy_json"])
        for row in rows(cursor.execute(query, {"id": version_id}))
    }


def _cut_regimes(
    cursor: duckdb.DuckDBPyConnection, version_id: int
) -> frozenset[tuple[int, str, int]]:
    """Return (file_id, path, operands) of the regimes whose rows are cut to fewer operands."""
    found = cursor.execute(
        "select distinct file_id, path, input_limit from regime"
        " where version_id = $id and input_limit > 0",
        {"id": version_id},
    )
    return frozenset(found.fetchall())


def _quantiles(cursor: duckdb.DuckDBPyConnection, version_id: int) -> Quantiles:
    """Return the errors of hold-out runs, none where the file holds no calibration."""
    query = (
        "select * from error_quantile where version_id = $id"
        " order by kernel_type, path, spread_low, width_low"
    )
    return read_quantiles(rows(cursor.execute(query, {"id": version_id})))


def _dropped_rows(cursor: duckdb.DuckDBPyConnection) -> dict[tuple[int, str], int]:
    found = cursor.execute("select file_id, path, sum(row_count) from dropped_point group by all")
    return {(row[0], row[1]): int(row[2]) for row in found.fetchall()}


def _stored_cuts(
    operators: Iterable[MappedOperator], files: Mapping[str, KernelFile]
) -> frozenset[tuple[int, int]]:
    """Return (file_id, operands) of the cuts that ``exact_key`` holds keys of.

    Source: the mapping, read as ingest reads it.
    """
    cuts = set()
    for entry in operators:
        names = {*entry.kernels, *(entry.fields.get("sub_kernels") or ())}
        if entry.input_limit:
            cuts |= {(name, entry.input_limit) for name in names}
        cuts.add((str(entry.fields.get("mtp_projection_kernel_type")), _MTP_OPERANDS))
    return frozenset(
        (file.file_id, limit)
        for name, limit in cuts
        if (file := files.get(name)) is not None and file.file_id is not None
    )


def _operator(row: dict[str, Any]) -> MappedOperator:
    names = ([row["kernel_type"]] if row["kernel_type"] else []) + row["alternate_kernel_types"]
    return MappedOperator(
        operator=row["operator"],
        dispatch=row["dispatch"],
        kernels=tuple(dict.fromkeys(names)),
        input_limit=row["tc_input_count"] or 0,
        fields=json.loads(row["entry_json"]),
    )
