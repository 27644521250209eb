"""Values of a rule file, checked one by one; a wrong one becomes a fault and a harmless value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_LARGEST = 2.0**53
_LONGEST = 60  # characters of a value in a message


class Faults:
    """Collects what is wrong with a file."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Note one fault."""
        self.found.append(f"{where}: {what}" if where else what)


def shown(value: Any) -> str:
    """Return a value as messages show it; what holds other values is not shown in full.

    Examples
    --------
    >>> shown("M"), shown([[1]]), shown(None), len(shown("x" * 99))
    ("'M'", 'a list', 'empty', 61)
    """
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple, set)):
        return "a list"
    described = repr(value)
    return described if len(described) <= _LONGEST else f"{described[:_LONGEST]}…"


def text(
    item: Mapping[Any, Any], key: str, where: str, faults: Faults, is_optional: bool = False
) -> str:
    """Return a text, empty when it is missing or something else."""
    value = item.get(key)
    if value is None and is_optional:
        return ""
    if isinstance(value, str) and value.strip():
        return value.strip()
    problem = f"{key} is missing" if key not in item else f"{key} is {shown(value)}, expected text"
    faults.add(where, problem)
    return ""


def texts(item: Mapping[Any, Any], key: str, where: str, faults: Faults) -> tuple[str, ...]:
    """Return a list of different texts, empty when it is missing."""
    values = item.get(key)
    if values is None:
        return ()
    if not isinstance(values, list) or not values:
        faults.add(where, f"{key} is {shown(values)}, expected a list of text")
        return ()
    found = []
    for value in values:
        if not isinstance(value, str) or not value.strip():
            faults.add(where, f"{key} holds {shown(value)}, expected text")
        elif value.strip() in found:
            faults.add(where, f"{key} holds {shown(value)} twice")
        else:
            found.append(value.strip())
    return tuple(found)


def number(item: Mapping[Any, Any], key: str, where: str, faults: Faults) -> float | None:
    """Return a number from 0 to 2**53, None when it is missing or something else."""
    value = item.get(key)
    if value is None:
        return None
    found = _number(value)
    if found is None:
        faults.add(where, f"{key} is {shown(value)}, expected a number from 0 to 2**53")
    return found


def numbers(item: Mapping[Any, Any], key: str, where: str, faults: Faults) -> tuple[float, ...]:
    """Return different numbers in ascending order, empty when the key is missing."""
    values = item.get(key)
    if values is None:
        return ()
    if not isinstance(values, list) or not values:
        faults.add(where, f"{key} is {shown(values)}, expected a list of numbers")
        return ()
    found = set()
    for value in values:
        one = _number(value)
        if one is None:
            faults.add(where, f"{key} holds {shown(value)}, expected numbers from 0 to 2**53")
        elif one in found:
            faults.add(where, f"{key} holds {one:g} twice")
        else:
            found.add(one)
    return tuple(sorted(found))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    is_in_range = math.isfinite(value) if isinstance(value, float) else True
    return float(value) if is_in_range and 0 <= value <= _LARGEST else None
