"""Upgrading the CSVs of version directories."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlinterp.errors import SourceError, UsageError
from sqlinterp.ingestion.folders import VersionFolder, find_versions
from sqlinterp.ingestion.mapping import mapping_of
from sqlinterp.ingestion.staging import core_ratio
from sqlinterp.upgrade.changes import Facts
from sqlinterp.upgrade.layouts import read_target
from sqlinterp.upgrade.plan import FilePlan, plan_file
from sqlinterp.upgrade.record import (
    FileEntry,
    Run,
    digest,
    new_backup,
    read_record,
    time_now,
    unwritable,
    write_file,
    write_record,
)
from sqlinterp.upgrade.report import (
    LEFT_ALONE,
    UPGRADED,
    AnyPath,
    FileReport,
    UpgradeReport,
    version_report,
)
from sqlinterp.version import __version__

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class _Job:
    """What is to be done in every version directory."""

    target: str
    facts: Facts
    started_at: str
    advance: Callable[[str], None]


def upgrade(
    directory: AnyPath,
    target: str,
    dry_run: bool = False,
    ep_size: int | None = None,
    progress: Progress | None = None,
) -> UpgradeReport:
    """Bring the CSVs of version directories to a newer layout; return what became of each file.

    Parameters
    ----------
    directory : path
        A version directory, or a folder that contains some.
    target : str
        ``prefixed36``, ``current62`` or ``latest``. Files of a later layout keep it.
    dry_run : bool
        Only report, write nothing.
    ep_size : int, optional
        Expert-parallel ranks that fused MoE rows without ``EP Size`` were measured on.
    progress : callable, optional
        Called as ``progress(file name, files done, files in all)``.

    Raises
    ------
    UsageError
        If the target is unknown or has no place for the EP size.
    SourceError
        If there is no version directory, a record is damaged, or a file cannot be written.
    """
    facts = _facts(read_target(target), ep_size)
    versions = find_versions([directory])
    runs = {version.path: read_record(version.path) for version in versions}
    job = _Job(read_target(target), facts, time_now(), _counted(progress, versions))
    reports = []
    for version in versions:
        plans = _plan(version, job)
        if not dry_run:
            _write(version, plans, runs[version.path], job)
        reports.append(version_report(directory, version, [plan.report for plan in plans]))
    return UpgradeReport(tuple(reports), dry_run)


def _facts(target: str, ep_size: int | None) -> Facts:
    if ep_size is not None and target == "prefixed36":
        raise UsageError(f"'{target}' has no column EP Size", "--ep-size", "--to current62")
    return Facts(ep_size)


def _counted(progress: Progress | None, versions: Sequence[VersionFolder]) -> Callable[[str], None]:
    """Return a function of the file name that reports how far the run is."""
    total = sum(len(version.csv_files) for version in versions)
    done = itertools.count()
    return lambda name: progress(name, next(done), total) if progress is not None else None


def _plan(version: VersionFolder, job: _Job) -> list[FilePlan]:
    mapping = mapping_of(version)
    plans = []
    for path in version.csv_files:
        job.advance(path.name)
        refusal = version.refusal(path)
        if refusal is not None:
            plans.append(FilePlan(FileReport(path.name, LEFT_ALONE, refusal)))
            continue
        ratio = core_ratio(mapping.overrides("latency", path.stem))
        plans.append(plan_file(path, job.target, job.facts, ratio))
    return plans


def _write(
    version: VersionFolder, plans: Sequence[FilePlan], runs: tuple[Run, ...], job: _Job
) -> None:
    """Save the originals, record the run, then replace the files; it may stop at any point.

    Raises
    ------
    SourceError
        If a file cannot be written, or was changed since it was read.
    """
    changing = [plan for plan in plans if plan.report.outcome == UPGRADED]
    if not changing:
        return
    folder = version.path
    entries = {
        plan.report.name: FileEntry(plan.step_names, digest(plan.before), digest(plan.after))
        for plan in changing
    }
    try:
        run = Run(job.started_at, job.target, __version__, new_backup(folder), entries)
        for plan in changing:
            write_file(run.original(folder, plan.report.name), plan.before)
        write_record(folder, (*runs, run))
        for plan in changing:
            path = folder / plan.report.name
            if path.read_bytes() != plan.before:
                raise SourceError("the file was changed by somebody else meanwhile", str(path))
            write_file(path, plan.after)
    except OSError as error:
        raise unwritable(error, folder) from error
