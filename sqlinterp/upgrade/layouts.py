"""The column sets that an upgrade leads through, and which of them a header has."""

from __future__ import annotations

from collections.abc import Iterable

from sqlinterp.demo.columns import BASE8, COUNTERS, CURRENT62, LEGACY36, MINIMAL9
from sqlinterp.errors import UsageError

AVERAGE = "Average Duration(us)"
PROFILING_AVERAGE = "Profiling Average Duration(us)"
PREFIXED36: tuple[str, ...] = (
    *BASE8,
    PROFILING_AVERAGE,
    "Profiling Median Duration(us)",
    "Profiling Std Duration(us)",
    *(f"Profiling Average {counter}" for counter in COUNTERS),
)
# What is called how in legacy36 and in prefixed36; both list the same quantities in one order.
PREFIXED_NAMES: dict[str, str] = dict(
    zip(LEGACY36[len(BASE8) :], PREFIXED36[len(BASE8) :], strict=True)
)
TARGETS: tuple[str, ...] = ("prefixed36", "current62")
LATEST = "latest"

# 'Average Duration(us)' is in both sets with different meanings, so it tells nothing on its own.
_LEGACY_ONLY = frozenset(PREFIXED_NAMES) - {AVERAGE}
_NEWER_ONLY = frozenset(CURRENT62) - frozenset(BASE8) - {AVERAGE}


def layout_of(header: Iterable[str]) -> str:
    """Return which column set a header has, also when optional columns are missing or added.

    Returns
    -------
    str
        ``legacy36``, ``prefixed36``, ``current62``, ``minimal9``, ``comm6``; ``mixed`` when names
        of ``legacy36`` and of a newer layout are in one header; else ``other``.

    Examples
    --------
    >>> layout_of(["Input Shapes", "Average Duration(us)", "Std Duration(us)"])
    'legacy36'
    >>> layout_of(["Input Shapes", "Average Duration(us)"])
    'other'
    """
    names = set(header)
    if "message_bytes" in names:
        return "comm6"
    newer = names & _NEWER_ONLY
    if names & _LEGACY_ONLY:
        return "mixed" if newer else "legacy36"
    if newer:
        has_microbench = any(name.startswith("MicroBench ") for name in newer)
        return "current62" if has_microbench else "prefixed36"
    return "minimal9" if names == set(MINIMAL9) else "other"


def mixed_names(header: Iterable[str]) -> tuple[str, str]:
    """Return one name of ``legacy36`` and one newer name of a mixed header."""
    names = list(header)
    return (
        next(name for name in names if name in _LEGACY_ONLY),
        next(name for name in names if name in _NEWER_ONLY),
    )


def missing_columns(header: Iterable[str], documented: tuple[str, ...]) -> tuple[str, ...]:
    """Return the duration and counter columns of a layout that a header lacks, in order.

    The columns that describe the operator (shapes, data types, ...) are never among them: a blank
    one would say that there are no shapes, which a missing one does not.
    """
    names = set(header)
    return tuple(name for name in documented[len(BASE8) :] if name not in names)


def read_target(name: str | None) -> str:
    """Return the layout that the argument ``--to`` means.

    Raises
    ------
    UsageError
        If it names no layout that an upgrade leads to.

    Examples
    --------
    >>> read_target("latest")
    'current62'
    """
    known = f"{', '.join(TARGETS)} or {LATEST}"
    if name is None:
        raise UsageError("the layout to upgrade to is missing", "--to", known)
    if name == LATEST:
        return TARGETS[-1]
    if name not in TARGETS:
        raise UsageError(f"there is no layout '{name}' to upgrade to", "--to", known)
    return name
