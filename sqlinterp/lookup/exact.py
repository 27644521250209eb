"""Exact lookups: measured groups whose operands equal, or are padded to, the target's."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from sqlinterp.lookup.catalog import Catalog, Trait
from sqlinterp.lookup.measured_dims import FileDims
from sqlinterp.lookup.operands import Operands, Shape, rearranged, spellings
from sqlinterp.lookup.padding import Padding
from sqlinterp.lookup.plan import Candidate, Plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.lookup.stored_groups import Place, StoredGroups
from sqlinterp.parts import parts

# What the database makes of the shapes of all targets of a batch is many times their text.
_TOGETHER = 20_000

Row = dict[str, Any]
Shapes = tuple[Shape, ...]


class Wish(NamedTuple):
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


Form = tuple[str, str, int, str | None]
Tried = tuple[Wish, tuple[Form, ...]]
Asked = tuple[Wish, str, int]  # with the rule and the quality of a match
Pair = tuple[Row, Wish, str, int]

# Column of the key statement, rule, match quality, and the trait that a kernel needs for it.
# The keys of transposable kernels start with a letter, so that no other kernel has them.
_IDENTICAL = (("plain", "identity", 0, None),)
_RELABELLED = (
    ("bare", "batch_strip", 1, None),
    ("weights", "transpose", 1, None),
    ("flattened", "flatten_3d", 1, "is_flattened"),
    ("merged", "merge_last_dims", 1, "is_merged"),
    ("swapped", "singleton_axis_transpose", 1, "is_swapped"),
)
_UNPADDED = (*_IDENTICAL, *_RELABELLED)
_PADDED = (
    ("padded", "padding", 2, None),
    ("padded_flattened", "padding", 2, "is_flattened"),
    ("padded_merged", "padding", 2, "is_merged"),
)


def tried_rules(trait: Trait) -> list[str]:
    """Return the names of the rules by which rows of a kernel are compared, best match first."""
    forms = (*_UNPADDED, *_PADDED)
    skipped = () if trait.is_transposable else ("transpose",)
    named = dict.fromkeys(rule for _, rule, _, _ in forms_of(trait, forms))
    return [rule for rule in named if rule not in skipped]


@cache
def forms_of(trait: Trait, forms: tuple[Form, ...]) -> tuple[Form, ...]:
    """Return those forms that rows of a kernel family may be stored in."""
    return tuple(form for form in forms if form[3] is None or getattr(trait, form[3]))


class ExactSearch:
    """Finds the exact answers of many plans in a handful of statements."""

    def __init__(self, statements: Statements, catalog: Catalog, aggregation: str) -> None:
        self._statements, self._catalog, self._aggregation = statements, catalog, aggregation
        self._store = StoredGroups(statements, aggregation)

    def find(self, plans: Mapping[int, Plan]) -> dict[int, Row]:
        """Return the best matching group of each plan that has one, by plan number.

        A row carries ``rule``, ``quality`` (0 identical, 1 relabelled, 2 padded), ``position``
        of the kernel, latencies [us] and the place of the first measurement; ``ambiguous`` is set
        when the kernel demands one latency per semantic key and there are several.
        """
        wishes, near = self._likely(plans)
        keys = self.keys_of((*wishes, *near))
        same = [(wish, _IDENTICAL) for wish in wishes if wish.distance == 0]
        found = self._granted(plans, same, keys)
        # Nothing wins over those, so that all other ways are tried only where there are none.
        other = [
            (wish, _UNPADDED if wish.distance else _RELABELLED)
            for wish in wishes
            if wish.number not in found
        ]
        found.update(self._granted(plans, other, keys))
        missing = left_to_pad((*wishes, *near), plans, found)
        if missing:
            found.update(self.best(plans, self.padded(missing, keys)))
        return found

    def _likely(self, plans: Mapping[int, Plan]) -> tuple[list[Wish], list[Wish]]:
        """Return the wishes that rows may equal, and others that rows may at most be padded to.

        A reader of the statements gets all of them, to see the keys.
        """
        equal: list[Wish] = []
        near: list[Wish] = []
        known: dict[int | None, FileDims | None] = {}
        for number, plan in plans.items():
            for candidate, operands in self._stored(plan):
                file_id, own = candidate.kernel.file_id, (number, plan, candidate, operands)
                if file_id not in known:
                    known[file_id] = self._dims_of(candidate)
                dims = known[file_id]
                if dims is None or dims.may_equal(operands.shapes):
                    equal += self._spelled(*own)
                elif dims.may_pad(operands.shapes):
                    near += self._spelled(*own)
        return equal, near

    def _dims_of(self, candidate: Candidate) -> FileDims | None:
        """Return the dims of a kernel's rows, None when they do not tell whether a target fits."""
        trait = self._catalog.trait(candidate.kernel.kernel_type)
        if trait.is_folded or self._statements.log is not None:
            return None
        return self._catalog.dims.of_file(self._statements, candidate.kernel.file_id or 0)

    def _granted(
        self, plans: Mapping[int, Plan], wishes: Iterable[Tried], keys: Mapping[Shapes, Row]
    ) -> dict[int, Row]:
        """Return the best group of each plan under the keys of the wishes' forms."""
        return self.best(plans, self._matches(_pairs(*self._held(wishes, keys))))

    def padded(self, wishes: list[Wish], keys: Mapping[Shapes, Row]) -> list[Row]:
        """Return the groups that targets pad, with the ratio of their sizes."""
        groups, wanted = self._held([(wish, _PADDED) for wish in wishes], keys)
        under: dict[Place, list[Row]] = defaultdict(list)
        for place, group in groups:
            under[place].append(group)
        padding = Padding(self._statements, [group for _, group in groups], self._store)
        pairs = (
            (dict(group), *ask)
            for place, own in under.items()
            for group, ask in padding.near(own, _counting(wanted[place], is_bare=False))
        )
        return padding.matches(self._matches(pairs))

    def _wishes(self, number: int, plan: Plan) -> Iterator[Wish]:
        for candidate, operands in self._stored(plan):
            yield from self._spelled(number, plan, candidate, operands)

    def _stored(self, plan: Plan) -> Iterator[tuple[Candidate, Operands]]:
        """Yield every kernel of a plan with the operands as its rows may have them."""
        for candidate in plan.candidates:
            trait = self._catalog.trait(candidate.kernel.kernel_type)
            for operands in rearranged(plan.operands, trait.rearrangement):
                yield candidate, operands

    def _spelled(
        self, number: int, plan: Plan, candidate: Candidate, operands: Operands
    ) -> Iterator[Wish]:
        """Yield the wishes for operands of a plan, in every spelling of their dtypes."""
        trait = self._catalog.trait(candidate.kernel.kernel_type)
        ends = self._ends(candidate, plan.input_limit)
        for distance, suffix in spellings(operands, trait.is_relaxed_dtype):
            for end, cut in ends:
                yield Wish(number, candidate, trait, operands.shapes, distance, suffix + end, cut)

    def _ends(self, candidate: Candidate, limit: int) -> list[tuple[str, int]]:
        """Return how the keys end that a kernel may hold a target under, and where they are."""
        if limit == 0:
            return [("", 0)]
        is_stored = (candidate.kernel.file_id, limit) in self._catalog.stored_cuts
        return [("", 0), ("#cut", 0 if is_stored else limit)]

    def keys_of(self, wishes: Iterable[Wish]) -> dict[Shapes, Row]:
        """Return the keys of all forms of the wishes' operands, and their size class."""
        wished = list(wishes)
        keys = self._forms("lookup.operand_key", dict.fromkeys(w.shapes for w in wished))
        folded = dict.fromkeys(w.shapes for w in wished if w.trait.is_folded)
        for shapes, forms in self._forms("lookup.operand_key_folded", folded).items():
            keys[shapes] = {**keys[shapes], **forms, "size_class": None}
        return keys

    def _forms(self, query: str, wanted: Iterable[Shapes]) -> dict[Shapes, Row]:
        found: dict[Shapes, Row] = {}
        for part in parts(list(wanted), _TOGETHER):
            rows = self._statements.evaluate(query, operands=json.dumps(part))
            found.update(zip(part, rows, strict=True))
        return found

    def _held(
        self, wishes: Iterable[Tried], keys: Mapping[Shapes, Row]
    ) -> tuple[list[tuple[Place, Row]], dict[Place, list[Asked]]]:
        """Return the groups under the keys of the wishes' forms, and what asks for each place."""
        wanted: dict[Place, list[Asked]] = defaultdict(list)
        classes: set[Any] = set()
        for wish, forms in wishes:
            own = keys[wish.shapes]
            classes.add(own["size_class"])
            for column, rule, quality, _ in forms_of(wish.trait, forms):
                place = (wish.file_id, own[column] + wish.suffix, wish.cut)
                wanted[place].append((wish, rule, quality))
        return list(self._store.at(wanted, () if None in classes else classes)), wanted

    def _matches(self, pairs: Iterable[Pair]) -> list[Row]:
        """Return groups with what they answer, by which rule and with which quality."""
        matches = []
        for group, wish, rule, quality in pairs:
            group["id"], group["position"] = wish.number, wish.candidate.position
            group["rule"], group["quality"] = rule, quality
            group["distance"], group["wish"] = wish.distance, wish
            matches.append(group)
        return matches

    def best(self, plans: Mapping[int, Plan], matches: list[Row]) -> dict[int, Row]:
        """Return the best match of each plan, in the order of :meth:`_order`."""
        by_plan: dict[int, list[Row]] = defaultdict(list)
        for row in matches:
            by_plan[row["id"]].append(row)
        best = {}
        for number, rows in by_plan.items():
            first = rows[0] if len(rows) == 1 else min(rows, key=self._order)
            candidate = plans[number].candidates[first["position"]]
            if candidate.is_unique and _is_ambiguous(first, rows):
                first["ambiguous"] = True
            best[number] = first
        return best

    def _order(self, row: Row) -> tuple[Any, ...]:
        """Match quality, padding, dtype, kernel, latency column, content (place for ``first``)."""
        content = row["row_id"] if self._aggregation == "first" else row["signature_id"]
        return (*_tie(row), content, row["rule"])


