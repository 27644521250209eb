"""The canonical form of an invocation as one hashable key, without building the invocation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlinterp.lookup.simulator_call import (
    dtype_name,
    number_of,
    operator_name,
    text_of,
    values_of,
)
from sqlinterp.model import ChildInvocation, OpInvocation, Tensor

Key = tuple[Any, ...]

# Names of overloads and dtypes, which are few and live as long as the simulator does.
known_operator_name = lru_cache(maxsize=4096)(operator_name)
_known_dtype_name = lru_cache(maxsize=256)(dtype_name)


def call_key(name: str, call: Any, with_values: bool) -> Key:
    """Return the key of an invocation object of the simulator.

    Equal keys mean equal answers under one context and one content of the database.

    Parameters
    ----------
    name : str
        Name of its operator.
    call : object
        ``args``, and where there are any ``kwargs`` and ``out``.
    with_values : bool
        Whether the lookup of the operator reads values of tensors.
    """
    kwargs = getattr(call, "kwargs", None)
    return (
        name,
        tuple([_argument_key(value, with_values) for value in call.args]),
        _mapping_key(kwargs, with_values) if kwargs else (),
        _argument_key(getattr(call, "out", None), False),
    )


def invocation_key(invocation: OpInvocation) -> Key:
    """Return the key of an invocation and of its children."""
    key = (
        invocation.op,
        tuple([_argument_key(value, True) for value in invocation.args]),
        _mapping_key(invocation.kwargs, True),
        tuple([_argument_key(value, False) for value in invocation.outputs]),
    )
    return (*key, children_key(invocation.children)) if invocation.children else key


def children_key(children: tuple[ChildInvocation, ...]) -> Key:
    """Return the key of the children of an invocation."""
    return tuple(
        (invocation_key(c.invocation), c.kernel, c.alternates, c.query_mode, c.tc_input_count)
        for c in children
    )


def _mapping_key(arguments: Mapping[str, Any], with_values: bool) -> Key:
    names = sorted(arguments, key=str)
    return tuple([(str(name), _argument_key(arguments[name], with_values)) for name in names])


def _argument_key(value: Any, with_values: bool) -> Any:
    kind = value.__class__
    if kind is int or kind is str or value is None:
        return value
    if kind is bool or kind is float:  # True == 1 == 1.0
        return (kind.__name__, value)
    if kind is Tensor:
        return (value.shape, value.dtype, value.values)
    if kind is list or kind is tuple:
        return ("[", *[_argument_key(item, with_values) for item in value])
    try:
        shape, dtype = value.shape, value.dtype
    except AttributeError:
        return _other_key(value, with_values)
    if not shape and (number := number_of(value)) is not None:
        return _argument_key(number, with_values)
    values = values_of(value) if with_values else None
    return (tuple(shape), _known_dtype_name(dtype), values)


def _other_key(value: Any, with_values: bool) -> Any:
    """Return the key of what is neither a plain number, text, list nor tensor."""
    if isinstance(value, (list, tuple)):
        return ("[", *[_argument_key(item, with_values) for item in value])
    if isinstance(value, (bool, int, float)):
        return (type(value).__name__, value)
    number = number_of(value)
    return text_of(value) if number is None else _argument_key(number, with_values)
