"""Exact lookups from a relation of target keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.exact import (
    _UNPADDED,
    ExactSearch,
    Row,
    Shapes,
    Wish,
    forms_of,
    left_to_pad,
)
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.lookup.stored_groups import Place, StoredGroups
from sqlinterp.relational.backend import Backend, Relation
from sqlinterp.relational.canonical import TARGET_KEY

Key = tuple[Any, ...]


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
        self._store = _EngineGroups(statements, aggregation, backend)

    def find(self, plans: Mapping[int, Plan]) -> dict[int, Row]:
        """Return the best matching group of each plan that has one, as the base class does."""
        wishes = {number: list(self._wishes(number, plan)) for number, plan in plans.items()}
        on_the_fly = {number for number, own in wishes.items() if any(wish.cut for wish in own)}
        found = super().find({number: plans[number] for number in on_the_fly})
        open_wishes = [w for number, own in wishes.items() if number not in on_the_fly for w in own]
        found.update(self._answers(open_wishes))
        missing = left_to_pad(open_wishes, plans, found)
        if missing:
            found.update(self.best(plans, self.padded(missing, self.keys_of(missing))))
        return found

    def _answers(self, wishes: list[Wish]) -> dict[int, Row]:
        keys = self.target_keys(wishes)
        if not keys.rows:
            return {}
        rows = self._backend.run("exact_answers", self._aggregation, target_key=keys)
        return {row["target_id"]: {**row, "ambiguous": row["source"] is None} for row in rows}

    def target_keys(self, wishes: list[Wish]) -> Relation:
        """Return the keys under which rows would match the wishes without padding."""
        keys = self.keys_of(wishes)
        found = dict.fromkeys(key for wish in wishes for key in _target_keys(wish, keys))
        return Relation(TARGET_KEY, list(found))


class _EngineGroups(StoredGroups):
    """Groups under stored keys from another engine; those made on the fly from the connection."""

    def __init__(self, statements: Statements, aggregation: str, backend: Backend) -> None:
        super().__init__(statements, aggregation)
        self._backend = backend

    def stored(self, places: list[Place], classes: Collection[int]) -> Iterator[tuple[Place, Row]]:
        """Yield the groups under stored keys."""
        keys = [
            (number, 0, file_id, key, "batch_strip", 0, 0, False)
            for number, (file_id, key, _) in enumerate(places)
        ]
        relation = Relation(TARGET_KEY, keys)
        for row in self._backend.run("key_groups", self._aggregation, target_key=relation):
            yield places[row["target_id"]], row


def _target_keys(wish: Wish, keys: Mapping[Shapes, Row]) -> Iterator[Key]:
    """Return the rows of the relation of keys that one wish makes."""
    for column, rule, quality, _ in forms_of(wish.trait, _UNPADDED):
        yield (
            wish.number, wish.candidate.position, wish.file_id,
            keys[wish.shapes][column] + wish.suffix, rule, quality, wish.distance,
            wish.candidate.is_unique,
        )  # fmt: skip
