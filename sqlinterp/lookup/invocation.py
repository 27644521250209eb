"""Reading an invocation from JSON, checking everything and naming the argument that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.given import told
from sqlinterp.lookup.simulator_call import from_call, is_call, is_tensor, number_of, tensor_of
from sqlinterp.model import Argument, ChildInvocation, OpInvocation, Tensor, integers

_KEYS = frozenset({"op", "args", "kwargs", "outputs", "children"})
_CHILD_KEYS = _KEYS | {"kernel", "alternates", "query_mode", "tc_input_count"}
_SCALARS = frozenset({bool, int, float, str, type(None)})

# Every reader below appends what is wrong, told from its value inwards: ".shape is ...". Whoever
# called it puts the place in front, so that nothing is spelled out while nothing is wrong.
Problems = list[str]
Reader = Callable[[Any, Problems], Any]


def read_invocation(given: Any) -> OpInvocation:
    """Return the invocation that a dictionary, JSON text or a simulator's own object describes.

    Raises
    ------
    UsageError
        If it is no invocation; the message lists every argument that is wrong.
    """
    try:
        return _read(given)
    except RecursionError as error:
        raise UsageError("malformed invocation: its lists are nested too deeply") from error


def _read(given: Any) -> OpInvocation:
    if isinstance(given, OpInvocation):
        if _is_read(given):
            return given
        given = _fields(given)
    if type(given) is not dict and is_call(given):
        return from_call(given)
    if isinstance(given, (str, bytes)):
        given = parse_json(given)
    problems: Problems = []
    invocation = _invocation(given, problems)
    if invocation is None or problems:
        texts = (p.removeprefix(".") if p[0] == "." else f"the invocation{p}" for p in problems)
        raise UsageError("malformed invocation: " + "; ".join(texts))
    return invocation


def read_invocations(given: Sequence[Any], part: slice = slice(None)) -> list[OpInvocation]:
    """Return a part of what was given as invocations.

    Raises
    ------
    UsageError
        If one is malformed; the message names its place if several were given.
    """
    invocations = []
    for place, one in enumerate(given[part], start=(part.start or 0) + 1):
        try:
            invocations.append(read_invocation(one))
        except UsageError as error:
            where = f"invocation {place}" if len(given) > 1 else ""
            raise UsageError(error.what, where, error.expected, error.todo) from error
    return invocations


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


def _is_read(given: OpInvocation) -> bool:
    """Whether an invocation is what the readers below make, as nearly all are that get here."""
    return (
        type(given.op) is str
        and given.op != ""
        and not given.children
        and type(given.args) is tuple
        and all(map(_is_argument, given.args))
        and type(given.kwargs) is dict
        and all(map(_is_argument, given.kwargs.values()))
        and type(given.outputs) is tuple
        and all(type(output) is Tensor for output in given.outputs)
    )


def _is_argument(value: Any) -> bool:
    kind = type(value)
    if kind is list:
        return all(map(_is_argument, value))
    if kind is tuple:
        return all(type(item) in _SCALARS for item in value)
    return kind is Tensor or kind in _SCALARS


def _fields(given: OpInvocation) -> dict[str, Any]:
    """Return an invocation that somebody put together as the object that stands for it."""
    return {name: getattr(given, name) for name in _KEYS}


def _invocation(
    given: Any, problems: Problems, keys: frozenset[str] = _KEYS
) -> OpInvocation | None:
    if not isinstance(given, Mapping):
        problems.append(f" is {told(given)}, expected an object")
        return None
    if not keys.issuperset(given):
        unknown = sorted(str(key) for key in given if key not in keys)
        problems.append(f" has unknown keys: {', '.join(unknown)}")
    op = given.get("op")
    if not isinstance(op, str) or not op:
        if given.get("kernel") is None:
            problems.append(f".op is {told(op)}, expected the name of an operator")
        op = ""
    return OpInvocation(
        op=op.removeprefix("torch.ops."),
        args=tuple(_each(_value(given, "args", ()), _argument, ".args", problems)),
        kwargs=_keywords(_value(given, "kwargs", {}), problems),
        outputs=_outputs(_value(given, "outputs", ()), problems),
        children=tuple(
            filter(None, _each(_value(given, "children", ()), _child, ".children", problems))
        ),
    )


def _value(given: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """Return what an object says under a key, and something else where that is null."""
    value = given.get(key)
    return otherwise if value is None else value


def _each(values: Any, read: Reader, place: str, problems: Problems) -> list[Any]:
    """Return what a reader makes of every value of a list."""
    found = []
    for number, value in enumerate(_sequence(values, place, problems)):
        known = len(problems)
        found.append(read(value, problems))
        if len(problems) > known:
            _put_in_front(f"{place}[{number}]", problems, known)
    return found


def _put_in_front(place: str, problems: Problems, known: int) -> None:
    """Tell the place of all problems but those that were known before."""
    problems[known:] = [place + problem for problem in problems[known:]]


def _keywords(given: Any, problems: Problems) -> dict[str, Argument]:
    if not isinstance(given, Mapping):
        problems.append(f".kwargs is {told(given)}, expected an object")
        return {}
    found = {}
    for key, value in given.items():
        known = len(problems)
        found[str(key)] = _argument(value, problems)
        _put_in_front(f".kwargs.{key}", problems, known)
    return found


def _outputs(values: Any, problems: Problems) -> tuple[Tensor, ...]:
    given = _each(values, _argument, ".outputs", problems)
    for place, argument in enumerate(given):
        if not (argument is None or isinstance(argument, (Tensor, int, float))):
            problems.append(f".outputs[{place}] is {told(argument)}, expected a tensor")
    return tuple(argument for argument in given if isinstance(argument, Tensor))


def _child(given: Any, problems: Problems) -> ChildInvocation | None:
    if isinstance(given, ChildInvocation) and isinstance(given.invocation, OpInvocation):
        own = {name: getattr(given, name) for name in _CHILD_KEYS - _KEYS}
        given = {**_fields(given.invocation), **own}
    invocation = _invocation(given, problems, _CHILD_KEYS)
    if invocation is None:
        return None
    count = given.get("tc_input_count")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        problems.append(f".tc_input_count is {told(count)}, expected a positive integer")
    texts = {key: given.get(key) for key in ("kernel", "query_mode")}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            problems.append(f".{key} is {told(value)}, expected text")
    alternates = _sequence(_value(given, "alternates", ()), ".alternates", problems)
    names = tuple(str(name) for name in alternates)
    return ChildInvocation(invocation, texts["kernel"], names, texts["query_mode"], count)


def _sequence(value: Any, place: str, problems: Problems) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    problems.append(f"{place} is {told(value)}, expected a list")
    return ()


def _argument(value: Any, problems: Problems) -> Argument:
    if type(value) is dict:  # what nearly all arguments are, told without asking abstract classes
        return _object(value, problems)
    if value is None or isinstance(value, (bool, int, float, str, Tensor)):
        return value
    if isinstance(value, (list, tuple)):
        items = _each(value, _argument, "", problems)
        return tuple(items) if isinstance(value, tuple) and _is_argument(tuple(items)) else items
    if isinstance(value, Mapping):
        return _object(value, problems)
    return _foreign(value, problems)


def _foreign(value: Any, problems: Problems) -> Argument:
    """Return a number or a tensor of another library."""
    number = number_of(value)
    if number is not None:
        return number
    if is_tensor(value):
        try:
            return tensor_of(value)
        except UsageError as error:
            problems.append(f": {error}")
            return None
    problems.append(f" is {told(value)}, expected a tensor, list, number, text or null")
    return None


def _object(value: Mapping[str, Any], problems: Problems) -> Argument:
    if "shape" in value and not ("ints" in value or "bools" in value):
        return _tensor(value, problems)
    for key, kind in (("ints", int), ("bools", bool)):
        if key in value:
            given = value[key].tolist() if hasattr(value[key], "tolist") else value[key]
            items = _sequence(given, f".{key}", problems)
            return _numbers(items, kind, f".{key}", problems)
    problems.append(f" is {told(value)}, expected a tensor with shape and dtype")
    return None


def _numbers(
    given: Sequence[Any], kind: type[int], place: str, problems: Problems
) -> tuple[int, ...]:
    try:
        if kind is int:
            return integers(given, "ints")
        if all(isinstance(item, bool) for item in given):
            return tuple(given)
    except UsageError:
        pass
    problems.append(f"{place} holds something else than {place[1:]}")
    return ()


def _tensor(value: Mapping[str, Any], problems: Problems) -> Tensor | None:
    shape, dtype, values = value["shape"], value.get("dtype"), value.get("values")
    try:
        return _made(shape, dtype, values)
    except UsageError:
        pass
    for parts, problem in (
        ((shape, "-", None), f".shape is {told(shape)}, expected dims from 0 to 2**40"),
        (((), dtype, None), f".dtype is {told(dtype)}, expected a torch dtype name"),
        (((), "-", values), f".values is {told(values)}, expected integers"),
    ):
        try:
            _made(*parts)
        except UsageError:
            problems.append(problem)
    return None


def _made(shape: Any, dtype: Any, values: Any) -> Tensor:
    if type(dtype) is not str and repr(dtype).startswith("torch."):
        dtype = repr(dtype)
    if isinstance(dtype, str):
        dtype = dtype.removeprefix("torch.")
    return Tensor(tuple(shape) if type(shape) is list else shape, dtype, values)
