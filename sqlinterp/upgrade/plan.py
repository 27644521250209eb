"""What would become of one CSV, without writing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlinterp.errors import SourceError
from sqlinterp.upgrade.changes import Blank, Change, Facts
from sqlinterp.upgrade.latency import effective_latencies
from sqlinterp.upgrade.layouts import AVERAGE, layout_of, mixed_names
from sqlinterp.upgrade.report import LEFT_ALONE, UNCHANGED, UPGRADED, FileReport
from sqlinterp.upgrade.steps import steps_to
from sqlinterp.upgrade.table import Table, encode, read_table


@dataclass(frozen=True)
class FilePlan:
    """A file as it is and as it will be; both are blank unless it is to be rewritten."""

    report: FileReport
    before: bytes = b""
    after: bytes = b""

    @property
    def step_names(self) -> tuple[str, ...]:
        """Names of the steps that change the file."""
        return tuple(name for name, _ in self.report.steps)


def plan_file(path: Path, target: str, facts: Facts, core_ratio: float | None) -> FilePlan:
    """Return what the steps to a layout make of a file.

    Parameters
    ----------
    path : Path
        The CSV.
    target : str
        Layout to upgrade to.
    facts : Facts
        What the files do not say.
    core_ratio : float or None
        See :func:`sqlinterp.upgrade.latency.effective_latencies`.

    Returns
    -------
    FilePlan
        A file that cannot be handled has the outcome ``left alone`` and a reason.
    """
    try:
        table, before = read_table(path)
        layout = layout_of(table.header)
        if layout == "comm6":
            report = FileReport(path.name, UNCHANGED, "", len(table.rows), layout, layout)
            return FilePlan(report)
        _refuse_mixed(table)
        after, steps, blanks = _run_steps(table, target, facts)
        _check_latencies(table, after, core_ratio)
    except SourceError as error:
        return FilePlan(FileReport(path.name, LEFT_ALONE, str(error)))
    outcome = UPGRADED if steps else UNCHANGED
    report = FileReport(
        path.name, outcome, "", len(table.rows), layout, layout_of(after.header), steps, blanks,
        _moved_mean(table, steps),
    )  # fmt: skip
    return FilePlan(report, before, encode(after)) if steps else FilePlan(report)


def _refuse_mixed(table: Table) -> None:
    if layout_of(table.header) != "mixed":
        return
    legacy, newer = mixed_names(table.header)
    raise SourceError(
        f"'{legacy}' and '{newer}' belong to different layouts, so it is not known what"
        f" '{AVERAGE}' means in this file"
    )


def _run_steps(
    table: Table, target: str, facts: Facts
) -> tuple[Table, tuple[tuple[str, Change], ...], tuple[Blank, ...]]:
    done: list[tuple[str, Change]] = []
    blanks: list[Blank] = []
    for step in steps_to(target):
        after, change = step.run(table, facts)
        blanks += change.blanks
        if after is not table:
            done.append((step.name, change))
        table = after
    return table, tuple(done), tuple(blanks)


def _check_latencies(before: Table, after: Table, core_ratio: float | None) -> None:
    """Refuse a change of any row's latency.

    Raises
    ------
    SourceError
        If a policy for profiling rows applies to the new column name and not to the old one.
    """
    old, new = effective_latencies(before, core_ratio), effective_latencies(after, core_ratio)
    changed = [row for row, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if changed:
        first, rows = changed[0], f"{len(changed)} row{'s' * (len(changed) > 1)}"
        raise SourceError(
            f"the latency of {rows} would change, in line {before.lines[first]} from"
            f" {old[first]} to {new[first]} us: the policy profiling_core_envelope_fallback"
            " replaces profiling means by core times",
            todo="Remove that policy of the kernel from op_mapping.yaml first.",
        )


def _moved_mean(table: Table, steps: tuple[tuple[str, Change], ...]) -> tuple[int, str] | None:
    if not any(AVERAGE in dict(change.renamed) for _, change in steps):
        return None
    cells = zip(table.lines, table.column(AVERAGE), strict=True)
    return next(((line, cell) for line, cell in cells if cell.strip()), None)
