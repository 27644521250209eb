"""Whether any row of a file may match a target at all, told by the dims that its rows have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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

    def may_equal(self, shapes: Iterable[Sequence[int]]) -> bool:
        """Whether a row may have these operands, with or without leading ones, weights turned."""
        return _are_known(shapes, self.measured)

    def may_pad(self, shapes: Iterable[Sequence[int]]) -> bool:
        """Whether a row may have these operands once its dims are rounded up to blocks."""
        return _are_known(shapes, self.padded)


class MeasuredDims:
    """The dims of the files of a version, each read once and kept."""

    def __init__(self) -> None:
        self._files: dict[int, FileDims | None] = {}

    def of_file(self, statements: Statements, file_id: int) -> FileDims | None:
        """Return the dims of a file, None when they are too many to keep."""
        if file_id not in self._files:
            asked = {"file_id": file_id, "most": _MOST_KEPT}
            _, rows = statements.fetch("lookup.operand_dim", **asked)
            self._files[file_id] = FileDims.read(rows) if len(rows) <= _MOST_KEPT else None
        return self._files[file_id]


def _arranged(dims: Iterable[tuple[int, int, int]]) -> Dims:
    own: dict[tuple[int, int], set[int]] = defaultdict(set)
    longest: dict[int, int] = defaultdict(int)
    for slot, place, dim in dims:
        own[slot, place].add(dim)
        longest[slot] = max(place, longest[slot])
    return [
        [
            _EVERYWHERE.union(own[slot, place if slot == 1 else max(place, 2)])  # a weight's last 2
            for place in range(1, longest[slot] + 1)
        ]
        for slot in range(1, max(longest, default=0) + 1)
    ]


def _are_known(shapes: Iterable[Sequence[int]], known: Dims) -> bool:
    for slot, shape in enumerate(shapes):
        places = known[slot] if slot < len(known) else ()
        for dim, dims in zip(reversed(shape), places, strict=False):
            if dim not in dims:
                return False
        if len(shape) > len(places) and max(shape[: len(shape) - len(places)]) > 1:
            return False
    return True
