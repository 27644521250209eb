"""How each kernel is looked up: on which paths, and cut to how many operands."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import duckdb

from sqlinterp.database import rows
from sqlinterp.paths import PATH_OF_DISPATCH, compute_path
from sqlinterp.policy import effective_policy

_MTP_OPERANDS = 2
# Kernels that children of composites ask for by their first operands: path, how many of them.
_CHILD_USES = {"QuantBatchMatmulV3": ("matmul", 2), "KvRmsNormRopeCache": ("generic_axis_0", 1)}

Row = dict[str, Any]


def path_uses(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str, int]]:
    """Return (file_id, path, input_limit) of every way a kernel is placed on axes.

    Kernels that no operator maps are placed on the path of their family, so that analysts see
    their coverage too.
    """
    files = _files(connection)
    matmuls = {
        row[0]
        for row in connection.execute(
            "select kernel_type from kernel_trait where is_matmul"
        ).fetchall()
    }
    policies = _policies(connection)
    special = connection.execute("select kernel_type, path from kernel_path").fetchall()
    uses: set[tuple[int, str, int]] = set()
    mapped: set[int] = set()
    for entry in rows(connection.execute("select * from op_mapping")):
        kernels = _kernels(entry)
        found = [files[key] for key in kernels if key in files]
        mapped.update(found)
        path = _entry_path(entry, policies, matmuls)
        if path is not None:
            uses.update((file_id, path, entry["tc_input_count"] or 0) for file_id in found)
    for (version, kernel), file_id in files.items():
        own = [path for name, path in special if name == kernel]
        uses.update((file_id, path, 0) for path in own)
        if kernel in _CHILD_USES:
            uses.add((file_id, *_CHILD_USES[kernel]))
        if file_id not in mapped and not own:
            axis = effective_policy(policies[version].get(("kernel", kernel))).generic_axis
            uses.add((file_id, compute_path(kernel in matmuls, axis).name, 0))
    return sorted(uses)


def cut_uses(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, int]]:
    """Return (file_id, input_limit) of kernels whose rows are matched by their first operands."""
    files = _files(connection)
    cuts: set[tuple[int, int]] = set()
    for entry in rows(connection.execute("select * from op_mapping")):
        fields = json.loads(entry["entry_json"])
        if entry["tc_input_count"]:
            named = _kernels(entry) + [
                (entry["version_id"], kernel) for kernel in fields.get("sub_kernels") or []
            ]
            cuts.update((files[key], entry["tc_input_count"]) for key in named if key in files)
        projection = (entry["version_id"], str(fields.get("mtp_projection_kernel_type")))
        if projection in files:
            cuts.add((files[projection], _MTP_OPERANDS))
    return sorted(cuts)


def _files(connection: duckdb.DuckDBPyConnection) -> dict[tuple[int, str], int]:
    found = connection.execute(
        "select version_id, kernel_type, file_id from source_file"
        " where layout not in ('comm6', 'declared')"
    )
    return {(version, kernel): file_id for version, kernel, file_id in found.fetchall()}


def _kernels(entry: Row) -> list[tuple[int, str]]:
    """Return the (version, kernel) pairs that an entry names, in order."""
    names = [entry["kernel_type"], *entry["alternate_kernel_types"]]
    return [(entry["version_id"], name) for name in names if name]


def _policies(connection: duckdb.DuckDBPyConnection) -> dict[int, dict[tuple[str, str], Any]]:
    policies: dict[int, dict[tuple[str, str], Any]] = defaultdict(dict)
    for row in rows(connection.execute("select * from interpolation_policy")):
        fields = json.loads(row["policy_json"])
        policies[row["version_id"]][row["scope"], row["subject"]] = fields
    return policies


def _entry_path(
    entry: Row, policies: dict[int, dict[tuple[str, str], Any]], matmuls: set[str]
) -> str | None:
    dispatch = entry["dispatch"]
    if dispatch == "mtp_projection":  # what is no projection is looked up by the subcategory
        dispatch = entry["compute_subcategory"] or "compute"
    if dispatch in PATH_OF_DISPATCH:
        return PATH_OF_DISPATCH[dispatch]
    kernel = entry["kernel_type"]
    if dispatch != "compute" or not kernel:
        return None
    own = policies[entry["version_id"]]
    policy = effective_policy(
        own.get(("global", "*")),
        own.get(("operator", entry["operator"])),
        own.get(("kernel", kernel)),
    )
    return compute_path(kernel in matmuls, policy.generic_axis).name
