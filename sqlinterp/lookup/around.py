"""What was measured around one target, found by statements that are planned soon.

Many targets are bracketed by ``lookup.neighbours`` together, which finds the same boxes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from sqlinterp.lookup.boxes import AXES, Box, corner_of
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.statements import Statements

Cloud = tuple[int, int, str]  # regime, rank of the latency column, latency column
Group = tuple[int, ...]
Row = dict[str, Any]


def are_neighbours(placements: Iterable[Placement]) -> bool:
    """Whether placements have one coordinate, in regimes between which there are no others."""
    placed = list(placements)
    ids = {placement.regime_id for placement in placed}
    return len({p.axes for p in placed}) == 1 and max(ids) - min(ids) + 1 == len(ids)


def cloud_of(row: Row) -> Cloud:
    """Return the regime and latency column that a row is about."""
    return (row["regime_id"], row["latency_rank"], row["latency_column"])


class Around(ABC):
    """The boxes around one target in some regimes.

    Parameters
    ----------
    number : int
        Number of the target.
    placements : iterable of Placement
        The target in its regimes, for which :func:`are_neighbours` holds.
    """

    def __init__(
        self,
        statements: Statements,
        number: int,
        placements: Iterable[Placement],
        aggregation: str,
    ) -> None:
        self._statements, self._aggregation, self._number = statements, aggregation, number
        placed = list(placements)
        ids = [placement.regime_id for placement in placed]
        self._target = placed[0].axes
        self._regimes = {"first_id": min(ids), "last_id": max(ids)}

    @abstractmethod
    def boxes(self, groups: Iterable[Group]) -> list[Box]:
        """Return the boxes in axis groups, as ``lookup.neighbours`` has them, with corners."""

    def _add_corners(self, boxes: list[Box]) -> None:
        """Put the measured corners of boxes into them, in ascending order."""
        if not boxes:
            return
        ends: dict[str, float] = {}
        for axis, name in enumerate(AXES):
            values = [end for box in boxes for end in box.bounds(axis)]
            ends[f"low_{name}"], ends[f"high_{name}"] = min(values), max(values)
        rows = self._statements.run(
            "lookup.box_corner",
            id=self._number, aggregation=self._aggregation, **self._regimes, **ends,
        )  # fmt: skip
        points = [(row["regime_id"], row["latency_column"], corner_of(row)) for row in rows]
        points.sort(key=lambda point: point[2].axes)
        for box in boxes:
            cloud = (box.regime_id, box.latency_column)
            box.corners += [c for *own, c in points if tuple(own) == cloud and box.has_at_corner(c)]