def _pairs(
    groups: Iterable[tuple[Place, Row]], wanted: Mapping[Place, list[Asked]]
) -> Iterator[Pair]:
    """Yield every group with what asks for it, a row of its own for each."""
    for place, group in groups:
        asked = wanted[place]
        if len(asked) > 1 or group["is_bare"]:
            asked = _counting(asked, group["is_bare"])
        for number, ask in enumerate(asked):
            yield (group if number == 0 else dict(group), *ask)


def _counting(asked: list[Asked], is_bare: bool) -> list[Asked]:
    """Return what may match a group: of each wish its best rule, and the one that takes a 1 off.

    Rows with a leading 1 are stored without it as well; only that rule may answer by those.
    """
    if is_bare:
        return [ask for ask in asked if ask[1] == "batch_strip"]
    first: dict[int, Asked] = {}
    for ask in asked:
        first.setdefault(id(ask[0]), ask)
    return list(first.values())


def _tie(row: Row) -> tuple[Any, ...]:
    """Return what decides between matches before their content does."""
    ratio = row.get("padding_ratio", 1.0)
    return (row["quality"], ratio, row["distance"], row["position"], row["latency_rank"])


def _is_ambiguous(best: Row, rows: list[Row]) -> bool:
    """Whether matches that tie with the best one have different latencies."""
    tied = [row for row in rows if _tie(row) == _tie(best)]
    sides = ("latency_min_us", "latency_max_us")
    return len({round(row[side], 12) for row in tied for side in sides}) > 1


def left_to_pad(
    wishes: Iterable[Wish], plans: Mapping[int, Plan], found: Collection[int]
) -> list[Wish]:
    """Return the wishes of plans that nothing matches yet and padded rows may."""
    return [w for w in wishes if w.number not in found and _may_be_padded(plans[w.number])]


def _may_be_padded(plan: Plan) -> bool:
    """Whether any dim of the target is a multiple of 8, as every padded dim is."""
    return any(dim % 8 == 0 for shape in plan.operands.shapes for dim in shape)
