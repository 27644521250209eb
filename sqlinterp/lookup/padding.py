"""Whether targets are padded forms of measured rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from sqlinterp.lookup.operands import Shape
from sqlinterp.lookup.statements import Statements

Row = dict[str, Any]


def padded_matches(
    statements: Statements, candidates: Iterable[Row], plain_keys: Mapping[tuple[int, int], str]
) -> list[Row]:
    """Return the candidates that the targets pad; the dims of each decide in SQL.

    Parameters
    ----------
    candidates : iterable of dict
        Groups under padded keys, with the ``wish`` that they may grant.
    plain_keys : mapping
        Keys that tell operand shapes, by first row and signature of groups, as far as known.

    Returns
    -------
    list of dict
        Those that match, with ``rule``, ``padding_ratio`` and ``measured_shapes``.
    """
    groups = {
        _identity(row): row
        for row in candidates
        if _may_be_padded(row, plain_keys.get((row["row_id"], row["signature_id"])))
    }
    if not groups:
        return []
    row_ids = sorted({row["row_id"] for row in groups.values()})
    measured = {
        row["row_id"]: row["operand_shapes"]
        for row in statements.run("lookup.measured_operand", row_ids=row_ids)
    }
    asked = [_question(row, measured[row["row_id"]]) for row in groups.values()]
    matches = statements.evaluate("lookup.padded_match", candidates=json.dumps(asked))
    return [
        {**groups[_identity(row)], **row, "measured_shapes": measured[row["row_id"]]}
        for row in matches
    ]


def _identity(row: Row) -> tuple[Any, ...]:
    return (row["id"], row["position"], row["distance"], row["row_id"])


def _may_be_padded(row: Row, plain_key: str | None) -> bool:
    """Whether a candidate is worth reading: most are not, by what their keys tell already.

    Only multiples of 8 are padded dims, and padding makes no operand smaller.
    """
    wish = row["wish"]
    if plain_key is None or wish.trait.is_folded:
        return True
    held_shapes: list[Shape] = json.loads(plain_key[: plain_key.index("|")])
    return all(
        all(dim % 8 == 0 or dim == 1 or dim in held for dim in shape)
        and math.prod(held) <= math.prod(shape)
        for shape, held in zip(wish.shapes, held_shapes, strict=False)
    )


def _question(row: Row, measured: list[list[int]]) -> Mapping[str, Any]:
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
