"""Whether targets are padded forms of measured rows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlinterp.lookup.operands import Shape
from sqlinterp.lookup.statements import Statements
from sqlinterp.lookup.stored_groups import StoredGroups
from sqlinterp.parts import parts

Row = dict[str, Any]
Ask = tuple[Any, ...]  # a wish of the exact search, and how it is granted
_CHUNK = 20_000
_LARGEST_BLOCK = 64  # a dim is rounded up to a multiple of this or of one of its divisors


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
        self._sizes: dict[tuple[Shape, ...], list[tuple[list[int], list[int]]]] = {}
        self._read({row["row_id"] for row in groups if _group(row) not in self._plain_keys})

    def near(self, groups: Iterable[Row], asked: Iterable[Ask]) -> Iterator[tuple[Row, Ask]]:
        """Yield the groups under one key that are worth judging, with what asks for each.

        Most groups are not, by their dims: padding makes every dim larger by less than a block, or
        leaves it as it is, and only multiples of 8 are padded ones. Those with the other dims are
        looked up, since a key may have very many.
        """
        every = [(group, list(map(_ascending, self._held(group)))) for group in groups]
        by_dim: dict[tuple[int, int], list[tuple[Row, list[list[int]]]]] = defaultdict(list)
        for one in every:
            for slot, dims in enumerate(one[1]):
                for dim in set(dims):
                    by_dim[slot, dim].append(one)
        for ask in asked:
            wish = ask[0]
            sizes = [] if wish.trait.is_folded else self._sizes_of(wish.shapes)
            fixed = [(slot, dim) for slot, (_, dims) in enumerate(sizes) for dim in dims]
            for group, held in min((by_dim.get(dim, []) for dim in fixed), key=len, default=every):
                if all(
                    all(dim in had for dim in dims) and _is_within_blocks(size, had)
                    for (size, dims), had in zip(sizes, held, strict=False)
                ):
                    yield group, ask

    def _sizes_of(self, shapes: tuple[Shape, ...]) -> list[tuple[list[int], list[int]]]:
        sizes = self._sizes.get(shapes)
        if sizes is None:
            sizes = self._sizes[shapes] = [_size(shape) for shape in shapes]
        return sizes

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
            for part in parts(asked, _CHUNK)
            for row in self._statements.evaluate("lookup.padded_match", candidates=json.dumps(part))
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


def _size(shape: Shape) -> tuple[list[int], list[int]]:
    """Return the dims of an operand in ascending order, and those that cannot be padded ones."""
    dims = _ascending(shape)
    return dims, [dim for dim in dims if dim % 8]


def _ascending(shape: Sequence[int]) -> list[int]:
    """Return the dims of a shape but for ones, which come and go, and zeros, which stay."""
    return sorted(dim for dim in shape if dim > 1)


def _is_within_blocks(dims: list[int], had: list[int]) -> bool:
    """Whether each dim, in some order, may be one of those of a measured shape rounded up.

    If any order does, then the ascending one; ones of the measured shape belong to the smallest.
    """
    ones = len(dims) - len(had)
    return ones >= 0 and all(
        low <= dim < low + _LARGEST_BLOCK for dim, low in zip(dims[ones:], had, strict=True)
    )


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
