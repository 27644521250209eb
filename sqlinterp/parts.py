"""Long lists in parts, so that what is made of each is gone before the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the values in order, at most ``size`` of them together.

    >>> list(parts([1, 2, 3, 4, 5], 2))
    [[1, 2], [3, 4], [5]]
    """
    for start in range(0, len(values), size):
        yield values[start : start + size]
