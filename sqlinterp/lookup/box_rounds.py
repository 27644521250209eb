"""Answers which boxes are around targets: of one target alone, or of many by one statement."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from sqlinterp.lookup.around import Around, are_neighbours
from sqlinterp.lookup.boxes import Box
from sqlinterp.lookup.levels import Levels, StoredLevels
from sqlinterp.lookup.neighbours import boxes_around
from sqlinterp.lookup.octants import Octants
from sqlinterp.lookup.placement import BoxRequest, Placement
from sqlinterp.lookup.statements import Statements
from sqlinterp.paths import Path

_SMALL_BATCH = 16

# Asking for one target in a large regime costs about as much as joining so many of its points.
_POINTS_OF_ONE_TARGET = 4_000


class BoxRounds:
    """Answers the requests for boxes of one path; what was fetched is kept for later rounds.

    Parameters
    ----------
    levels : StoredLevels
        In which regimes measured values are stored by axis group.
    max_dims : mapping of int to int
        Most axes that may vary together, for every search by its number.
    """

    def __init__(
        self,
        statements: Statements,
        path: Path,
        aggregation: str,
        levels: StoredLevels,
        max_dims: Mapping[int, int],
    ) -> None:
        self._statements, self._path, self._aggregation = statements, path, aggregation
        self._levels, self._max_dims = levels, max_dims
        self._boxes: dict[tuple[int, int], list[Box]] = {}
        self._around: dict[int, list[Around]] = {}

    def answer(self, requests: Mapping[int, BoxRequest]) -> dict[int, list[Box]]:
        """Return the boxes of every request by its number."""
        by_dimension: dict[int, dict[int, BoxRequest]] = defaultdict(dict)
        for number, request in requests.items():
            if (number, request.dimension) not in self._boxes:
                by_dimension[request.dimension][number] = request
        for dimension, missing in by_dimension.items():
            alone = self._alone(missing)
            for number, parts in alone.items():
                self._boxes[number, dimension] = self._around_one(number, dimension, parts)
            together = {n: request for n, request in missing.items() if n not in alone}
            if together:
                self._fetch(dimension, together)
        return {n: self._boxes.get((n, request.dimension), []) for n, request in requests.items()}

    def _alone(self, requests: Mapping[int, BoxRequest]) -> dict[int, list[list[Placement]]]:
        """Return the requests that are answered one by one, with their placements in parts.

        These are a single target, and few targets in a large regime.
        """
        is_single = len(self._max_dims) == 1
        if not is_single and not self._levels.regimes:
            return {}
        asked = Counter(p.regime_id for request in requests.values() for p in request.placements)
        found = {}
        for number, request in requests.items():
            if is_single or any(self._is_large(p, asked[p.regime_id]) for p in request.placements):
                parts = self._parts(request.placements)
                if all(map(are_neighbours, parts)):
                    found[number] = parts
        return found

    def _is_large(self, placement: Placement, targets: int) -> bool:
        """Whether joining the points of a regime costs more than asking for its targets alone."""
        is_levelled = placement.regime_id in self._levels.regimes
        return is_levelled and placement.measurement_count >= _POINTS_OF_ONE_TARGET * targets

    def _parts(self, placements: Iterable[Placement]) -> list[list[Placement]]:
        """Return the placements in regimes with stored values and those in all others."""
        parts: dict[bool, list[Placement]] = defaultdict(list)
        for placement in placements:
            parts[placement.regime_id in self._levels.regimes].append(placement)
        return list(parts.values())

    def _around_one(self, number: int, dimension: int, parts: list[list[Placement]]) -> list[Box]:
        if number not in self._around:
            self._around[number] = [self._part_around(number, part) for part in parts]
        groups = self._path.groups(dimension)
        return [box for around in self._around[number] for box in around.boxes(groups)]

    def _part_around(self, number: int, placements: list[Placement]) -> Around:
        asked = (self._statements, number, placements, self._aggregation)
        if placements[0].regime_id in self._levels.regimes:
            return Levels(*asked, stored=self._levels, axis_count=len(self._path.axes))
        return Octants(*asked)

    def _fetch(self, dimension: int, requests: Mapping[int, BoxRequest]) -> None:
        """Fetch the boxes of one dimension, of all dimensions when there are few targets."""
        top = max(self._max_dims[number] for number in requests)
        dimensions = range(dimension, top + 1) if len(requests) <= _SMALL_BATCH else [dimension]
        groups = [group for d in dimensions for group in self._path.groups(d)]
        targets = [p.target(n) for n, request in requests.items() for p in request.placements]
        found = boxes_around(self._statements, targets, groups, self._aggregation)
        for number in requests:
            for d in dimensions:
                own = [box for box in found.get(number, []) if len(box.group) == d]
                self._boxes[number, d] = own
