"""A small language for shapes: sums of products of names and numbers, ``/`` rounds up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_TOKEN = re.compile(r"([*/]?)(\d+|[A-Z][a-z0-9]*)")

Factor = tuple[bool, str | int]
Term = tuple[Factor, ...]
Sum = tuple[Term, ...]


@cache
def parse(text: str) -> Sum:
    """Return the parsed form of one expression such as ``2*M*K+N/16``.

    Raises
    ------
    ValueError
        If the text holds anything but names, numbers, ``*``, ``/`` and ``+``.
    """
    terms: list[Term] = []
    for term in text.split("+"):
        factors = _TOKEN.findall(term)
        if not factors or "".join(sign + name for sign, name in factors) != term:
            raise ValueError(f"cannot read the expression {text!r}")
        terms.append(
            tuple((sign == "/", int(name) if name.isdigit() else name) for sign, name in factors)
        )
    return tuple(terms)


def value(expression: Sum, names: Mapping[str, int]) -> int:
    """Return the number that a parsed expression has for the given names.

    >>> value(parse("T/8*8+1"), {"T": 9})
    17
    """
    total = 0
    for term in expression:
        product = 1
        for divide, name in term:
            number = name if isinstance(name, int) else names[name]
            product = -(-product // number) if divide else product * number
        total += product
    return total


@dataclass(frozen=True)
class Shapes:
    """The slots of one cell: a tuple of dimension expressions each, empty for an absent tensor."""

    slots: tuple[tuple[Sum, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Shapes:
        """Return the slots of a template such as ``T,D;D;``."""
        return cls(
            tuple(
                tuple(parse(dim) for dim in slot.split(",")) if slot else ()
                for slot in text.split(";")
            )
        )

    def at(self, names: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        """Return the dimensions of every slot for the given names."""
        return tuple(tuple(value(dim, names) for dim in slot) for slot in self.slots)


def cell(shapes: tuple[tuple[int, ...], ...]) -> str:
    """Return the text of a shape cell: one pair of quotes belongs to the value itself.

    >>> cell(((16, 5120), (), (4,)))
    '"16,5120;;4"'
    """
    return '"' + ";".join(",".join(map(str, shape)) for shape in shapes) + '"'
