"""Exact lookups from a relation of target keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.exact import (
    _FOLDED,
    _PLAIN,
    ExactSearch,
    Place,
    Row,
    Wish,
    _may_be_padded,
)
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.relational.backend import Backend, Relation
from sqlinterp.relational.canonical import TARGET_KEY

Key = tuple[Any, ...]
_Forms = Iterable[tuple[str, str, int, str | None]]


class RelationalExact(ExactSearch):
    """Finds exact answers with the canonical queries of another engine.

    Keys of targets are made by the same SQL as ever, on the connection of the statements. Padded
    candidates come from the engine too; whether the target pads to them is judged on the
    connection, which reads the operand shapes of those rows. So are keys that no ingest stored.
    """

    def __init__(
        self, statements: Statements, catalog: Catalog, aggregation: str, backend: Backend
    ) -> None:
        super().__init__(statements, catalog, aggregation)
        self._backend = backend

    def find(self, plans: Mapping[int, Plan]) -> dict[int, Row]:
        """Return the best matching group of each plan that has one, as the base class does."""
        wishes = {number: list(self._wishes(number, plan)) for number, plan in plans.items()}
        on_the_fly = {number for number, own in wishes.items() if any(wish.cut for wish in own)}
        found = super().find({number: plans[number] for number in on_the_fly})
        open_wishes = [w for number, own in wishes.items() if number not in on_the_fly for w in own]
        found.update(self._answers(open_wishes))
        missing = [
            wish
            for wish in open_wishes
            if wish.number not in found and _may_be_padded(plans[wish.number])
        ]
        if missing:
            found.update(self.best(plans, self._padded(missing)))
        return found

    def _answers(self, wishes: list[Wish]) -> dict[int, Row]:
        keys = self.target_keys(wishes)
        if not keys.rows:
            return {}
        rows = self._backend.run("exact_answers", self._aggregation, target_key=keys)
        return {row["target_id"]: {**row, "ambiguous": row["source"] is None} for row in rows}

    def target_keys(self, wishes: list[Wish]) -> Relation:
        """Return the keys under which rows would match the wishes without padding."""
        folded = [wish for wish in wishes if wish.trait.is_folded]
        keys = [
            *self._keyed(wishes, "lookup.operand_key", _PLAIN),
            *self._keyed(folded, "lookup.operand_key_folded", _FOLDED),
        ]
        return Relation(TARGET_KEY, list(dict.fromkeys(keys)))

    def _keyed(self, wishes: list[Wish], query: str, forms: _Forms) -> Iterator[Key]:
        shapes = list(dict.fromkeys(wish.shapes for wish in wishes))
        rows = self._statements.run(query, operands=json.dumps(shapes)) if shapes else []
        keys_of = dict(zip(shapes, rows, strict=True))
        for wish in wishes:
            for column, rule, quality, needed in forms:
                if needed is None or getattr(wish.trait, needed):
                    candidate, key = wish.candidate, keys_of[wish.shapes][column] + wish.suffix
                    yield (
                        wish.number, candidate.position, wish.file_id, key, rule, quality,
                        wish.distance, candidate.is_unique,
                    )  # fmt: skip

    def _groups(self, places: Iterable[Place]) -> Iterator[tuple[Place, Row]]:
        """Return the groups at the places, those under stored keys from the engine."""
        listed = list(places)
        stored = [place for place in listed if place[2] == 0]
        if stored:
            keys = [
                (number, 0, file_id, key, "batch_strip", 0, 0, False)
                for number, (file_id, key, _) in enumerate(stored)
            ]
            relation = Relation(TARGET_KEY, keys)
            for row in self._backend.run("key_groups", self._aggregation, target_key=relation):
                yield stored[row["target_id"]], row
        cut = [place for place in listed if place[2] > 0]
        if cut:
            yield from super()._groups(cut)
