"""Groups of equal measurements under the keys that ingest stored, or that are made on the fly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sqlinterp.database import named
from sqlinterp.lookup.statements import Statements

Row = dict[str, Any]
Place = tuple[int, str, int]  # file, key, operands that count where keys are not stored

# Larger classes, as those of kernels whose dims are all small, are left to the keys.
MOST_OF_CLASS = 2_000

# With more classes than these nearly every block of a large table holds one of them.
MOST_CLASSES = 5_000


class StoredGroups:
    """Reads groups by their place.

    Places of one size class are read with all others of that class, unless there are too many: so
    is a single target, whose second question is then answered already. Those of a few classes are
    looked for in these only.
    """

    def __init__(self, statements: Statements, aggregation: str) -> None:
        self._statements, self._aggregation = statements, aggregation
        self._scope: dict[str, int] = {}
        self._columns: list[str] = []
        self._of_class: dict[Place, list[tuple[Any, ...]]] | None = None

    def at(self, places: Iterable[Place], classes: Collection[int]) -> Iterator[tuple[Place, Row]]:
        """Yield the groups at places.

        Parameters
        ----------
        classes : collection of int
            Size classes of all the places, empty when those of some are not known.
        """
        listed = list(places)
        stored = [place for place in listed if place[2] == 0]
        if stored:
            yield from self.stored(stored, classes)
        cut = [place for place in listed if place[2] > 0]
        if cut:
            limits = [limit for _, _, limit in cut]
            for row in self._read("lookup.cut_group", cut, limits=limits):
                yield (row["file_id"], row["match_key"], row["input_limit"]), row

    def stored(self, places: list[Place], classes: Collection[int]) -> Iterator[tuple[Place, Row]]:
        """Yield the groups under stored keys."""
        is_one = len(classes) == 1
        if is_one:
            self._read_class(places, *classes)
        if not is_one or self._of_class is None:
            listed = sorted(classes) if len(classes) <= MOST_CLASSES else []
            for row in self._read("lookup.keyed_group", places, classes=listed):
                yield places[row["place"]], row
            return
        for place in places:
            for row in named(self._columns, self._of_class.get(place, ())):
                yield place, row

    def plain_keys(self) -> dict[tuple[int, int], str]:
        """Return the keys that tell operand shapes as they are, of the class that was read.

        By first row and signature of the group.
        """
        if not self._of_class:
            return {}
        row_id, signature, bare = map(self._columns.index, ("row_id", "signature_id", "is_bare"))
        return {
            (values[row_id], values[signature]): key
            for (_, key, _), found in self._of_class.items()
            if key.startswith("[")
            for values in found
            if not values[bare]
        }

    def _read_class(self, places: list[Place], size_class: int) -> None:
        files = [file_id for file_id, _, _ in places]
        scope = {"first_file": min(files), "last_file": max(files), "size_class": size_class}
        if scope == self._scope:
            return
        self._scope, self._of_class = scope, None
        self._columns, found = self._statements.fetch(
            "lookup.classed_group", aggregation=self._aggregation, most=MOST_OF_CLASS + 1, **scope
        )
        if len(found) > MOST_OF_CLASS:
            return
        self._of_class = {}
        file_id, key = self._columns.index("file_id"), self._columns.index("match_key")
        for values in found:
            self._of_class.setdefault((values[file_id], values[key], 0), []).append(values)

    def _read(self, query: str, places: list[Place], **parameters: Any) -> list[Row]:
        return self._statements.run(
            query,
            file_ids=[file_id for file_id, _, _ in places],
            keys=[key for _, key, _ in places],
            aggregation=self._aggregation,
            **parameters,
        )
