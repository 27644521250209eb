"""Reading an invocation from JSON, checking everything and naming the argument that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.lookup.simulator_call import from_call, is_call
from sqlinterp.model import Argument, ChildInvocation, OpInvocation, Tensor

_LARGEST_DIM = 2**40
_KEYS = frozenset({"op", "args", "kwargs", "outputs", "children"})
_CHILD_KEYS = _KEYS | {"kernel", "alternates", "query_mode", "tc_input_count"}

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
    if isinstance(given, OpInvocation):
        return given
    if type(given) is not dict and is_call(given):
        return from_call(given)
    if isinstance(given, (str, bytes)):
        given = parse_json(given)
    problems: Problems = []
    invocation = _invocation(given, problems)
    if invocation is None or problems:
        told = (p.removeprefix(".") if p[0] == "." else f"the invocation{p}" for p in problems)
        raise UsageError("malformed invocation: " + "; ".join(told))
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
            raise UsageError(error.what, where) from error
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


def _invocation(
    given: Any, problems: Problems, keys: frozenset[str] = _KEYS
) -> OpInvocation | None:
    if not isinstance(given, Mapping):
        problems.append(f" is {_short(given)}, expected an object")
        return None
    if not keys.issuperset(given):
        unknown = sorted(str(key) for key in given if key not in keys)
        problems.append(f" has unknown keys: {', '.join(unknown)}")
    op = given.get("op")
    if not isinstance(op, str) or not op:
        if "kernel" not in given:
            problems.append(f".op is {_short(op)}, expected the name of an operator")
        op = ""
    return OpInvocation(
        op=op.removeprefix("torch.ops."),
        args=tuple(_each(given.get("args", ()), _argument, ".args", problems)),
        kwargs=_keywords(given.get("kwargs") or {}, problems),
        outputs=_outputs(given.get("outputs") or (), problems),
        children=tuple(
            filter(None, _each(given.get("children") or (), _child, ".children", problems))
        ),
    )


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
        problems.append(f".kwargs is {_short(given)}, expected an object")
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
            problems.append(f".outputs[{place}] is {_short(argument)}, expected a tensor")
    return tuple(argument for argument in given if isinstance(argument, Tensor))


def _child(given: Any, problems: Problems) -> ChildInvocation | None:
    invocation = _invocation(given, problems, _CHILD_KEYS)
    if invocation is None:
        return None
    count = given.get("tc_input_count")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        problems.append(f".tc_input_count is {_short(count)}, expected a positive integer")
    texts = {key: given.get(key) for key in ("kernel", "query_mode")}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            problems.append(f".{key} is {_short(value)}, expected text")
    alternates = _sequence(given.get("alternates") or (), ".alternates", problems)
    names = tuple(str(name) for name in alternates)
    return ChildInvocation(invocation, texts["kernel"], names, texts["query_mode"], count)


def _sequence(value: Any, place: str, problems: Problems) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    problems.append(f"{place} is {_short(value)}, expected a list")
    return ()


def _argument(value: Any, problems: Problems) -> Argument:
    if type(value) is dict:  # what nearly all arguments are, told without asking abstract classes
        return _object(value, problems)
    if value is None or isinstance(value, (bool, int, float, str, Tensor)):
        return value
    if isinstance(value, (list, tuple)):
        return _each(value, _argument, "", problems)
    if isinstance(value, Mapping):
        return _object(value, problems)
    problems.append(f" is {_short(value)}, expected a tensor, list, number, text or null")
    return None


def _object(value: Mapping[str, Any], problems: Problems) -> Argument:
    if "shape" in value and not ("ints" in value or "bools" in value):
        return _tensor(value, problems)
    for key, kind in (("ints", int), ("bools", bool)):
        if key in value:
            items = _sequence(value[key], f".{key}", problems)
            if not all(
                isinstance(i, kind) and (kind is bool) == isinstance(i, bool) for i in items
            ):
                problems.append(f".{key} holds something else than {key}")
            return tuple(items)
    problems.append(f" is {_short(value)}, expected a tensor with shape and dtype")
    return None


def _tensor(value: Mapping[str, Any], problems: Problems) -> Tensor:
    shape, dtype, values = value["shape"], value.get("dtype"), value.get("values")
    if not _is_shape(shape):
        problems.append(f".shape is {_short(shape)}, expected dims from 0 to 2**40")
        shape = ()
    if not isinstance(dtype, str) or not dtype:
        problems.append(f".dtype is {_short(dtype)}, expected a torch dtype name")
        dtype = ""
    numbers = None
    if isinstance(values, (list, tuple)) and all(map(_is_int, values)):
        numbers = tuple(values)
    elif values is not None:
        problems.append(f".values is {_short(values)}, expected integers")
    return Tensor(tuple(shape), dtype.removeprefix("torch."), numbers)


def _is_shape(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    for dim in value:
        if not (type(dim) is int or _is_int(dim)) or not 0 <= dim <= _LARGEST_DIM:
            return False
    return True


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
