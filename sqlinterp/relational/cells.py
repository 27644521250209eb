"""Answers from the cells of one regime on two and three axes: data frames in, a data frame out.

It runs wherever the points of a regime are, so nothing here knows a database. The geometry is that
of every other lookup; only the questions it asks are answered from memory.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sqlinterp.certified_cell import NearestQuestion, SupportQuestion
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.evaluation import evaluate
from sqlinterp.lookup.placement import CloudRequest, Placement, Solution

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# What :func:`solve_cells` reads and gives, by DuckDB's types. ``rank_limit`` leaves out latency
# columns of that rank and above, null for none.
CELL_PLACE = {
    "place_id": "BIGINT",
    "regime_id": "INTEGER",
    "axis_1": "DOUBLE",
    "axis_2": "DOUBLE",
    "axis_3": "DOUBLE",
    "axis_4": "DOUBLE",
    "varies_1": "BOOLEAN",
    "varies_2": "BOOLEAN",
    "varies_3": "BOOLEAN",
    "varies_4": "BOOLEAN",
    "refuses_conflicts": "BOOLEAN",
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
    """The points of one regime, ascending; every array has one entry per point."""

    axes: Floats
    corners: tuple[Corner, ...]
    columns: NDArray[np.object_]
    ranks: NDArray[np.int64]
    counts: NDArray[np.int64]


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
    return _Cloud(
        axes,
        corners,
        ordered["latency_column"].to_numpy(object),
        ordered["latency_rank"].to_numpy(np.int64),
        ordered["measurement_count"].to_numpy(np.int64),
    )


def _solve(place: dict[str, Any], cloud: _Cloud) -> tuple[int, float | None, str]:
    placement = Placement(
        file_id=0, regime_id=int(place["regime_id"]), fields={}, is_nd=True, distance=0,
        axes=tuple(float(place[f"axis_{axis}"]) for axis in (1, 2, 3, 4)),
        measurement_count=0, latency_ranks=tuple(sorted({int(rank) for rank in cloud.ranks})),
    )  # fmt: skip
    free = [axis for axis in range(4) if place[f"varies_{axis + 1}"]]
    attempts: list[list[Any]] = []
    limit = place["rank_limit"]
    for rank in placement.latency_ranks:
        if limit is not None and not math.isnan(limit) and rank >= limit:
            break
        for dimension in range(1, int(place["max_dim"]) + 1):
            for group in combinations(free, dimension):
                box = _box(placement, cloud, rank, group)
                found = NO_POINTS if box is None else _evaluate(placement, box, cloud, place)
                if isinstance(found, Solution):
                    return int(place["place_id"]), found.latency_us, _told(found)
                attempts.append([rank, group, found, *_counts(box)])
    return int(place["place_id"]), None, json.dumps(attempts)


def _evaluate(
    placement: Placement, box: Box, cloud: _Cloud, place: dict[str, Any]
) -> Solution | str:
    search = evaluate(placement, box, str(place["method"]), False)
    try:
        request = next(search)
        while True:
            if not isinstance(request, CloudRequest):
                raise TypeError(f"a cell asks for {request!r}")
            request = search.send(_points(request, cloud))
    except StopIteration as stop:
        found: Solution | str = stop.value
    if isinstance(found, Solution) and place["refuses_conflicts"]:
        return CONFLICT if any(point.is_conflicting for point in found.points) else found
    return found


def _beside(cloud: _Cloud, axes: Floats, group: tuple[int, ...]) -> Mask:
    """Return which points agree with a target on the axes that do not vary."""
    fixed = [axis for axis in range(4) if axis not in group]
    agree: Mask = (cloud.axes[:, fixed] == axes[fixed]).all(axis=1)
    return agree


def _box(placement: Placement, cloud: _Cloud, rank: int, group: tuple[int, ...]) -> Box | None:
    """Return the box as ``sql/lookup/neighbours.sql`` does; of several columns the last counts."""
    axes = np.array(placement.axes)
    beside = _beside(cloud, axes, group)
    own = beside & (cloud.ranks == rank)
    if not own.any():
        return None
    column = max(cloud.columns[own])
    own &= cloud.columns == column
    below = np.where(cloud.axes[own] <= axes, cloud.axes[own], -np.inf).max(axis=0)
    above = np.where(cloud.axes[own] >= axes, cloud.axes[own], np.inf).min(axis=0)
    is_corner = beside & (cloud.columns == column)
    is_corner &= ((cloud.axes == below) | (cloud.axes == above)).all(axis=1)
    return Box(
        regime_id=placement.regime_id,
        group=group,
        latency_column=str(column),
        latency_rank=rank,
        lower=tuple(None if value == -np.inf else value for value in below.tolist()),
        upper=tuple(None if value == np.inf else value for value in above.tolist()),
        row_count=int(cloud.counts[own].sum()),
        point_count=int(own.sum()),
        corners=[cloud.corners[place] for place in np.flatnonzero(is_corner)],
    )


def _points(request: CloudRequest, cloud: _Cloud) -> list[Corner]:
    """Answer a question as ``sql/lookup/cloud_*.sql`` do."""
    box, question, axes = request.box, request.question, np.array(request.axes)
    group = list(box.group)
    kept = np.flatnonzero(_beside(cloud, axes, box.group) & (cloud.columns == box.latency_column))
    own = cloud.axes[kept][:, group]
    if isinstance(question, SupportQuestion):
        chosen = kept[[int((-(own * question.direction).sum(axis=1)).argmin())]]
    elif isinstance(question, NearestQuestion):
        distance = np.sqrt(((own - question.centre) ** 2).sum(axis=1))
        order = np.argsort(distance, kind="stable")[: question.limit]
        chosen = np.sort(kept[order[distance[order] <= question.radius]])
    else:
        chosen = np.sort(kept[_nearest_per_side(own, axes[group])])
    return [cloud.corners[place] for place in chosen]


def _nearest_per_side(own: Floats, target: Floats) -> list[int]:
    """Return the nearest point on every combination of sides of the target."""
    distance = ((own - target) ** 2).sum(axis=1)
    best: dict[tuple[bool, ...], int] = {}
    for place, sides in enumerate(map(tuple, (own >= target).tolist())):
        if sides not in best or distance[place] < distance[best[sides]]:
            best[sides] = place
    return list(best.values())


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


def read_outcome(
    text: str, placement: Placement, latency_us: float | None
) -> Solution | list[list[Any]]:
    """Return the solution that an ``outcome`` tells, or the attempts.

    An attempt is a list: latency rank, axes, status, latency column, rows, points.
    """
    told = json.loads(text)
    if latency_us is None or math.isnan(latency_us):
        attempts: list[list[Any]] = told
        return attempts
    group, column, rank, lower, upper, rows, points = told["box"]
    corners = tuple(Corner(tuple(axes), *rest) for axes, *rest in told["points"])
    box = Box(
        placement.regime_id, tuple(group), column, rank, tuple(lower), tuple(upper), rows, points,
        list(corners),
    )  # fmt: skip
    return Solution(placement, box, corners, latency_us, told["method"])
