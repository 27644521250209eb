"""What lines and tables say of an answer in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlinterp.model import Answer, Argument, OpInvocation, Tensor


@dataclass(frozen=True)
class Facts:
    """How an answer was found.

    Attributes
    ----------
    method : str or None
        exact, linear_1d, griddata_linear, sum_of_children, zero_cost, ...
    dim : int or None
        Axes that varied [count], the most of any part of a sum; None when nothing was interpolated.
    axes : tuple of str
        Their names.
    """

    method: str | None
    dim: int | None
    axes: tuple[str, ...]


def facts(answer: Answer) -> Facts:
    """Return how an answer was found."""
    details = answer.details
    method = details.get("method")
    if method is None and details.get("zero_cost"):
        method = answer.shape_match_rule
    axes = tuple(dict.fromkeys(_axes(details)))
    dims = [dim for dim in _dims(details) if dim]
    return Facts(method, max(dims, default=None), axes)


def _axes(details: dict[str, Any]) -> list[str]:
    own = list(details.get("axes") or ()) if details.get("interpolation_dim") else []
    return own + [axis for part in _parts(details) for axis in _axes(part)]


def _dims(details: dict[str, Any]) -> list[int | None]:
    own = [details.get("interpolation_dim")]
    return own + [dim for part in _parts(details) for dim in _dims(part)]


def _parts(details: dict[str, Any]) -> list[dict[str, Any]]:
    return [part.get("details") or {} for part in details.get("sub_kernels") or ()]


def debug_line(answer: Answer, dispatch: str) -> str:
    """Return the log line of an answer.

    Source: profiling RFC phase 1, section 7.
    """
    start = f"op={answer.op} query_mode={dispatch}"
    if answer.source is None:
        return f"{start} source=MISS reason={answer.miss_reason}"
    found = facts(answer)
    dim = "-" if found.dim is None else found.dim
    axes = ",".join(found.axes) or "-"
    return (
        f"{start} source={answer.source} dim={dim} axes={axes}"
        f" method={found.method or '-'} confidence={answer.confidence:.3f}"
    )


def tensors_of(invocation: OpInvocation) -> list[Tensor]:
    """Return the tensors among the positional arguments, lists of them opened one level deep."""
    found: list[Tensor] = []
    for argument in invocation.args:
        items: list[Argument] = argument if isinstance(argument, list) else [argument]
        found += [item for item in items if isinstance(item, Tensor)]
    return found


def shapes_text(invocation: OpInvocation) -> str:
    """Return the shapes of the input tensors, e.g. ``64,1536;1536,2304``."""
    return ";".join(",".join(map(str, tensor.shape)) or "()" for tensor in tensors_of(invocation))
