"""What lookups search, derived from measurements and mappings: keys, regimes and points."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import load_aliases, rows
from sqlinterp.definitions import definition_digest
from sqlinterp.errors import DatabaseError
from sqlinterp.paths import PATH_OF_DISPATCH, PATHS, compute_path
from sqlinterp.policy import effective_policy

_PLACED = (
    "create or replace temp table placed_row (item_id bigint, file_id integer,"
    " input_limit integer, regime_key varchar, input_formats varchar, output_dtypes varchar,"
    " is_nd boolean, axis_1 double, axis_2 double, axis_3 double, axis_4 double, reason varchar,"
    " path varchar, version_id integer, kernel_type varchar, latency_us double,"
    " latency_column varchar, latency_rank integer, line_number bigint, signature_id bigint)"
)

_COMPUTE_DISPATCHES = ("compute", "quantized_matmul", "mtp_projection")


def derive(connection: duckdb.DuckDBPyConnection) -> None:
    """Rebuild ``exact_key``, ``regime``, ``point`` and ``dropped_point`` from the measurements."""
    _store_uses(connection, path_uses(connection))
    connection.execute(_PLACED)
    for path in PATHS.values():
        placed = queries.compose(
            f"cells={path.measured_cells}", f"placed={path.query}", "rows=ingest.place_rows"
        )
        connection.execute(f"insert into placed_row {placed}", {"path": path.name})
    connection.execute("truncate regime; truncate point; truncate exact_key;")
    connection.execute("truncate dropped_point")
    for name in ("build_regime", "build_point", "row_keys", "count_dropped"):
        connection.execute(queries.load(f"ingest.{name}").body)
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


def path_uses(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str, int]]:
    """Return (file_id, path, input_limit) of every way a kernel is looked up.

    Kernels that no operator maps are placed on the path of their family, so that analysts see
    their coverage too.
    """
    files = {
        (row["version_id"], row["kernel_type"]): row["file_id"]
        for row in rows(connection.execute("select * from source_file where layout <> 'comm6'"))
    }
    matmuls = {
        row[0]
        for row in connection.execute(
            "select kernel_type from kernel_trait where is_matmul"
        ).fetchall()
    }
    policies = _policies(connection)
    uses: set[tuple[int, str, int]] = set()
    mapped: set[int] = set()
    special = connection.execute("select kernel_type, path from kernel_path").fetchall()
    for entry in rows(connection.execute("select * from op_mapping")):
        kernels = [entry["kernel_type"], *entry["alternate_kernel_types"]]
        version = entry["version_id"]
        found = [files[version, kernel] for kernel in kernels if (version, kernel) in files]
        mapped.update(found)
        path = PATH_OF_DISPATCH.get(entry["dispatch"])
        if path is not None:
            uses.update((file_id, path, 0) for file_id in found)
        elif entry["dispatch"] in _COMPUTE_DISPATCHES and entry["kernel_type"]:
            path = _entry_path(entry, kernels, policies, matmuls)
            uses.update((file_id, path, entry["tc_input_count"] or 0) for file_id in found)
    for (version, kernel), file_id in files.items():
        own = [path for name, path in special if name == kernel]
        uses.update((file_id, path, 0) for path in own)
        if file_id not in mapped and not own:
            axis = effective_policy(policies[version].get(("kernel", kernel))).generic_axis
            uses.add((file_id, compute_path(kernel in matmuls, axis).name, 0))
    return sorted(uses)


def _policies(connection: duckdb.DuckDBPyConnection) -> dict[int, dict[tuple[str, str], Any]]:
    policies: dict[int, dict[tuple[str, str], Any]] = defaultdict(dict)
    for row in rows(connection.execute("select * from interpolation_policy")):
        fields = json.loads(row["policy_json"])
        policies[row["version_id"]][row["scope"], row["subject"]] = fields
    return policies


def _entry_path(
    entry: dict[str, Any],
    kernels: list[str],
    policies: dict[int, dict[tuple[str, str], Any]],
    matmuls: set[str],
) -> str:
    own = policies[entry["version_id"]]
    policy = effective_policy(
        own.get(("global", "*")),
        own.get(("operator", entry["operator"])),
        own.get(("kernel", kernels[0])),
    )
    return compute_path(kernels[0] in matmuls, policy.generic_axis).name


def _store_uses(connection: duckdb.DuckDBPyConnection, uses: list[tuple[int, str, int]]) -> None:
    connection.execute(
        "create or replace temp table path_use (file_id integer, path varchar, input_limit integer)"
    )
    if uses:
        connection.executemany("insert into path_use values (?, ?, ?)", uses)
    cuts = sorted({(file_id, limit) for file_id, _, limit in uses if limit > 0})
    connection.execute(
        "create or replace temp table cut_use (file_id integer, input_limit integer)"
    )
    if cuts:
        connection.executemany("insert into cut_use values (?, ?)", cuts)
    connection.execute(
        "create or replace temp table path_axes (path varchar, axis_names varchar[])"
    )
    connection.executemany(
        "insert into path_axes values (?, ?)",
        [(path.name, list(path.axes)) for path in PATHS.values()],
    )
