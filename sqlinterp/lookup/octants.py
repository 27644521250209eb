"""The boxes around one target from the points of its regimes, octant by octant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlinterp.lookup.around import Around, Cloud, Group, Row, cloud_of
from sqlinterp.lookup.boxes import AXES, Box, numbered

# Names of the columns by axis, written once.
_SIGNS, _LEAST, _GREATEST = (
    [f"{column}_{axis}" for axis in AXES] for column in ("s", "min", "max")
)


class Octants(Around):
    """One statement reads all points of the regimes; the boxes in all groups follow from it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._octants: dict[Cloud, list[Row]] = {}
        target = numbered("t", self._target)
        rows = self._statements.run("lookup.octant", id=self._number, **self._regimes, **target)
        for row in rows:
            self._octants.setdefault(cloud_of(row), []).append(row)

    def boxes(self, groups: Iterable[Group]) -> list[Box]:
        """Return the boxes in axis groups with their corners."""
        listed = list(groups)
        boxes = [
            _box(cloud, group, octants)
            for cloud, every in sorted(self._octants.items())
            for group in listed
            if (octants := list(_in_group(every, group)))
        ]
        self._add_corners([box for box in boxes if box.is_bracketed])
        return boxes


def _in_group(octants: Iterable[Row], group: Group) -> Iterator[Row]:
    """Yield the octants whose points equal the target on all axes that do not vary."""
    fixed = [sign for axis, sign in enumerate(_SIGNS) if axis not in group]
    return (row for row in octants if not any(row[sign] for sign in fixed))


def _box(cloud: Cloud, group: Group, octants: list[Row]) -> Box:
    regime_id, rank, column = cloud
    return Box(
        regime_id=regime_id,
        group=group,
        latency_column=column,
        latency_rank=rank,
        lower=tuple(
            max((o[greatest] for o in octants if o[sign] <= 0), default=None)
            for sign, greatest in zip(_SIGNS, _GREATEST, strict=True)
        ),
        upper=tuple(
            min((o[least] for o in octants if o[sign] >= 0), default=None)
            for sign, least in zip(_SIGNS, _LEAST, strict=True)
        ),
        row_count=sum(o["row_count"] for o in octants),
        point_count=sum(o["point_count"] for o in octants),
    )
