"""Answers what searches beyond the measured range ask, few statements for many targets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlinterp.lookup.boxes import AXES, Box, corner_of
from sqlinterp.lookup.neighbours import boxes_around
from sqlinterp.lookup.placement import EdgeRequest, PlaneRequest, ProbeRequest, Survey
from sqlinterp.lookup.statements import Statements
from sqlinterp.paths import Path

Row = dict[str, Any]
Surveys = dict[tuple[int, int], Survey]


class EdgeRounds:
    """Answers the requests of one round on one path."""

    def __init__(self, statements: Statements, path: Path, aggregation: str) -> None:
        self._statements, self._path, self._aggregation = statements, path, aggregation

    def answer(self, requests: Mapping[int, Any]) -> dict[int, Any]:
        """Return the answer of every request of an edge, a plane or a probe by its number."""
        edges = {n: r for n, r in requests.items() if isinstance(r, EdgeRequest)}
        planes = {n: r for n, r in requests.items() if isinstance(r, PlaneRequest)}
        probes = {n: r for n, r in requests.items() if isinstance(r, ProbeRequest)}
        answers: dict[int, Any] = {}
        if edges:
            answers.update(self._surveys(edges))
        if planes:
            answers.update(self._planes(planes))
        if probes:
            answers.update(self._probes(probes))
        return answers

    def _surveys(self, requests: Mapping[int, EdgeRequest]) -> dict[int, Surveys]:
        """Return the surveys of every target by regime and rank of the latency column."""
        targets = [p.target(n) for n, request in requests.items() for p in request.placements]
        rows = self._statements.run(
            "lookup.edge_line", targets=json.dumps(targets), aggregation=self._aggregation
        )
        surveys: dict[int, Surveys] = {number: {} for number in requests}
        for row in rows:
            own, key = surveys[row["id"]], (row["regime_id"], row["latency_rank"])
            if key not in own:
                own[key] = _survey(row)
            if row["axis"] is not None:
                own[key].lines.setdefault(row["axis"] - 1, []).append(corner_of(row))
        return surveys

    def _planes(self, requests: Mapping[int, PlaneRequest]) -> dict[int, list[float]]:
        """Return the values of the axis of every request, from the end inwards."""
        questions = [
            {
                "id": number,
                "regime_id": request.survey.regime_id,
                "latency_column": request.survey.latency_column,
                "axis": request.axis + 1,
                "is_upper": request.is_upper,
            }
            for number, request in requests.items()
        ]
        values: dict[int, list[float]] = {number: [] for number in requests}
        for row in self._statements.run("lookup.edge_plane", questions=json.dumps(questions)):
            values[row["id"]].append(row["x"])
        return values

    def _probes(self, requests: Mapping[int, ProbeRequest]) -> dict[int, list[Box]]:
        """Return the boxes of every coordinate in every axis group."""
        groups = [group for d in range(1, self._path.max_dim + 1) for group in self._path.groups(d)]
        targets = [request.placement.target(number) for number, request in requests.items()]
        boxes = boxes_around(self._statements, targets, groups, self._aggregation)
        return {number: boxes.get(number, []) for number in requests}


def _survey(row: Row) -> Survey:
    lower, upper = (tuple(row[f"{side}_{axis}"] for axis in AXES) for side in ("lo", "hi"))
    return Survey(row["regime_id"], row["latency_column"], row["latency_rank"], lower, upper)
