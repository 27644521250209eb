"""Reading an invocation from JSON, checking everything and naming the argument that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.lookup.simulator_call import from_call, is_call
from sqlinterp.model import Argument, ChildInvocation, OpInvocation, Tensor

_LARGEST_DIM = 2**40
_KEYS = {"op", "args", "kwargs", "outputs", "children"}
_CHILD_KEYS = _KEYS | {"kernel", "alternates", "query_mode", "tc_input_count"}


def read_invocation(given: Any) -> OpInvocation:
    """Return the invocation that a dictionary, JSON text or a simulator's own object describes.

    Raises
    ------
    UsageError
        If it is no invocation; the message lists every argument that is wrong.
    """
    if isinstance(given, OpInvocation):
        return given
    if is_call(given):
        return from_call(given)
    if isinstance(given, (str, bytes)):
        given = parse_json(given)
    problems: list[str] = []
    invocation = _invocation(given, "", problems)
    if invocation is None or problems:
        raise UsageError("malformed invocation: " + "; ".join(problems))
    return invocation


def parse_json(text: str | bytes) -> Any:
    """Return what JSON text holds.

    Raises
    ------
    UsageError
        If it is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"malformed invocation: no valid JSON ({error})") from error


def _invocation(
    given: Any, where: str, problems: list[str], keys: set[str] = _KEYS
) -> OpInvocation | None:
    if not isinstance(given, Mapping):
        problems.append(f"{where or 'the invocation'} is {_short(given)}, expected an object")
        return None
    unknown = sorted(str(key) for key in given if key not in keys)
    if unknown:
        problems.append(f"{where or 'the invocation'} has unknown keys: {', '.join(unknown)}")
    op = given.get("op")
    if not isinstance(op, str) or not op:
        if "kernel" not in given:
            problems.append(f"{where}op is {_short(op)}, expected the name of an operator")
        op = ""
    args = _sequence(given.get("args", []), f"{where}args", problems)
    kwargs = given.get("kwargs") or {}
    if not isinstance(kwargs, Mapping):
        problems.append(f"{where}kwargs is {_short(kwargs)}, expected an object")
        kwargs = {}
    outputs = _sequence(given.get("outputs") or [], f"{where}outputs", problems)
    children = _sequence(given.get("children") or [], f"{where}children", problems)
    return OpInvocation(
        op=op.removeprefix("torch.ops."),
        args=tuple(_argument(a, f"{where}args[{i}]", problems) for i, a in enumerate(args)),
        kwargs={
            str(key): _argument(value, f"{where}kwargs.{key}", problems)
            for key, value in kwargs.items()
        },
        outputs=_outputs(outputs, where, problems),
        children=tuple(
            child
            for i, value in enumerate(children)
            if (child := _child(value, f"{where}children[{i}].", problems)) is not None
        ),
    )


def _outputs(values: list[Any], where: str, problems: list[str]) -> tuple[Tensor, ...]:
    tensors = []
    for place, value in enumerate(values):
        if value is None:
            continue
        argument = _argument(value, f"{where}outputs[{place}]", problems)
        if isinstance(argument, Tensor):
            tensors.append(argument)
        elif not isinstance(argument, (int, float)):
            problems.append(f"{where}outputs[{place}] is {_short(value)}, expected a tensor")
    return tuple(tensors)


def _child(given: Any, where: str, problems: list[str]) -> ChildInvocation | None:
    invocation = _invocation(given, where, problems, _CHILD_KEYS)
    if invocation is None:
        return None
    count = given.get("tc_input_count")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        problems.append(f"{where}tc_input_count is {_short(count)}, expected a positive integer")
    texts = {key: given.get(key) for key in ("kernel", "query_mode")}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            problems.append(f"{where}{key} is {_short(value)}, expected text")
    alternates = _sequence(given.get("alternates") or [], f"{where}alternates", problems)
    names = tuple(str(name) for name in alternates)
    return ChildInvocation(invocation, texts["kernel"], names, texts["query_mode"], count)


def _sequence(value: Any, where: str, problems: list[str]) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    problems.append(f"{where} is {_short(value)}, expected a list")
    return []


def _argument(value: Any, where: str, problems: list[str]) -> Argument:
    if value is None or isinstance(value, (bool, int, float, str, Tensor)):
        return value
    if isinstance(value, Mapping):
        return _object(value, where, problems)
    if isinstance(value, (list, tuple)):
        return [_argument(item, f"{where}[{i}]", problems) for i, item in enumerate(value)]
    problems.append(f"{where} is {_short(value)}, expected a tensor, list, number, text or null")
    return None


def _object(value: Mapping[str, Any], where: str, problems: list[str]) -> Argument:
    for key, kind in (("ints", int), ("bools", bool)):
        if key in value:
            items = _sequence(value[key], f"{where}.{key}", problems)
            if not all(
                isinstance(i, kind) and (kind is bool) == isinstance(i, bool) for i in items
            ):
                problems.append(f"{where}.{key} holds something else than {key}")
            return tuple(items)
    if "shape" not in value:
        problems.append(f"{where} is {_short(value)}, expected a tensor with shape and dtype")
        return None
    shape = value["shape"]
    if not isinstance(shape, (list, tuple)) or not all(
        (type(dim) is int and 0 <= dim <= _LARGEST_DIM) or _is_dim(dim) for dim in shape
    ):
        problems.append(f"{where}.shape is {_short(shape)}, expected dims from 0 to 2**40")
        shape = ()
    dtype = value.get("dtype")
    if not isinstance(dtype, str) or not dtype:
        problems.append(f"{where}.dtype is {_short(dtype)}, expected a torch dtype name")
        dtype = ""
    values = value.get("values")
    if values is not None and not (
        isinstance(values, (list, tuple)) and all(_is_int(v) for v in values)
    ):
        problems.append(f"{where}.values is {_short(values)}, expected integers")
        values = None
    numbers = None if values is None else tuple(values)
    return Tensor(tuple(shape), dtype.removeprefix("torch."), numbers)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_dim(value: Any) -> bool:
    return _is_int(value) and 0 <= value <= _LARGEST_DIM


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
