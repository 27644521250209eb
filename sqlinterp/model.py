"""What goes in and what comes out: tensors, operator invocations, query context, answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from sqlinterp.errors import UsageError

LARGEST_DIM = 2**40


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor argument.

    Attributes
    ----------
    shape : tuple of int
        Dims [elements]; ``()`` is a scalar.
    dtype : str
        torch's name without ``torch.``, e.g. ``bfloat16``.
    values : tuple of int or None
        Values of a small integer tensor that the lookup reads, e.g. sequence lengths [tokens].

    Raises
    ------
    UsageError
        If dims are no integers from 0 to 2**40, the dtype is no text, or values are no integers.
        Lists become tuples, and integers of other libraries Python's.
    """

    shape: tuple[int, ...]
    dtype: str
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not _is_shape(self.shape):
            object.__setattr__(self, "shape", integers(self.shape, "shape"))
            if not _is_shape(self.shape):
                raise UsageError(f"{self.shape} is no shape", expected="dims from 0 to 2**40")
        if not isinstance(self.dtype, str) or not self.dtype:
            raise UsageError(f"{self.dtype!r} is no dtype", expected="its name in torch")
        if self.values is not None:
            object.__setattr__(self, "values", integers(self.values, "values"))


def _is_shape(given: Any) -> bool:
    if type(given) is not tuple:
        return False
    for dim in given:  # noqa: SIM110 - a third of the time of a generator, for every tensor
        if type(dim) is not int or not 0 <= dim <= LARGEST_DIM:
            return False
    return True


def integers(given: Any, name: str) -> tuple[int, ...]:
    """Return integers of any library as Python's; a bool is none.

    Raises
    ------
    UsageError
        If something else is among them, or they are neither a list nor an array.
    """
    if hasattr(given, "tolist"):
        given = given.tolist()
    if not isinstance(given, (list, tuple)) or not all(map(is_integer, given)):
        raise UsageError(f"{name} {given!r} holds something else than integers")
    return tuple(map(int, given))


def is_integer(given: Any) -> bool:
    """Return whether something is an integer, of whatever library; a bool is none."""
    return isinstance(given, Integral) and not isinstance(given, bool)


Argument = Any  # Tensor, list of Tensor or None, tuple of ints or bools, number, text, bool, None


@dataclass(frozen=True, slots=True)
class OpInvocation:
    """One call of a simulator operator.

    Attributes
    ----------
    op : str
        Overload name, e.g. ``aten.mm.default``.
    args : tuple
        Positional arguments in the order of the call.
    kwargs : mapping
        Keyword arguments.
    outputs : tuple of Tensor
        Results of the call, empty when unknown.
    children : tuple of ChildInvocation, optional
        Leaf invocations that the caller has decomposed this one into.
    """

    op: str
    args: tuple[Argument, ...] = ()
    kwargs: Mapping[str, Argument] = field(default_factory=dict)
    outputs: tuple[Tensor, ...] = ()
    children: tuple[ChildInvocation, ...] = ()


@dataclass(frozen=True)
class ChildInvocation:
    """A leaf of a composite: an invocation by operator, or arguments for a named kernel."""

    invocation: OpInvocation
    kernel: str | None = None
    alternates: tuple[str, ...] = ()
    query_mode: str | None = None
    tc_input_count: int | None = None


def _grid(given: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    try:
        shape, tiers = given
        found = integers(shape, "shape"), integers(tiers, "tiers")
    except (TypeError, ValueError, UsageError) as error:
        raise UsageError(
            "comm_grid is no device grid", expected="{'shape': [...], 'tiers': [...]}"
        ) from error
    if any(number < 0 for side in found for number in side):
        raise UsageError(f"comm_grid is {found!r}", expected="sizes and tiers from 0 on")
    return found


@dataclass(frozen=True)
class QueryContext:
    """What a lookup depends on besides the invocation.

    Attributes
    ----------
    ep_size, tp_size : int or None
        Ranks in the expert- and tensor-parallel groups, None when unknown.
    sequence_parallel : bool
        Whether sequence parallelism is on.
    comm_grid : tuple of (shape, tiers) or None
        Device grid and topology tier of each of its dims, outermost first.
    disable_interpolation : bool
        Answer exact lookups only.
    aggregation : str
        How duplicates become one latency: mean, median, min, first or reference.
    policy : str or None
        Canonical JSON of policy fields that win over those of the mapping, None for the mapping's.

    Raises
    ------
    UsageError
        If a size is no integer, a switch neither True nor False, or the grid no pair of
        lists of integers.
    """

    ep_size: int | None = None
    tp_size: int | None = None
    sequence_parallel: bool = False
    comm_grid: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    disable_interpolation: bool = False
    aggregation: str = "mean"
    policy: str | None = None

    def __post_init__(self) -> None:
        for name in ("ep_size", "tp_size"):
            size = getattr(self, name)
            if size is not None and not is_integer(size):
                raise UsageError(f"{name} is {size!r}", expected="an integer")
            object.__setattr__(self, name, None if size is None else int(size))
        for name in ("sequence_parallel", "disable_interpolation"):
            switch = getattr(self, name)
            if not (str(switch) in ("True", "False", "0", "1") and switch in (True, False)):
                raise UsageError(f"{name} is {switch!r}", expected="True or False")
            object.__setattr__(self, name, bool(switch))
        if self.comm_grid is not None:
            object.__setattr__(self, "comm_grid", _grid(self.comm_grid))


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one invocation; attributes are the JSON keys of the contract.

    Attributes
    ----------
    source : str or None
        MEASURED, INTERPOLATED, EXTRAPOLATED, PARTIAL, or None for a miss.
    latency_us : float or None
        Latency [us], finite, None for a miss.
    confidence : float or None
        Label between 0 and 1 for display; it never decides anything.
    shape_match_rule : str or None
        How the shapes matched, or which interpolation was used.
    miss_reason : str or None
        Why there is no complete answer.
    details : dict
        Where the number comes from, or how far the lookup got.
    """

    op: str
    source: str | None = None
    latency_us: float | None = None
    confidence: float | None = None
    kernel_type: str | None = None
    shape_match_rule: str | None = None
    miss_reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the contract's JSON object."""
        return {
            "op": self.op,
            "source": self.source,
            "latency_us": self.latency_us,
            "confidence": self.confidence,
            "kernel_type": self.kernel_type,
            "shape_match_rule": self.shape_match_rule,
            "miss_reason": self.miss_reason,
            "details": finite_json(self.details),
        }

    def to_json(self) -> str:
        """Return the answer as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def finite_json(value: Any) -> Any:
    """Replace what JSON cannot hold: non-finite numbers become null, tuples lists."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_json(item) for item in value]
    return value
