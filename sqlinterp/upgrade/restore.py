"""Taking the last upgrade back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlinterp.errors import SourceError
from sqlinterp.ingestion.folders import find_versions
from sqlinterp.upgrade.record import (
    Run,
    digest,
    finish_undo,
    last_run,
    read_record,
    time_now,
    unwritable,
    write_file,
)
from sqlinterp.upgrade.report import (
    LEFT_ALONE,
    RESTORED,
    UNCHANGED,
    AnyPath,
    FileReport,
    UpgradeReport,
    version_report,
)


def undo(directory: AnyPath, dry_run: bool = False) -> UpgradeReport:
    """Restore the files that the last upgrade replaced; return what became of each of them.

    The last upgrade is the newest one below the directory that was not undone, in all version
    directories that it changed. If a file of it was changed since, that file is left alone, and
    the upgrade is not undone in its directory.

    Parameters
    ----------
    directory : path
        A version directory, or a folder that contains some.
    dry_run : bool
        Only report, write nothing.

    Raises
    ------
    SourceError
        If there is nothing to undo, a record is damaged, or a file cannot be written.
    """
    versions = find_versions([directory])
    records = {version.path: read_record(version.path) for version in versions}
    last = {path: run for path, runs in records.items() if (run := last_run(runs))}
    if not last:
        raise SourceError("there is no upgrade to undo", str(directory))
    newest = max(run.started_at for run in last.values())
    reports = []
    for version in versions:
        run = last.get(version.path)
        if run is not None and run.started_at == newest:
            files = _undo_run(version.path, records[version.path], run, dry_run)
            reports.append(version_report(directory, version, files))
    return UpgradeReport(tuple(reports), dry_run)


def _undo_run(folder: Path, runs: tuple[Run, ...], run: Run, dry_run: bool) -> list[FileReport]:
    try:
        files = [_restore(folder, name, run, dry_run) for name in run.files]
        if not dry_run and all(file.outcome != LEFT_ALONE for file in files):
            finish_undo(folder, runs, run, time_now())
    except OSError as error:
        raise unwritable(error, folder) from error
    return files


def _restore(folder: Path, name: str, run: Run, dry_run: bool) -> FileReport:
    path, backup, entry = folder / name, run.original(folder, name), run.files[name]
    report = FileReport(name, LEFT_ALONE)
    if not path.is_file():
        return replace(report, reason=f"{name} is gone; its original is {backup}")
    current = digest(path.read_bytes())
    if current == entry.sha256_before:
        return replace(report, outcome=UNCHANGED)
    if current != entry.sha256_after:
        text = f"{name} was changed after the upgrade; its original is {backup}"
        return replace(report, reason=text)
    if not backup.is_file():
        return replace(report, reason=f"the original of {name} is gone: {backup}")
    original = backup.read_bytes()
    if digest(original) != entry.sha256_before:
        return replace(report, reason=f"{backup} is not the original of {name}")
    if not dry_run:
        write_file(path, original)
    return replace(report, outcome=RESTORED)
