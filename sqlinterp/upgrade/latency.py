"""The latency that ingest reads from a row, to check that an upgrade does not change it."""

from __future__ import annotations

import math

from sqlinterp.ingestion.inspection import LATENCY_HEADERS
from sqlinterp.upgrade.layouts import PREFIXED_NAMES, PROFILING_AVERAGE
from sqlinterp.upgrade.table import Table

_CORE_TIMES = ("Average aicore_time(us)", "Average aiv_time(us)")


def effective_latencies(table: Table, core_ratio: float | None) -> list[float | None]:
    """Return the latency of every row [us], None where it has none.

    Parameters
    ----------
    table : Table
        Rows of any kernel layout.
    core_ratio : float or None
        Duration-to-core ratio above which the time of the busiest core replaces a profiling mean,
        None when the mapping has no such policy for the kernel.

    Notes
    -----
    Source: reading order of the latency columns and the policy
    ``profiling_core_envelope_fallback``, as ingest applies them in SQL.
    """
    durations = [[_usable(cell) for cell in table.column(name)] for name in LATENCY_HEADERS]
    cores = [[_usable(cell) for cell in _core_cells(table, name)] for name in _CORE_TIMES]
    kinds = table.column("Accelerator Core")
    result = []
    for row, kind in enumerate(kinds):
        name, latency = next(
            (
                (name, column[row])
                for name, column in zip(LATENCY_HEADERS, durations, strict=True)
                if column[row] is not None
            ),
            ("", None),
        )
        times = [column[row] for column in cores]
        may_replace = name == PROFILING_AVERAGE and kind.strip() == "MIX_AIC"
        result.append(_enveloped(latency, times, core_ratio) if may_replace else latency)
    return result


def _core_cells(table: Table, legacy_name: str) -> tuple[str, ...]:
    prefixed = PREFIXED_NAMES[legacy_name]
    return table.column(prefixed if prefixed in table.header else legacy_name)


def _enveloped(
    latency: float | None, times: list[float | None], core_ratio: float | None
) -> float | None:
    known = [time for time in times if time is not None]
    if latency is None or core_ratio is None or len(known) < len(times):
        return latency
    core = max(known)
    return core if latency / core > core_ratio else latency


def _usable(cell: str) -> float | None:
    """Return a latency cell [us], None unless it is a finite positive number."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None
