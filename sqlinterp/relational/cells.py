"""Answers from the cells of one regime on two and three axes: data frames in, a data frame out.

It runs wherever the points of a regime are, so nothing here knows a database. The geometry is that
of every other lookup; only the questions it asks are answered from memory.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sqlinterp.certified_cell import NearestQuestion, SupportQuestion
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.evaluation import evaluate
from sqlinterp.lookup.placement import CloudRequest, Placement, Solution
from sqlinterp.relational.canonical import PLACE

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# What :func:`solve_cells` reads and gives, by DuckDB's types. ``rank_limit`` leaves out latency
# columns of that rank and above, null for none.
CELL_PLACE = {
    "place_id": "BIGINT",
    "regime_id": "INTEGER",
    **PLACE,
    "max_dim": "INTEGER",
    "method": "VARCHAR",
    "rank_limit": "INTEGER",
}
CELL_ANSWER = {
    "place_id": "BIGINT",
    "latency_us": "DOUBLE",
    "outcome": "VARCHAR",
}
# Source: sqlinterp/lookup/solver.py.
CONFLICT = "duplicate_coordinate_conflict"
NO_POINTS = "insufficient_filtered_candidates"


@dataclass(frozen=True)
class _Cloud:
    """The points of one regime, ascending.

    Attributes
    ----------
    axes : array, shape (4, n)
        Coordinates.
    columns : array, shape (n,)
        Latency column of each point as its place in ``names``, which are sorted.
    ranks : array, shape (n,)
        Latency rank of each point.
    counts : array, shape (n,)
        Measurements behind each point.
    """

    axes: Floats
    corners: tuple[Corner, ...]
    columns: Places
    names: tuple[str, ...]
    ranks: Places
    counts: Places

    @cached_property
    def known_ranks(self) -> tuple[int, ...]:
        """Latency ranks of the points, ascending."""
        return tuple(int(rank) for rank in np.unique(self.ranks))


class _Target:
    """A target among the points of its regime."""

    def __init__(self, place: dict[str, Any], cloud: _Cloud) -> None:
        axes = tuple(float(place[f"axis_{axis}"]) for axis in (1, 2, 3, 4))
        self.placement = Placement(
            file_id=0, regime_id=int(place["regime_id"]), axes=axes, is_nd=True,
            measurement_count=0, latency_ranks=cloud.known_ranks, distance=0, fields={},
        )  # fmt: skip
        self.place, self.cloud = place, cloud
        self.free = [axis for axis in range(4) if place[f"varies_{axis + 1}"]]
        self._equal = [values == at for values, at in zip(cloud.axes, axes, strict=True)]
        self._beside: dict[tuple[int, ...], Places] = {}

    def beside(self, group: tuple[int, ...]) -> Places:
        """Return the points that agree with the target on the axes that do not vary."""
        if group not in self._beside:
            fixed = [self._equal[axis] for axis in range(4) if axis not in group]
            self._beside[group] = np.flatnonzero(np.logical_and.reduce(fixed))
        return self._beside[group]


def solve_cells(places: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Return what every target of one regime comes to on one, two and three axes.

    Parameters
    ----------
    places : DataFrame
        Targets, with the columns of :data:`CELL_PLACE`.
    points : DataFrame
        Every point of the regime, with the columns of ``sql/canonical/needed_point.sql``.

    Returns
    -------
    DataFrame
        Columns of :data:`CELL_ANSWER`, one row per target: the first answer by latency rank, then
        dimension, then axes, [us]; without one ``latency_us`` is null. ``outcome`` is JSON: the box
        and points of the answer, or the attempts that came to nothing.
    """
    import pandas as pd

    cloud = _read(points)
    records: list[Any] = places.to_dict("records")
    answers = [_solve(place, cloud) for place in records]
    return pd.DataFrame(answers, columns=list(CELL_ANSWER))


def _read(points: pd.DataFrame) -> _Cloud:
    names = [f"axis_{axis}" for axis in (1, 2, 3, 4)]
    ordered = points.sort_values([*names, "latency_rank", "latency_column"], kind="stable")
    axes = ordered[names].to_numpy(np.float64)
    fields = ("latency_us", "first_line_number", "measurement_count", "is_conflicting")
    values = zip(*(ordered[field].tolist() for field in fields), strict=True)
    corners = tuple(
        Corner(tuple(row), us, int(line), int(count), bool(is_conflicting))
        for row, (us, line, count, is_conflicting) in zip(axes.tolist(), values, strict=True)
    )
    columns = ordered["latency_column"].tolist()
    known = sorted(set(columns))
    numbers = {name: number for number, name in enumerate(known)}
    return _Cloud(
        np.ascontiguousarray(axes.T),
        corners,
        np.array([numbers[name] for name in columns], dtype=np.int64),
        tuple(known),
        ordered["latency_rank"].to_numpy(np.int64),
        ordered["measurement_count"].to_numpy(np.int64),
    )


