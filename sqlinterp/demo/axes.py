"""The grids that the shapes are drawn from, in the order in which a thin grid takes them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import pairwise

M_GRID: tuple[int, ...] = (
    *range(1, 9),
    *(10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 112, 128),
    *(160, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384, 32768),
)
NK_GRID: tuple[int, ...] = (
    *(128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1728, 1792, 2048),
    *(2304, 2560, 3072, 3456, 3584, 4096, 4608, 5120, 6144, 6912, 7168, 8192, 10240, 12288),
    *(13824, 14336, 16384, 18432, 27648, 28672, 55296),
)
MOE_TOKENS: tuple[int, ...] = tuple(2**power for power in range(17))
HEADS: tuple[int, ...] = (16, 4, 64, 32, 8, 128, 1, 2, 3, 5, 10, 12, 20, 24, 40, 48)
REAL_TOKENS: tuple[int, ...] = (
    *(9, 144, 515, 518, 1030, 1539, 1545, 1548, 2565, 3072, 4099, 4112, 24624),
)
_PAD_FIRST = (7, 63, 255, 1023, 15, 4095, 31, 127, 511, 2047, 1, 129, 257, 513, 1025, 2049, 4097)
PAD_TOKENS: tuple[int, ...] = (*_PAD_FIRST, 2, 3, 4, 5, 6, 9, 8191, 8193)
_FIRST = (16, 1, 256, 4096, 64, 1024, 4, 2048, 128, 512, 32, 8)

BOX_M: tuple[int, ...] = (16, 64, 160, 512, 1, 2048, 4, 32, 256, 1024, 8, 96, 4096, 2, 128)
BOX_K: tuple[int, ...] = (1024, 1536, 3072, 5120, 512, 7168, 2048, 4096, 6144, 256, 8192)
BOX_N: tuple[int, ...] = (768, 2304, 6144, 256, 8192, 1280, 3584, 512, 1792, 4608, 128)


def unique(*groups: Iterable[int]) -> tuple[int, ...]:
    """Return the numbers of all groups without repeats, in order of first appearance."""
    return tuple(dict.fromkeys(number for group in groups for number in group))


TOKENS: tuple[int, ...] = unique(_FIRST, M_GRID, REAL_TOKENS)


def axis(preferred: Sequence[int], count: int, limit: int, step: int = 1) -> list[int]:
    """Return up to ``count`` sorted axis values.

    Parameters
    ----------
    preferred : sequence of int
        Values in order of preference; a thin axis takes the first ones.
    count : int
        Number of values wanted.
    limit : int
        Largest value allowed.
    step : int
        Multiple that inserted values keep.

    Returns
    -------
    list of int
        Sorted; midpoints of the widest gaps (by ratio) are inserted when ``preferred`` is used up,
        fewer than ``count`` only when no gap is left.
    """
    chosen = sorted([number for number in preferred if number <= limit][:count])
    gaps = [(-high / low, low, high) for low, high in pairwise(chosen)]
    heapq.heapify(gaps)
    while len(chosen) < count and gaps:
        _, low, high = heapq.heappop(gaps)
        middle = (low + high) // 2 // step * step
        if low < middle < high:
            chosen.append(middle)
            heapq.heappush(gaps, (-middle / low, low, middle))
            heapq.heappush(gaps, (-high / middle, middle, high))
    return sorted(chosen)


def box_sides(count: int) -> tuple[list[int], list[int], list[int]]:
    """Return the M, K and N values of a complete box of at most ``max(count, 48)`` points."""
    root = 1
    while (root + 1) ** 3 <= count:
        root += 1
    rows = min(max(4, root + root // 4), len(M_GRID)) if count < 60_000 else root
    inner = max(4, _root2(count // rows))
    outer = max(3, count // (rows * inner))
    return (
        axis(unique(BOX_M, M_GRID), rows, 32768),
        axis(unique(BOX_K, NK_GRID), inner, 18432, 16),
        axis(unique(BOX_N, NK_GRID), outer, 18432, 16),
    )


def _root2(number: int) -> int:
    root = 1
    while (root + 1) ** 2 <= number:
        root += 1
    return root
