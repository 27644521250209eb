"""What answers depend on besides the call, from the simulator's own descriptions of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.model import QueryContext, is_integer

Switch = Callable[[], bool]
Grid = tuple[tuple[int, ...], tuple[int, ...]]
_SWITCH_MODULE = "tensor_cast.config"
_SWITCH = ("compilation", "passes", "enable_sequence_parallel")


class Surroundings:
    """The context of lookups, of which only sequence parallelism changes between them.

    Parameters
    ----------
    context : QueryContext
        The context without sequence parallelism.
    is_parallel : callable
        Tells whether it is on.
    """

    def __init__(self, context: QueryContext, is_parallel: Switch) -> None:
        self.is_parallel = is_parallel
        self._contexts = {False: context, True: replace(context, sequence_parallel=True)}

    def context(self, is_parallel: bool) -> QueryContext:
        """Return the context with sequence parallelism or without."""
        return self._contexts[is_parallel]


def communication_grid(device_profile: Any) -> Grid | None:
    """Return shape and topology tiers of the communication grid of a device profile.

    Parameters
    ----------
    device_profile : object or None
        ``comm_grid.grid.shape`` is the shape, the keys of ``comm_grid.topologies`` are the tiers;
        without them every dim is a tier.

    Raises
    ------
    UsageError
        If the shape is none.
    """
    described = getattr(device_profile, "comm_grid", None)
    if described is None:
        return None
    grid = getattr(described, "grid", described)
    try:
        shape = tuple(int(size) for size in getattr(grid, "shape", grid))
        tiers = getattr(described, "topologies", None) or range(len(shape))
        return shape, tuple(sorted(int(tier) for tier in tiers))
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"the communication grid cannot be read: {error}",
            "device_profile",
            "comm_grid.grid.shape and the keys of comm_grid.topologies as integers",
        ) from error


def group_size(parallel_config: Any, *names: str) -> int | None:
    """Return the first positive size that a parallel configuration has under one of the names."""
    for name in names:
        size: Any = getattr(parallel_config, name, None)
        if is_integer(size) and size > 0:
            return int(size)
    return None


def sequence_parallel_switch(given: bool | Switch | None, parallel_config: Any) -> Switch:
    """Return what tells, at each lookup, whether sequence parallelism is on.

    Parameters
    ----------
    given : bool, callable or None
        The answer, or what gives it; None reads the parallel configuration if it tells, else the
        switch of the simulator, which is off as long as no simulator is loaded.
    """
    if given is None:
        given = getattr(parallel_config, "sequence_parallel", None)
    if given is None:
        return _simulator_switch
    return given if callable(given) else lambda: bool(given)


def _simulator_switch() -> bool:
    """Return the switch of the simulator, which may turn it between lookups.

    Source: exact lookup rules, vocabulary.
    """
    found: Any = sys.modules.get(_SWITCH_MODULE)
    if found is None:
        return False
    found = found if hasattr(found, _SWITCH[0]) else getattr(found, "config", None)
    for name in _SWITCH:
        found = getattr(found, name, None)
    return bool(found)
