"""What the details of an answer say about a collective."""

from __future__ import annotations

from typing import Any

from sqlinterp.lookup.catalog import KernelFile
from sqlinterp.lookup.error_bars import line_bar

Row = dict[str, Any]


def miss_details(candidates: list[Row]) -> Row:
    """Say what was measured for the group size, per tier and latency column."""
    names = ("topology_tier", "latency_column", "row_count", "smallest_bytes", "largest_bytes")
    return {"measured": [{name: row[name] for name in names} for row in candidates]}


def measured_details(row: Row, kernel: KernelFile) -> Row:
    """Return where a measured size stands in its file, and how far its measurements spread."""
    size = row["lower_size"]
    return {
        "method": "exact",
        "file": kernel.file_name,
        "line": size["line"],
        "latency_column": row["latency_column"],
        "communication_dtypes": size["dtypes"],
        "raw_count": size["measurement_count"],
        "aggregated_count": 1,
        "latency_min_us": size["latency_min_us"],
        "latency_max_us": size["latency_max_us"],
    }


def fitted_details(asked: Row, row: Row, kernel: KernelFile) -> Row:
    """Return the line, its neighbours in the measured sizes, and what the line was fitted to."""
    sizes = (row["lower_size"], row["upper_size"])
    details: Row = {
        "interpolation_dim": 1,
        "axes": ["message_bytes"],
        "exact_fields": {
            "kernel_type": kernel.kernel_type,
            "num_devices": asked["num_devices"],
            "topology_tier": row["topology_tier"],
        },
        "target": {"message_bytes": asked["message_bytes"]},
        "boundary": {"message_bytes": [size["message_bytes"] for size in sizes]},
        "corner_points": [_corner_point(size, kernel) for size in sizes],
        "raw_count": row["row_count"],
        "filtered_count": row["row_count"],
        "aggregated_count": row["size_count"],
        "axis_transform": None,
        "fallback_from": "exact_miss",
        "latency_column": row["latency_column"],
    }
    methods = {name: row[f"{name}_us"] for name in ("alpha_beta", "bracket_linear")}
    bracket = details["boundary"]["message_bytes"]
    details["error_bar"] = line_bar("message_bytes", bracket, methods)
    if asked["method"] == "alpha_beta":
        details |= {name: row[name] for name in ("alpha_us", "beta_us_per_byte", "r2", "fitted_us")}
        details["is_clamped"] = row["fitted_us"] != row["alpha_beta_us"]
    return details


def _corner_point(size: Row, kernel: KernelFile) -> Row:
    return {
        "message_bytes": size["message_bytes"],
        "latency_us": size["latency_us"],
        "file": kernel.file_name,
        "line": size["line"],
        "measurement_count": size["measurement_count"],
        "communication_dtypes": size["dtypes"],
    }
