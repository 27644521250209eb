"""Numbers and tensors of other libraries, and objects that refuse to tell what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases_for_tests import tensor
from lookup.attention_support import ATTENTION
from simulator.stand_in import (
    BF16,
    INT64,
    MM,
    PROFILE,
    REDUCE,
    FakeTensor,
    OpInvokeInfo,
    Overload,
    attention,
    invoke,
    mm,
)

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import ChildInvocation, OpInvocation, Tensor
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator import SqlDataSource

LEFT, RIGHT = Tensor((64, 64), "bfloat16"), Tensor((64, 32), "bfloat16")


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


class Size:
    """A symbolic size: an integer for whoever asks, and not to be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    def __int__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return self._value == other


class Mute:
    """A tensor without one shape."""

    dtype = BF16

    @property
    def shape(self) -> tuple[int, ...]:
        raise RuntimeError("ask for the shapes of its parts")


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no text")


class Sequestered(FakeTensor):
    """A fake tensor: asked for its data, it changes what it belongs to."""

    fake_mode = object()
    constant: FakeTensor | None = None

    def tolist(self) -> Any:
        raise AssertionError("its data was asked for")


def sized(*dims: Any) -> FakeTensor:
    found = FakeTensor(1)
    found.shape = dims
    return found


@pytest.fixture(scope="module")
def asked(database: Path) -> Iterator[Callable[[Any], list[Any]]]:
    """What every way to ask says of something: source, latency and reason of the answers."""

    def told(opened: ProfilingDatabase, source: SqlDataSource, given: Any) -> list[Any]:
        single, batch = opened.lookup(given), opened.lookup_many([given, given])
        source.lookup(given)
        source.prefetch([given])
        again = SqlDataSource(database)
        again.prefetch([given])
        again.lookup(given)
        answers = (single, *batch, source.last_answer, again.last_answer)
        again.close()
        return [(a.source, a.latency_us, a.miss_reason) for a in answers if a is not None]

    with sqlinterp.open(database) as opened, SqlDataSource(database) as source:
        yield lambda given: told(opened, source, given)


PLAIN = {"op": MM, "args": [tensor(64, 64), tensor(64, 32)]}


