"""The measured points behind an answer, with the weight that each one has in it."""

from __future__ import annotations

from rich.table import Table

from sqlinterp.cli.output import make_table, microseconds
from sqlinterp.lookup.weights import neighbour_weights
from sqlinterp.model import Answer


def neighbour_table(answer: Answer) -> Table:
    """Return the corner points with axis values, latency, weight and place in the CSV."""
    details = answer.details
    names = list(details["target"])
    weights = neighbour_weights(answer)
    rows = [
        [
            f"{corner['file']}:{corner['line']}",
            *(corner[name] for name in names),
            microseconds(corner["latency_us"]),
            f"{weight:.4f}",
            microseconds(weight * corner["latency_us"]),
        ]
        for corner, weight in zip(details["corner_points"], weights, strict=True)
    ]
    columns = ["row", *names, "latency us", "weight", "product us"]
    return make_table(columns, rows, columns[1:])


def point_table(answer: Answer) -> Table:
    """Return the measured points behind an answer that are in it otherwise than by a weight."""
    details = answer.details
    names = list(details["target"])
    rows = [
        [
            f"{corner['file']}:{corner['line']}",
            *(corner[name] for name in names),
            microseconds(corner["latency_us"]),
            corner["measurement_count"],
        ]
        for corner in details["corner_points"]
    ]
    columns = ["row", *names, "latency us", "measurements"]
    return make_table(columns, rows, columns[1:])
