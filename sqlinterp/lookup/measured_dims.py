"""Whether any row of a file may match a target at all, told by the dims that its rows have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Shape
from sqlinterp.lookup.statements import Statements

_MOST_KEPT = 20_000  # dims of a file, which take 4 MB
_EVERYWHERE = frozenset({0, 1})  # ones come and go

Dims = Sequence[Sequence[frozenset[int]]]  # operand by operand, place by place from the end


class FileDims(NamedTuple):
    """Dims that operands of a file have, and those with what padding makes of them.

    Source: table ``operand_dim``.
    """

    measured: Dims
    padded: Dims

    @classmethod
    def read(cls, rows: Sequence[tuple[int, int, int, bool]]) -> FileDims:
        """Return the dims that rows of the table tell: operand, place, dim, whether measured."""
        return cls(_arranged(row[:3] for row in rows if row[3]), _arranged(r[:3] for r in rows))

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
    found = FileDims.read(rows) if len(rows) <= _MOST_KEPT else None
    catalog.file_dims[file_id] = found
    return found


def _arranged(dims: Iterable[tuple[int, int, int]]) -> Dims:
    found: dict[tuple[int, int], set[int]] = {}
    for slot, place, dim in dims:
        found.setdefault((slot, place), set()).add(dim)
    places: list[list[frozenset[int]]] = []
    for slot, place in sorted(found):
        own = _EVERYWHERE.union(found[slot, place])
        while len(places) < slot:
            places.append([])
        while len(places[-1]) < place - 1:  # weights have one set for their last two places
            places[-1].append(own if slot > 1 and place == 2 else _EVERYWHERE)
        places[-1].append(own)
    return places


def _are_known(shapes: Iterable[Shape], known: Dims) -> bool:
    for slot, shape in enumerate(shapes):
        places = known[slot] if slot < len(known) else ()
        for dim, dims in zip(reversed(shape), places, strict=False):
            if dim not in dims:
                return False
        if len(shape) > len(places) and max(shape[: len(shape) - len(places)]) > 1:
            return False
    return True
