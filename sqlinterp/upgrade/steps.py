"""The ordered upgrade steps; their names are recorded in the directories that they ran in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlinterp.demo.columns import CURRENT62
from sqlinterp.upgrade.changes import Change, Facts
from sqlinterp.upgrade.enrichment import add_batch_size, add_ep_size, fill_op_state
from sqlinterp.upgrade.layouts import PREFIXED36, PREFIXED_NAMES, layout_of, missing_columns
from sqlinterp.upgrade.table import Table


@dataclass(frozen=True)
class Step:
    """One named step: a pure function that gives the same table back when nothing is to do."""

    name: str
    about: str
    run: Callable[[Table, Facts], tuple[Table, Change]]


def repair_bom(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Leave one of several byte order marks; a file without one does not get any."""
    if table.bom_count < 2:
        return table, Change()
    other = (("byte order marks", str(table.bom_count), "1"),)
    return replace(table, bom_count=1), Change(other=other)


def prefix_profiling_columns(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Name the durations and counters of ``legacy36`` after the profiler that they come from.

    ``Average Duration(us)`` of ``legacy36`` is the mean of the profiler, so it is renamed with the
    others; the name is free for the microbenchmark afterwards.
    """
    if layout_of(table.header) != "legacy36":
        return table, Change()
    renamed = tuple((name, PREFIXED_NAMES[name]) for name in table.header if name in PREFIXED_NAMES)
    header = tuple(PREFIXED_NAMES.get(name, name) for name in table.header)
    return _completed(replace(table, header=header), PREFIXED36, renamed)


def add_microbench_columns(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Add what ``current62`` has and ``prefixed36`` has not; nothing was measured, so it is blank.

    A blank ``Average Duration(us)`` lets every row be read from the profiling mean, as before.
    """
    if layout_of(table.header) not in ("prefixed36", "current62"):
        return table, Change()
    return _completed(table, CURRENT62, ())


def _completed(
    table: Table, documented: tuple[str, ...], renamed: tuple[tuple[str, str], ...]
) -> tuple[Table, Change]:
    """Return the table with the columns of a layout in documented order, the others after them."""
    added = missing_columns(table.header, documented)
    if not added and not renamed:
        return table, Change()
    own = [name for name in documented if name in table.header or name in added]
    others = [name for name in table.header if name not in documented]
    return table.arranged([*own, *others]), Change(renamed=renamed, added=added)


STEPS: tuple[Step, ...] = (
    Step("001_repair_bom", "several byte order marks become one", repair_bom),
    Step("002_fill_op_state", "blank OP State becomes 'static'", fill_op_state),
    Step(
        "003_prefix_profiling_columns",
        "legacy36 to prefixed36: profiling columns say so in their names",
        prefix_profiling_columns,
    ),
    Step(
        "004_add_microbench_columns",
        "prefixed36 to current62: blank columns for the microbenchmark",
        add_microbench_columns,
    ),
    Step(
        "005_add_runtime_batch_size",
        "Runtime batch_size where shapes or sequence lengths prove it",
        add_batch_size,
    ),
    Step("006_add_ep_size", "EP Size where it was given", add_ep_size),
)
_STEP_COUNT = {"prefixed36": 3, "current62": len(STEPS)}


def steps_to(target: str) -> tuple[Step, ...]:
    """Return the steps that lead to a layout, in order."""
    return STEPS[: _STEP_COUNT[target]]
