"""Collective latencies: an alpha-beta law over message size, group size and topology tier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlinterp.demo.axes import axis
from sqlinterp.demo.noise import lognormal

PATH = "hccl/v8.5"
SIZES: tuple[int, ...] = tuple(128 * 2**power for power in range(23))
GROUPS: tuple[tuple[int, int], ...] = ((16, 1), (8, 1), (4, 1), (2, 2))
POD_GROUPS: tuple[int, ...] = (32, 64, 128, 256, 512, 768)

_BYTES_PER_US = {0: 196e3, 1: 196e3, 2: 224e3}
_ALPHA_US = {0: 5.5, 1: 0.5, 2: 0.2}
_EFFICIENCY = 0.7
_LAUNCH_US = 17.0


@dataclass(frozen=True)
class Collective:
    """One collective: share of the message on the wire, phases and fixed overhead by group."""

    name: str
    traffic: Callable[[int], float]
    rounds: int
    overhead_us: dict[int, float]


_GATHER_US = {16: 14.6, 8: 2.0}
COLLECTIVES: tuple[Collective, ...] = (
    Collective("hcom_allReduce_", lambda n: 2.0 * (n - 1) / n, 2, {16: 7.7, 8: 1.2}),
    Collective("hcom_allGather_", lambda n: float(n - 1), 1, _GATHER_US),
    Collective("hcom_reduceScatter_", lambda n: float(n - 1), 1, _GATHER_US),
    Collective("hcom_alltoallv_", lambda n: (n - 1) / n, 1, {}),
    Collective("hcom_alltoall_", lambda n: (n - 1) / n, 1, {}),
    Collective("hcom_broadcast_", lambda n: 1.0, 1, {}),
)


def _ideal_us(collective: Collective, size: int, devices: int, tier: int) -> float:
    rounds = collective.rounds * (devices - 1).bit_length()
    wire = size * collective.traffic(devices) / (_BYTES_PER_US[tier] * _EFFICIENCY)
    alpha = _ALPHA_US[tier] * rounds
    return _LAUNCH_US + collective.overhead_us.get(devices, 0.0) + alpha + wire


def _points(scale: float) -> Iterator[tuple[int, int, int]]:
    """Yield (bytes, devices, tier); a larger scale has more sizes and more pods."""
    sizes = axis(SIZES, max(len(SIZES), round(len(SIZES) * scale)), SIZES[-1], 64)
    pods = POD_GROUPS if scale >= 1 else POD_GROUPS[:1]
    for devices, tier in (*GROUPS, *((pod, 0) for pod in pods)):
        for size in sizes:
            yield size, devices, tier


def collective_rows(collective: Collective, scale: float, seed: int) -> list[list[str]]:
    """Return the rows of one collective.

    Parameters
    ----------
    collective : Collective
        The file.
    scale : float
        Below 1 one pod size, above 1 more message sizes.
    seed : int
        Seed of the whole demonstration.

    Returns
    -------
    list of list of str
        message_bytes, num_devices, dtype, topology_tier, Duration in us and GB/s.
    """
    points = list(_points(scale))
    noise = lognormal(f"{seed} {PATH} {collective.name}", len(points), 0.02).tolist()
    rows = []
    for (size, devices, tier), factor in zip(points, noise, strict=True):
        duration = _ideal_us(collective, size, devices, tier) * factor
        speed = size / duration / 1000.0
        texts = (size, devices, "DT_BF16", tier, f"{duration:.2f}", f"{speed:.2f}")
        rows.append([str(text) for text in texts])
    return rows
