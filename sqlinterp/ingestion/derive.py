"""What lookups search, derived from measurements and mappings: keys, regimes and points."""

from __future__ import annotations

from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import load_aliases
from sqlinterp.definitions import definition_digest
from sqlinterp.errors import DatabaseError
from sqlinterp.ingestion.levels import derive_levels
from sqlinterp.ingestion.uses import cut_uses, path_uses
from sqlinterp.paths import PATHS

_PLACED = (
    "create or replace temp table placed_row (item_id bigint, file_id integer,"
    " input_limit integer, regime_key varchar, input_formats varchar, output_dtypes varchar,"
    " is_nd boolean, axis_1 double, axis_2 double, axis_3 double, axis_4 double, reason varchar,"
    " path varchar, version_id integer, kernel_type varchar, latency_us double,"
    " latency_column varchar, latency_rank integer, line_number bigint, signature_id bigint)"
)


def derive(connection: duckdb.DuckDBPyConnection) -> None:
    """Rebuild what lookups search from the measurements: keys, regimes, points, their values."""
    used = _store_uses(connection)
    connection.execute(_PLACED)
    for path in (path for path in PATHS.values() if path.name in used):
        placed = queries.compose(
            f"cells={path.measured_cells}", f"placed={path.query}", "rows=ingest.place_rows"
        )
        connection.execute(f"insert into placed_row {placed}", {"path": path.name})
    for name in ("declared_axes", "place_declared"):
        connection.execute(queries.load(f"ingest.{name}").body)
    connection.execute("truncate regime; truncate point; truncate exact_key;")
    connection.execute("truncate dropped_point; truncate operand_dim;")
    for name in ("build_regime", "build_point", "row_keys", "operand_dim", "count_dropped"):
        connection.execute(queries.load(f"ingest.{name}").body)
    derive_levels(connection)
    connection.execute("drop table placed_row; truncate derivation;")
    connection.execute("insert into derivation values ($digest)", {"digest": definition_digest()})


def rebuild(connection: duckdb.DuckDBPyConnection) -> None:
    """Derive everything anew in a transaction of its own.

    Raises
    ------
    DatabaseError
        If it fails; the tables stay as they were.
    """
    load_aliases(connection)
    connection.execute("begin")
    try:
        derive(connection)
        connection.execute("commit")
    except duckdb.Error as error:
        connection.execute("rollback")
        raise DatabaseError(f"cannot rebuild the derived tables: {error}") from error


def _store_uses(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Write down which files are placed on which paths, cut to how many operands.

    Returns the paths that have any use.
    """
    uses = path_uses(connection)
    tables: dict[str, tuple[str, list[Any]]] = {
        "path_use": ("file_id integer, path varchar, input_limit integer", uses),
        "cut_use": ("file_id integer, input_limit integer", cut_uses(connection)),
        "path_axes": (
            "path varchar, axis_names varchar[]",
            [(path.name, list(path.axes)) for path in PATHS.values()],
        ),
    }
    for name, (columns, found) in tables.items():
        connection.execute(f"create or replace temp table {name} ({columns})")
        if found:
            places = ", ".join("?" * len(found[0]))
            connection.executemany(f"insert into {name} values ({places})", found)
    return {path for _, path, _ in uses}
