"""The record of upgrade runs in a version directory, the backups, and files replaced at once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlinterp.errors import SourceError

RECORD_FILE = ".sqlinterp-upgrade.json"
BACKUP_FOLDER = ".sqlinterp-backup"
# Ingest takes every folder with '*.csv' of collectives, or given to it, for a version directory.
_BACKUP_SUFFIX = ".orig"
_ABOUT = (
    "Written by 'sqlinterp upgrade-csv', whose --undo needs it together with the backup folder."
)


@dataclass(frozen=True)
class FileEntry:
    """One rewritten file: the steps it took and the SHA-256 of both contents."""

    steps: tuple[str, ...]
    sha256_before: str
    sha256_after: str


@dataclass(frozen=True)
class Run:
    """One run in one version directory.

    Attributes
    ----------
    started_at : str
        UTC time, the same in every directory that the run changed.
    backup : str
        Folder with the original files, relative to the version directory.
    undone_at : str or None
        UTC time when the originals were restored.
    """

    started_at: str
    target: str
    package_version: str
    backup: str
    files: Mapping[str, FileEntry]
    undone_at: str | None = None

    def original(self, folder: Path, name: str) -> Path:
        """Return where the original of a file is kept."""
        return folder / self.backup / f"{name}{_BACKUP_SUFFIX}"


def read_record(folder: Path) -> tuple[Run, ...]:
    """Return the runs of a version directory, oldest first.

    Raises
    ------
    SourceError
        If the record cannot be read.
    """
    path = folder / RECORD_FILE
    if not path.exists():
        return ()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_run(entry) for entry in document["runs"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SourceError(
            f"the record of upgrades is damaged: {error}",
            str(path),
            todo=f"Restore it, or delete it and keep the originals in {BACKUP_FOLDER}.",
        ) from error


def _run(entry: dict[str, Any]) -> Run:
    files = {
        str(name): FileEntry(
            tuple(map(str, file["steps"])), str(file["sha256_before"]), str(file["sha256_after"])
        )
        for name, file in entry["files"].items()
    }
    undone_at = entry.get("undone_at")
    return Run(
        str(entry["started_at"]), str(entry["target"]), str(entry["package_version"]),
        str(entry["backup"]), files, None if undone_at is None else str(undone_at),
    )  # fmt: skip


def write_record(folder: Path, runs: tuple[Run, ...]) -> None:
    """Replace the record of a version directory."""
    document = {"about": _ABOUT, "runs": [asdict(run) for run in runs]}
    write_file(folder / RECORD_FILE, (json.dumps(document, indent=2) + "\n").encode())


def last_run(runs: tuple[Run, ...]) -> Run | None:
    """Return the newest run whose files have not been restored."""
    return next((run for run in reversed(runs) if run.undone_at is None), None)


def new_backup(folder: Path) -> str:
    """Create the folder for the originals of one run and return its path in the directory."""
    parent = folder / BACKUP_FOLDER
    parent.mkdir(exist_ok=True)
    # Also counts folders of runs that were interrupted before they were recorded.
    numbers = [int(path.name[4:]) for path in parent.glob("run-*") if path.name[4:].isdigit()]
    name = f"{BACKUP_FOLDER}/run-{max(numbers, default=0) + 1:04}"
    (folder / name).mkdir()
    return name


def finish_undo(folder: Path, runs: tuple[Run, ...], undone: Run, now: str) -> None:
    """Record that a run was undone and remove its backup, which equals the restored files."""
    updated = (replace(run, undone_at=now) if run is undone else run for run in runs)
    write_record(folder, tuple(updated))
    shutil.rmtree(folder / undone.backup, ignore_errors=True)
    parent = folder / BACKUP_FOLDER
    if parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new content and never a part."""
    # The name must not end in '.csv': an interrupted run would leave a file that ingest reads.
    temporary = path.with_name(f".{path.name}.sqlinterp-tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def time_now() -> str:
    """Return the time in UTC, precise enough to tell runs apart."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def unwritable(error: OSError, folder: Path) -> SourceError:
    """Return a failure of the file system as an error of the version directory."""
    return SourceError(
        f"cannot be written: {error.strerror}",
        str(error.filename or folder),
        todo="What was replaced before can be restored with --undo.",
    )
