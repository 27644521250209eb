"""Answers built from what exact and interpolated searches found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sqlinterp.interpolation import confidence, envelope
from sqlinterp.lookup.calibration import calibrated
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.error_bars import error_bar
from sqlinterp.lookup.estimates import CONSENSUS
from sqlinterp.lookup.interpolate import Outcome
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.solver import Solution
from sqlinterp.model import Answer

Row = dict[str, Any]
_MOST_TRUSTED_BEYOND = 0.59  # below every interpolation, whatever calibration says
_DTYPE_NOTES = {1: "FLOAT16 answered by DT_BF16 rows", 2: "DT_BF16 and FLOAT rows serve each other"}


def zero_cost_answer(plan: Plan) -> Answer:
    """Return the answer to an operator that costs nothing by declaration."""
    details: Row = {"zero_cost": True}
    kernel = plan.fields.get("kernel_type") or ""
    if plan.dispatch == "accepted_miss":
        kernel = "accepted_miss"
        details["note"] = str(plan.fields.get("accepted_miss"))
    return Answer(plan.invocation.op, "MEASURED", 0.0, 1.0, kernel, plan.dispatch, None, details)


def exact_answer(plan: Plan, row: Row, aggregation: str) -> Answer:
    """Return the answer of a measured group; padded matches say so and cost confidence."""
    candidate = plan.candidates[row["position"]]
    kernel = candidate.kernel
    if row.get("ambiguous"):
        reason = f"ambiguous_semantic_match:{kernel.kernel_type}"
        return Answer(plan.invocation.op, miss_reason=reason)
    is_padded = row["quality"] == 2
    details: Row = {
        "method": "exact",
        "file": kernel.file_name,
        "line": row["line_number"],
        "latency_column": row["latency_column"],
        "aggregation": aggregation,
        "raw_count": row["measurement_count"],
        "aggregated_count": 1,
        "latency_min_us": row["latency_min_us"],
        "latency_max_us": row["latency_max_us"],
        "asked_shapes": [list(shape) for shape in plan.operands.shapes],
        "policy_hash": candidate.policy.sha256,
    }
    if row["distance"]:
        details["dtype_compatible"] = _DTYPE_NOTES[row["distance"]]
    if is_padded:
        details["measured_shapes"] = row["measured_shapes"]
        details["padding_ratio"] = row["padding_ratio"]
    return Answer(
        op=plan.invocation.op,
        source="MEASURED",
        latency_us=row["latency_us"],
        confidence=0.9 if is_padded else 1.0,
        kernel_type=kernel.kernel_type,
        shape_match_rule=_rule(row, plan),
        details=details,
    )


def _rule(row: Row, plan: Plan) -> str:
    """Name the rule as a reader knows it: a rank-3 weight is transposed batch by batch."""
    rule = str(row["rule"])
    if rule == "transpose" and row["quality"] == 1 and len(plan.operands.shapes[1]) == 3:
        return "batched_transpose"
    return rule


def interpolated_answer(plan: Plan, outcome: Outcome, catalog: Catalog, aggregation: str) -> Answer:
    """Return the answer of a search: interpolated, extrapolated, or at a measured coordinate."""
    solution, candidate = outcome.solution, outcome.candidate
    if solution is None or candidate is None or plan.path is None:
        raise ValueError("there is no solution")
    kernel, source = candidate.kernel.kernel_type, "INTERPOLATED"
    label = certainty = _certainty(solution)
    details = _interpolation_details(plan, solution, catalog, aggregation)
    if solution.method != "exact_coordinate":
        certainty = calibrated(catalog.policy("confidence", kernel), plan.path.name, label)
    if solution.extrapolation is not None:
        certainty = min(certainty, _MOST_TRUSTED_BEYOND)
    if certainty != label:
        details["confidence_before_calibration"] = label
    details["confidence"] = certainty
    details["policy_hash"] = candidate.policy.sha256
    if solution.extrapolation is not None:
        source = "EXTRAPOLATED"
        details["extrapolation"] = dict(solution.extrapolation.facts)
    elif solution.method == "exact_coordinate":
        source = "MEASURED"
    else:
        details["error_bar"] = error_bar(solution, plan.path, kernel, catalog.quantiles)
    return Answer(
        op=plan.invocation.op,
        source=source,
        latency_us=solution.latency_us,
        confidence=certainty,
        kernel_type=kernel,
        shape_match_rule=_rule_of(solution),
        details=details,
    )


def _certainty(solution: Solution) -> float:
    if solution.extrapolation is not None:
        return solution.extrapolation.confidence
    return 1.0 if solution.method == "exact_coordinate" else _confidence(solution)


def _dimension(solution: Solution) -> int:
    """Return how many axes varied together: one at a time in a consensus of several."""
    if solution.method == "exact_coordinate":
        return 0
    return 1 if solution.method == CONSENSUS else len(solution.box.group)


def _rule_of(solution: Solution) -> str:
    if solution.method == "exact_coordinate":
        return "exact_coordinate"
    if solution.extrapolation is not None:
        return f"extrapolated_{_dimension(solution)}d_{solution.method}"
    return f"interpolated_{_dimension(solution)}d_{_rule_end(solution)}"


def _rule_end(solution: Solution) -> str:
    end = "linear" if solution.method == "linear_1d" else solution.method
    return f"{end}_sqrt" if solution.is_curved else end


def _confidence(solution: Solution) -> float:
    bounds = [solution.box.bounds(axis) for axis in solution.box.group]
    lower, upper = zip(*bounds, strict=True)
    return confidence(_dimension(solution), solution.is_curved, lower, upper)


def _interpolation_details(
    plan: Plan, solution: Solution, catalog: Catalog, aggregation: str
) -> Row:
    placement, box = solution.placement, solution.box
    names, dimension = plan.path.axes if plan.path else (), _dimension(solution)
    details: Row = {
        "method": solution.method,
        "interpolation_dim": dimension,
        "axes": [names[axis] for axis in box.group],
        "exact_fields": {"kernel_type": catalog.kernel_of(placement.file_id), **placement.fields},
        "target": dict(zip(names, placement.axes, strict=False)),
        "boundary": {
            names[axis]: list(box.bounds(axis))
            for axis in (box.group if solution.extrapolation is None else ())
        },
        "corner_points": _corner_points(names, solution, catalog),
        "raw_count": placement.measurement_count,
        "filtered_count": box.row_count,
        "aggregated_count": box.point_count,
        "dropped_count": catalog.dropped_rows.get(
            (placement.file_id, plan.path.name if plan.path else ""), 0
        ),
        "axis_transform": None,
        "fallback_from": "exact_miss" if solution.extrapolation is None else "interpolation_miss",
        "latency_column": box.latency_column,
        "aggregation": aggregation,
    }
    if placement.distance:
        details["dtype_compatible"] = _DTYPE_NOTES[placement.distance]
    if dimension > 1 and solution.extrapolation is None:
        details["envelope_us"] = list(_envelope(solution))
    details.update(_transform_details(names, solution))
    details.update(placement.notes)
    details.update(_path_details(plan))
    return details


def _transform_details(names: tuple[str, ...], solution: Solution) -> Row:
    """Return the varying coordinates as told and as the interpolation takes them, if they differ.

    Source: profiling RFC phase 1, section 5.6 (axis transform).
    """
    if not solution.is_curved:
        return {}
    box, target = solution.box, solution.placement.axes
    told = {names[axis]: (target[axis], list(box.bounds(axis))) for axis in box.group}
    at, bounds = told[names[0]]
    taken = {**told, names[0]: (math.sqrt(at), [math.sqrt(bound) for bound in bounds])}
    details: Row = {"axis_transform": f"sqrt({names[0]})"}
    for when, values in (("pre", told), ("post", taken)):
        details[f"target_{when}_transform"] = {name: value for name, (value, _) in values.items()}
        details[f"boundary_{when}_transform"] = {name: ends for name, (_, ends) in values.items()}
    return details


def _path_details(plan: Plan) -> Row:
    """Return which path the plan takes and what its dispatch tells besides."""
    details: Row = {} if plan.path is None else {"interpolation_path": plan.path.name}
    for key in ("query_mode", "compute_subcategory"):
        if plan.fields.get(key):
            details[key] = plan.fields[key]
    details.update(plan.notes)
    return details


def _corner_points(names: tuple[str, ...], solution: Solution, catalog: Catalog) -> list[Row]:
    file_name = catalog.file_name_of(solution.placement.file_id)
    found = []
    for point in solution.points:
        row: Row = dict(zip(names, point.axes, strict=False))
        row["latency_us"], row["file"] = point.latency_us, file_name
        row["line"], row["measurement_count"] = point.line_number, point.measurement_count
        found.append(row)
    return found


def _arrays(solution: Solution) -> tuple[Any, Any, Any]:
    points = np.array([solution.coordinates(point.axes) for point in solution.points])
    values = np.array([point.latency_us for point in solution.points])
    return points, values, np.array(solution.coordinates(solution.placement.axes))


def _envelope(solution: Solution) -> tuple[float, float]:
    """Range of the values that the triangulations of the cell allow [us]."""
    if len(solution.points) == len(solution.box.group) + 1:
        return solution.latency_us, solution.latency_us
    return envelope(*_arrays(solution))


def miss_answer(plan: Plan, exact_reason: str, outcome: Outcome | None) -> Answer:
    """Return the miss that says how far the lookup got."""
    details: Row = {
        "exact_miss_reason": exact_reason,
        "kernels": plan.kernel_names,
        "attempts": outcome.attempts if outcome else [],
        **_path_details(plan),
    }
    reason = exact_reason
    if outcome is not None and outcome.reason is not None:
        reason = outcome.reason
    unusable = [kernel for kernel in plan.unavailable if kernel.status != "absent"]
    if unusable:
        details["unavailable_files"] = {k.file_name: k.status for k in unusable}
        reason = f"csv_unavailable:{unusable[0].file_name}"
    return Answer(plan.invocation.op, miss_reason=reason, details=details)
