"""The folder of an export: filled beside its place, put there at once or not at all."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.export.manifest import NAME, read_manifest
from sqlinterp.interrupts import undisturbed
from sqlinterp.locks import only_writer

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Lend an empty folder that takes the place of an export when the block ends.

    When the block raises, the export stays as it was, and so it does when the process is killed;
    what a killed process left beside it, the next export removes.

    Parameters
    ----------
    folder : Path
        Where the export is to be. An earlier export there is replaced; a link stays a link.

    Raises
    ------
    UsageError
        If something else than an export is there.
    DatabaseError
        If the place cannot be written, or somebody else exports to it.
    """
    target = Path(os.path.realpath(folder))
    beside = target.parent
    building = beside / f".{target.name}.exporting"
    before = beside / f".{target.name}.before"
    _check_place(target, folder)
    try:
        with _made_folder(beside), only_writer(beside / f".{target.name}.lock", folder):
            _tidy(target, building, before)
            _check_place(target, folder)
            building.mkdir()
            try:
                yield building
                _sync_tree(building)
                with undisturbed():
                    _put(building, target, before)
            finally:
                _remove(building)
    except OSError as error:
        what = f"the export cannot be written: {error.strerror}"
        raise DatabaseError(what, str(error.filename or folder)) from error


@contextmanager
def _made_folder(folder: Path) -> Iterator[None]:
    """Make a folder, and take it away again when the block raises."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for one in new:
            with suppress(OSError):  # it is not empty
                one.rmdir()
        raise


def _tidy(target: Path, building: Path, before: Path) -> None:
    """Finish or undo what a killed export left."""
    if before.exists() and not target.exists():
        before.rename(target)
    for folder in (building, before):
        _remove(folder)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _check_place(target: Path, folder: Path) -> None:
    """Make sure that nothing but an earlier export is lost.

    Raises
    ------
    UsageError
        If something else is there.
    """
    if not target.exists():
        return
    todo = "Name a folder that does not exist yet."
    if not target.is_dir():
        raise UsageError("is a file", str(folder), "a folder", todo)
    found = sorted(path for path in target.rglob("*") if not path.is_dir() or path.is_symlink())
    if not found:
        if any(target.iterdir()):
            raise UsageError("has folders that are no export", str(folder), todo=todo)
        return
    try:
        manifest = read_manifest(target)
    except DatabaseError as error:
        what = "is not empty and no earlier export"
        raise UsageError(what, str(folder), todo=todo) from error
    known = {NAME, *(file.path for file in manifest.files)}
    foreign = [path for path in found if path.relative_to(target).as_posix() not in known]
    if foreign:
        raise UsageError(f"holds {foreign[0].name}, which no export wrote", str(folder), todo=todo)


def _put(building: Path, target: Path, before: Path) -> None:
    """Put a folder into its place; what was there is gone afterwards."""
    if not target.exists() or not any(target.iterdir()):
        os.rename(building, target)
    elif _exchanged(building, target):
        pass
    else:
        os.rename(target, before)
        os.rename(building, target)
    _sync(target.parent)
    for folder in (building, before):
        _remove(folder)


def _exchanged(one: Path, other: Path) -> bool:
    """Swap the names of two folders at once; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = (os.fsencode(one), os.fsencode(other))
    done = rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE)
    return bool(done == 0)


def _sync_tree(folder: Path) -> None:
    """Make every file and name below a folder last through a loss of power."""
    for parent, _, names in os.walk(folder):
        for name in names:
            _sync(Path(parent) / name)
        _sync(Path(parent))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
