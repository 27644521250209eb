"""The value of one target in one box: on a line, on a full box, or in the Delaunay cell."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from sqlinterp.certified_cell import Cell, NoCell, certified_cell
from sqlinterp.interpolation import griddata_linear, linear_interp, multilinear, validate_latency
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.placement import CloudRequest, Placement, Request, Solution, coordinates

Evaluation = Generator[Request, Any, Solution | str]


def evaluate(placement: Placement, box: Box, method: str, is_curved: bool) -> Evaluation:
    """Return the solution in a box, or why there is none; ask for points if corners are missing.

    ``is_curved`` takes the first axis by its root, for points and target alike.
    """
    for corner in box.corners:
        if corner.axes == placement.axes:
            return Solution(placement, box, (corner,), corner.latency_us, "exact_coordinate")
    status = _structure(box, len(box.group))
    if status is not None:
        return status
    is_curved = is_curved and box.group[0] == 0
    if len(box.group) == 1:
        return on_line(placement, box, is_curved)
    if method == "multilinear":
        solution = _on_full_box(placement, box, is_curved)
        if solution is not None:
            return solution
    solution_or_reason = _in_cell(placement, box, tuple(box.corners), is_curved)
    if isinstance(solution_or_reason, Solution):
        return solution_or_reason
    return (yield from _certified(placement, box, is_curved))


def _structure(box: Box, dimension: int) -> str | None:
    """Return why a box cannot be evaluated, None when it can be tried."""
    if box.row_count < 2:
        return "insufficient_filtered_candidates"
    if not box.is_bracketed:
        return "outside_axis_boundary"
    if box.point_count < dimension + 1:
        return "grid_structure_rejected"
    return None


def on_line(placement: Placement, box: Box, is_curved: bool) -> Solution | str:
    """Return the value on the line through the two neighbours on one axis, or why there is none."""
    low, high = box.corners[0], box.corners[-1]
    at = coordinates(placement.axes, box.group, is_curved)[0]
    at_low = coordinates(low.axes, box.group, is_curved)[0]
    at_high = coordinates(high.axes, box.group, is_curved)[0]
    latency = linear_interp(at, at_low, low.latency_us, at_high, high.latency_us)
    if not validate_latency(latency):
        return "latency_guard_rejected"
    return Solution(placement, box, (low, high), latency, "linear_1d", is_curved)


def _on_full_box(placement: Placement, box: Box, is_curved: bool) -> Solution | None:
    """Multilinear value of a box with all corners; None when one is missing or it is flat."""
    group = box.group
    bounds = [box.bounds(axis) for axis in group]
    if len(box.corners) != 2 ** len(group) or any(low == high for low, high in bounds):
        return None
    corners = [np.array(coordinates(c.axes, group, is_curved)) for c in box.corners]
    latency = multilinear(
        corners[0],
        corners[-1],
        np.array([corner.latency_us for corner in box.corners]),
        np.array(coordinates(placement.axes, group, is_curved)),
    )
    return Solution(placement, box, tuple(box.corners), latency, "multilinear", is_curved)


def _in_cell(
    placement: Placement, box: Box, points: tuple[Corner, ...], is_curved: bool
) -> Solution | str:
    """Value that scipy's griddata gives on the points, which are in ascending order."""
    group = box.group
    if len(points) < len(group) + 1:
        return "grid_structure_rejected"
    result = griddata_linear(
        np.array([coordinates(point.axes, group, is_curved) for point in points]),
        np.array([point.latency_us for point in points]),
        np.array([coordinates(placement.axes, group, is_curved)]),
    )
    if result.reasons[0] is not None:
        return result.reasons[0]
    latency = float(result.latencies[0])
    return Solution(placement, box, points, latency, "griddata_linear", is_curved)


def _certified(placement: Placement, box: Box, is_curved: bool) -> Evaluation:
    """Find the Delaunay cell by single questions when corners of the box are missing."""
    known: dict[tuple[float, ...], Corner] = {}

    def learned(points: list[Corner]) -> Any:
        rows = [coordinates(point.axes, box.group, is_curved) for point in points]
        known.update(zip(map(tuple, rows), points, strict=True))
        return np.array(rows)

    target = np.array(coordinates(placement.axes, box.group, is_curved))
    seeds = yield CloudRequest(box, placement.axes, None, is_curved)
    search = certified_cell(target, learned(seeds))
    try:
        question = next(search)
        while True:
            answer = yield CloudRequest(box, placement.axes, question, is_curved)
            question = search.send(learned(answer))
    except StopIteration as stop:
        outcome: Cell | NoCell = stop.value
    if isinstance(outcome, NoCell):
        return outcome.reason
    points = tuple(known[tuple(float(x) for x in point)] for point in outcome.points)
    return _in_cell(placement, box, points, is_curved)
