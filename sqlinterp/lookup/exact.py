"""Exact lookups: measured groups whose operands equal, or are padded to, the target's."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Operands, rearranged, spellings
from sqlinterp.lookup.plan import Candidate, Plan
from sqlinterp.lookup.statements import Statements

Row = dict[str, Any]


class ExactSearch:
    """Finds the exact answers of many plans in at most three statements."""

    def __init__(self, statements: Statements, catalog: Catalog, aggregation: str) -> None:
        self._statements, self._catalog, self._aggregation = statements, catalog, aggregation

    def find(self, plans: Mapping[int, Plan]) -> dict[int, Row]:
        """Return the best matching group of each plan that has one, by plan number.

        A row carries ``rule``, ``quality`` (0 identical, 1 relabelled, 2 padded), ``position``
        of the kernel, latencies [us] and the place of the first measurement; ``ambiguous`` is set
        when the kernel demands one latency per semantic key and there are several.
        """
        targets = [
            target for number, plan in plans.items() for target in self._targets(number, plan)
        ]
        found = self._best(plans, self._unpadded(targets))
        missing = {target["id"] for target in targets if target["id"] not in found} & {
            number for number, plan in plans.items() if _may_be_padded(plan)
        }
        if missing:
            padded = self._padded([target for target in targets if target["id"] in missing])
            found.update(self._best(plans, padded))
        return found

    def _targets(self, number: int, plan: Plan) -> Iterable[Row]:
        for candidate in plan.candidates:
            trait = self._catalog.trait(candidate.kernel.kernel_type)
            for operands in rearranged(plan.operands, trait.rearrangement):
                yield from self._spelled(number, plan, candidate, operands)

    def _spelled(
        self, number: int, plan: Plan, candidate: Candidate, operands: Operands
    ) -> Iterable[Row]:
        trait = self._catalog.trait(candidate.kernel.kernel_type)
        ends = ("", "#cut") if plan.input_limit else ("",)
        for distance, suffix in spellings(operands, trait.is_relaxed_dtype):
            for end in ends:
                yield {
                    "id": number,
                    "file_id": candidate.kernel.file_id,
                    "position": candidate.position,
                    "distance": distance,
                    "shapes": operands.shapes,
                    "suffix": suffix + end,
                }

    def _unpadded(self, targets: list[Row]) -> list[Row]:
        if not targets:
            return []
        shared = {"targets": json.dumps(targets), "aggregation": self._aggregation}
        families = self._file_families(targets)
        if not any(families.values()):
            return self._statements.run(
                "targets=lookup.target", "keys=lookup.target_key", "matches=lookup.exact_match",
                **shared,
            )  # fmt: skip
        return self._statements.run(
            "targets=lookup.target", "plain_keys=lookup.target_key",
            "keys=lookup.target_key_folded", "matches=lookup.exact_match",
            **shared, **families,
        )  # fmt: skip

    def _file_families(self, targets: list[Row]) -> dict[str, list[int]]:
        files = {target["file_id"] for target in targets}
        names = {file_id: self._catalog.kernel_of(file_id) for file_id in files}
        traits = {file_id: self._catalog.trait(name) for file_id, name in names.items()}
        return {
            "flattened": sorted(i for i, trait in traits.items() if trait.is_flattened),
            "merged": sorted(i for i, trait in traits.items() if trait.is_merged),
            "swapped": sorted(i for i, t in traits.items() if t.rearrangement == "index"),
        }

    def _padded(self, targets: list[Row]) -> list[Row]:
        families = self._file_families(targets)
        families.pop("swapped")
        steps = ["targets=lookup.target", "keys=lookup.target_key_padded"]
        if any(families.values()):
            steps[1] = "plain_keys=lookup.target_key_padded"
            steps.append("keys=lookup.target_key_padded_folded")
        candidates = self._statements.run(
            *steps,
            "candidates=lookup.padded_candidate",
            targets=json.dumps(targets),
            aggregation=self._aggregation,
            **(families if len(steps) > 2 else {}),
        )
        if not candidates:
            return []
        keys = ("id", "position", "distance", "latency_rank", "signature_id", "row_id", "shapes")
        asked = [{key: row[key] for key in keys} for row in candidates]
        matches = self._statements.run(
            "alignments=lookup.alignment", "slots=lookup.aligned_slot",
            "matches=lookup.padded_match", candidates=json.dumps(asked),
        )  # fmt: skip
        groups = {(row["id"], row["position"], row["row_id"]): row for row in candidates}
        return [
            {**groups[row["id"], row["position"], row["row_id"]], **row, "quality": 2}
            for row in matches
        ]

    @staticmethod
    def _best(plans: Mapping[int, Plan], ordered: list[Row]) -> dict[int, Row]:
        """Take the first row of each plan: the statement has ordered them."""
        by_plan: dict[int, list[Row]] = defaultdict(list)
        for row in ordered:
            by_plan[row["id"]].append(row)
        best = {}
        for number, matches in by_plan.items():
            first = matches[0]
            candidate = plans[number].candidates[first["position"]]
            if candidate.is_unique and _is_ambiguous(matches):
                first["ambiguous"] = True
            best[number] = first
        return best


def _is_ambiguous(matches: list[Row]) -> bool:
    """Whether rows that tie with the best one have different latencies."""
    keys = ("quality", "padding_ratio", "distance", "position", "latency_rank")
    best = [matches[0].get(key) for key in keys]
    tied = [row for row in matches if [row.get(key) for key in keys] == best]
    latencies = {
        round(row[side], 12) for row in tied for side in ("latency_min_us", "latency_max_us")
    }
    return len(latencies) > 1


def _may_be_padded(plan: Plan) -> bool:
    """Whether any dim of the target is a multiple of 8, as every padded dim is."""
    return any(dim % 8 == 0 for shape in plan.operands.shapes for dim in shape)
