"""A bounded memo that threads read without a lock."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from sqlinterp.forks import Lock

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """Values by key; what was not asked for lately is forgotten.

    Keys are kept in two generations: what is asked for moves to the young one, and when that is
    full, the old one is forgotten. So at most ``size`` values are kept, and none of the last
    ``size / 2`` distinct ones that were asked for is lost.

    Parameters
    ----------
    size : int
        Most values to keep, at least 2 [count].
    """

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._young: dict[Hashable, Value] = {}
        self._old: dict[Hashable, Value] = {}
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, None when there is none."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: Hashable, value: Value) -> Value:
        """Keep a value, unless the key has one lately; return the one that is kept."""
        with self._lock:
            if key not in self._young and len(self._young) >= self._half:
                self._old, self._young = self._young, {}
            return self._young.setdefault(key, value)

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._old, self._young = {}, {}

    def __len__(self) -> int:
        """Return the number of keys that have a value."""
        with self._lock:
            return len(self._young) + sum(key not in self._young for key in self._old)
