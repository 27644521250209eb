"""The ops ``eval`` and ``eval_coords``: coordinates in, times and coverage out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlinterp.lookup.points import point_plans
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.weights import neighbour_weights
from sqlinterp.model import Answer
from sqlinterp.protocol.coverage import NO_COVERAGE, cell_ratio, coverage_bits
from sqlinterp.protocol.grid import boundary_pairs, measured_axes, plain
from sqlinterp.protocol.groups import Group, Groups

Row = dict[str, Any]
Spreads = dict[tuple[float, ...], float]
Pairs = dict[str, list[list[float]]]
_WEIGHTED = (
    "exact_coordinate", "linear_1d", "griddata_linear", "multilinear", "bracket_consensus",
)  # fmt: skip
_TOLD = ("error_bar", "extrapolation")  # what lookups tell of an answer besides, as they tell it


def evaluate(
    services: Services, groups: Groups, kernel: str, points: Sequence[Any], explain: bool
) -> list[Row]:
    """Return one result for every point, in order.

    Parameters
    ----------
    points : sequence
        Values by field, or lists of values as they are stored.
    explain : bool
        Whether results name the measured points that they rest on.

    Raises
    ------
    RegimeError
        If a point does not name just the axes.
    """
    pairs = [boundary_pairs(values) for values in measured_axes(services, groups)]
    crossings = dict(zip(groups.axes, pairs, strict=True))
    best: list[Row] = []
    for group in groups.groups:
        plans = point_plans(services, kernel, group.regimes, points)
        answers = services.answer_plans(plans)
        teller = _Teller(group, _spreads(services, group, answers.values()), crossings, explain)
        own = [
            {"input": point, **teller.result(answers[number])}
            for number, point in enumerate(points)
        ]
        best = own if not best else list(map(_faster, best, own))
    return best


def _faster(one: Row, other: Row) -> Row:
    """Return the whole record with the smaller time; an answer is faster than none."""
    if other["time_us"] is None:
        return one
    return other if one["time_us"] is None or other["time_us"] < one["time_us"] else one


class _Teller:
    """Tells of answers of one group as the protocol does."""

    def __init__(self, group: Group, spreads: Spreads, pairs: Pairs, explain: bool) -> None:
        self._group, self._spreads, self._pairs = group, spreads, pairs
        self._explain = explain
        self._transforms = dict(zip(group.axes, group.regimes[0].transforms, strict=True))

    def result(self, answer: Answer) -> Row:
        """Return the result of one answer, without its input."""
        details = answer.details
        result: Row = {
            "time_us": answer.latency_us, "source": answer.source or "MISS",
            "coverage": NO_COVERAGE, "confidence": answer.confidence, "method": None,
            "dims": None, "axes": [], "backend": self._group.backend,
            "cell_ratio": cell_ratio(answer), "reason": answer.miss_reason,
        }  # fmt: skip
        if answer.source is None:
            return result
        axes = [] if answer.source == "MEASURED" else list(details["axes"])
        neighbours = [self._neighbour(point) for point in details["corner_points"]]
        transforms = [self._transforms[axis] for axis in axes]
        result |= {
            "coverage": coverage_bits(answer, neighbours, self._pairs, transforms),
            "method": details["method"], "dims": details["interpolation_dim"], "axes": axes,
        }  # fmt: skip
        result |= {key: details[key] for key in _TOLD if key in details}
        if self._explain:
            for neighbour, weight in zip(neighbours, _weights(answer), strict=True):
                neighbour["weight"] = weight
            result["neighbors"] = neighbours
        return result

    def _neighbour(self, point: Row) -> Row:
        coords = {axis: plain(point[axis]) for axis in self._group.axes}
        return {
            "coords": coords,
            "time_us": point["latency_us"],
            "weight": None,
            "n_raw": point["measurement_count"],
            "spread": self._spreads.get(tuple(coords.values())),
            "file": point["file"],
            "line": point["line"],
        }


def _weights(answer: Answer) -> list[float | None]:
    if answer.details["method"] in _WEIGHTED:
        return list(neighbour_weights(answer))
    return [None] * len(answer.details["corner_points"])


def _spreads(services: Services, group: Group, answers: Any) -> Spreads:
    """Return how far the measurements lie apart on every measured point that answers rest on."""
    used = {
        tuple(float(point[axis]) for axis in group.axes)
        for answer in answers
        if answer.source is not None
        for point in answer.details.get("corner_points", ())
        if point["measurement_count"] > 1
    }
    if not used:
        return {}
    padded = [(*axes, *(0.0,) * (4 - len(axes))) for axes in sorted(used)]
    targets = [{f"t_{i}": value for i, value in enumerate(axes, start=1)} for axes in padded]
    rows = services.statements.run(
        "protocol.point_spread",
        regime_ids=[regime.regime_id for regime in group.regimes],
        targets=json.dumps(targets),
    )
    size = len(group.axes)
    return {tuple(row[f"axis_{i}"] for i in range(1, size + 1)): row["spread"] for row in rows}
