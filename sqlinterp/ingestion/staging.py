"""CSV rows into the staging table, and from there to their final place."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb

from sqlinterp import queries
from sqlinterp.database import rows
from sqlinterp.ingestion.inspection import Inspection, repair

_BASE_COLUMNS = (
    "op_state", "accelerator_core", "input_shapes", "input_dtypes", "input_formats",
    "output_shapes", "output_dtypes", "output_formats",
)  # fmt: skip
_NORMALISE = (
    "ingest.slot_row",
    "ingest.operand_row",
    "ingest.cell_problem",
    "ingest.insert_rejected",
    "ingest.insert_cell_issues",
    "ingest.insert_unmeasured",
    "ingest.insert_measurements",
    "ingest.insert_counters",
    "ingest.count_rows",
)


def prepare(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Create the staging tables and return header to column name.

    Which columns are numbers, integers, text or counters is read from the schema, so that a
    migration which adds a column and its header needs no code.
    """
    known = rows(
        connection.execute(
            "select csv_name, c.table_name, c.column_name, data_type from csv_column as c"
            " join duckdb_columns() as d using (table_name, column_name)"
        )
    )
    base = set(_BASE_COLUMNS)
    enrichment = [row for row in known if row["table_name"] == "measurement"]
    numeric = ("BIGINT", "INTEGER", "DOUBLE")
    own = [row for row in enrichment if row["column_name"] not in base]
    groups = {
        "number_columns": [row for row in known if row["data_type"] in numeric],
        "integer_columns": [row for row in known if row["data_type"] in ("BIGINT", "INTEGER")],
        "text_columns": [row for row in own if row["data_type"] == "VARCHAR"],
        "measured_number_columns": [row for row in own if row["data_type"] in numeric],
        "enrichment_columns": [row for row in own if not row["column_name"].endswith("_us")],
        "counter_columns": [row for row in known if row["table_name"] == "hardware_counter"],
    }
    for name, members in groups.items():
        columns = sorted({row["column_name"] for row in members})
        connection.execute(f"set variable {name} = $columns", {"columns": columns})
    connection.execute(queries.load("ingest.staged_row").body)
    connection.execute(queries.load("ingest.loading_file").body)
    return {row["csv_name"]: row["column_name"] for row in known}


def stage_file(
    connection: duckdb.DuckDBPyConnection,
    file_id: int,
    inspection: Inspection,
    known: dict[str, str],
) -> int:
    """Read one inspected file into staging and return the number of rows staged.

    A file with irregular rows is taken apart first; the rows that cannot be read become
    rejections of the inspection.
    """
    names = [known.get(name, f"extra:{name}") for name in inspection.header]
    if not inspection.needs_repair:
        try:
            _read(connection, inspection.path, names)
        except duckdb.Error:
            inspection.needs_repair = True
    if inspection.needs_repair:
        repair(inspection)
        _read_repaired(connection, inspection, names)
    step = "ingest.stage_rows_with_extra" if inspection.unknown else "ingest.stage_rows"
    connection.execute(queries.load(step).body, {"file_id": file_id})
    if inspection.needs_repair:
        numbers = {"row_numbers": inspection.row_numbers, "line_numbers": inspection.line_numbers}
        connection.execute(
            queries.load("ingest.renumber_rows").body, {"file_id": file_id, **numbers}
        )
    return connection.execute("select count(*) from raw_row").fetchall()[0][0]  # type: ignore[no-any-return]


def _read(connection: duckdb.DuckDBPyConnection, path: Path, names: Sequence[str]) -> None:
    columns = dict.fromkeys(names, "VARCHAR")
    parameters = {"path": str(path), "columns": columns}
    connection.execute(queries.load("ingest.read_csv").body, parameters)


def _read_repaired(
    connection: duckdb.DuckDBPyConnection, inspection: Inspection, names: Sequence[str]
) -> None:
    with tempfile.TemporaryDirectory(prefix="sqlinterp-") as folder:
        path = Path(folder) / "repaired.csv"
        path.write_bytes(inspection.repaired or b"")
        _read(connection, path, names)


def flush(connection: duckdb.DuckDBPyConnection) -> None:
    """Give every staged row its final place and empty the staging tables."""
    for name in _NORMALISE:
        connection.execute(queries.load(name).body)
    connection.execute("truncate staged_row; truncate loading_file")
