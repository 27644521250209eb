"""Feasibility: a boolean over the axes that says which coordinates can exist at all."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

_MOST_CELLS = 20_000_000
_MEANINGS: dict[str, Callable[..., Any]] = {
    "LT": operator.lt, "LTE": operator.le, "GT": operator.gt, "GTE": operator.ge,
    "EQ": operator.eq, "NEQ": operator.ne, "And": operator.and_, "Or": operator.or_,
    "Not": operator.invert, "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul,
    "Div": operator.truediv, "Mod": operator.mod, "Neg": operator.neg,
}  # fmt: skip
_BOOLEAN = ("LT", "LTE", "GT", "GTE", "EQ", "NEQ", "And", "Or", "Not")
_LOGIC = ("And", "Or", "Not")


def feasible_problem(text: Any, axes: Sequence[str]) -> str | None:
    """Return what is wrong with a feasibility predicate, None when it can be used.

    Parameters
    ----------
    text : str
        Comparisons of numbers and axes with ``and``, ``or``, ``not`` and arithmetic.
    axes : sequence of str
        Names that may occur.
    """
    import sqlglot

    if not isinstance(text, str):
        return f"{text!r} is no text"
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return f"{text!r} is no SQL expression"
    return _problem(tree, axes, is_boolean=True)


def _problem(node: Any, axes: Sequence[str], is_boolean: bool) -> str | None:
    """Return what is wrong with a node that should be a boolean, or else a number."""
    kind = type(node).__name__
    if kind == "Paren":
        return _problem(node.this, axes, is_boolean)
    if (kind in _BOOLEAN) != is_boolean:
        if kind in _MEANINGS or kind in ("Literal", "Column"):
            return f"{node.sql()!r} is {'no boolean' if is_boolean else 'no number'}"
        return f"{node.sql()!r} may not occur"
    if kind == "Literal":
        return f"{node.sql()} is text, expected a number" if node.is_string else None
    if kind == "Column":
        is_known = not node.table and node.name in axes
        return None if is_known else f"'{node.sql()}' is no axis (known: {', '.join(axes)})"
    if kind not in _MEANINGS:
        return f"{node.sql()!r} may not occur"
    for part in _parts(node):
        problem = _problem(part, axes, is_boolean=kind in _LOGIC)
        if problem is not None:
            return problem
    return None


def feasible_count(text: str, axes: Sequence[str], values: Sequence[Sequence[float]]) -> int:
    """Return how many cells of the grid that the values span are feasible [count].

    Parameters
    ----------
    text : str
        Predicate that `feasible_problem` has accepted.
    values : sequence of sequence of float
        Values of every axis.

    Raises
    ------
    ValueError
        If the grid has more than 20 million cells.
    """
    import numpy as np

    total = int(np.prod([len(own) for own in values], dtype=object))
    if total > _MOST_CELLS:
        raise ValueError(f"the grid has {total} cells, more than {_MOST_CELLS}")
    grids = np.meshgrid(*(np.asarray(own, dtype=float) for own in values), indexing="ij",
                        sparse=True)  # fmt: skip
    with np.errstate(all="ignore"):
        cells = _value(_parsed(text), dict(zip(axes, grids, strict=True)))
    shape = tuple(len(own) for own in values)
    return int(np.count_nonzero(np.broadcast_to(cells, shape)))


@cache
def _parsed(text: str) -> Any:
    import sqlglot

    return sqlglot.parse_one(text, dialect="duckdb")


def _parts(node: Any) -> list[Any]:
    return [part for part in (node.this, node.args.get("expression")) if part is not None]


def _value(node: Any, grids: Mapping[str, Any]) -> Any:
    kind = type(node).__name__
    if kind == "Paren":
        return _value(node.this, grids)
    if kind == "Literal":
        import numpy as np

        return np.float64(node.this)
    if kind == "Column":
        return grids[node.name]
    return _MEANINGS[kind](*(_value(part, grids) for part in _parts(node)))
