"""What a lookup asks of an engine that holds the measured tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlinterp.relational.canonical import Name

Row = dict[str, Any]


@dataclass(frozen=True)
class Relation:
    """A table of targets.

    Attributes
    ----------
    columns : mapping
        DuckDB's types by column name.
    rows : sequence of tuple
        Values in the order of the columns.
    """

    columns: Mapping[str, str]
    rows: Sequence[tuple[Any, ...]]


class Backend(Protocol):
    """An engine that answers relations of targets from one version."""

    def run(self, name: Name, aggregation: str, **relations: Relation) -> list[Row]:
        """Return the rows of a canonical query over the given relations, in any order."""

    def cells(self, places: Relation, aggregation: str) -> list[Row]:
        """Return what :func:`sqlinterp.relational.cells.solve_cells` gives for every regime.

        Parameters
        ----------
        places : Relation
            Columns of :data:`sqlinterp.relational.cells.CELL_PLACE`.
        """
