"""The boxes around one target in large regimes, from the values that ingest stored of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import duckdb

from sqlinterp.lookup.around import Around, Cloud, Group, Row, cloud_of
from sqlinterp.lookup.boxes import Box, numbered
from sqlinterp.lookup.statements import Statements
from sqlinterp.memo import Memo

Values = frozenset[tuple[int, float]]  # axis and value

_KEPT_SCOPES, _MOST_VALUES = 20, 20_000
_TOO_MANY: Values = frozenset()


def ignore_levels(connection: duckdb.DuckDBPyConnection) -> None:
    """Let lookups of a connection read points only, from before its catalog is made.

    Levels do not know which points were taken away or hidden after they had been stored.
    """
    connection.execute(
        "create or replace temp table levelled_regime as from levelled_regime limit 0"
    )


class StoredLevels:
    """Of which regimes the measured values are stored by axis group, and what these values are.

    Attributes
    ----------
    regimes : frozenset of int
        Identifiers of the regimes.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        found = connection.execute("select regime_id from levelled_regime").fetchall()
        self.regimes = frozenset(row[0] for row in found)
        self._values: Memo[Values] = Memo(_KEPT_SCOPES)

    def may_have(self, statements: Statements, scope: Row, axis: int, value: float) -> bool:
        """Whether regimes may have a value on an axis, whatever they have on the others.

        Parameters
        ----------
        scope : dict
            First and last regime, and all axes of their path as a number.
        """
        key = tuple(scope.values())
        values = self._values.get(key)
        if values is None:
            rows = statements.run("lookup.level_value", most=_MOST_VALUES + 1, **scope)
            found = frozenset((row["axis"] - 1, row["value"]) for row in rows)
            values = self._values.put(key, found if len(rows) <= _MOST_VALUES else _TOO_MANY)
        return values is _TOO_MANY or (axis, value) in values


class Levels(Around):
    """One statement for each axis group in which there can be points, and one for its corners.

    Parameters
    ----------
    axis_count : int
        Axes of the path.
    """

    def __init__(self, *arguments: Any, stored: StoredLevels, axis_count: int) -> None:
        super().__init__(*arguments)
        self._every = range(axis_count)
        scope = {**self._regimes, "varying": _bits(self._every)}
        self._measured = {
            axis
            for axis in self._every
            if stored.may_have(self._statements, scope, axis, self._target[axis])
        }

    def boxes(self, groups: Iterable[Group]) -> list[Box]:
        """Return the boxes in axis groups with their corners."""
        found = [
            (cloud, number, self._box(cloud, group, ends))
            for number, group in enumerate(groups)
            if self._measured.issuperset(axis for axis in self._every if axis not in group)
            for cloud, ends in self._ends(group).items()
        ]
        boxes = [box for *_, box in sorted(found, key=lambda own: own[:2])]
        for box in boxes:
            if box.is_bracketed:  # between the ends of several there may be very many points
                self._add_corners([box])
        return boxes

    def _ends(self, group: Group) -> dict[Cloud, dict[int, Row]]:
        """Return what is next to the target on each axis of a group."""
        fixed = [-1.0 if axis in group else value for axis, value in enumerate(self._target)]
        rows = self._statements.run(
            "lookup.level",
            varying=_bits(group), target=list(self._target), **self._regimes,
            **numbered("k", fixed),
        )  # fmt: skip
        found: dict[Cloud, dict[int, Row]] = {}
        for row in rows:
            found.setdefault(cloud_of(row), {})[row["axis"] - 1] = row
        return found

    def _box(self, cloud: Cloud, group: Group, ends: dict[int, Row]) -> Box:
        regime_id, rank, column = cloud
        lower, upper = (
            tuple(
                ends[axis][side] if axis in group else value
                for axis, value in enumerate(self._target)
            )
            for side in ("lower", "upper")
        )
        return Box(
            regime_id=regime_id,
            group=group,
            latency_column=column,
            latency_rank=rank,
            lower=lower,
            upper=upper,
            row_count=int(sum(row["row_count"] for row in ends.values())),
            point_count=int(sum(row["point_count"] for row in ends.values())),
        )


def _bits(axes: Iterable[int]) -> int:
    """Return axes as the table ``axis_level`` tells them."""
    return sum(1 << axis for axis in axes)
