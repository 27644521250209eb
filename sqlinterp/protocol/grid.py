"""The op ``grid``: which coordinates were measured, how densely, how repeatably."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sqlinterp.declared.feasible import feasible_count
from sqlinterp.lookup.services import Services
from sqlinterp.protocol.groups import Groups

CEILING = 500
_STEP = math.log(1.05)
_SMALLEST_PAIR, _PAIR_GAP = 16, 8
_EXACT = 1e15

Row = dict[str, Any]
Axes = list[list[float]]


def grid_fields(services: Services, groups: Groups) -> Row:
    """Return the fields of a ``grid`` response.

    Axes are as they are stored, ascending, in the order of ``input_fields``.

    Source: fidelity specification, sections 2.4 to 2.6.
    """
    axes = measured_axes(services, groups)
    noise = _rows(services, groups, "group_noise")[0]
    pairs = [boundary_pairs(values) for values in axes]
    steps = _steps(services, groups, pairs)
    file = _file(services, groups)
    hull = math.prod(len(values) for values in axes)
    feasible = hull
    if file["feasible_cells"] is not None:
        feasible = feasible_count(file["feasible_cells"], groups.axes, axes)
    n_points = noise["n_points"]
    return {
        "describe_config": groups.described,
        "input_fields": list(groups.axes),
        "input_units": file["axis_units"] or [""] * len(groups.axes),
        "axis_transforms": list(groups.groups[0].regimes[0].transforms),
        "regime_columns": list(groups.columns),
        "grid_axes": axes,
        "n_raw": noise["n_raw"],
        "n_points": n_points,
        "n_feasible": feasible,
        "is_rectangular": n_points == hull,
        "missing_cells": max(feasible - n_points, 0),
        "axis_stats": [
            axis_stats(name, values, pairs[i], steps.get(i + 1, {}))
            for i, (name, values) in enumerate(zip(groups.axes, axes, strict=True))
        ],
        "noise": {key: noise[key] for key in (
            "n_repeat_points", "spread_p50", "spread_p90", "resolution_us")},
        "monotonicity_breaks": sum(row["break_count"] for row in steps.values()),
        "over_ceiling": feasible > CEILING,
        "ceiling": CEILING,
    }  # fmt: skip


def measured_axes(services: Services, groups: Groups) -> Axes:
    """Return the measured values of every axis, ascending."""
    found: dict[int, list[float]] = defaultdict(list)
    for row in _rows(services, groups, "group_axis"):
        found[row["position"]].append(plain(row["value"]))
    return [found[place] for place in range(1, len(groups.axes) + 1)]


def plain(value: float) -> float:
    """Return a whole number as an integer, which JSON shows without a fraction."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def boundary_pairs(values: Sequence[float]) -> list[list[float]]:
    """Return the neighbours that lie on both sides of a tile edge.

    A pair on an axis of integers is one apart, at least 16, and at least 8 away from the values
    beside it.

    Source: fidelity specification, section 2.5.

    Examples
    --------
    >>> boundary_pairs([1, 2, 128, 256, 257, 512, 513])
    [[256, 257], [512, 513]]
    """
    if any(not float(value).is_integer() for value in values):
        return []
    pairs = []
    for i, (low, high) in enumerate(pairwise(values)):
        before = low - values[i - 1] if i else math.inf
        after = values[i + 2] - high if i + 2 < len(values) else math.inf
        if high - low == 1 and low >= _SMALLEST_PAIR and min(before, after) >= _PAIR_GAP:
            pairs.append([low, high])
    return pairs


def axis_stats(
    name: str, values: Sequence[float], pairs: list[list[float]], step: Mapping[str, Any]
) -> Row:
    """Return what is worth knowing of the measured values of one axis."""
    ratios = [high / low for low, high in pairwise(values) if low > 0]
    jump = step.get("pair_jump")
    return {
        "field": name,
        "min": values[0],
        "max": values[-1],
        "n": len(values),
        "max_step_ratio": max(ratios, default=None),
        "granularity": _granularity(values),
        "boundary_pairs": pairs,
        "step_axis": jump is not None and jump > _STEP,
    }


def _granularity(values: Sequence[float]) -> int | None:
    """Return the largest step that all values of an integer axis are multiples of."""
    if any(not float(value).is_integer() for value in values):
        return None
    return math.gcd(*(int(value) for value in values)) or None


def _steps(services: Services, groups: Groups, pairs: list[list[list[float]]]) -> dict[int, Row]:
    told = [
        {"position": place, "lower": low}
        for place, own in enumerate(pairs, start=1)
        for low, _ in own
    ]
    rows = _rows(services, groups, "group_step", pairs=json.dumps(told))
    return {row["position"]: row for row in rows if row["position"] <= len(groups.axes)}


def _file(services: Services, groups: Groups) -> Row:
    file_id = groups.groups[0].regimes[0].file_id
    return services.statements.run("protocol.kernel_declaration", file_id=file_id)[0]


def _rows(services: Services, groups: Groups, step: str, **parameters: Any) -> list[Row]:
    own = {"regime_ids": groups.regime_ids, **parameters}
    return services.statements.run(f"protocol.{step}", **own)
