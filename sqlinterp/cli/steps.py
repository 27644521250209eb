"""The rows of one SQL statement of a lookup, cut to what decides something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlinterp.cli.output import as_text, microseconds
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Step

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], Any]]
_WORDS = ("rule", "formats", "reason", "box", "measured around", "CSV column", "kernel")
_MOST_ROWS = 6


def decisive_rows(step: Step, plan: Plan) -> tuple[list[str], list[list[Any]], list[str]]:
    """Return columns, the first different rows, and the names of the numeric columns."""
    columns = [
        (title, read)
        for title, read in _columns(plan)
        if any(read(row) not in (None, "") for row in step.rows)
    ]
    cells: list[list[Any]] = []
    for row in step.rows:
        cell = [read(row) for _, read in columns]
        if cell not in cells:
            cells.append(cell)
    titles = [title for title, _ in columns]
    return titles, cells[:_MOST_ROWS], [title for title in titles if title not in _WORDS]


def _columns(plan: Plan) -> list[Column]:
    names = plan.path.axes if plan.path else ()
    axes: list[Column] = [(name, _field(f"axis_{i}")) for i, name in enumerate(names, start=1)]
    return [
        ("kernel", lambda row: _kernel(plan, row)),
        ("rule", _field("rule")),
        ("regime", _field("regime_id")),
        *axes,
        ("formats", _field("input_formats")),
        ("reason", _field("reason")),
        ("box", lambda row: _box(names, row)),
        ("measured around", lambda row: _octant(names, row)),
        ("points", lambda row: row["point_count"] if "s_1" in row else None),
        ("CSV column", _field("latency_column")),
        ("latency us", lambda row: microseconds(row.get("latency_us"))),
        ("line", lambda row: row.get("line_number", row.get("first_line_number"))),
        ("rows", _field("measurement_count")),
        ("padding ratio", _field("padding_ratio")),
    ]


def _field(name: str) -> Callable[[Row], Any]:
    return lambda row: row.get(name)


def _kernel(plan: Plan, row: Row) -> str | None:
    place = row.get("position")
    is_child = place is not None and place >= len(plan.candidates)  # of a composite's plan
    return None if place is None or is_child else plan.candidates[place].kernel.kernel_type


def _box(names: Sequence[str], row: Row) -> str:
    """Return the bracket of every axis that varies, ``?`` on a side without a measured value.

    Of large regimes each axis has a row of its own.
    """
    ends = [(row.get(f"lo_{i}"), row.get(f"hi_{i}")) for i, _ in enumerate(names, start=1)]
    if "upper" in row:
        ends[row["axis"] - 1] = (row["lower"], row["upper"])
    sides = []
    for name, (low, high) in zip(names, ends, strict=True):
        if low != high:
            told = ["?" if side is None else as_text(side) for side in (low, high)]
            sides.append(f"{name}:{told[0]}..{told[1]}")
    return ",".join(sides)


def _octant(names: Sequence[str], row: Row) -> str:
    """Return what was measured on one side of a target, as the extent along each axis."""
    if "s_1" not in row:
        return ""
    extents = []
    for i, name in enumerate(names, start=1):
        low, high = as_text(row[f"min_{i}"]), as_text(row[f"max_{i}"])
        extents.append(f"{name}:{low}" if low == high else f"{name}:{low}..{high}")
    return ",".join(extents)
