"""Source files read so that nobody is fooled: by what is no file, or by what changes meanwhile."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlinterp.errors import SourceError
from sqlinterp.ingestion.folders import VersionFolder
from sqlinterp.ingestion.inspection import Inspection, inspect_file

# Two changes within one tick of the file system's clock leave the same time; none is that coarse.
_COARSEST_CLOCK_NS = 2_000_000_000
_BLOCK = 1 << 20
_PATTERN = frozenset("*?[\\")


@dataclass(frozen=True)
class Inspected:
    """A file that was inspected, and what the file system said of it before.

    Attributes
    ----------
    state : tuple of int
        Device, inode, size and times; empty for a file that was not read.
    is_settled : bool
        Whether a later change cannot leave the same state.
    """

    inspection: Inspection
    state: tuple[int, ...] = ()
    is_settled: bool = True


def inspect(folder: VersionFolder, path: Path, known: Mapping[str, str]) -> Inspected:
    """Inspect a CSV of a version directory unless it must not be read."""
    refusal = folder.refusal(path)
    if refusal is not None:
        return Inspected(Inspection(path).fail("unreadable", refusal))
    now = time.time_ns()
    state = _state(path)
    is_settled = bool(state) and now - max(state[-2:]) > _COARSEST_CLOCK_NS
    return Inspected(inspect_file(path, known), state, is_settled)


def check_unchanged(inspected: Inspected) -> None:
    """Make sure that a file is still what was inspected.

    Its bytes are hashed again only when the file system does not rule a change out.

    Raises
    ------
    SourceError
        If the file was changed or is gone.
    """
    path = inspected.inspection.path
    if inspected.is_settled and _state(path) == inspected.state:
        return
    try:
        with path.open("rb") as file:
            digest = hashlib.sha256()
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise _changed(path, f"cannot be read any more: {error.strerror}") from error
    if digest.hexdigest() != inspected.inspection.sha256:
        raise _changed(path, "was changed while it was read")


@contextmanager
def plain_paths(paths: Sequence[str]) -> Iterator[list[str]]:
    """Lend paths that DuckDB takes as they are: it would look for others that match a pattern."""
    odd = {path for path in paths if not _PATTERN.isdisjoint(path)}
    if not odd:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="sqlinterp-") as folder:
        links = {path: f"{folder}/{number}.csv" for number, path in enumerate(sorted(odd))}
        for path, link in links.items():
            os.symlink(path, link)
        yield [links.get(path, path) for path in paths]


def _changed(path: Path, problem: str) -> SourceError:
    return SourceError(
        problem, str(path), todo="Nothing was stored; ingest again when nobody writes the file."
    )


def _state(path: Path) -> tuple[int, ...]:
    """Return what changes with the content, the times last [ns]; empty when it cannot be asked."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
