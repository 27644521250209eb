"""Answers what the search of a cell asks about clouds of points."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlinterp.certified_cell import NearestQuestion, SupportQuestion
from sqlinterp.lookup.boxes import AXES, Corner, corner_of, numbered
from sqlinterp.lookup.placement import CloudRequest
from sqlinterp.lookup.statements import Statements

Row = dict[str, Any]

# Radii and centres are sums and squares of coordinates; the box of a sphere is that much wider.
_ROUNDING = 1e-9


class CloudRounds:
    """Answers the requests of one round: one of its own, several by one statement of each kind."""

    def __init__(self, statements: Statements, aggregation: str) -> None:
        self._statements, self._aggregation = statements, aggregation

    def answer(self, requests: Mapping[int, CloudRequest]) -> dict[int, list[Corner]]:
        """Return the points that every request asks for, in ascending order."""
        if len(requests) == 1:
            [(number, request)] = requests.items()
            if request.question is not None:
                return {number: self._of_one(number, request)}
        kinds: dict[str, list[Row]] = defaultdict(list)
        for number, request in requests.items():
            query, question = _question(number, request)
            kinds[query].append(question)
        answers: dict[int, list[Corner]] = {number: [] for number in requests}
        for query, questions in kinds.items():
            rows = self._statements.run(
                query, questions=json.dumps(questions), aggregation=self._aggregation
            )
            for row in rows:
                answers[row["id"]].append(corner_of(row))
        return answers

    def _of_one(self, number: int, request: CloudRequest) -> list[Corner]:
        """Return the same points by a statement that is planned sooner, and reads what is near."""
        question, group = request.question, request.box.group
        asked: Row = {
            "id": number, "aggregation": self._aggregation, **_cloud(request),
            **_bounds(request),
        }  # fmt: skip
        if isinstance(question, NearestQuestion):
            query = "lookup.nearest_of_cloud"
            asked |= {**_vector(group, question.centre), **_varying(group), **_sphere(question)}
        elif isinstance(question, SupportQuestion):
            query = "lookup.furthest_of_cloud"
            asked |= _vector(group, question.direction)
        points = [corner_of(row) for row in self._statements.run(query, **asked)]
        return sorted(points, key=lambda point: point.axes)


def _cloud(request: CloudRequest) -> Row:
    return {
        "regime_id": request.box.regime_id,
        "latency_column": request.box.latency_column,
        "is_curved": request.is_curved,
    }


def _question(number: int, request: CloudRequest) -> tuple[str, Row]:
    """Return the statement for many questions and what it wants to know of one."""
    group, question = request.box.group, request.question
    target = numbered("t", request.axes)
    asked: Row = {"id": number, **_cloud(request), **_varying(group), **target}
    if isinstance(question, SupportQuestion):
        return "lookup.cloud_support", {**asked, **_vector(group, question.direction)}
    if isinstance(question, NearestQuestion):
        centre = _vector(group, question.centre)
        return "lookup.cloud_nearest", {**asked, **centre, **_sphere(question)}
    return "lookup.cloud_seed", asked


def _varying(group: tuple[int, ...]) -> Row:
    return numbered("v", (axis - 1 in group for axis in AXES))


def _vector(group: tuple[int, ...], values: Any) -> Row:
    full = [0.0, 0.0, 0.0, 0.0]
    for axis, value in zip(group, values, strict=True):
        full[axis] = float(value)
    return numbered("c", full)


def _sphere(question: NearestQuestion) -> Row:
    return {"radius": float(question.radius), "limit": question.limit}


def _bounds(request: CloudRequest) -> Row:
    """Return between which values the points lie: the target's where it is fixed, in a sphere."""
    low, high = list(request.axes), list(request.axes)
    for place, axis in enumerate(request.box.group):
        low[axis], high[axis] = -math.inf, math.inf
        question = request.question
        if isinstance(question, NearestQuestion) and not (request.is_curved and axis == 0):
            centre, radius = float(question.centre[place]), float(question.radius)
            reach = radius + _ROUNDING * (abs(centre) + radius)
            low[axis], high[axis] = centre - reach, centre + reach
    return {**numbered("low", low), **numbered("high", high)}
