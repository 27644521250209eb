"""Cache updates as children by kernel: rows with a cache of any number of blocks answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.lookup.answers import exact_answer, interpolated_answer, miss_answer
from sqlinterp.lookup.catalog import MappedOperator
from sqlinterp.lookup.operands import Operands, as_half_precision_brain, operands_of
from sqlinterp.lookup.plan import Plan, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer
from sqlinterp.paths import PATHS

Row = dict[str, Any]


@dataclass(frozen=True)
class _Rule:
    """How one kind of cache update is matched."""

    query: str
    label: str
    operand_count: int
    cache_places: tuple[int, ...]
    cache_rank: int
    path: str | None = None


# The operands are in CSV order. Key-value caches: latent (t, 1, 1, C), norm (R), cosine, sine,
# slots, rope cache, latent cache; scattered writes: cache, index, update.
_RULES = {
    "cache_postprocess": _Rule(
        "lookup.cache_postprocess_match", "cache_pool_dim0_agnostic", 7, (5, 6), 4
    ),
    "scatter_cache_write": _Rule(
        "lookup.scatter_cache_match",
        "scatter_cache_pool_dim0_agnostic",
        3,
        (0,),
        2,
        "scatter_nd_update_mla",
    ),
}


def cache_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan a cache update; operands of another form than its kernel's are a miss."""
    catalog, rule = services.catalog, _RULES[plan.dispatch]
    plan = with_kernels(plan, entry.kernels, entry, catalog, services.context)
    operands, problem = operands_of(plan.invocation, catalog)
    shapes = operands.shapes
    is_sound = len(shapes) >= rule.operand_count and all(
        len(shapes[place]) == rule.cache_rank for place in rule.cache_places
    )
    if problem is None and not is_sound:
        problem = f"semantic_key_mismatch:{plan.dispatch}"
    path = PATHS.get(rule.path or "")
    operands = operands.cut(rule.operand_count)
    return replace(plan, operands=operands, path=path, miss_reason=problem)


class CacheHandler:
    """Answers cache updates exactly, scattered writes by interpolation as well."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        services = self._services
        rule = _RULES[next(iter(plans.values())).dispatch]
        aggregation = services.exact_aggregation
        answers = {
            number: exact_answer(plans[number], row, aggregation)
            for number, row in self._found(plans, rule).items()
        }
        missed = {number: plan for number, plan in plans.items() if number not in answers}
        outcomes = {}
        if not services.context.disable_interpolation:
            placed = {n: p for n, p in missed.items() if p.candidates and p.path is not None}
            outcomes = services.interpolation().find(placed) if placed else {}
        for number, plan in missed.items():
            outcome = outcomes.get(number)
            if outcome is not None and outcome.solution is not None:
                answers[number] = interpolated_answer(
                    plan, outcome, services.catalog, services.aggregation
                )
            else:
                reason = f"semantic_key_mismatch:{plan.dispatch}"
                reason = reason if plan.candidates else "csv_not_found"
                answers[number] = miss_answer(plan, reason, outcome)
        return answers

    def _found(self, plans: Mapping[int, Plan], rule: _Rule) -> dict[int, Row]:
        """Return the best matching group of each plan that has one."""
        targets = [
            _target(number, position, (distance, operands), candidate.kernel.file_id)
            for number, plan in plans.items()
            for position, candidate in enumerate(plan.candidates)
            for distance, operands in _spellings(plan.operands)
        ]
        if not targets:
            return {}
        groups = self._services.statements.run(
            f"matches={rule.query}", "groups=lookup.matched_group",
            targets=json.dumps(targets), aggregation=self._services.exact_aggregation,
        )  # fmt: skip
        matches = [{**group, "rule": rule.label, "quality": 0} for group in groups]
        return self._services.exact_search().best(plans, matches)


def _spellings(operands: Operands) -> list[tuple[int, Operands]]:
    half = as_half_precision_brain(operands)
    return [(0, operands)] + ([(1, half)] if half is not None else [])


def _target(number: int, position: int, spelling: tuple[int, Operands], file_id: int | None) -> Row:
    distance, operands = spelling
    return {
        "id": number,
        "position": position,
        "distance": distance,
        "file_id": file_id,
        "shapes": operands.shapes,
        "dtypes": operands.dtypes,
        "gaps": operands.gaps,
    }
