"""The parts of a composite, and the fit behind a collective, as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlinterp.cli.output import as_text, microseconds

Row = dict[str, Any]
Cells = tuple[list[str], list[list[Any]], list[str]]


def part_rows(parts: Sequence[Row]) -> Cells:
    """Return columns, rows and numeric columns of the table of a composite's parts."""
    rows = [
        [
            part["name"],
            part.get("kernel_type") or "",
            part["source"] or "no answer",
            part.get("shape_match_rule") or part.get("miss_reason") or "",
            microseconds(part["latency_us"]),
            f"{part['file']}:{part['line']}" if part.get("file") else "",
        ]
        for part in parts
    ]
    return ["part", "kernel", "source", "rule or reason", "latency us", "row"], rows, ["latency us"]


def fit_lines(details: Row) -> list[tuple[str, str]]:
    """Return label and text of every line that explains a least-squares fit."""
    latency = f"{details['alpha_us']:.4g} us + {details['beta_us_per_byte']:.4g} us/byte * bytes"
    lines = [
        ("latency", f"{latency} (least squares over {details['filtered_count']} measurements)"),
        ("r2", as_text(details["r2"])),
        ("at the target", f"{microseconds(details['fitted_us'])} us"),
    ]
    if details["is_clamped"]:
        lines.append(("", "kept between the latencies of the nearest measured sizes:"))
    else:
        lines.append(("", "lies between the latencies of the nearest measured sizes:"))
    return lines


def bracket_rows(details: Row) -> Cells:
    """Return the nearest measured sizes as a table."""
    rows = [
        [
            f"{corner['file']}:{corner['line']}",
            corner["message_bytes"],
            microseconds(corner["latency_us"]),
            corner["measurement_count"],
        ]
        for corner in details["corner_points"]
    ]
    columns = ["row", "message_bytes", "latency us", "measurements"]
    return columns, rows, columns[1:]
