"""Invocation objects of a simulator, read by their attributes.

These are ``func``, ``args``, ``kwargs`` and ``out``; tensors are known by ``shape`` and ``dtype``.
Nothing of the simulator or of torch is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
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
        If ``args`` is no sequence, ``kwargs`` no mapping, or a tensor has no shape of whole dims.
    """
    kwargs = getattr(call, "kwargs", None)
    if not isinstance(call.args, (list, tuple)):
        raise UsageError(f"args of {operator_name(call.func)} are no sequence", expected="a tuple")
    if kwargs is None:
        kwargs = {}
    if not isinstance(kwargs, Mapping):
        raise UsageError(f"kwargs of {operator_name(call.func)} are no mapping", expected="a dict")
    return OpInvocation(
        op=operator_name(call.func),
        args=tuple(_argument(value, with_values) for value in call.args),
        kwargs={str(name): _argument(value, with_values) for name, value in kwargs.items()},
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
    return tuple(tensor_of(item, False) for item in results if is_tensor(item))


def is_tensor(value: Any) -> bool:
    """Return whether an object has the shape and the dtype of a tensor."""
    try:
        return hasattr(value, "shape") and hasattr(value, "dtype")
    except Exception:  # it has them, but some tensors refuse to tell
        return True


def number_of(value: Any) -> int | float | None:
    """Return the number that a scalar of numpy or a symbolic size stands for, None for others."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if hasattr(type(value), "__index__") and not is_tensor(value):
        return int(value)
    return None


def dtype_name(dtype: Any) -> str:
    """Return torch's name of a dtype without its prefix, e.g. ``bfloat16``."""
    return str(dtype).removeprefix("torch.")


def values_of(tensor: Any) -> tuple[int, ...] | None:
    """Return the values of a small integer tensor, None when it has too many or no data."""
    if not dtype_name(tensor.dtype).startswith(("int", "uint")):
        return None
    if getattr(tensor, "fake_mode", None) is not None:
        # To ask a fake tensor for data would invent symbols in the mode that it belongs to.
        tensor = getattr(tensor, "constant", None)
        if tensor is None:
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


def tensor_of(value: Any, with_values: bool = True) -> Tensor:
    """Return what a tensor of a simulator, of torch or of numpy looks like.

    Raises
    ------
    UsageError
        If its shape cannot be read, or its dims are no whole numbers from 0 to 2**40.
    """
    try:
        told = value.shape
    except Exception as error:  # some tensors have no single one, and say so in many ways
        raise UsageError(f"{type(value).__name__} has no shape: {error}") from error
    try:
        shape = tuple(int(dim) for dim in told)
        is_whole = shape == tuple(told)
    except Exception as error:
        raise UsageError(f"{told!r} is no shape", expected="dims as integers") from error
    if not is_whole:
        raise UsageError(f"{told!r} is no shape", expected="dims as integers")
    return Tensor(shape, dtype_name(value.dtype), values_of(value) if with_values else None)


def _argument(value: Any, with_values: bool) -> Argument:
    if value is None or isinstance(value, _SCALARS):
        return value
    number = number_of(value)
    if number is not None:
        return number
    if is_tensor(value):
        return tensor_of(value, with_values)
    if isinstance(value, (list, tuple)):
        items = [_argument(item, with_values) for item in value]
        return tuple(items) if items and _is_plain(items) else items
    return text_of(value)


def text_of(value: Any) -> str:
    """Return what stands for a dtype, a device or a memory format; no lookup reads them."""
    try:
        text = str(value)
    except Exception:  # somebody else's code, and nobody reads the text
        return type(value).__name__
    return type(value).__name__ if " at 0x" in text else text


def _is_plain(items: list[Argument]) -> bool:
    """Return whether a list holds numbers only, as ``{"ints": ...}`` and ``{"bools": ...}`` do."""
    return all(type(item) is int for item in items) or all(type(item) is bool for item in items)
