"""What a run did, or would do, to every file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlinterp.ingestion.folders import VersionFolder
from sqlinterp.upgrade.changes import Blank, Change

AnyPath = str | os.PathLike[str]
UPGRADED, RESTORED, UNCHANGED, LEFT_ALONE = "upgraded", "restored", "unchanged", "left alone"


@dataclass(frozen=True)
class FileReport:
    """One file.

    Attributes
    ----------
    outcome : str
        ``upgraded`` or ``restored``; ``unchanged`` when nothing was to do; ``left alone`` when
        the file cannot be handled.
    reason : str
        Why the file was left alone.
    rows : int
        Data rows.
    layout_before, layout_after : str
        Column sets.
    steps : tuple of (str, Change)
        Name and effect of the steps that changed it, in order.
    blanks : tuple of Blank
        Cells for which nothing could be derived.
    moved_mean : tuple of (int, str) or None
        Line and cell of the first ``Average Duration(us)`` that got another name.
    """

    name: str
    outcome: str
    reason: str = ""
    rows: int = 0
    layout_before: str = ""
    layout_after: str = ""
    steps: tuple[tuple[str, Change], ...] = ()
    blanks: tuple[Blank, ...] = ()
    moved_mean: tuple[int, str] | None = None


@dataclass(frozen=True)
class VersionReport:
    """The files of one version directory; ``name`` is its path as the user gave it."""

    name: str
    path: Path
    files: tuple[FileReport, ...]

    def count(self, outcome: str) -> int:
        """Return how many files have an outcome."""
        return sum(file.outcome == outcome for file in self.files)


@dataclass(frozen=True)
class UpgradeReport:
    """All version directories of a run; nothing was written when ``dry_run`` is true."""

    versions: tuple[VersionReport, ...]
    dry_run: bool

    def files(self, outcome: str) -> Iterator[tuple[VersionReport, FileReport]]:
        """Yield the files with an outcome and their version directory."""
        for version in self.versions:
            for file in version.files:
                if file.outcome == outcome:
                    yield version, file

    def count(self, outcome: str) -> int:
        """Return how many files have an outcome."""
        return sum(version.count(outcome) for version in self.versions)


def version_report(
    directory: AnyPath, version: VersionFolder, files: Sequence[FileReport]
) -> VersionReport:
    """Name a version directory by the path that the user gave and the way down from there."""
    below = os.path.relpath(version.path, Path(directory).resolve())
    return VersionReport(os.path.normpath(Path(directory) / below), version.path, tuple(files))
