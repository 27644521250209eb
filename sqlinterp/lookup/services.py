"""What planners and handlers of every dispatch work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.exact import ExactSearch
from sqlinterp.lookup.interpolate import InterpolationSearch
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.policy import PRESETS


@dataclass(frozen=True)
class Services:
    """One version under one context, and the way back into the engine for composites.

    Attributes
    ----------
    plan_entry : callable
        Plans an invocation under a mapping entry, a synthetic one too.
    answer_plans : callable
        Answers plans of any dispatch by their number.
    """

    statements: Statements
    catalog: Catalog
    context: QueryContext
    plan_entry: Callable[[OpInvocation, MappedOperator], Plan]
    answer_plans: Callable[[Mapping[int, Plan]], dict[int, Answer]]

    @property
    def exact_aggregation(self) -> str:
        """How duplicates of an exact match become one latency."""
        return PRESETS[self.context.aggregation][0]

    @property
    def aggregation(self) -> str:
        """How duplicates of a point become one latency."""
        return PRESETS[self.context.aggregation][1]

    def exact_search(self) -> ExactSearch:
        """Return the search for rows whose operands equal the target's."""
        return ExactSearch(self.statements, self.catalog, self.exact_aggregation)

    def interpolation(self) -> InterpolationSearch:
        """Return the search for neighbours of a target."""
        return InterpolationSearch(self.statements, self.catalog, self.aggregation)


class Handler(Protocol):
    """Answers all plans of one dispatch, set-based."""

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""


Planner = Callable[[Plan, MappedOperator, Services], Plan]


@dataclass(frozen=True)
class Route:
    """How the entries of one dispatch are planned and answered."""

    plan: Planner
    handler: Callable[[Services], Handler]
