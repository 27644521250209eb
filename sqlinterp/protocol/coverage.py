"""Coverage bits: how well the measured grid covers an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlinterp.model import Answer

EXTRAPOLATED, JIT, NO_COVERAGE = 1, 2, 4  # as peers' consumers know them; JIT is never set
INTERPOLATED, INCOMPLETE_CELL, CLAMPED = 8, 16, 32
NOISY_NEIGHBOUR, AXIS_TRANSFORM, CROSSED_BOUNDARY = 64, 128, 256
NOISY_SPREAD = 1.15

Pairs = Mapping[str, Sequence[Sequence[float]]]


def coverage_bits(
    answer: Answer,
    neighbours: Sequence[Mapping[str, Any]],
    pairs: Pairs,
    transforms: Sequence[str],
) -> int:
    """Return the coverage of an answer as the sum of its bits; 0 is a measured point.

    Parameters
    ----------
    neighbours : sequence of mapping
        Measured points that the answer rests on, with their ``spread``.
    pairs : mapping
        Boundary pairs by axis.
    transforms : sequence of str
        How the axes are stored along which the answer varies.

    Source: fidelity specification, section 2.6.
    """
    if answer.source is None:
        return NO_COVERAGE
    details = answer.details
    bits = {"EXTRAPOLATED": EXTRAPOLATED, "INTERPOLATED": INTERPOLATED}.get(answer.source, 0)
    if any((point.get("spread") or 1.0) > NOISY_SPREAD for point in neighbours):
        bits |= NOISY_NEIGHBOUR
    if answer.source == "MEASURED":
        return bits
    if _is_incomplete(answer):
        bits |= INCOMPLETE_CELL
    if (details.get("extrapolation") or {}).get("form") == "clamp_low":
        bits |= CLAMPED
    if details.get("axis_transform") or any(name != "identity" for name in transforms):
        bits |= AXIS_TRANSFORM
    if _crosses(_brackets(answer), pairs):
        bits |= CROSSED_BOUNDARY
    return bits


def cell_ratio(answer: Answer) -> float | None:
    """Return upper over lower bound along the widest axis that varies, None where none is told."""
    if answer.source in (None, "MEASURED"):
        return None
    ratios = [high / low for low, high in _brackets(answer).values() if low > 0]
    return max(ratios, default=None)


def _brackets(answer: Answer) -> dict[str, Sequence[float]]:
    """Return lower and upper bound of the axes that vary and are bounded on both sides."""
    boundary = answer.details.get("boundary") or {}
    return {axis: ends for axis, ends in boundary.items() if None not in ends}


def _is_incomplete(answer: Answer) -> bool:
    """Whether corners of the bracketing box are missing, so that other points stand in."""
    details = answer.details
    boundary = _brackets(answer)
    if answer.source != "INTERPOLATED" or details.get("interpolation_dim", 0) < 2:
        return False
    corners = details.get("corner_points", ())
    in_box = [c for c in corners if all(c[axis] in ends for axis, ends in boundary.items())]
    return len(in_box) < 2 ** len(boundary) or len(in_box) < len(corners)


def _crosses(boundary: Mapping[str, Sequence[float]], pairs: Pairs) -> bool:
    """Whether a bracket spans a tile edge: a boundary pair, and more than the pair itself."""
    return any(
        low <= below and above <= high and (low, high) != (below, above)
        for axis, (low, high) in boundary.items()
        for below, above in pairs.get(axis, ())
    )
