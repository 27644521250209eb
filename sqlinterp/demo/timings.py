"""Durations and hardware counters of the rows of one file: the law, noise and row kinds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlinterp.demo.noise import Floats, lognormal, uniform

MICROBENCH, PROFILING, BOTH, UNMEASURED = range(4)

_SIGMA = {"AI_CORE": 0.012, "MIX_AIC": 0.02, "AI_VECTOR_CORE": 0.025, "MIX_AIV": 0.03}
_CYCLES_PER_US = 1800.0
_CUBE_CORES, _VECTOR_CORES = 24.0, 48.0
_PEAK_FLOPS_PER_US = 350e6
_CUBE_UNITS, _VECTOR_UNITS = 5, 4


@dataclass(frozen=True)
class Timings:
    """Latencies in us of shape ``(rows,)`` and counters of shape ``(rows, 25)``."""

    microbench_us: Floats
    profiling_us: Floats
    median_us: Floats
    std_us: Floats
    microbench_counters: Floats
    profiling_counters: Floats


def _core_block(key: str, duration: Floats, cores: float, units: int) -> Floats:
    """Return core time, cycles, (time, ratio) per unit and the cache miss rate."""
    rows = len(duration)
    parts = uniform(key, rows, units + 2)
    core_us = duration * (0.7 + 0.28 * parts[:, 0])
    block = np.empty((rows, 2 * units + 3))
    block[:, 0] = core_us
    block[:, 1] = np.rint(core_us * _CYCLES_PER_US * cores)
    for unit in range(units):
        ratio = 0.03 + 0.9 * parts[:, unit + 1]
        block[:, 2 + 2 * unit] = core_us * ratio
        block[:, 3 + 2 * unit] = ratio
    block[:, -1] = 0.1 * parts[:, -1]
    return block


def _counters(key: str, duration: Floats, flops: Floats, core: str) -> Floats:
    counters = np.zeros((len(duration), 25))
    if core in ("AI_CORE", "MIX_AIC"):
        block = _core_block(f"{key} cube", duration, _CUBE_CORES, _CUBE_UNITS)
        counters[:, 0 : block.shape[1]] = block
        use = 100.0 * flops / (duration * _PEAK_FLOPS_PER_US)
        counters[:, 24] = np.minimum(use, 99.0)
    if core != "AI_CORE":
        block = _core_block(f"{key} vector", duration, _VECTOR_CORES, _VECTOR_UNITS)
        counters[:, 13 : 13 + block.shape[1]] = block
    return counters


def timings_of(key: str, ideal_us: Floats, flops: Floats, core: str) -> Timings:
    """Return noisy timings of all rows.

    Parameters
    ----------
    key : str
        Seed, version and kernel; the same key gives the same numbers.
    ideal_us : array
        Latency by the law in us, shape ``(rows,)``.
    flops : array
        Floating point operations of a row, shape ``(rows,)``.
    core : str
        Accelerator core, decides which counters are zero.

    Returns
    -------
    Timings
        The microbenchmark takes 0.25 to 1 of the profiled time, mostly close to 1.
    """
    rows = len(ideal_us)
    micro = ideal_us * lognormal(f"{key} noise", rows, _SIGMA[core])
    draws = uniform(f"{key} profile", rows, 4)
    cube = draws[:, 0] * draws[:, 0] * draws[:, 0]
    profiled = micro / (1.0 - 0.75 * cube)
    median = profiled * (1.0 - 0.02 * draws[:, 1])
    spread = np.where(draws[:, 3] < 0.01, 1.2, 0.001 + 0.08 * draws[:, 2])
    return Timings(
        micro,
        profiled,
        median,
        profiled * spread,
        _counters(f"{key} microbench", micro, flops, core),
        _counters(f"{key} profiling", profiled, flops, core),
    )