@pytest.mark.parametrize(
    "given",
    [
        invoke(MM, sized(Size(64), Size(64)), sized(64, Size(32))),
        invoke(MM, sized(np.int64(64), 64), FakeTensor(64, 32), np.int64(3), scale=np.float32(2)),
        invoke(MM, FakeTensor(64, 64), FakeTensor(64, 32), Unprintable(), {"a": [1]}),
        invoke(MM, FakeTensor(64, 64), FakeTensor(64, 32), out=(None, Size(3))),
        OpInvokeInfo(Overload(MM), mm(64).args, None),  # type: ignore[arg-type]
        {**PLAIN, "args": [{"shape": (np.int64(64), 64), "dtype": "bfloat16"}, tensor(64, 32)]},
        {**PLAIN, "args": [{"shape": np.array([64, 64]), "dtype": "bfloat16"}, FakeTensor(64, 32)]},
        {**PLAIN, "args": [*PLAIN["args"], {"ints": np.array([1, 2])}, {"bools": [True]}]},
        {**PLAIN, "args": [*PLAIN["args"], np.int64(3), np.float32(2), np.bool_(True), Size(4)]},
        OpInvocation(MM, (Tensor((np.int64(64), 64), "bfloat16"), RIGHT)),
        OpInvocation(MM, [Tensor([64, 64], "bfloat16"), FakeTensor(64, 32)]),  # type: ignore[arg-type]
        OpInvocation(MM, (LEFT, RIGHT), None, None, None),  # type: ignore[arg-type]
    ],
    ids=range(12),
)
def test_it_is_answered_like_plain_numbers(asked: Callable[[Any], list[Any]], given: Any) -> None:
    assert set(asked(given)) == {("MEASURED", 64.0, None)} == set(asked(PLAIN))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (invoke(MM, Mute(), FakeTensor(64, 32)), "Mute has no shape: ask for the shapes of its"),
        (invoke(MM, *mm(64).args, out=Mute()), "Mute has no shape"),
        (invoke(MM, sized(64.5, 64), FakeTensor(64, 32)), r"\(64\.5, 64\) is no shape"),
        (invoke(MM, sized(float("inf"), 64), FakeTensor(64, 32)), r"\(inf, 64\) is no shape"),
        (invoke(MM, sized(float("nan"), 64), FakeTensor(64, 32)), r"\(nan, 64\) is no shape"),
        (invoke(MM, sized("64", 64), FakeTensor(64, 32)), r"\('64', 64\) is no shape"),
        (invoke(MM, sized(2**70, 64), FakeTensor(64, 32)), r"is no shape.*from 0 to 2\*\*40"),
        (OpInvokeInfo(Overload(MM), mm(64).args, [1]), "kwargs of aten.mm.default are no mapping"),  # type: ignore[arg-type]
        ({**PLAIN, "args": [Mute()]}, r"args\[0\]: Mute has no shape"),
        ({**PLAIN, "args": [{"shape": np.array([1.5]), "dtype": "x"}]}, r"\.shape is array"),
        ({**PLAIN, "args": [ENDLESS]}, "nested too deeply"),
        (invoke(MM, ENDLESS), "nested too deeply"),
        (OpInvocation(MM, (ENDLESS,)), "nested too deeply"),
        (OpInvocation(MM, 5), "args is 5, expected a list"),  # type: ignore[arg-type]
        ({**PLAIN, "outputs": np.zeros(2)}, "outputs is array"),
        ({**PLAIN, "kwargs": np.zeros(2)}, "kwargs is array"),
        (OpInvocation(MM, (object(),)), r"args\[0\] is <object object>, expected"),
        (OpInvocation(MM, (Unprintable(),)), r"args\[0\] is Unprintable, expected"),
        (OpInvocation(MM, (LEFT,), {"a": object()}), r"kwargs\.a is <object object"),
        (OpInvocation(MM, (LEFT,), outputs=("x",)), r"outputs\[0\] is 'x'"),  # type: ignore[arg-type]
        (OpInvocation(None, (LEFT,)), "op is None"),  # type: ignore[arg-type]
        (OpInvocation(MM, children=(5,)), r"children\[0\] is 5"),  # type: ignore[arg-type]
    ],
)
def test_it_is_refused_with_its_place(
    asked: Callable[[Any], list[Any]], database: Path, given: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        asked(given)
    with SqlDataSource(database) as source:
        for ask in (source.lookup, lambda one: source.prefetch([mm(64), one])):
            with pytest.raises(UsageError, match=message):
                ask(given)


@pytest.mark.parametrize(
    ("shape", "dtype", "values"),
    [
        ((-1, 2), "int64", None),
        ((True, 2), "int64", None),
        (("64", 2), "int64", None),
        ((64.0, 2), "int64", None),
        (7, "int64", None),
        ({1: 2}, "int64", None),
        (b"ab", "int64", None),
        (np.zeros((2, 2), int), "int64", None),
        ((2**41,), "int64", None),
        ((2,), None, None),
        ((2,), "", None),
        ((2,), "int64", (0.5, 1)),
        ((2,), "int64", 5),
    ],
)
def test_no_tensor_is_made_of_anything_else(shape: Any, dtype: Any, values: Any) -> None:
    with pytest.raises(UsageError):
        Tensor(shape, dtype, values)


def test_integers_of_other_libraries_become_plain_ones() -> None:
    found = Tensor([np.int64(2), 3], "int64", np.arange(2))  # type: ignore[arg-type]
    assert found == Tensor((2, 3), "int64", (0, 1))
    assert {type(number) for number in (*found.shape, *(found.values or ()))} == {int}


def test_a_fake_tensor_keeps_its_data(database: Path) -> None:
    """Torch invents symbols for data that a fake tensor is asked for."""
    call = attention(1024, 1024)
    with SqlDataSource(database) as source:
        measured = source.lookup(call)
        lengths = Sequestered(2, dtype=INT64, data=[1024, 1024])
        hidden = source.lookup(invoke(ATTENTION, *call.args[:6], lengths))
        lengths.constant = call.args[6]
        assert source.lookup(invoke(ATTENTION, *call.args[:6], lengths)) == measured
    assert measured.latency_us == 10
    assert hidden is None or hidden.latency_us != 10


def test_scalars_of_numpy_are_told_apart(database: Path) -> None:
    """They have a shape and a dtype as tensors do, but their value counts."""
    with SqlDataSource(database, device_profile=PROFILE) as source:
        found = [
            source.lookup(invoke(REDUCE, FakeTensor(4096), rank, [np.int64(0), np.int64(1)]))
            for rank in (np.int64(0), 0)
        ]
        memo = source._snapshots.current().memo
        known = len(memo)
        source.lookup(invoke(REDUCE, FakeTensor(4096), np.int64(1), [0, 1]))
        assert len(memo) == known + 1
    assert found[0] is not None and found[0] == found[1]


def test_an_invocation_that_was_read_is_read_the_same_again() -> None:
    child = {"kernel": "K", "alternates": ["L"], "args": [tensor(2), {"ints": [1, 2]}]}
    given = {
        "op": "a",
        "args": [[tensor(2), None], {"ints": [1]}, {"bools": [True]}, [1, 2], 1.5, "x", None],
        "kwargs": {"b": [1, "c"], "d": tensor(1)},
        "children": [child],
    }
    read = read_invocation(given)
    assert read_invocation(read) == read
    assert read.children == (
        ChildInvocation(
            OpInvocation("", (Tensor((2,), "bfloat16"), (1, 2))), "K", ("L",), None, None
        ),
    )
