"""What one upgrade step did to one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlinterp.upgrade.table import Table


@dataclass(frozen=True)
class Fill:
    """A cell that was blank and now holds a value; ``line`` is its line in the file."""

    line: int
    column: str
    after: str


@dataclass(frozen=True)
class Blank:
    """Cells that stay blank, and why no value can be derived for them."""

    column: str
    reason: str
    count: int


@dataclass(frozen=True)
class Change:
    """The difference between a table before and after one step.

    Attributes
    ----------
    renamed : tuple of (str, str)
        Old and new name of the columns that keep their cells.
    added : tuple of str
        New columns.
    filled : tuple of Fill
        Cells that got a value.
    other : tuple of (str, str, str)
        What else changed, with the state before and after.
    blanks : tuple of Blank
        Cells that the step looked at and could not fill.
    """

    renamed: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()
    filled: tuple[Fill, ...] = ()
    other: tuple[tuple[str, str, str], ...] = ()
    blanks: tuple[Blank, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What the owner of the files knows and the files do not say.

    Attributes
    ----------
    ep_size : int or None
        Ranks in the expert-parallel group that fused MoE kernels were measured with.
    """

    ep_size: int | None = None


def fill_column(
    table: Table, column: str, found: Sequence[tuple[str, str]]
) -> tuple[Table, Change]:
    """Fill the blank cells of a column; it is added only if at least one cell gets a value.

    A column that stays blank everywhere would say nothing, and readers that take a missing column
    for "any value" would take its rows for unusable.

    Parameters
    ----------
    found : sequence of (str, str)
        For every row the value, or a blank value and the reason why there is none.
    """
    before = table.column(column)
    cells = [old if old.strip() else new for old, (new, _) in zip(before, found, strict=True)]
    filled = tuple(
        Fill(line, column, new)
        for line, old, new in zip(table.lines, before, cells, strict=True)
        if new != old
    )
    reasons = Counter(
        reason for cell, (_, reason) in zip(cells, found, strict=True) if not cell.strip()
    )
    blanks = tuple(Blank(column, reason, count) for reason, count in reasons.most_common())
    if not filled:
        return table, Change(blanks=blanks)
    added = () if column in table.header else (column,)
    return table.with_column(column, cells), Change(added=added, filled=filled, blanks=blanks)
