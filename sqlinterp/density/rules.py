"""Density rules as a file gives them, and everything that is wrong with such a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlinterp.density.checks import Faults, number, numbers, shown, text, texts
from sqlinterp.paths import PATHS

COMMUNICATION = "communication"
AXES: dict[str, tuple[str, ...]] = {
    **{name: path.axes for name, path in PATHS.items()},
    COMMUNICATION: ("message_bytes",),
}
_DECLARED = "declared:"  # paths of measured tables of any layout end with their axes
_RULE_KEYS = ("name", "axis", "paths", "kernels", "limits", "required", "source")
_LIMIT_KEYS = ("from", "to", "max_gap", "max_ratio")


@dataclass(frozen=True)
class Limit:
    """How far the next measured value may lie from one in ``[start, end)``.

    Attributes
    ----------
    start, end : float
        Range of the measured value; ``end`` None means no end [unit of the axis].
    max_gap : float or None
        Most that the next value may be larger by [unit of the axis].
    max_ratio : float or None
        Most times that the next value may be as large [ratio].
    """

    start: float
    end: float | None
    max_gap: float | None
    max_ratio: float | None


@dataclass(frozen=True)
class Rule:
    """One rule; empty ``paths`` or ``kernels`` stand for any.

    Attributes
    ----------
    axis : str
        Name of the axis, e.g. ``M``.
    required : tuple of float
        Values that must be measured [unit of the axis].
    """

    name: str
    axis: str
    paths: tuple[str, ...]
    kernels: tuple[str, ...]
    limits: tuple[Limit, ...]
    required: tuple[float, ...]
    source: str | None

    def subjects(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield (axis, path, kernel) of everything that the rule is about, None for any."""
        for path in self.paths or (None,):
            for kernel in self.kernels or (None,):
                yield self.axis, path, kernel


def read_rules(document: Any) -> tuple[list[Rule], list[str]]:
    """Return the rules of a document, and what is wrong with it, one sentence each, in order.

    Examples
    --------
    >>> rules, faults = read_rules({"rules": [{"name": "a", "axis": "M", "required": [1]}]})
    >>> rules[0].axis, rules[0].required, faults
    ('M', (1.0,), [])
    """
    faults = Faults()
    if not isinstance(document, Mapping) or not isinstance(document.get("rules"), list):
        faults.add("", "the file has no list 'rules'")
        return [], faults.found
    for key in document:
        if key != "rules":
            faults.add("", f"the key {shown(key)} is unknown, expected 'rules'")
    rules = []
    for place, item in enumerate(document["rules"], start=1):
        rule = _rule(item, f"rule {place}", faults)
        if rule is not None:
            rules.append(rule)
    _check_together(rules, faults)
    return rules, faults.found


def _rule(item: Any, where: str, faults: Faults) -> Rule | None:
    """Return one rule; None when it is no mapping, and with a fault when anything else is wrong."""
    if not isinstance(item, Mapping):
        faults.add(where, f"is {shown(item)}, expected a mapping")
        return None
    name = text(item, "name", where, faults)
    where = f"{where} {shown(name)}" if name else where
    _check_keys(item, _RULE_KEYS, where, faults)
    axis = text(item, "axis", where, faults)
    paths = texts(item, "paths", where, faults)
    kernels = texts(item, "kernels", where, faults)
    _check_axis(axis, paths, where, faults)
    limits = _limits(item.get("limits"), where, faults)
    required = numbers(item, "required", where, faults)
    if not limits and not required and not (item.get("limits") or item.get("required")):
        faults.add(where, "has neither limits nor required values")
    source = text(item, "source", where, faults, is_optional=True) or None
    return Rule(name, axis, paths, kernels, limits, required, source)


def _check_keys(
    item: Mapping[Any, Any], known: tuple[str, ...], where: str, faults: Faults
) -> None:
    for key in item:
        if key not in known:
            faults.add(where, f"the key {shown(key)} is unknown, expected {', '.join(known)}")


def _check_axis(axis: str, paths: tuple[str, ...], where: str, faults: Faults) -> None:
    for path in paths:
        if path.startswith(_DECLARED):
            axes: tuple[str, ...] = tuple(path.removeprefix(_DECLARED).split(","))
        elif path in AXES:
            axes = AXES[path]
        else:
            known = f"{', '.join(AXES)} or {_DECLARED}..."
            faults.add(where, f"path {shown(path)} is unknown, expected {known}")
            continue
        if axis and axis not in axes:
            faults.add(
                where, f"path {shown(path)} has no axis {shown(axis)}, only {', '.join(axes)}"
            )
    known_axes = dict.fromkeys(name for axes in AXES.values() for name in axes)
    if axis and not paths and axis not in known_axes:
        faults.add(where, f"axis {shown(axis)} is unknown, expected {', '.join(known_axes)}")


def _limits(items: Any, where: str, faults: Faults) -> tuple[Limit, ...]:
    if items is None:
        return ()
    if not isinstance(items, list):
        faults.add(where, f"limits is {shown(items)}, expected a list")
        return ()
    found = []
    for place, item in enumerate(items, start=1):
        inside = f"{where}, limit {place}"
        if isinstance(item, Mapping):
            found.append(_limit(item, inside, faults))
        else:
            faults.add(inside, f"is {shown(item)}, expected a mapping")
    limits = sorted((limit for limit in found if limit is not None), key=lambda one: one.start)
    for low, high in pairwise(limits):
        if low.end is None or low.end > high.start:
            faults.add(where, f"the limits from {low.start:g} and from {high.start:g} overlap")
    return tuple(limits)


def _limit(item: Mapping[Any, Any], where: str, faults: Faults) -> Limit | None:
    before = len(faults.found)
    _check_keys(item, _LIMIT_KEYS, where, faults)
    start, end = number(item, "from", where, faults), number(item, "to", where, faults)
    gap, ratio = number(item, "max_gap", where, faults), number(item, "max_ratio", where, faults)
    if item.get("from") is None:
        faults.add(where, "from is missing")
    if start is not None and end is not None and end <= start:
        faults.add(where, f"to is {end:g}, expected more than from, {start:g}")
    if item.get("max_gap") is None and item.get("max_ratio") is None:
        faults.add(where, "max_gap and max_ratio are missing, expected one of them")
    if gap == 0:
        faults.add(where, "max_gap is 0, expected more")
    if ratio is not None and ratio <= 1:
        faults.add(where, f"max_ratio is {ratio:g}, expected more than 1")
    if ratio is not None and start == 0:
        faults.add(where, "max_ratio needs a range from more than 0: nothing is a multiple of 0")
    return Limit(start or 0.0, end, gap, ratio) if len(faults.found) == before else None


def _check_together(rules: list[Rule], faults: Faults) -> None:
    """Report names that repeat, and rules of which none goes before the other."""
    names: set[str] = set()
    owners: dict[tuple[str, str | None, str | None], str] = {}
    for rule in rules:
        if rule.name and rule.name in names:
            faults.add(f"rule {shown(rule.name)}", "the name repeats")
        names.add(rule.name)
        for subject in rule.subjects():
            other = owners.setdefault(subject, rule.name)
            if other != rule.name:
                axis, path, kernel = subject
                about = (
                    f"axis {shown(axis)} of {_named(path, 'path')} and {_named(kernel, 'kernel')}"
                )
                faults.add(
                    f"rules {shown(other)} and {shown(rule.name)}", f"are both about {about}"
                )


def _named(subject: str | None, kind: str) -> str:
    return f"any {kind}" if subject is None else f"{kind} {shown(subject)}"
