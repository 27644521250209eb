"""Exact rows of fused MoE kernels: equal operands, measured at the expert-parallel size asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlinterp.lookup.exact import ExactSearch, Pair
from sqlinterp.lookup.services import Services

Row = dict[str, Any]


class MoeExactSearch(ExactSearch):
    """The generic search, less the groups of other expert-parallel sizes.

    They are left out before the best match is chosen, so that a padded row of the right size is
    never hidden by an identical row of another one.
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services.statements, services.catalog, services.exact_aggregation)
        self._ep_size = services.context.ep_size

    def _matches(self, pairs: Iterable[Pair]) -> list[Row]:
        """Return the groups of the right size; rows tell ``ep_size`` and if it is recorded."""
        matches = super()._matches(pairs)
        if not matches:
            return []
        found = self._statements.run(
            "lookup.moe_ep_match",
            row_ids=sorted({match["row_id"] for match in matches}),
            ep_size=self._ep_size,
        )
        fields = {row.pop("row_id"): row for row in found}
        return [
            {**match, **fields[match["row_id"]]} for match in matches if match["row_id"] in fields
        ]
