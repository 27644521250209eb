"""Random numbers that depend on a text key and a position only: the same on every machine.

A counter goes through the SplitMix64 finaliser (public domain, S. Vigna), and everything after it
is addition and multiplication, so no library version and no mathematical library changes a digit.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def _start(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")


def uniform(key: str, rows: int, columns: int = 1) -> Floats:
    """Return numbers in [0, 1) of shape ``(rows, columns)`` that belong to ``key``."""
    offset = np.uint64(_start(key) & _MASK)
    counter = np.arange(1, rows * columns + 1, dtype=np.uint64)
    bits = counter * np.uint64(_GOLDEN) + offset
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return ((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(rows, columns)


def lognormal(key: str, rows: int, sigma: float) -> Floats:
    """Return factors of shape ``(rows,)`` around 1 whose logarithm has deviation ``sigma``."""
    parts = uniform(key, rows, 12)
    normal = np.full(rows, -6.0)
    for column in range(12):
        normal = normal + parts[:, column]
    power = normal * sigma
    factors: Floats = 1.0 + power * (1.0 + power / 2.0 * (1.0 + power / 3.0 * (1.0 + power / 4.0)))
    return factors


def ranking(key: str, rows: int) -> list[int]:
    """Return the positions 0 … rows - 1 in a random order."""
    return [int(i) for i in np.argsort(uniform(key, rows)[:, 0], kind="stable")]
