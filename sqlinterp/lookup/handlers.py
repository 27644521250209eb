"""Which class answers which dispatch path besides compute; a path registers here, nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer, QueryContext


class Handler(Protocol):
    """Answers all plans of one dispatch path, set-based."""

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""


HandlerFactory = Callable[[Statements, Catalog, QueryContext], Handler]

HANDLERS: dict[str, HandlerFactory] = {}
