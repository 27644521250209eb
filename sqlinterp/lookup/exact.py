"""Exact lookups: measured groups whose operands equal, or are padded to, the target's."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlinterp.lookup.catalog import Catalog, Trait
from sqlinterp.lookup.operands import Shape, rearranged, spellings
from sqlinterp.lookup.plan import Candidate, Plan
from sqlinterp.lookup.statements import Statements

Row = dict[str, Any]
Shapes = tuple[Shape, ...]


@dataclass(frozen=True)
class Wish:
    """One way in which a kernel may have stored a target: its operands and how its keys end.

    Attributes
    ----------
    cut : int
        First operands of the rows that count when no key is stored for them, 0 for stored keys.
    """

    number: int
    candidate: Candidate
    trait: Trait
    shapes: Shapes
    distance: int
    suffix: str
    cut: int = 0

    @property
    def file_id(self) -> int:
        """File of the kernel."""
        return self.candidate.kernel.file_id or 0


Place = tuple[int, str, int]  # file, key, operands that count where keys are not stored

# Column of the key statement, rule, match quality, and the trait that a kernel needs for it.
# The keys of transposable kernels start with a letter, so that no other kernel has them.
_PLAIN = (
    ("plain", "identity", 0, None),
    ("bare", "batch_strip", 1, None),
    ("weights", "transpose", 1, None),
)
_FOLDED = (
    ("flattened", "flatten_3d", 1, "is_flattened"),
    ("merged", "merge_last_dims", 1, "is_merged"),
    ("swapped", "singleton_axis_transpose", 1, "is_swapped"),
)
_PADDED = (
    ("padded", "padding", 2, None),
    ("flattened", "padding", 2, "is_flattened"),
    ("merged", "padding", 2, "is_merged"),
)


def tried_rules(trait: Trait) -> list[str]:
    """Return the names of the rules by which rows of a kernel are compared, best match first."""
    forms = [*_PLAIN, *_FOLDED, *_PADDED]
    skipped = () if trait.is_transposable else ("transpose",)
    named = [rule for _, rule, _, needed in forms if needed is None or getattr(trait, needed)]
    return [rule for rule in dict.fromkeys(named) if rule not in skipped]


class ExactSearch:
    """Finds the exact answers of many plans in a handful of statements."""

    def __init__(self, statements: Statements, catalog: Catalog, aggregation: str) -> None:
        self._statements, self._catalog, self._aggregation = statements, catalog, aggregation

    def find(self, plans: Mapping[int, Plan]) -> dict[int, Row]:
        """Return the best matching group of each plan that has one, by plan number.

        A row carries ``rule``, ``quality`` (0 identical, 1 relabelled, 2 padded), ``position``
        of the kernel, latencies [us] and the place of the first measurement; ``ambiguous`` is set
        when the kernel demands one latency per semantic key and there are several.
        """
        wishes = [wish for number, plan in plans.items() for wish in self._wishes(number, plan)]
        found = self.best(plans, self._unpadded(wishes))
        open_numbers = {n for n, plan in plans.items() if n not in found and _may_be_padded(plan)}
        missing = [wish for wish in wishes if wish.number in open_numbers]
        if missing:
            found.update(self.best(plans, self._padded(missing)))
        return found

    def _wishes(self, number: int, plan: Plan) -> Iterator[Wish]:
        for candidate in plan.candidates:
            trait = self._catalog.trait(candidate.kernel.kernel_type)
            ends = self._ends(candidate, plan.input_limit)
            for operands in rearranged(plan.operands, trait.rearrangement):
                for distance, suffix in spellings(operands, trait.is_relaxed_dtype):
                    for end, cut in ends:
                        yield Wish(
                            number, candidate, trait, operands.shapes, distance, suffix + end, cut
                        )

    def _ends(self, candidate: Candidate, limit: int) -> list[tuple[str, int]]:
        """Return how the keys end that a kernel may hold a target under, and where they are."""
        if limit == 0:
            return [("", 0)]
        is_stored = (candidate.kernel.file_id, limit) in self._catalog.stored_cuts
        return [("", 0), ("#cut", 0 if is_stored else limit)]

    def _unpadded(self, wishes: list[Wish]) -> list[Row]:
        matches = self._matches(wishes, "lookup.operand_key", _PLAIN)
        folded = [wish for wish in wishes if wish.trait.is_folded]
        matches += self._matches(folded, "lookup.operand_key_folded", _FOLDED)
        return [m for m in matches if m["rule"] == "batch_strip" or not m["is_bare"]]

    def _matches(
        self, wishes: list[Wish], query: str, forms: Iterable[tuple[str, str, int, str | None]]
    ) -> list[Row]:
        """Return the groups under the keys of the wishes, each with rule, quality and kernel."""
        if not wishes:
            return []
        shapes = list(dict.fromkeys(wish.shapes for wish in wishes))
        rows = self._statements.evaluate(query, operands=json.dumps(shapes))
        keys_of = dict(zip(shapes, rows, strict=True))
        wanted: dict[Place, list[tuple[Wish, str, int]]] = defaultdict(list)
        for wish in wishes:
            keys = keys_of[wish.shapes]
            for column, rule, quality, needed in forms:
                if needed is None or getattr(wish.trait, needed):
                    place = (wish.file_id, keys[column] + wish.suffix, wish.cut)
                    wanted[place].append((wish, rule, quality))
        return [
            {**group, "id": wish.number, "position": wish.candidate.position, "rule": rule,
             "distance": wish.distance, "quality": quality, "shapes": wish.shapes}
            for place, group in self._groups(wanted)
            for wish, rule, quality in wanted[place]
        ]  # fmt: skip

    def _groups(self, places: Iterable[Place]) -> Iterator[tuple[Place, Row]]:
        """Return the groups at the places: by their stored keys, else by keys made on the fly."""
        stored = [place for place in places if place[2] == 0]
        for row in self._run("lookup.keyed_group", stored):
            yield (row["file_id"], row["match_key"], 0), row
        cut = [place for place in places if place[2] > 0]
        if cut:
            limits = [limit for _, _, limit in cut]
            for row in self._run("lookup.cut_group", cut, limits=limits):
                yield (row["file_id"], row["match_key"], row["input_limit"]), row

    def _run(self, query: str, places: list[Place], **parameters: list[int]) -> list[Row]:
        return self._statements.run(
            query,
            file_ids=[file_id for file_id, _, _ in places],
            keys=[key for _, key, _ in places],
            aggregation=self._aggregation,
            **parameters,
        )

    def _padded(self, wishes: list[Wish]) -> list[Row]:
        """Return the groups that the targets pad; the dims of each candidate decide in SQL."""
        candidates = self._matches(wishes, "lookup.operand_key_padded", _PADDED)
        if not candidates:
            return []
        keys = ("id", "position", "distance", "latency_rank", "signature_id", "row_id", "shapes")
        groups = {
            (row["id"], row["position"], row["distance"], row["row_id"]): row for row in candidates
        }
        asked = [{key: row[key] for key in keys} for row in groups.values()]
        matches = self._statements.run(
            "alignments=lookup.alignment", "slots=lookup.aligned_slot",
            "matches=lookup.padded_match", candidates=json.dumps(asked),
        )  # fmt: skip
        return [
            {**groups[row["id"], row["position"], row["distance"], row["row_id"]], **row}
            for row in matches
        ]

    def best(self, plans: Mapping[int, Plan], matches: list[Row]) -> dict[int, Row]:
        """Return the best match of each plan, in the order of :meth:`_order`."""
        by_plan: dict[int, list[Row]] = defaultdict(list)
        for row in matches:
            by_plan[row["id"]].append(row)
        best = {}
        for number, rows in by_plan.items():
            first = min(rows, key=self._order)
            candidate = plans[number].candidates[first["position"]]
            if candidate.is_unique and _is_ambiguous(first, rows):
                first["ambiguous"] = True
            best[number] = first
        return best

    def _order(self, row: Row) -> tuple[Any, ...]:
        """Match quality, padding, dtype, kernel, latency column, content (place for ``first``)."""
        content = row["row_id"] if self._aggregation == "first" else row["signature_id"]
        return (*_tie(row), content, row["rule"])


def _tie(row: Row) -> tuple[Any, ...]:
    """Return what decides between matches before their content does."""
    ratio = row.get("padding_ratio", 1.0)
    return (row["quality"], ratio, row["distance"], row["position"], row["latency_rank"])


def _is_ambiguous(best: Row, rows: list[Row]) -> bool:
    """Whether matches that tie with the best one have different latencies."""
    tied = [row for row in rows if _tie(row) == _tie(best)]
    sides = ("latency_min_us", "latency_max_us")
    return len({round(row[side], 12) for row in tied for side in sides}) > 1


def _may_be_padded(plan: Plan) -> bool:
    """Whether any dim of the target is a multiple of 8, as every padded dim is."""
    return any(dim % 8 == 0 for shape in plan.operands.shapes for dim in shape)
