"""Cells as numbers, as regime values and as stored coordinates."""

from __future__ import annotations

import math
import re
from typing import Any

_BLANK = {"", "nan", "null", "none", "na", "n/a", "<na>", "#n/a", "#na"}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_TRUTH = {"true": True, "false": False}
_TRANSFORMS = {"log2": math.log2, "log": math.log, "sqrt": math.sqrt}


def is_blank(cell: Any) -> bool:
    """Return whether a cell holds nothing: empty, NaN, or text for a missing value."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _BLANK)


def number_of(cell: Any) -> float | None:
    """Return a cell as a finite number, None when it is none.

    Examples
    --------
    >>> number_of(" 1.5e3 "), number_of("0.19ms"), number_of(True)
    (1500.0, None, None)
    """
    if isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        text = cell.strip()
        if not _NUMBER.fullmatch(text):
            return None
        cell = text
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return finite(value)


def finite(value: float) -> float | None:
    """Return a number, None when it is not finite."""
    return value if math.isfinite(value) else None


def regime_value(cell: Any) -> Any:
    """Return the value that a regime keeps of a cell: integer, boolean, number or trimmed text.

    Text stays as it is written unless it is a plain integer or a truth value, so that ``0.10`` and
    ``0.1`` of a version column remain two values.
    """
    if isinstance(cell, str):
        text = cell.strip()
        if _INTEGER.fullmatch(text):
            return int(text)
        return _TRUTH.get(text.lower(), text)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    if cell is None or isinstance(cell, (bool, int, float)):
        return cell
    return str(cell)


def stored_value(value: float, transform: str) -> float | None:
    """Return a coordinate as it is stored, None outside the domain of the transform."""
    if transform == "identity":
        return finite(value)
    try:
        return finite(_TRANSFORMS[transform](value))
    except ValueError:
        return None


def shown(cell: Any) -> str | None:
    """Return a cell as rejected rows tell it, cut to 200 characters."""
    return None if cell is None else str(cell)[:200]
