"""Invocation objects of a simulator, read by their attributes.

These are ``func``, ``args``, ``kwargs`` and ``out``; tensors are known by ``shape`` and ``dtype``.
Nothing of the simulator or of torch is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from sqlinterp.errors import UsageError
from sqlinterp.model import Argument, OpInvocation, Tensor

_MOST_VALUES = 16_384  # numbers of a tensor that are still its values: lengths, not data
_SCALARS = (bool, int, float, str)


class SimulatorCall(Protocol):
    """What every invocation object has."""

    func: Any
    args: Any


def is_call(given: Any) -> bool:
    """Return whether an object looks like an invocation of a simulator."""
    return hasattr(given, "func") and hasattr(given, "args")


def from_call(call: Any, with_values: bool = True) -> OpInvocation:
    """Return the invocation that an object of a simulator stands for.

    Parameters
    ----------
    call : object
        ``func`` is written as text, ``args`` are the positional arguments; ``kwargs`` and ``out``
        may be absent or None.
    with_values : bool
        Whether to read the values of small integer tensors. Tensors without data have none.

    Raises
    ------
    UsageError
        If ``args`` is no sequence, or a shape no list of dims.
    """
    kwargs = getattr(call, "kwargs", None)
    if not isinstance(call.args, (list, tuple)):
        raise UsageError(f"args of {operator_name(call.func)} are no sequence", expected="a tuple")
    return OpInvocation(
        op=operator_name(call.func),
        args=tuple(_argument(value, with_values) for value in call.args),
        kwargs={str(name): _argument(value, with_values) for name, value in kwargs.items()}
        if isinstance(kwargs, Mapping)
        else {},
        outputs=outputs_of(getattr(call, "out", None)),
    )


def operator_name(func: Any) -> str:
    """Return the name of an overload, e.g. ``aten.mm.default``.

    Examples
    --------
    >>> operator_name("torch.ops.aten.mm.default")
    'aten.mm.default'
    """
    return str(func).removeprefix("torch.ops.")


def outputs_of(out: Any) -> tuple[Tensor, ...]:
    """Return the tensors among the results of a call."""
    results = out if isinstance(out, (list, tuple)) else (out,)
    return tuple(_tensor(item, False) for item in results if is_tensor(item))


def is_tensor(value: Any) -> bool:
    """Return whether an object has the shape and the dtype of a tensor."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def dtype_name(dtype: Any) -> str:
    """Return torch's name of a dtype without its prefix, e.g. ``bfloat16``."""
    return str(dtype).removeprefix("torch.")


def values_of(tensor: Any) -> tuple[int, ...] | None:
    """Return the values of a small integer tensor, None when it has too many or no data."""
    if not dtype_name(tensor.dtype).startswith(("int", "uint")):
        return None
    size = 1
    for dim in tensor.shape:
        size *= int(dim)
    if size > _MOST_VALUES or getattr(tensor, "is_meta", False):
        return None
    try:
        data = tensor.tolist() if hasattr(tensor, "tolist") else getattr(tensor, "values", None)
        return None if data is None or callable(data) else tuple(_integers(data))
    except Exception:  # tensors that only pretend to have data say so in many ways
        return None


def _integers(data: Any) -> list[int]:
    if isinstance(data, (list, tuple)):
        return [number for item in data for number in _integers(item)]
    return [int(data)]


def _tensor(value: Any, with_values: bool) -> Tensor:
    try:
        shape = tuple(int(dim) for dim in value.shape)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{value.shape!r} is no shape", expected="dims as integers") from error
    if min(shape, default=0) < 0:
        raise UsageError(f"{shape} is no shape", expected="dims that are not negative")
    return Tensor(shape, dtype_name(value.dtype), values_of(value) if with_values else None)


def _argument(value: Any, with_values: bool) -> Argument:
    if value is None or isinstance(value, _SCALARS):
        return value
    if is_tensor(value):
        return _tensor(value, with_values)
    if isinstance(value, (list, tuple)):
        items = [_argument(item, with_values) for item in value]
        return tuple(items) if items and _is_plain(items) else items
    return text_of(value)


def text_of(value: Any) -> str:
    """Return what stands for a dtype, a device or a memory format; no lookup reads them."""
    text = str(value)
    return type(value).__name__ if " at 0x" in text else text


def _is_plain(items: list[Argument]) -> bool:
    """Return whether a list holds numbers only, as ``{"ints": ...}`` and ``{"bools": ...}`` do."""
    return all(type(item) is int for item in items) or all(type(item) is bool for item in items)
