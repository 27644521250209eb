"""The update of an MLA cache: (update, cache, index) in the slots (cache, index, update)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlinterp.lookup.answers import exact_answer
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.coordinate import CONFLICT, LeafHandler, outcomes_of
from sqlinterp.lookup.interpolate import Outcome
from sqlinterp.lookup.operands import Operands, as_half_precision_brain, operands_of
from sqlinterp.lookup.plan import Candidate, Plan, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer
from sqlinterp.paths import PATHS

_PATH = PATHS["scatter_nd_update_mla"]
_INDEX_DTYPES = ("INT32", "INT64")

Row = dict[str, Any]


def cache_update_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a cache update; its operands stand in the slots of ScatterNdUpdate afterwards.

    Source: profiling RFC phase 2, section 4.4.3.
    """
    operands, problem = operands_of(plan.invocation, services.catalog)
    if not operands.shapes:
        return replace(plan, miss_reason="no_tensor_inputs")
    plan = with_kernels(plan, entry.kernels, entry, services.catalog, services.context)
    slots = _in_slots(operands)
    return replace(
        plan,
        operands=slots or operands,
        input_limit=entry.input_limit,
        path=_PATH,
        target_problem=None if slots else "scatter_target_unextractable",
        miss_reason=problem,
    )


def _in_slots(operands: Operands) -> Operands | None:
    """Return update, cache and index as cache, index and update; None if they are something else.

    A call that has them in the slots of the CSV already is no call of the operator: it may equal a
    row, but it is placed nowhere.
    """
    if len(operands.shapes) != 3 or operands.dtypes[2] not in _INDEX_DTYPES:
        return None
    update, cache, index = operands.shapes
    return operands.with_shapes((cache, index, update), (1, 2, 0))


class CacheUpdateHandler(LeafHandler):
    """Answers cache updates: rows with equal operands, then the token axis of their regime."""

    coordinate_follows = "exact_miss"

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        answers, outcomes = self._equal(plans)
        rest = {n: p for n, p in plans.items() if n not in answers and n not in outcomes}
        if self._services.context.disable_interpolation:
            outcomes.update({n: Outcome() for n, plan in rest.items() if plan.candidates})
        else:
            outcomes.update(outcomes_of(self._services, rest))
        undecided = {number: plans[number] for number in plans if number not in answers}
        return answers | self.conclude(undecided, outcomes)

    def _equal(self, plans: Mapping[int, Plan]) -> tuple[dict[int, Answer], dict[int, Outcome]]:
        """Return the answers of plans that equal rows, and the outcomes of contradicting rows."""
        aggregation = self._services.exact_aggregation
        answers, outcomes = {}, {}
        for number, rows in self._equal_rows(plans).items():
            row = min(rows, key=_order)
            candidate = plans[number].candidates[row["position"]]
            if row["is_conflicting"]:
                attempt = {"kernel_type": candidate.kernel.kernel_type, "status": CONFLICT,
                           "latency_column": row["latency_column"], "line": row["line_number"],
                           "filtered_count": row["measurement_count"]}  # fmt: skip
                outcomes[number] = Outcome(reason=CONFLICT, attempts=[attempt])
                continue
            row["ambiguous"] = candidate.is_unique and row["has_several"]
            answers[number] = exact_answer(plans[number], row, aggregation)
        return answers, outcomes

    def _equal_rows(self, plans: Mapping[int, Plan]) -> dict[int, list[Row]]:
        asked: list[tuple[int, Candidate, int]] = []
        targets = []
        for number, plan in plans.items():
            half = as_half_precision_brain(plan.operands)
            for distance, operands in enumerate([plan.operands] + ([half] if half else [])):
                for candidate in plan.candidates:
                    targets.append(
                        {"id": len(asked), "file_id": candidate.kernel.file_id,
                         "shapes": operands.shapes, "dtypes": operands.dtypes}
                    )  # fmt: skip
                    asked.append((number, candidate, distance))
        found: dict[int, list[Row]] = defaultdict(list)
        if not targets:
            return found
        for row in self._services.statements.run(
            "lookup.equal_operand",
            targets=json.dumps(targets),
            aggregation=self._services.exact_aggregation,
        ):
            number, candidate, distance = asked[row["id"]]
            match = {"position": candidate.position, "distance": distance, "quality": 0}
            found[number].append({**row, **match, "rule": "identity"})
        return found


def _order(row: Row) -> tuple[Any, ...]:
    """Sort by dtype, the true one first, then by kernel and latency column as preferred."""
    return (row["distance"], row["position"], row["latency_rank"], row["latency_column"])
