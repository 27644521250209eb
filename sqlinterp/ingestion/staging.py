"""CSV files into staged tables, one per header, and from there to their final place."""

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
from sqlinterp.ingestion.reading import plain_paths

# Where a row came from and what was derived from its latency say nothing of what was measured.
_PROVENANCE = ("runtime_case_id", "runtime_source_profile", "bandwidth_gbps")
_BASE_COLUMNS = (
    "op_state", "accelerator_core", "input_shapes", "input_dtypes", "input_formats",
    "output_shapes", "output_dtypes", "output_formats",
)  # fmt: skip
_LATENCIES = ("average_us", "profiling_average_us", "duration_us")
_DEFAULT_LONGEST_LINE = 2_000_000
# Binding the view of all parts costs more than copying so few rows out of it.
_FEW_ROWS = 20_000
_NORMALISE = (
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
# Planning a step takes longer than to see that there is nothing to do in it.
_ONLY_WHERE = {
    "ingest.insert_rejected": "from cell_problem where is_fatal",
    "ingest.insert_cell_issues": "from cell_problem where not is_fatal",
    "ingest.insert_unmeasured": "from operand_row where latency_us is null",
    "ingest.insert_counters": "from loading_file where has_counters",
}


@dataclass(frozen=True)
class KnownColumns:
    """The CSV headers that the schema knows, and what kind of columns they fill."""

    by_header: dict[str, str]
    counters: frozenset[str]
    enrichments: frozenset[str]
    decimals: frozenset[str]


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
        "decimal_columns": [row for row in known if row["data_type"] == "DOUBLE"],
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
    for table in ("staged_column", "loading_file"):
        connection.execute(queries.load(f"ingest.{table}").body)
    return KnownColumns(
        {row["csv_name"]: row["column_name"] for row in known},
        frozenset(names["counter_columns"]),
        frozenset(names["enrichment_columns"]),
        frozenset(names["decimal_columns"]),
    )


class Staging:
    """The staged rows of a batch of files: one table per header, one more per repaired file.

    Reading every header into a table of its own costs half of reading them all into one wide
    table; ``staged_row`` puts them together: a view, for few rows a table.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, known: KnownColumns) -> None:
        self._connection, self._known = connection, known
        self._parts: list[str] = []
        self._staged_as: str | None = None

    def stage(self, files: list[LoadingFile]) -> None:
        """Read inspected files, those of one header together.

        A file with irregular rows is taken apart and read again on its own; the rows that cannot
        be read become rejections of its inspection.
        """
        groups: dict[tuple[str, ...], list[LoadingFile]] = defaultdict(list)
        for file in files:
            if not file.inspection.needs_repair:
                groups[tuple(file.inspection.header)].append(file)
        part_of: dict[int, str] = {}
        for group in groups.values():
            with plain_paths([str(file.inspection.path) for file in group]) as paths:
                part = self._read(group, paths)
            part_of.update((file.file_id, part) for file in group)
        self._count(files)
        irregular = [
            file
            for file in files
            if file.rows_staged != file.inspection.row_count or file.inspection.needs_repair
        ]
        for file in irregular:
            if file.file_id in part_of:
                self._run("unstage_file", part_of[file.file_id], {"file_id": file.file_id})
            self._stage_repaired(file)
        if irregular:
            self._count(files)

    def place(self, files: list[LoadingFile]) -> None:
        """Give every staged row its final place and drop the staged tables."""
        if files:
            self._describe(files)
            for name in _NORMALISE:
                if self._has_work(name):
                    self._connection.execute(queries.load(name).body)
        self._drop_staged_row()
        self._connection.execute("truncate loading_file")
        for part in self._parts:
            self._connection.execute(f"drop table {part}")
        self._parts = []

    def _has_work(self, step: str) -> bool:
        where = _ONLY_WHERE.get(step)
        if where is None:
            return True
        found = self._connection.execute(f"select 1 {where} limit 1").fetchall()
        return bool(found)

    def _drop_staged_row(self) -> None:
        if self._staged_as is not None:
            self._connection.execute(f"drop {self._staged_as} staged_row")
        self._staged_as = None

    def _run(self, step: str, part: str, parameters: dict[str, Any], **expressions: str) -> None:
        """Run a query whose table and number expressions depend on the header."""
        text = queries.load(f"ingest.{step}").body.replace("staged_part", part)
        for name, expression in expressions.items():
            text = text.replace(name, expression)
        self._connection.execute(text, parameters)

    def _read(self, group: list[LoadingFile], paths: list[str]) -> str:
        header, unknown = group[0].inspection.header, group[0].inspection.unknown
        by_header = self._known.by_header
        names = [f"extra:{name}" if name in unknown else by_header[name] for name in header]
        part = f"staged_part_{len(self._parts)}"
        self._parts.append(part)
        longest = max(file.inspection.longest_line for file in group)
        parameters: dict[str, Any] = {
            "paths": paths,
            "file_ids": [file.file_id for file in group],
            "columns": dict.fromkeys(names, "VARCHAR"),
            "longest_line": max(_DEFAULT_LONGEST_LINE, 2 * longest),
        }
        if unknown:
            parameters["extras"] = unknown
        step = "read_csv_with_extra" if unknown else "read_csv"
        decimals = [name for name in names if name in self._known.decimals]
        self._run(step, part, parameters, **_number_expressions(decimals))
        return part

    def _count(self, files: list[LoadingFile]) -> None:
        """Put the parts together and note where the rows of each file are."""
        selects = ["from staged_column"]
        offset = 0
        for part in self._parts:
            # Row ids inside a transaction start anywhere, but ascend without gaps as read.
            low, high = self._connection.execute(
                f"select min(rowid), max(rowid) from {part}"
            ).fetchall()[0]
            if low is not None:
                selects.append(f"select rowid - {low} + {offset} as staged_id, * from {part}")
                offset += high - low + 1
        together = " union all by name ".join(f"({select})" for select in selects)
        self._drop_staged_row()
        self._staged_as = "table" if offset <= _FEW_ROWS else "view"
        self._connection.execute(f"create temp {self._staged_as} staged_row as {together}")
        counted = self._connection.execute(queries.load("ingest.count_staged").body).fetchall()
        places = {file_id: (first, count) for file_id, first, count in counted}
        for file in files:
            file.first_row, file.rows_staged = places.get(file.file_id, (None, 0))

    def _stage_repaired(self, file: LoadingFile) -> None:
        inspection = file.inspection
        repair(inspection)
        with tempfile.TemporaryDirectory(prefix="sqlinterp-") as folder:
            path = Path(folder) / "repaired.csv"
            path.write_bytes(inspection.repaired)
            part = self._read([file], [str(path)])
        numbers = {
            "row_numbers": inspection.row_numbers,
            "line_numbers": inspection.line_numbers,
        }
        self._run("place_staged_rows", part, numbers)
        inspection.repaired = b""

    def _describe(self, files: list[LoadingFile]) -> None:
        by_header = self._known.by_header
        columns = [{by_header.get(name, "") for name in file.inspection.header} for file in files]
        parameters = {
            "file_ids": [file.file_id for file in files],
            "first_rows": [file.first_row for file in files],
            "core_ratios": [core_ratio(file.latency) for file in files],
            "prefer_profiling": [
                file.latency.get("prefer_profiling_rows") is True for file in files
            ],
            "has_counters": [not self._known.counters.isdisjoint(names) for names in columns],
            "has_enrichment": [not self._known.enrichments.isdisjoint(names) for names in columns],
        }
        self._connection.execute(queries.load("ingest.add_loading_files").body, parameters)


def _number_expressions(decimals: list[str]) -> dict[str, str]:
    """Return whether any decimal cell of a row is odd, and all of them as a struct, in SQL."""
    odd = [f"is_odd_number({name})" for name in decimals]
    odd += [f"try_cast({name} as double) < 0" for name in decimals if name in _LATENCIES]
    cells = ", ".join(f"{name} := {name}" for name in decimals)
    return {"has_odd_number": " or ".join(odd), "number_cells": f"struct_pack({cells})"}


def core_ratio(latency: dict[str, Any]) -> float | None:
    """Return the duration-to-core ratio above which the core time replaces the duration."""
    envelope = latency.get("profiling_core_envelope_fallback")
    ratio = envelope.get("max_duration_to_core_ratio") if isinstance(envelope, dict) else None
    if isinstance(ratio, (int, float)) and not isinstance(ratio, bool):
        return float(ratio)
    return None
