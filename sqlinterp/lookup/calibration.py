"""Confidence labels as hold-outs found them; a label never decides anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def calibrated(buckets: Mapping[str, Any], path: str, confidence: float) -> float:
    """Return what a confidence came to in hold-outs of its kernel on a path, or itself.

    Parameters
    ----------
    buckets : mapping
        Lists of from, to, calibrated label and number of answers, by path.

    Source: table ``interpolation_policy``, scope ``confidence``.

    Examples
    --------
    >>> calibrated({"matmul": [[0.7, 0.75, 0.91, 120]]}, "matmul", 0.7)
    0.91
    >>> calibrated({}, "matmul", 0.7)
    0.7
    """
    for low, high, label, _ in buckets.get(path, ()):
        if low <= confidence < high:
            return float(label)
    return confidence
