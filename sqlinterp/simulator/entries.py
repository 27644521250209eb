"""Answers made ready to be handed out many times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlinterp.model import Answer, OpInvocation
from sqlinterp.simulator.facts import debug_line, tensors_of
from sqlinterp.simulator.log import LogRow
from sqlinterp.simulator.results import ResultTypes
from sqlinterp.simulator.rollout import Verdict

_NO_RESULT: dict[str, Any] = {}


@dataclass(slots=True)
class Entry:
    """One answered invocation.

    Attributes
    ----------
    verdict : Verdict
        The answer, and what interpolation says instead.
    fields : dict
        Fields of the result without its details; empty for a miss.
    details : dict
        Details of the result.
    info : object
        How the shapes matched, as the simulator's type or ours.
    line : str
        Log line of the answer.
    row : LogRow or None
        Where calls are counted, None without a log.
    """

    verdict: Verdict
    fields: dict[str, Any]
    details: dict[str, Any]
    info: Any
    line: str
    row: LogRow | None


def make_entry(
    verdict: Verdict,
    invocation: OpInvocation,
    dispatch: str,
    types: ResultTypes,
    row: LogRow | None,
) -> Entry:
    """Return the entry of an answer."""
    answer = verdict.answer
    info = types.make_info(_info_fields(answer, invocation))
    line = debug_line(answer, dispatch)
    if answer.source is None:
        return Entry(verdict, _NO_RESULT, {}, info, line, row)
    fields = {
        "latency_us": answer.latency_us,
        "confidence": answer.confidence,
        "source": types.sources[answer.source],
        "shape_match_info": info,
    }
    return Entry(verdict, fields, result_details(answer), info, line, row)


def result_details(answer: Answer) -> dict[str, Any]:
    """Return the details of an answer with what consumers of the simulator look for besides.

    Source: exact lookup rules, section 6.1; profiling RFC phase 1, section 7.1.
    """
    details = {
        **answer.details,
        "kernel_type": answer.kernel_type or "",
        "source": answer.source,
        "confidence": answer.confidence,
    }
    parts = details.get("sub_kernels")
    if parts:
        timed = [part for part in parts if part["latency_us"] is not None]
        details["sub_kernel_durations"] = [
            (part["name"], round(part["latency_us"], 2)) for part in timed
        ]
        if answer.source == "PARTIAL":
            details["partial"] = True
            details["partial_miss_reason"] = answer.miss_reason
            details["hit_kernels"] = [part["name"] for part in timed]
            details["missed_kernels"] = [
                part["name"] for part in parts if part["latency_us"] is None
            ]
    return details


def _info_fields(answer: Answer, invocation: OpInvocation) -> dict[str, Any]:
    details = answer.details
    asked = details.get("asked_shapes")
    return {
        "simulation_shapes": asked or [list(tensor.shape) for tensor in tensors_of(invocation)],
        "kernel_shapes": _kernel_shapes(answer),
        "shape_match_rule": answer.shape_match_rule or answer.miss_reason or "",
        "source": answer.source,
        "fallback_reason": answer.miss_reason or details.get("fallback_from"),
    }


def _kernel_shapes(answer: Answer) -> list[list[float]]:
    details: Mapping[str, Any] = answer.details
    if details.get("measured_shapes"):
        return [list(shape) for shape in details["measured_shapes"]]
    if answer.shape_match_rule == "identity":
        return [list(shape) for shape in details.get("asked_shapes") or ()]
    axes = details.get("axes") or ()
    return [
        [point[axis] for axis in axes if axis in point]
        for point in details.get("corner_points") or ()
    ]
