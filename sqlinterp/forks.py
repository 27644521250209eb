"""What a process forked from this one must not inherit: locks that only the parent's threads free.

A fork has one thread, the one that forked. Whatever the others were in the middle of stays so.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Renewed(Protocol):
    """Something that a fork has to begin anew."""

    def after_fork(self) -> None:
        """Make usable again what threads of the parent may have left half done."""


_RENEWED: WeakSet[Renewed] = WeakSet()


def renew_after_fork(owner: Renewed) -> None:
    """Call ``owner.after_fork()`` in every process forked from this one, before anything else."""
    _RENEWED.add(owner)


class Lock:
    """A lock that nobody holds in a process forked from this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget who held it."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exception: object) -> None:
        self._lock.release()


def _renew() -> None:
    for owner in list(_RENEWED):
        owner.after_fork()


if hasattr(os, "register_at_fork"):  # elsewhere there are no forks
    os.register_at_fork(after_in_child=_renew)
