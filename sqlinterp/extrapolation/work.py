"""Work expressions over axes, e.g. ``M * K * N``: text in, a function of the axes out.

The text is read into a tree of our own by a grammar that knows numbers, axis names, arithmetic and
six functions. Nothing of it is ever run as code or as SQL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Node = Callable[[Mapping[str, float]], float]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r'|(?P<name>[A-Za-z_]\w*)|"(?P<quoted>[^"]+)"|(?P<sign>[-+*/(),]))'
)
_LONGEST = 200  # characters
_DEEPEST = 32  # brackets, calls and signs within each other
_FUNCTIONS: dict[str, tuple[range, Callable[..., float]]] = {
    "ceil": (range(1, 2), math.ceil),
    "floor": (range(1, 2), math.floor),
    "sqrt": (range(1, 2), math.sqrt),
    "power": (range(2, 3), math.pow),
    "greatest": (range(1, 9), max),
    "least": (range(1, 9), min),
}


@dataclass(frozen=True)
class Work:
    """How much there is to do at a coordinate, up to a constant factor.

    Attributes
    ----------
    text : str
        The expression as written.
    names : frozenset of str
        Axes that it uses.
    """

    text: str
    names: frozenset[str]
    _node: Node = field(compare=False, repr=False)

    def at(self, axes: Mapping[str, float]) -> float:
        """Return the work at a coordinate, NaN where it is no positive finite number.

        >>> read_work("ceil(M / 16) * greatest(K, 64)").at({"M": 17, "K": 32})
        128.0
        """
        try:
            value = float(self._node(axes))
        except (ArithmeticError, ValueError, KeyError):
            return math.nan
        return value if math.isfinite(value) and value > 0 else math.nan


def read_work(text: str) -> Work:
    """Return the work that an expression says.

    Numbers, axis names (quoted like SQL identifiers if need be), ``+ - * /``, parentheses, and
    ``ceil floor sqrt power greatest least``.

    Raises
    ------
    ValueError
        The text is no such expression; the message says where it stops being one.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the expression has {len(text)} characters, at most {_LONGEST} are read")
    reader = _Reader(_tokens(text))
    node = reader.sum(0)
    if reader.place < len(reader.tokens):
        raise ValueError(f"'{reader.tokens[reader.place][1]}' is not expected there")
    if not reader.names:
        raise ValueError("the expression names no axis")
    return Work(text, frozenset(reader.names), node)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise ValueError(f"'{text[place:end].strip()[:20]}' is no number, name or operator")
        found.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
    return found


class _Reader:
    """Reads tokens by recursive descent."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place = tokens, 0
        self.names: set[str] = set()

    def _take(self, *signs: str) -> str | None:
        """Take the next token if it is one of the signs."""
        if self.place < len(self.tokens) and self.tokens[self.place] in [
            ("sign", s) for s in signs
        ]:
            self.place += 1
            return self.tokens[self.place - 1][1]
        return None

    def sum(self, depth: int) -> Node:
        node = self._product(depth)
        while sign := self._take("+", "-"):
            node = _binary(sign, node, self._product(depth))
        return node

    def _product(self, depth: int) -> Node:
        node = self._factor(depth)
        while sign := self._take("*", "/"):
            node = _binary(sign, node, self._factor(depth))
        return node

    def _factor(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise ValueError(f"the expression is nested deeper than {_DEEPEST} levels")
        if sign := self._take("+", "-"):
            return _signed(sign, self._factor(depth + 1))
        if self._take("("):
            node = self.sum(depth + 1)
            self._close()
            return node
        kind, text = self._next()
        if kind == "number":
            value = float(text)
            return lambda axes: value
        if kind == "name" and self._take("("):
            return self._call(text, depth + 1)
        if kind in ("name", "quoted"):
            self.names.add(text)
            return lambda axes: axes[text]
        raise ValueError(f"'{text}' is not expected there")

    def _next(self) -> tuple[str, str]:
        if self.place == len(self.tokens):
            raise ValueError("the expression ends too early")
        self.place += 1
        return self.tokens[self.place - 1]

    def _close(self) -> None:
        if not self._take(")"):
            raise ValueError("a closing bracket is missing")

    def _call(self, name: str, depth: int) -> Node:
        known = _FUNCTIONS.get(name.lower())
        if known is None:
            raise ValueError(f"'{name}' is no function of {', '.join(_FUNCTIONS)}")
        nodes = [self.sum(depth)]
        while self._take(","):
            nodes.append(self.sum(depth))
        self._close()
        counts, function = known
        if len(nodes) not in counts:
            raise ValueError(f"{name} does not take {len(nodes)} arguments")
        return lambda axes: float(function(*(node(axes) for node in nodes)))


def _binary(sign: str, left: Node, right: Node) -> Node:
    if sign == "+":
        return lambda axes: left(axes) + right(axes)
    if sign == "-":
        return lambda axes: left(axes) - right(axes)
    if sign == "*":
        return lambda axes: left(axes) * right(axes)
    return lambda axes: left(axes) / right(axes)


def _signed(sign: str, node: Node) -> Node:
    return node if sign == "+" else lambda axes: -node(axes)
