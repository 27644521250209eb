"""The finished rows of one CSV file: row kinds, deliberate defects and the text of every cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sqlinterp.demo.columns import EXTRA_COLUMNS
from sqlinterp.demo.noise import Floats, ranking
from sqlinterp.demo.points import Point, points_of
from sqlinterp.demo.tables import Kernel
from sqlinterp.demo.timings import (
    BOTH,
    MICROBENCH,
    PROFILING,
    UNMEASURED,
    Timings,
    timings_of,
)
from sqlinterp.demo.versions import Version

DUPLICATE_RATE = 0.001
UNMEASURED_RATE = 0.01
BLANK_STATE_RATE = 0.006
_START = 0.9
_UNIQUE_KERNELS = frozenset(
    {
        "FusedInferAttentionScore",
        "SparseFlashAttention",
        "LightningIndexer",
        "KvRmsNormRopeCache",
    }
)
_COUNTER_FORMAT = ",".join(["%.6f"] * 25)
_ZEROS = ["0"] * 25
_BLANKS = [""] * 25


@dataclass(frozen=True)
class Plan:
    """What one file holds: its points and, aligned with them, row kinds and blank states."""

    points: tuple[Point, ...]
    kinds: tuple[int, ...]
    blank_state: frozenset[int]


def _quota(rate: float, before: int, rows: int) -> int:
    """Return how many defects a file gets when ``before`` rows of its version precede it."""
    return int(rate * (before + rows) + _START) - int(rate * before + _START)


def _with_duplicates(points: list[Point], key: str, kernel: Kernel, before: int) -> list[Point]:
    wanted = _quota(DUPLICATE_RATE, before, len(points))
    if kernel.name in _UNIQUE_KERNELS or kernel.kind == "minimal":
        return points
    order = [i for i in ranking(f"{key} duplicates", len(points)) if not points[i].protected]
    twice = set(order[:wanted])
    return [
        point
        for i, original in enumerate(points)
        for point in ([original, replace(original)] if i in twice else [original])
    ]


def _kinds(points: list[Point], key: str, kernel: Kernel, before: int) -> list[int]:
    rows = len(points)
    base = PROFILING if kernel.kind == "profiling" else MICROBENCH
    kinds = [base] * rows
    if kernel.kind == "minimal":
        return kinds
    order = [i for i in ranking(f"{key} kinds", rows) if not points[i].protected]
    profiled = min(rows // 8, 8) if kernel.kind == "mixed" else 0
    both = min(rows // 4, 10) if kernel.kind == "mixed" else 0
    for i in order[:profiled]:
        kinds[i] = PROFILING
    for i in order[profiled : profiled + both]:
        kinds[i] = BOTH
    if rows > 3:
        for i in order[profiled + both :][: _quota(UNMEASURED_RATE, before, rows)]:
            kinds[i] = UNMEASURED
    return kinds


def plan_of(kernel: Kernel, version: Version, scale: float, seed: int, before: int) -> Plan:
    """Return the points, row kinds and defects of one file.

    Parameters
    ----------
    kernel, version : Kernel, Version
        The file.
    scale : float
        Share of the documented number of rows.
    seed : int
        Seed of the whole demonstration.
    before : int
        Rows of the version's earlier files; it places the rare defects.

    Returns
    -------
    Plan
        Deterministic in the arguments.
    """
    key = f"{seed} {version.folder} {kernel.name}"
    points = _with_duplicates(points_of(kernel, version, scale), key, kernel, before)
    kinds = _kinds(points, key, kernel, before)
    blanks = ranking(f"{key} states", len(points))[: _quota(BLANK_STATE_RATE, before, len(points))]
    return Plan(tuple(points), tuple(kinds), frozenset(blanks))


def _numbers(row: Floats) -> list[str]:
    return (_COUNTER_FORMAT % tuple(row.tolist())).split(",")


def _current_cells(times: Timings, i: int, kind: int) -> list[str]:
    measured, profiled = kind in (MICROBENCH, BOTH), kind in (PROFILING, BOTH)
    blank = _BLANKS if kind == PROFILING else _ZEROS
    micro = _numbers(times.microbench_counters[i]) if measured else blank
    profile = _numbers(times.profiling_counters[i]) if profiled else _ZEROS
    counters = [text for pair in zip(micro, profile, strict=True) for text in pair]
    average = f"{times.microbench_us[i]:.6f}" if measured else blank[0]
    return [average, *(_profile_cells(times, i) if profiled else ["0", "0", "0"]), *counters]


def _profile_cells(times: Timings, i: int) -> list[str]:
    return [
        f"{times.profiling_us[i]:.6f}",
        f"{times.median_us[i]:.6f}",
        f"{times.std_us[i]:.6f}",
    ]


def _legacy_cells(times: Timings, i: int, kind: int) -> list[str]:
    if kind == UNMEASURED:
        return ["0", "0", "0", *_ZEROS]
    return [*_profile_cells(times, i), *_numbers(times.profiling_counters[i])]


def layout_of(kernel: Kernel, version: Version) -> str:
    """Return the layout of one file; three kernels of the current version are ``minimal9``."""
    current = version.layout == "current62"
    return "minimal9" if current and kernel.kind == "minimal" else version.layout


def rows_of(plan: Plan, kernel: Kernel, version: Version, seed: int) -> Iterator[list[str]]:
    """Yield the cells of every row of one file, without the header.

    Returns
    -------
    iterator of list of str
        Aligned with the header of the file's layout.
    """
    ideal = np.array([point.latency_us for point in plan.points])
    flops = np.array([float(point.flops) for point in plan.points])
    key = f"{seed} {version.folder} {kernel.name}"
    times = timings_of(key, ideal, flops, kernel.core)
    layout = layout_of(kernel, version)
    extras = EXTRA_COLUMNS.get(kernel.name, ()) if layout == "current62" else ()
    usual = "static" if kernel.name.lower().endswith("aicore") else "dynamic"
    for i, (point, kind) in enumerate(zip(plan.points, plan.kinds, strict=True)):
        state = "" if i in plan.blank_state else usual
        if layout == "minimal9":
            measured = [f"{times.microbench_us[i]:.6f}"]
        elif layout == "legacy36":
            measured = _legacy_cells(times, i, kind)
        else:
            measured = _current_cells(times, i, kind)
        yield [state, kernel.core, *point.cells, *measured, *(point.extras[c] for c in extras)]
