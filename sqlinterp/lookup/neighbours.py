"""The boxes around many targets, by one statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from sqlinterp.lookup.boxes import AXES, Box, Corner, Row, numbered
from sqlinterp.lookup.statements import Statements

# Columns of the neighbours statement: of which box a row is, its ends, its corner, and what was
# counted and measured, in the order of the fields of `Box` and `Corner`.
_PARTS_OF_ROW = (
    ("id", "regime_id", "latency_column", "latency_rank", "group_id"),
    *([f"{name}_{axis}" for axis in AXES] for name in ("lo", "hi", "axis")),
    ("row_count", "point_count"),
    ("latency_us", "first_line_number", "measurement_count", "is_conflicting", "spread"),
)


def boxes_around(
    statements: Statements,
    targets: Sequence[Row],
    groups: Sequence[tuple[int, ...]],
    aggregation: str,
) -> dict[int, list[Box]]:
    """Return the boxes of targets, as `Placement.target` gives them, in axis groups, by their id.

    One statement finds all of them.
    """
    columns, rows = statements.fetch(
        "lookup.neighbours",
        targets=json.dumps(targets),
        groups=json.dumps([_group_row(number, group) for number, group in enumerate(groups)]),
        aggregation=aggregation,
    )
    return _read_boxes(columns, rows, groups)


def _group_row(number: int, group: tuple[int, ...]) -> Row:
    """Return an axis group as the statement takes it."""
    return {"group_id": number, **numbered("v", (axis - 1 in group for axis in AXES))}


def _read_boxes(
    columns: list[str], rows: Iterable[tuple[Any, ...]], groups: Sequence[tuple[int, ...]]
) -> dict[int, list[Box]]:
    """Collect the rows of the neighbours statement into boxes by target id, in row order."""
    key_of, lower_of, upper_of, axes_of, counts_of, told_of = (
        itemgetter(*map(columns.index, names)) for names in _PARTS_OF_ROW
    )
    boxes: dict[int, list[Box]] = {}
    last_key = None
    for row in rows:
        key = key_of(row)
        if key != last_key:
            last_key = key
            number, regime_id, column, rank, group_id = key
            row_count, point_count = counts_of(row)
            box = Box(
                regime_id, groups[group_id], column, rank, lower_of(row), upper_of(row),
                int(row_count), point_count,
            )  # fmt: skip
            boxes.setdefault(number, []).append(box)
        axes = axes_of(row)
        if axes[0] is not None:
            box.corners.append(Corner(axes, *told_of(row)))
    return boxes
