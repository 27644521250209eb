"""The boxes around one target, by two statements that are planned soon, which is most of it.

Many targets are bracketed by ``lookup.neighbours`` together, which finds the same boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlinterp.lookup.boxes import AXES, Box, corner_of, numbered
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.statements import Statements

Group = tuple[int, ...]
Row = dict[str, Any]


def are_neighbours(placements: Iterable[Placement]) -> bool:
    """Whether placements have one coordinate, in regimes between which there are no others."""
    placed = list(placements)
    ids = {placement.regime_id for placement in placed}
    return len({p.axes for p in placed}) == 1 and max(ids) - min(ids) + 1 == len(ids)


class Surroundings:
    """What was measured around one target, octant by octant of each regime and latency column.

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
        self._statements, self._aggregation = statements, aggregation
        placed = list(placements)
        ids = [placement.regime_id for placement in placed]
        self._scope = {"id": number, "first_id": min(ids), "last_id": max(ids)}
        self._octants: dict[tuple[int, int, str], list[Row]] = {}
        for row in statements.run("lookup.octant", **self._scope, **numbered("t", placed[0].axes)):
            cloud = (row["regime_id"], row["latency_rank"], row["latency_column"])
            self._octants.setdefault(cloud, []).append(row)

    def boxes(self, groups: Iterable[Group]) -> list[Box]:
        """Return the boxes in axis groups, as ``lookup.neighbours`` has them, with corners."""
        listed = list(groups)
        boxes = [
            _box(cloud, group, octants)
            for cloud, every in sorted(self._octants.items())
            for group in listed
            if (octants := list(_in_group(every, group)))
        ]
        self._add_corners([box for box in boxes if box.is_bracketed])
        return boxes

    def _add_corners(self, boxes: list[Box]) -> None:
        """Put the measured corners of boxes into them, in ascending order."""
        if not boxes:
            return
        ends: dict[str, float] = {}
        for axis, name in enumerate(AXES):
            values = [end for box in boxes for end in box.bounds(axis)]
            ends[f"low_{name}"], ends[f"high_{name}"] = min(values), max(values)
        rows = self._statements.run(
            "lookup.box_corner", aggregation=self._aggregation, **self._scope, **ends
        )
        points = [(row["regime_id"], row["latency_column"], corner_of(row)) for row in rows]
        points.sort(key=lambda point: point[2].axes)
        for box in boxes:
            cloud = (box.regime_id, box.latency_column)
            box.corners += [c for *own, c in points if tuple(own) == cloud and box.has_at_corner(c)]


def _in_group(octants: Iterable[Row], group: Group) -> Iterator[Row]:
    """Yield the octants whose points equal the target on all axes that do not vary."""
    fixed = [f"s_{axis}" for axis in AXES if axis - 1 not in group]
    return (row for row in octants if not any(row[sign] for sign in fixed))


def _box(cloud: tuple[int, int, str], group: Group, octants: list[Row]) -> Box:
    regime_id, rank, column = cloud
    return Box(
        regime_id=regime_id,
        group=group,
        latency_column=column,
        latency_rank=rank,
        lower=tuple(
            max((o[f"max_{axis}"] for o in octants if o[f"s_{axis}"] <= 0), default=None)
            for axis in AXES
        ),
        upper=tuple(
            min((o[f"min_{axis}"] for o in octants if o[f"s_{axis}"] >= 0), default=None)
            for axis in AXES
        ),
        row_count=sum(o["row_count"] for o in octants),
        point_count=sum(o["point_count"] for o in octants),
    )
