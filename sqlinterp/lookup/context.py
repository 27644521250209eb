"""The context of lookups as callers give it, by keyword."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.model import QueryContext
from sqlinterp.policy import PRESETS, run_policy


def read_context(**given: Any) -> QueryContext:
    """Return the context that keyword arguments give.

    Parameters
    ----------
    **given
        Fields of :class:`QueryContext`; ``comm_grid`` may be ``{"shape", "tiers"}``, and ``policy``
        is a mapping with the fields of ``interpolation_policy``.

    Raises
    ------
    UsageError
        If a field is unknown or has no usable value.
    """
    if isinstance(grid := given.get("comm_grid"), Mapping):
        given["comm_grid"] = grid.get("shape"), grid.get("tiers")
    if given.get("policy") is not None:
        given["policy"] = run_policy(given["policy"])
    try:
        context = QueryContext(**given)
    except TypeError as error:
        raise UsageError(f"unknown context field: {error}") from error
    aggregation: Any = context.aggregation
    if not isinstance(aggregation, str) or aggregation not in PRESETS:
        raise UsageError(f"aggregation '{aggregation}' is unknown", expected=", ".join(PRESETS))
    return context