def _solve(place: dict[str, Any], cloud: _Cloud) -> tuple[int, float | None, str]:
    target, number, limit = _Target(place, cloud), int(place["place_id"]), place["rank_limit"]
    attempts: list[list[Any]] = []
    for rank in cloud.known_ranks:
        if limit is not None and not math.isnan(limit) and rank >= limit:
            break
        for dimension in range(1, int(place["max_dim"]) + 1):
            for group in combinations(target.free, dimension):
                box = _box(target, rank, group)
                found = NO_POINTS if box is None else _evaluate(target, box)
                if isinstance(found, Solution):
                    return number, found.latency_us, _told(found)
                attempts.append([rank, group, found, *_counts(box)])
    return number, None, json.dumps(attempts)


def _evaluate(target: _Target, box: Box) -> Solution | str:
    search = evaluate(target.placement, box, str(target.place["method"]), False)
    try:
        request = next(search)
        while True:
            if not isinstance(request, CloudRequest):
                raise TypeError(f"a cell asks for {request!r}")
            request = search.send(_points(target, request))
    except StopIteration as stop:
        found: Solution | str = stop.value
    if isinstance(found, Solution) and target.place["refuses_conflicts"]:
        return CONFLICT if any(point.is_conflicting for point in found.points) else found
    return found


def _box(target: _Target, rank: int, group: tuple[int, ...]) -> Box | None:
    """Return the box as ``sql/lookup/neighbours.sql`` does; of several columns the last counts."""
    cloud, beside = target.cloud, target.beside(group)
    own = beside[cloud.ranks[beside] == rank]
    if not own.size:
        return None
    column = int(cloud.columns[own].max())
    own = own[cloud.columns[own] == column]
    lower: list[float | None] = list(target.placement.axes)
    upper = list(lower)
    corners = beside[cloud.columns[beside] == column]
    for axis in group:
        values, at = cloud.axes[axis, own], target.placement.axes[axis]
        below, above = values[values <= at], values[values >= at]
        lower[axis] = float(below.max()) if below.size else None
        upper[axis] = float(above.min()) if above.size else None
        ends = [end for end in (lower[axis], upper[axis]) if end is not None]
        corners = corners[np.isin(cloud.axes[axis, corners], ends)]
    return Box(
        regime_id=target.placement.regime_id,
        group=group,
        latency_column=cloud.names[column],
        latency_rank=rank,
        lower=tuple(lower),
        upper=tuple(upper),
        row_count=int(cloud.counts[own].sum()),
        point_count=int(own.size),
        corners=[cloud.corners[place] for place in corners],
    )


def _points(target: _Target, request: CloudRequest) -> list[Corner]:
    """Answer a question as ``sql/lookup/cloud_*.sql`` do."""
    cloud, group, question = target.cloud, request.box.group, request.question
    beside = target.beside(group)
    kept = beside[cloud.columns[beside] == cloud.names.index(request.box.latency_column)]
    own = cloud.axes[np.ix_(group, kept)].T
    if isinstance(question, SupportQuestion):
        chosen = kept[[int((-(own * question.direction).sum(axis=1)).argmin())]]
    elif isinstance(question, NearestQuestion):
        distance = np.sqrt(((own - question.centre) ** 2).sum(axis=1))
        within = np.flatnonzero(distance <= question.radius)
        order = within[np.argsort(distance[within], kind="stable")[: question.limit]]
        chosen = np.sort(kept[order])
    else:
        chosen = np.sort(kept[_nearest_per_side(own, [request.axes[axis] for axis in group])])
    return [cloud.corners[place] for place in chosen]


def _nearest_per_side(own: Floats, target: list[float]) -> list[int]:
    """Return the nearest point on every combination of sides of the target."""
    distance = ((own - target) ** 2).sum(axis=1)
    sides = (own >= target) @ (1 << np.arange(len(target)))
    found = []
    for side in np.unique(sides):
        members = np.flatnonzero(sides == side)
        found.append(int(members[distance[members].argmin()]))
    return found


def _counts(box: Box | None) -> list[Any]:
    return [None, 0, 0] if box is None else [box.latency_column, box.row_count, box.point_count]


def _told(solution: Solution) -> str:
    box = solution.box
    return json.dumps(
        {
            "method": solution.method,
            "box": [box.group, box.latency_column, box.latency_rank, box.lower, box.upper,
                    box.row_count, box.point_count],
            "points": [
                [p.axes, p.latency_us, p.line_number, p.measurement_count, p.is_conflicting]
                for p in solution.points
            ],
        }
    )  # fmt: skip


def read_outcome(row: dict[str, Any], placement: Placement) -> Solution | list[list[Any]]:
    """Return the solution that a row of :func:`solve_cells` tells, or the attempts.

    An attempt is a list: latency rank, axes, status, latency column, rows, points.
    """
    told = json.loads(row["outcome"])
    if isinstance(told, list):
        return told
    group, column, rank, lower, upper, rows, points = told["box"]
    corners = tuple(Corner(tuple(axes), *rest) for axes, *rest in told["points"])
    box = Box(
        placement.regime_id, tuple(group), column, rank, tuple(lower), tuple(upper), rows, points,
        list(corners),
    )  # fmt: skip
    return Solution(placement, box, corners, float(row["latency_us"]), told["method"])
