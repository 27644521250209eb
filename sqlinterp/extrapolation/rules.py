"""What a policy lets a kernel do beyond its measured range: read, checked, off unless allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlinterp.extrapolation.work import Work, read_work

FIELD, SWITCH = "extrapolation", "allow_extrapolation"
FORMS = ("hold_rate", "octave_secant", "alpha_beta", "clamp_low", "product", "split")


@dataclass(frozen=True)
class Rule:
    """What one kernel may do beyond its measured range.

    Attributes
    ----------
    form : str
        One of ``FORMS``.
    axes : tuple of str or None
        Axes that may be left, None for all of the path.
    works : tuple of Work
        Declared work; the flattest rate counts. Empty stands for the axis that is left.
    max_ratio, hard_max_ratio : float
        Largest work ratio to the edge, and the largest one when two forms agree.
    agree : float
        Largest factor between two forms that agree.
    min_top_octave_points : int
        Measured values that the axis must have between half the edge and the edge [count].
    max_axes_out : int
        Axes that may be left together, more than one only with the form ``product``.
    noise_max : float
        Largest factor between repeated measurements at the edge.
    """

    form: str = "hold_rate"
    axes: tuple[str, ...] | None = None
    works: tuple[Work, ...] = ()
    max_ratio: float = 2.0
    hard_max_ratio: float = 4.0
    agree: float = 1.10
    min_top_octave_points: int = 3
    max_axes_out: int = 1
    noise_max: float = 1.15

    def allows(self, axis: str) -> bool:
        """Whether targets may lie beyond the measured range of an axis."""
        return self.axes is None or axis in self.axes


def extrapolation_rules(*layers: Mapping[str, Any] | None) -> tuple[Rule, ...]:
    """Return the rules that the policy of one kernel opts in to; the last layer that tells wins.

    A rule that makes no sense is reported by `rule_problems` and stays off here.
    """
    rules: tuple[Rule, ...] = ()
    for layer in layers:
        told = {} if layer is None else layer
        if told.get(FIELD) is not None:
            rules = tuple(rule for block in _blocks(told[FIELD]) if (rule := _rule(block)))
        elif told.get(SWITCH) is True:
            rules = rules or (Rule(),)
        if told.get(SWITCH) is False:
            rules = ()
    return rules


def rule_problems(where: str, fields: Mapping[str, Any], is_kernel: bool) -> list[str]:
    """Return what is wrong with the extrapolation of one policy block, one sentence each."""
    value = fields.get(FIELD)
    if value is None:
        return []
    if not is_kernel:
        return [f"{where}.{FIELD} has no effect: kernels opt in one by one, in kernel_overrides"]
    blocks = _blocks(value)
    if not all(isinstance(block, Mapping) for block in blocks):
        return [f"{where}.{FIELD} is {value!r}, expected a mapping or a list of mappings"]
    problems = []
    for block in blocks:
        problems += [f"{where}.{FIELD}.{text}" for text in _problems(block)]
    return problems


def _blocks(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _rule(block: Any) -> Rule | None:
    if not isinstance(block, Mapping) or block.get("allow") is not True or _problems(block):
        return None
    told = {key: value for key, value in block.items() if value is not None and key != "allow"}
    works = tuple(map(read_work, _works(told.pop("work", None))))
    axes = told.pop("axes", None)
    return Rule(**told, works=works, axes=None if axes is None else tuple(axes))


def _problems(block: Mapping[str, Any]) -> list[str]:
    problems = [
        f"{key} is unknown, expected one of {', '.join(_CHECKS)}"
        for key in map(str, block)
        if key not in _CHECKS
    ]
    for key, (is_right, expected) in _CHECKS.items():
        value = block.get(key)
        if value is not None and not is_right(value):
            problems.append(f"{key} is {value!r}, expected {expected}")
    problems += [f"work is {text!r}: {why}" for text, why in _bad_works(block.get("work"))]
    if not problems and block.get("hard_max_ratio", 4.0) < block.get("max_ratio", 2.0):
        problems.append("hard_max_ratio is below max_ratio")
    if block.get("form") == "product" and not block.get("work"):
        problems.append("work is missing, which the form product needs")
    return problems


def _works(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _bad_works(value: Any) -> list[tuple[Any, str]]:
    bad: list[tuple[Any, str]] = []
    for text in _works(value):
        try:
            _ = read_work(text) if isinstance(text, str) else None
        except ValueError as error:
            bad.append((text, str(error)))
    return bad


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _from(least: float, most: float = math.inf) -> Callable[[Any], bool]:
    return lambda value: _is_number(value) and least <= value <= most


def _count(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: _from(least, most)(value) and isinstance(value, int)


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "allow": (lambda value: isinstance(value, bool), "true or false"),
    "axes": (_is_texts, "a list of axes"),
    "form": (lambda value: value in FORMS, f"one of {', '.join(FORMS)}"),
    "work": (
        lambda value: isinstance(value, str) or (_is_texts(value) and len(value) > 0),
        "an expression over axes, or a list of them",
    ),
    "max_ratio": (_from(1), "a number from 1"),
    "hard_max_ratio": (_from(1, 16), "a number from 1 to 16"),
    "agree": (_from(1), "a number from 1"),
    "min_top_octave_points": (_count(2, 1000), "a whole number from 2"),
    "max_axes_out": (_count(1, 4), "a whole number from 1 to 4"),
    "noise_max": (_from(1), "a number from 1"),
}
