"""Whether targets are padded forms of measured rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlinterp.lookup.catalog import Trait
from sqlinterp.lookup.operands import Shape
from sqlinterp.lookup.statements import Statements
from sqlinterp.lookup.stored_groups import StoredGroups

Row = dict[str, Any]
_CHUNK = 20_000


class Padding:
    """Judges which groups under padded keys are rows that a target pads; the dims decide in SQL.

    Parameters
    ----------
    groups : sequence of dict
        All groups that are going to be judged.
    store : StoredGroups
        Where they came from. It may know their operand shapes already.
    """

    def __init__(self, statements: Statements, groups: Sequence[Row], store: StoredGroups) -> None:
        self._statements = statements
        self._plain_keys = store.plain_keys()
        self._measured: dict[int, list[list[int]]] = {}
        self._sizes: dict[tuple[Shape, ...], list[tuple[int, list[int]]]] = {}
        self._read({row["row_id"] for row in groups if _group(row) not in self._plain_keys})

    def may_reach(self, group: Row, shapes: tuple[Shape, ...], trait: Trait) -> bool:
        """Whether it is worth judging if operands pad a group: most do not, by their sizes.

        Only multiples of 8 are padded dims, and padding makes no operand smaller.
        """
        if trait.is_folded:
            return True
        held = self._held(group)
        sizes = self._sizes.get(shapes)
        if sizes is None:
            sizes = self._sizes[shapes] = [_size(shape) for shape in shapes]
        return all(
            size >= math.prod(had) and all(dim in had for dim in fixed)
            for (size, fixed), had in zip(sizes, held, strict=False)
        )

    def matches(self, candidates: Sequence[Row]) -> list[Row]:
        """Return the candidates that the targets pad.

        Parameters
        ----------
        candidates : sequence of dict
            Groups with the ``wish`` that they may grant, its number and the kernel's position.

        Returns
        -------
        list of dict
            Those that match, with ``rule``, ``padding_ratio`` and ``measured_shapes``.
        """
        groups = {_identity(row): row for row in candidates}
        asked = [_question(row, self._held(row)) for row in groups.values()]
        found = [
            {**groups[_identity(row)], **row}
            for start in range(0, len(asked), _CHUNK)
            for row in self._statements.evaluate(
                "lookup.padded_match", candidates=json.dumps(asked[start : start + _CHUNK])
            )
        ]
        self._read({row["row_id"] for row in found} - self._measured.keys())
        return [{**row, "measured_shapes": self._measured[row["row_id"]]} for row in found]

    def _held(self, group: Row) -> Sequence[Sequence[int]]:
        """Return the operand shapes of a group, those that count where rows are cut."""
        return self._measured.get(group["row_id"]) or _told(self._plain_keys[_group(group)])

    def _read(self, row_ids: Iterable[int]) -> None:
        """Read the operand shapes of measurements."""
        wanted = sorted(row_ids)
        if wanted:
            ends = {"first_id": wanted[0], "last_id": wanted[-1]}
            rows = self._statements.run("lookup.measured_operand", row_ids=wanted, **ends)
            self._measured.update({row["row_id"]: row["operand_shapes"] for row in rows})


def _group(row: Row) -> tuple[int, int]:
    return (row["row_id"], row["signature_id"])


def _identity(row: Row) -> tuple[Any, ...]:
    return (row["id"], row["position"], row["distance"], row["row_id"])


def _told(plain_key: str) -> list[Shape]:
    """Return the operand shapes that a key tells."""
    shapes: list[Shape] = json.loads(plain_key[: plain_key.index("|")])
    return shapes


def _size(shape: Shape) -> tuple[int, list[int]]:
    """Return the size of an operand, and those of its dims that cannot be padded ones."""
    return math.prod(shape), [dim for dim in shape if dim % 8 and dim != 1]


def _question(row: Row, measured: Sequence[Sequence[int]]) -> Mapping[str, Any]:
    """Return what decides whether a target pads to a measured group."""
    wish = row["wish"]
    keys = ("id", "position", "distance", "latency_rank", "signature_id", "row_id")
    return {
        **{key: row[key] for key in keys},
        "shapes": wish.shapes,
        "measured_shapes": measured,
        "is_transposable": wish.trait.is_transposable,
        "is_flattened": wish.trait.is_flattened,
        "is_merged": wish.trait.is_merged,
    }
