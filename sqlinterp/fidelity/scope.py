"""Which groups a run is about: kernels, fields of the regime, and a condition over them.

The condition is SQL, but nothing of it is run: sqlglot parses it, and only comparisons of known
columns with values are evaluated.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlinterp.errors import UsageError
from sqlinterp.fidelity.grid import Row
from sqlinterp.lookup.regimes import Regime, RegimeError, spelled

if TYPE_CHECKING:
    from sqlglot import exp

Named = tuple[Row, Regime]
Columns = Mapping[str, Any]


def choose_groups(
    known: Sequence[Named],
    kernels: Iterable[str] = (),
    paths: Iterable[str] = (),
    config: Mapping[str, Any] | None = None,
    select: Callable[[Sequence[Regime], str], set[int]] | None = None,
) -> list[Named]:
    """Return the regimes of kernels and paths whose fields equal a config.

    Parameters
    ----------
    select : callable, optional
        Returns the ids of the wanted regimes, given all regimes and the device, instead of config.

    Raises
    ------
    RegimeError
        If a kernel, path, field or value is unknown.
    """
    _check("unknown_kind", "kernel", kernels, {row["kernel_type"] for row, _ in known})
    _check("bad_request", "path", paths, {row["path"] for row, _ in known})
    wanted_kernels, wanted_paths = set(kernels), set(paths)
    chosen = [
        (row, regime)
        for row, regime in known
        if (not wanted_kernels or row["kernel_type"] in wanted_kernels)
        and (not wanted_paths or row["path"] in wanted_paths)
    ]
    if select is not None and chosen:
        kept = select([regime for _, regime in chosen], chosen[0][0]["device"])
        return [(row, regime) for row, regime in chosen if regime.regime_id in kept]
    return _having(chosen, config or {})


def _check(code: str, what: str, given: Iterable[str], known: set[str]) -> None:
    for name in given:
        if name not in known:
            raise RegimeError(code, f"{what} '{name}' is unknown here", sorted(known))


def _having(chosen: list[Named], config: Mapping[str, Any]) -> list[Named]:
    columns = sorted({name for _, regime in chosen for name in regime.columns})
    for key, value in config.items():
        if key not in columns:
            raise RegimeError("unknown_regime_key", f"'{key}' is no field of the regimes", columns)
        left = [
            (row, regime)
            for row, regime in chosen
            if key in regime.columns and spelled(regime.columns[key]) == spelled(value)
        ]
        if not left:
            values = {spelled(r.columns[key]) for _, r in chosen if key in r.columns}
            what = f"no regime has {key} = {spelled(value)}"
            raise RegimeError("no_points", what, sorted(values))
        chosen = left
    return chosen


def where(chosen: Sequence[Named], condition: str) -> list[Named]:
    """Return the regimes that a SQL condition over their columns selects.

    Columns are ``kernel``, ``path``, ``input_limit``, ``dtype``, ``measurement_count`` and the
    fields of the regimes.

    Raises
    ------
    UsageError
        If the condition is no single boolean of comparisons, or names another column.
    """
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(condition, dialect="duckdb", into=exp.Condition)
    except (SqlglotError, RecursionError, ValueError) as error:
        text = str(error).splitlines()[0]
        raise UsageError(f"the condition is no SQL expression: {text}", "where") from error
    names = sorted({name for row, regime in chosen for name in _columns(row, regime)})
    for column in tree.find_all(exp.Column):
        if column.table or column.name not in names:
            raise UsageError(f"'{column.sql()}' is no column", "where", ", ".join(names))
    return [(row, r) for row, r in chosen if _truth(tree, _columns(row, r)) is True]


def _columns(row: Row, regime: Regime) -> dict[str, Any]:
    return {
        "kernel": row["kernel_type"],
        "dtype": row["dtype"],
        "measurement_count": row["measurement_count"],
        **regime.columns,
    }


def _comparisons() -> dict[type[exp.Expression], Callable[[Any, Any], bool]]:
    from sqlglot import exp

    return {
        exp.EQ: operator.eq, exp.NEQ: operator.ne, exp.LT: operator.lt, exp.LTE: operator.le,
        exp.GT: operator.gt, exp.GTE: operator.ge,
    }  # fmt: skip


def _truth(node: Any, columns: Columns) -> bool | None:
    """Return the value of a condition, None when a null keeps it open."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _truth(node.this, columns)
    if isinstance(node, exp.Not):
        inner = _truth(node.this, columns)
        return None if inner is None else not inner
    if isinstance(node, (exp.And, exp.Or)):
        return _joined(_truth(node.this, columns), _truth(node.expression, columns),
                       isinstance(node, exp.And))  # fmt: skip
    compare = _comparisons().get(type(node))
    if compare is not None:
        return _compared(_value(node.this, columns), _value(node.expression, columns), compare)
    if isinstance(node, exp.Between):
        low, high = (
            _compared(_value(node.args[end], columns), _value(node.this, columns), operator.le)
            if end == "low"
            else _compared(_value(node.this, columns), _value(node.args[end], columns), operator.le)
            for end in ("low", "high")
        )
        return _joined(low, high, True)
    return _membership(node, columns)


def _membership(node: Any, columns: Columns) -> bool | None:
    from sqlglot import exp

    if isinstance(node, exp.In) and node.args.get("expressions"):
        value = _value(node.this, columns)
        found: bool | None = False
        for item in node.args["expressions"]:
            found = _joined(found, _compared(value, _value(item, columns), operator.eq), False)
        return found
    if isinstance(node, (exp.Like, exp.ILike)):
        text, pattern = _value(node.this, columns), _value(node.expression, columns)
        if not isinstance(text, str) or not isinstance(pattern, str):
            return None
        flags = re.IGNORECASE if isinstance(node, exp.ILike) else 0
        parts = re.split("([%_])", pattern)
        form = "".join({"%": ".*", "_": "."}.get(part, re.escape(part)) for part in parts)
        return re.fullmatch(form, text, flags | re.DOTALL) is not None
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return _value(node.this, columns) is None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    raise UsageError(
        f"'{node.sql()}' is no comparison", "where", "=, <, in, between, like, and, or"
    )


def _joined(one: bool | None, other: bool | None, is_and: bool) -> bool | None:
    deciding = not is_and
    if one is deciding or other is deciding:
        return deciding
    return None if one is None or other is None else is_and


def _compared(one: Any, other: Any, compare: Callable[[Any, Any], bool]) -> bool | None:
    if one is None or other is None:
        return None
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return compare(one, other)
    return compare(spelled(one), spelled(other))


def _value(node: Any, columns: Columns) -> Any:
    from sqlglot import exp

    if isinstance(node, exp.Column):
        return columns.get(node.name)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else float(node.this)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return -float(node.this.this)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Null):
        return None
    raise UsageError(f"'{node.sql()}' is neither a column nor a value", "where")
