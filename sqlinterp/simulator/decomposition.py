"""Children of composites, from the caller's hook or from the simulator's own decomposers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.simulator_call import (
    dtype_name,
    from_call,
    is_call,
    is_tensor,
    number_of,
    operator_name,
)
from sqlinterp.model import Argument, ChildInvocation, OpInvocation, Tensor
from sqlinterp.simulator.options import check_callable

Children = tuple[ChildInvocation, ...]
Decompose = Callable[[Any], Iterable[Any] | None]

_MODULE = "tensor_cast.performance_model.profiling_database.profiling_data_source"
_REGISTRY = "COMPOSITE_DECOMPOSERS"

_KERNEL = ("kernel_type", "kernel")
_SHAPES = ("input_shapes", "shapes")
_DTYPES = ("input_dtypes", "dtypes", "dtype")
_ALTERNATES = ("alternates", "alternate_kernel_types")
_OWN = {*_KERNEL, *_SHAPES, *_DTYPES, *_ALTERNATES, "query_mode", "tc_input_count"}


def decomposer(given: Decompose | None) -> Decompose | None:
    """Return the hook that a caller gives, else that of the simulator if there is one.

    Raises
    ------
    UsageError
        If what is given cannot be called.
    """
    check_callable(given, "decompose")
    return given or registered_decomposers()


def registered_decomposers() -> Decompose | None:
    """Return a hook that uses the decomposers the simulator registers, None when it has none."""
    try:
        registry = getattr(import_module(_MODULE), _REGISTRY, None)
    except Exception:  # whatever keeps a simulator from being imported, it is not in use then
        return None
    if not isinstance(registry, Mapping):
        return None

    def decompose(call: Any) -> Iterable[Any] | None:
        decomposer = registry.get(operator_name(call.func))
        if decomposer is None:
            raise UnknownCompositeError
        return decomposer(call)  # type: ignore[no-any-return]

    return decompose


class UnknownCompositeError(LookupError):
    """What a hook raises for an operator that it does not know."""


@dataclass(frozen=True)
class Failure:
    """Why a composite has no children: the reason of the miss, and what was raised if anything."""

    reason: str
    error: str = ""


def children_of(call: Any, decompose: Decompose) -> Children | Failure:
    """Return the children of a call, or why there are none, whatever the hook raises.

    Parameters
    ----------
    call : object
        The invocation as the simulator gave it.
    decompose : callable
        Returns the children: as the contract writes them, as invocation objects of the simulator,
        or as objects with ``kernel_type``, ``shapes`` and ``dtype``.
    """
    try:
        parts = decompose(call)
        children = tuple(_child(part) for part in parts or ())
    except UnknownCompositeError:
        return Failure("decomposition_unavailable")
    except Exception as error:  # somebody else's code, and a lookup does not raise
        name = type(error).__name__
        return Failure(f"decompose_failed:{name}", f"{name}: {error}")
    return children or Failure("decompose_failed")


def _child(part: Any) -> ChildInvocation:
    if isinstance(part, OpInvocation):
        part = ChildInvocation(part)
    if isinstance(part, (ChildInvocation, Mapping)):
        return read_invocation({"op": "composite", "children": [part]}).children[0]
    if is_call(part):
        return ChildInvocation(from_call(part))
    return _kernel_child(_attributes(part))


def _kernel_child(told: Mapping[str, Any]) -> ChildInvocation:
    """Return the child that a description of a kernel query stands for.

    What else it tells, if it is plain, are the keyword arguments of the child.
    """
    kernel = _first(told, _KERNEL)
    shapes = _first(told, _SHAPES)
    if not isinstance(kernel, str) or shapes is None:
        raise UsageError("a child names no kernel and shapes", expected="kernel_type and shapes")
    dtypes = _first(told, _DTYPES)
    if not isinstance(dtypes, (list, tuple)):
        dtypes = [dtypes] * len(shapes)
    tensors = [
        Tensor(tuple(int(dim) for dim in shape), dtype_name(dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    return ChildInvocation(
        OpInvocation("", tuple(tensors), kwargs=_keywords(told)),
        kernel,
        tuple(_first(told, _ALTERNATES) or ()),
        told.get("query_mode"),
        told.get("tc_input_count"),
    )


def _first(told: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _attributes(part: Any) -> dict[str, Any]:
    """Return the attributes of a plain object, a named tuple or one with slots."""
    if hasattr(part, "_asdict"):
        return dict(part._asdict())
    names = vars(part) if hasattr(part, "__dict__") else getattr(type(part), "__slots__", ())
    return {name: getattr(part, name) for name in names}


def _keywords(told: Mapping[str, Any]) -> dict[str, Argument]:
    keywords: dict[str, Argument] = {}
    for name, value in told.items():
        if name in _OWN or value is None:
            continue
        if isinstance(value, Mapping):
            keywords.update(_keywords(value))
        elif isinstance(value, (list, tuple)):
            items = [_plain(item) for item in value]
            if not any(is_tensor(item) for item in items):
                keywords[name] = tuple(items)
        elif isinstance(plain := _plain(value), (bool, int, float, str)):
            keywords[name] = plain
    return keywords


def _plain(value: Any) -> Any:
    """Return numbers of other libraries as Python's, all else as it is."""
    if isinstance(value, (bool, int, float, str)):
        return value
    number = number_of(value)
    return value if number is None else number
