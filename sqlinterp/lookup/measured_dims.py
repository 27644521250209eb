"""Whether any row of a file may match a target at all, told by the dims that its rows have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Shape
from sqlinterp.lookup.statements import Statements

_MOST_KEPT = 20_000  # dims of a file, which take 4 MB

Dims = frozenset[tuple[int, int, int]]  # operand, place from the end, dim


class FileDims(NamedTuple):
    """Dims that operands of a file have, and those with what padding makes of them.

    Source: table ``operand_dim``.
    """

    measured: Dims
    padded: Dims

    def may_equal(self, shapes: Iterable[Shape]) -> bool:
        """Whether a row may have these operands, with or without leading ones, weights turned."""
        return _are_known(shapes, self.measured)

    def may_pad(self, shapes: Iterable[Shape]) -> bool:
        """Whether a row may have these operands once its dims are rounded up to blocks."""
        return _are_known(shapes, self.padded)


def dims_of(statements: Statements, catalog: Catalog, file_id: int) -> FileDims | None:
    """Return the dims of a file, read once; None when they are too many to keep."""
    if file_id in catalog.file_dims:
        kept: FileDims | None = catalog.file_dims[file_id]
        return kept
    asked = {"file_id": file_id, "most": _MOST_KEPT}
    _, rows = statements.fetch("lookup.operand_dim", **asked)
    padded = {row[:3]: row[3] for row in rows}
    measured = frozenset(dim for dim, is_measured in padded.items() if is_measured)
    found = FileDims(measured, frozenset(padded)) if len(rows) <= _MOST_KEPT else None
    catalog.file_dims[file_id] = found
    return found


def _are_known(shapes: Iterable[Shape], known: Dims) -> bool:
    for slot, shape in enumerate(shapes, start=1):
        last = 1 if slot == 1 else 2  # the last two dims of weights share a place
        for place, dim in zip(range(len(shape), 0, -1), shape, strict=True):
            if dim > 1 and (slot, max(place, last), dim) not in known:
                return False
    return True
