"""Scattered matrix multiplications, and the boxes around targets as batches find them."""

from __future__ import annotations

from pathlib import Path

from databases_for_tests import scattered_matmuls, write_version

import sqlinterp
from sqlinterp.lookup.boxes import Box
from sqlinterp.lookup.neighbours import boxes_around
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.statements import Statements
from sqlinterp.paths import PATHS

VALUES = (8, 16, 24, 64, 128)
GROUPS = [group for dimension in (1, 2, 3) for group in PATHS["matmul"].groups(dimension)]


def scattered(place: Path) -> Path:
    """Ingest points in two regimes with two latency columns."""
    files = {"MatMulV2.csv": scattered_matmuls(3, VALUES, 500)}
    write_version(place / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([place / "v"], place / "p.duckdb")
    return place / "p.duckdb"


def placed(regime_ids: list[int], axes: tuple[float, ...]) -> list[Placement]:
    """A coordinate in some regimes."""
    return [Placement(1, regime_id, axes, True, 1, (0,), 0, {}) for regime_id in regime_ids]


def of_many(statements: Statements, placements: list[Placement]) -> list[Box]:
    """The boxes as batches find them; nothing is asked of an open box but that it is open."""
    targets = [placement.target(0) for placement in placements]
    boxes = boxes_around(statements, targets, GROUPS, "median").get(0, [])
    for box in boxes:
        if not box.is_bracketed:
            box.corners = []
    return boxes
