"""The guards around latencies beyond the measured range: a latency, or a reason to refuse.

Source: the proposed Phase 3 rule set, rules 1 to 8 (fidelity specification, section 3.4), with the
thresholds found on Vidur and aiconfigurator tables (section 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sqlinterp.extrapolation.edges import Edge, Extrapolation, Refusal, factor_between, trust
from sqlinterp.extrapolation.forms import Forms
from sqlinterp.extrapolation.rules import Rule

_FLAT_RATE = 1.10  # greatest over least work per microsecond in the top octave
_FLAT_EDGE = 1.05  # the two lowest points, where the edge is held
_LOWEST = 4.0  # an edge is held down to a quarter of it
_DROP = 1.10  # latency that falls by more towards the edge is a break, not a trend
_HEADROOM = 1.25  # over growth in proportion to the work
_DISAGREEING = 2.0  # largest ratio at which two forms may differ
_PAIR_FROM, _PAIR_GAP = 16, 8  # a tile edge sampled on both sides: 256 and 257


def extrapolate(
    rule: Rule,
    target: Mapping[str, float],
    edges: tuple[Edge, ...],
    remainder_us: float | None = None,
) -> Extrapolation | Refusal:
    """Return the latency beyond one edge, or beyond several together, or why it is refused.

    Parameters
    ----------
    rule : Rule
        What the kernel may do.
    target : mapping
        Values of all axes.
    edges : tuple of Edge
        One per axis that is left, all at the same corner.
    remainder_us : float, optional
        Latency of what is left of the target after whole multiples of the edge [us], for ``split``.
    """
    refusal = opening_refusal(rule, target, edges)
    if refusal is not None:
        return refusal
    facts = _opening_facts(rule, edges)
    needed = 2 if rule.form == "clamp_low" else max(rule.min_top_octave_points, 2)
    if any(len(edge.points) < needed for edge in edges):
        return Refusal("too_few_edge_points", facts)
    corner = edges[0].points[0]
    facts["edge_coords"], facts["edge_latency_us"] = dict(edges[0].held), corner.latency_us
    if any(_is_noisy(rule, edge) for edge in edges):
        return Refusal("edge_noisy", facts)
    if rule.form == "clamp_low":
        return _held_below(edges[0], target, facts)
    return _held_above(rule, Forms(rule, target, edges), remainder_us, facts)


def opening_refusal(
    rule: Rule, target: Mapping[str, float], edges: tuple[Edge, ...]
) -> Refusal | None:
    """Return the refusal that needs no measured points: of axes, of directions, of the work."""
    facts = _opening_facts(rule, edges)
    unknown = sorted(name for work in rule.works for name in work.names - target.keys())
    if unknown:
        return Refusal("not_allowed", {**facts, "work_names_no_axis": unknown})
    if not all(rule.allows(edge.axis) for edge in edges):
        return Refusal("not_allowed", facts)
    is_joint = len(edges) > 1
    if is_joint and (rule.form != "product" or not rule.works or len(edges) > rule.max_axes_out):
        return Refusal("joint_axes", facts)
    if rule.form == "clamp_low" and any(edge.is_upper for edge in edges):
        return Refusal("not_allowed", facts)
    if rule.form != "clamp_low" and not all(edge.is_upper for edge in edges):
        return Refusal("below_min", facts)
    return None


def _opening_facts(rule: Rule, edges: tuple[Edge, ...]) -> dict[str, Any]:
    return {"form": rule.form, "axes_out": [edge.axis for edge in edges]}


def _is_noisy(rule: Rule, edge: Edge) -> bool:
    """Whether repeated measurements at the edge differ, or the latency drops towards it."""
    last, before = edge.points[:2]
    is_break = edge.is_upper and last.latency_us * _DROP < before.latency_us
    return last.spread > rule.noise_max or is_break


def _held_below(
    edge: Edge, target: Mapping[str, float], facts: dict[str, Any]
) -> Extrapolation | Refusal:
    """Hold the latency of the smallest value where the curve is flat there."""
    first, second = edge.points[:2]
    value = target[edge.axis]
    ratio = first.value / value if value > 0 else math.inf
    flatness = factor_between(first.latency_us, second.latency_us)
    facts |= {"ratio": ratio, "flatness": flatness}
    if ratio > _LOWEST or flatness > _FLAT_EDGE:
        return Refusal("below_min", facts)
    facts["bounds"] = [first.latency_us, first.latency_us]
    return Extrapolation(first.latency_us, trust(ratio), facts, (0, 1))


def _held_above(
    rule: Rule, forms: Forms, remainder_us: float | None, facts: dict[str, Any]
) -> Extrapolation | Refusal:
    """Return the latency of the rule's form after all guards."""
    ratio, edge_us = forms.ratio, forms.edge_us
    facts |= {"work": forms.work.text, "ratio": ratio}
    if not 1 <= ratio <= rule.hard_max_ratio:  # NaN too
        return Refusal("ratio_guard", facts)
    if rule.form == "hold_rate":
        facts["rate_variation"] = forms.rate_variation
        if not forms.rate_variation <= _FLAT_RATE:
            return Refusal("rate_not_flat", facts)
    latency, second = forms.latencies(remainder_us)
    agreement = factor_between(latency, second)
    facts |= {"latency_us": latency, "second_form": forms.second_form}
    facts |= {"second_latency_us": second, "agreement": agreement, **forms.facts}
    is_agreed = agreement <= rule.agree
    is_far = ratio > min(rule.max_ratio, _DISAGREEING)
    if (is_far or any(map(_is_upper_half, forms.edges))) and not is_agreed:
        return Refusal("forms_disagree", facts)
    facts["bounds"] = [edge_us, edge_us * ratio * _HEADROOM]
    if not facts["bounds"][0] <= latency <= facts["bounds"][1] or math.isinf(latency):
        return Refusal("max_bound", facts)
    confidence = trust(ratio) - (0.0 if is_agreed else 0.10)
    return Extrapolation(latency, round(confidence, 4), facts, forms.places)


def _is_upper_half(edge: Edge) -> bool:
    """Whether the edge is the value just above a tile edge that was sampled on both sides."""
    values = [point.value for point in edge.points[:3]]
    if values[0] - values[1] != 1 or values[1] < _PAIR_FROM:
        return False
    return len(values) < 3 or values[1] - values[2] >= _PAIR_GAP
