"""What a caller asks, as a key to look its answer up with and as an invocation to answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.simulator_call import from_call, is_call
from sqlinterp.model import OpInvocation
from sqlinterp.simulator.decomposition import Children, Decompose, Failure, children_of
from sqlinterp.simulator.keys import (
    Key,
    call_key,
    children_key,
    invocation_key,
    known_operator_name,
)
from sqlinterp.simulator.snapshot import Snapshot


@dataclass(slots=True)
class Request:
    """An invocation that was asked for.

    Attributes
    ----------
    given : object
        As the caller gave it.
    key : tuple
        Its canonical form.
    op : str
        Its operator.
    dispatch : str
        Lookup path of the operator.
    has_values : bool
        Whether its lookup reads values of tensors.
    parts : tuple of ChildInvocation, or Failure
        What it was decomposed into, empty when it was not, or why it could not be.
    """

    given: Any
    key: Key
    op: str
    dispatch: str
    has_values: bool
    parts: Children | Failure

    def invocation(self) -> OpInvocation:
        """Return the invocation to answer."""
        invocation = from_call(self.given, self.has_values) if is_call(self.given) else self.given
        if isinstance(self.parts, Failure) or not self.parts:
            return invocation
        return replace(invocation, children=self.parts)


def read_request(given: Any, snapshot: Snapshot[Any], decompose: Decompose | None) -> Request:
    """Return the request that a caller makes.

    Parameters
    ----------
    given : object
        An invocation object of the simulator, or what :func:`sqlinterp.open` databases take.
    snapshot : Snapshot
        The database that is asked.
    decompose : callable or None
        Gives the children of a composite that the mapping says is to be decomposed.

    Raises
    ------
    UsageError
        If it is no invocation.
    """
    if is_call(given):
        try:
            return _call_request(given, snapshot, decompose)
        except Exception:  # an unhashable or unusual argument: say what is wrong, or manage
            pass
    return _plain_request(read_invocation(given), snapshot, decompose)


def _call_request(given: Any, snapshot: Snapshot[Any], decompose: Decompose | None) -> Request:
    op = known_operator_name(given.func)
    dispatch, is_decomposed, has_values = snapshot.traits(op)
    key = call_key(op, given, has_values)
    parts: Children | Failure = ()
    if is_decomposed and decompose is not None:
        parts = children_of(given, decompose)
        key = (*key, parts if isinstance(parts, Failure) else children_key(parts))
    hash(key)
    return Request(given, key, op, dispatch, has_values, parts)


def _plain_request(
    invocation: OpInvocation, snapshot: Snapshot[Any], decompose: Decompose | None
) -> Request:
    dispatch, is_decomposed, has_values = snapshot.traits(invocation.op)
    key = invocation_key(invocation)
    parts: Children | Failure = ()
    if invocation.children:
        dispatch = "composite"
    elif is_decomposed and decompose is not None:
        parts = children_of(invocation, decompose)
        key = (*key, parts if isinstance(parts, Failure) else children_key(parts))
    return Request(invocation, key, invocation.op, dispatch, has_values, parts)
