"""CSV files into the staging table, and from there to their final place."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import rows
from sqlinterp.ingestion.inspection import Inspection, repair

# Where a row came from and what was derived from its latency say nothing of what was measured.
_PROVENANCE = ("runtime_case_id", "runtime_source_profile", "bandwidth_gbps")
_BASE_COLUMNS = (
    "op_state", "accelerator_core", "input_shapes", "input_dtypes", "input_formats",
    "output_shapes", "output_dtypes", "output_formats",
)  # fmt: skip
_DEFAULT_LONGEST_LINE = 2_000_000
_NORMALISE = (
    "ingest.slot_row",
    "ingest.operand_row",
    "ingest.cell_problem",
    "ingest.stored_row",
    "ingest.insert_rejected",
    "ingest.insert_cell_issues",
    "ingest.insert_unmeasured",
    "ingest.insert_measurements",
    "ingest.insert_counters",
    "ingest.count_rows",
)


@dataclass(frozen=True)
class KnownColumns:
    """The CSV headers that the schema knows, and what kind of columns they fill."""

    by_header: dict[str, str]
    counters: frozenset[str]
    enrichments: frozenset[str]


@dataclass
class LoadingFile:
    """A file on its way into the database.

    Attributes
    ----------
    latency : dict
        The latency policy of the file's kernel.
    first_row, rows_staged : int
        Place of its rows in the staging table, None when it has none.
    """

    file_id: int
    inspection: Inspection
    latency: dict[str, Any]
    first_row: int | None = None
    rows_staged: int = 0


def prepare(connection: duckdb.DuckDBPyConnection) -> KnownColumns:
    """Create the staging tables and return the known columns.

    Which columns are numbers, integers, text or counters is read from the schema, so that a
    migration which adds a column and its header needs no code.
    """
    known = rows(
        connection.execute(
            "select csv_name, c.table_name, c.column_name, data_type from csv_column as c"
            " join duckdb_columns() as d using (table_name, column_name)"
            " where database_name = current_database()"
        )
    )
    integers, counters = ("BIGINT", "INTEGER"), "hardware_counter"
    own = [row for row in known if row["table_name"] == "measurement"]
    own = [row for row in own if row["column_name"] not in _BASE_COLUMNS]
    enrichments = [row for row in own if not row["column_name"].endswith("_us")]
    groups = {
        "number_columns": [row for row in known if row["data_type"] in (*integers, "DOUBLE")],
        "integer_columns": [row for row in known if row["data_type"] in integers],
        "short_integer_columns": [row for row in known if row["data_type"] == "INTEGER"],
        "duration_columns": [row for row in own if row not in enrichments],
        "enrichment_columns": enrichments,
        "identity_columns": [r for r in enrichments if r["column_name"] not in _PROVENANCE],
        "enrichment_texts": [row for row in enrichments if row["data_type"] == "VARCHAR"],
        "enrichment_integers": [row for row in enrichments if row["data_type"] in integers],
        "enrichment_doubles": [row for row in enrichments if row["data_type"] == "DOUBLE"],
        "counter_columns": [row for row in known if row["table_name"] == counters],
    }
    names = {group: {row["column_name"] for row in members} for group, members in groups.items()}
    for group, columns in names.items():
        connection.execute(f"set variable {group} = $columns", {"columns": sorted(columns)})
    for table in ("staged_row", "loading_file"):
        connection.execute(queries.load(f"ingest.{table}").body)
    return KnownColumns(
        {row["csv_name"]: row["column_name"] for row in known},
        frozenset(names["counter_columns"]),
        frozenset(names["enrichment_columns"]),
    )


def stage(
    connection: duckdb.DuckDBPyConnection, files: list[LoadingFile], known: KnownColumns
) -> None:
    """Read inspected files into staging, those of one header together.

    A file with irregular rows is taken apart and read again on its own; the rows that cannot be
    read become rejections of its inspection.
    """
    groups: dict[tuple[str, ...], list[LoadingFile]] = defaultdict(list)
    for file in files:
        if not file.inspection.needs_repair:
            groups[tuple(file.inspection.header)].append(file)
    for group in groups.values():
        _read(connection, group, [str(file.inspection.path) for file in group], known)
    _count(connection, files)
    for file in files:
        if file.rows_staged != file.inspection.row_count or file.inspection.needs_repair:
            _stage_repaired(connection, file, known)
    _count(connection, files)


def _read(
    connection: duckdb.DuckDBPyConnection,
    group: list[LoadingFile],
    paths: list[str],
    known: KnownColumns,
) -> None:
    header, unknown = group[0].inspection.header, group[0].inspection.unknown
    names = [f"extra:{name}" if name in unknown else known.by_header[name] for name in header]
    step = "read_csv_with_extra" if unknown else "read_csv"
    longest = max(file.inspection.longest_line for file in group)
    parameters: dict[str, Any] = {
        "paths": paths,
        "file_ids": [file.file_id for file in group],
        "columns": dict.fromkeys(names, "VARCHAR"),
        "longest_line": max(_DEFAULT_LONGEST_LINE, 2 * longest),
    }
    if unknown:
        parameters["extras"] = unknown
    connection.execute(queries.load(f"ingest.{step}").body, parameters)


def _count(connection: duckdb.DuckDBPyConnection, files: list[LoadingFile]) -> None:
    found = connection.execute(queries.load("ingest.count_staged").body).fetchall()
    places = {file_id: (first, count) for file_id, first, count in found}
    for file in files:
        file.first_row, file.rows_staged = places.get(file.file_id, (None, 0))


def _stage_repaired(
    connection: duckdb.DuckDBPyConnection, file: LoadingFile, known: KnownColumns
) -> None:
    inspection = file.inspection
    repair(inspection)
    connection.execute(queries.load("ingest.unstage_file").body, {"file_id": file.file_id})
    with tempfile.TemporaryDirectory(prefix="sqlinterp-") as folder:
        path = Path(folder) / "repaired.csv"
        path.write_bytes(inspection.repaired)
        _read(connection, [file], [str(path)], known)
    numbers = {"row_numbers": inspection.row_numbers, "line_numbers": inspection.line_numbers}
    connection.execute(
        queries.load("ingest.place_staged_rows").body, {"file_id": file.file_id, **numbers}
    )
    inspection.repaired = b""


def place(
    connection: duckdb.DuckDBPyConnection, files: list[LoadingFile], known: KnownColumns
) -> None:
    """Give every staged row its final place and empty the staging tables."""
    if files:
        columns = [
            {known.by_header.get(name, "") for name in file.inspection.header} for file in files
        ]
        parameters = {
            "file_ids": [file.file_id for file in files],
            "first_rows": [file.first_row for file in files],
            "core_ratios": [core_ratio(file.latency) for file in files],
            "prefer_profiling": [
                file.latency.get("prefer_profiling_rows") is True for file in files
            ],
            "has_counters": [not known.counters.isdisjoint(names) for names in columns],
            "has_enrichment": [not known.enrichments.isdisjoint(names) for names in columns],
        }
        connection.execute(queries.load("ingest.add_loading_files").body, parameters)
        for name in _NORMALISE:
            connection.execute(queries.load(name).body)
    connection.execute("truncate staged_row; truncate loading_file")


def core_ratio(latency: dict[str, Any]) -> float | None:
    """Return the duration-to-core ratio above which the core time replaces the duration."""
    envelope = latency.get("profiling_core_envelope_fallback")
    ratio = envelope.get("max_duration_to_core_ratio") if isinstance(envelope, dict) else None
    if isinstance(ratio, (int, float)) and not isinstance(ratio, bool):
        return float(ratio)
    return None
