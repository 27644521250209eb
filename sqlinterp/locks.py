"""Advisory locks on files, which end with their process: nothing stale ever has to be removed."""

from __future__ import annotations

import errno
import os
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlinterp.errors import DatabaseError
from sqlinterp.interrupts import undisturbed

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

Identity = tuple[int, int, int, int]

# The lock of DuckDB belongs to the process, and closing any descriptor of the file ends it. This
# one belongs to its descriptor. DuckDB opens a file for writing only when nobody has either.
_SHARED = struct.pack("hhqqi4x", getattr(fcntl, "F_RDLCK", 0), os.SEEK_SET, 0, 0, 0)
_BUSY = (errno.EACCES, errno.EAGAIN)
_LONGEST_PID = 20
_RETRY_S = 0.05


def identity_of(found: os.stat_result) -> Identity:
    """Return what tells a file from another one that takes its place: device, inode, time, size."""
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def file_identity(path: str | os.PathLike[str]) -> Identity | None:
    """Return the identity of the file that has a name now, None when there is none."""
    try:
        return identity_of(os.stat(path))
    except OSError:
        return None


class HeldFile:
    """A database file kept open, so that no program can open it for writing.

    Parameters
    ----------
    path : Path
        The file. Another file may take its name meanwhile; this one stays held.

    Raises
    ------
    DatabaseError
        If there is no such file, it cannot be read, or another program writes it.
    """

    def __init__(self, path: Path) -> None:
        check_regular(path)
        try:
            # Without O_NONBLOCK, a named pipe that took the place would be waited for.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            self.descriptor = os.open(path, flags)
        except OSError as error:
            raise DatabaseError(f"cannot be read: {error.strerror}", str(path)) from error
        try:
            self._share(path)
            self.identity = identity_of(os.fstat(self.descriptor))
        except BaseException:
            self.close()
            raise

    def _share(self, path: Path) -> None:
        if fcntl is None or not sys.platform.startswith("linux"):
            return
        try:
            fcntl.fcntl(self.descriptor, fcntl.F_OFD_SETLK, _SHARED)
        except OSError as error:
            if error.errno in _BUSY:
                raise DatabaseError(
                    "another program has the file open for writing",
                    str(path),
                    todo="Close it there, then try again.",
                ) from error

    def close(self) -> None:
        """Let the file go."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def check_regular(path: Path) -> None:
    """Make sure that there is a file and that reading it ends.

    Raises
    ------
    DatabaseError
        If there is none, or it is a folder, a named pipe or a device.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise DatabaseError(f"cannot be read: {error.strerror}", str(path)) from error
        raise DatabaseError(
            "there is no such database file",
            str(path),
            todo="Make one with 'sqlinterp ingest DIR --db FILE', or name another with --db.",
        ) from error
    if not stat.S_ISREG(mode):
        raise DatabaseError("is no regular file, so it is no database", str(path))


@contextmanager
def only_writer(lock: Path, path: Path, patience_s: float = 0.0) -> Iterator[None]:
    """Be the only writer of a database file, or say at once who is.

    Parameters
    ----------
    lock : Path
        File that stands for the right to write; it is there only while somebody writes, or after
        a writer was killed, when it means nothing.
    path : Path
        The database file, for messages.
    patience_s : float
        How long to wait for another writer [s].

    Raises
    ------
    DatabaseError
        If another process or thread writes the file, or the folder cannot be written.
    """
    deadline = time.monotonic() + patience_s
    right = _RightToWrite(lock, path)
    try:
        while not right.take():
            if time.monotonic() >= deadline:
                raise DatabaseError(
                    f"the database is being written{_owner(lock)}",
                    str(path),
                    todo="Wait until that is done, then run the command again.",
                )
            time.sleep(_RETRY_S)
        yield
    finally:
        with undisturbed():
            right.give_back()


class _RightToWrite:
    """The lock of one file, or the attempt to get it."""

    def __init__(self, lock: Path, path: Path) -> None:
        self._lock, self._path = lock, path
        self._descriptor = -1

    def take(self) -> bool:
        """Return whether the right is ours now; False when somebody else has it."""
        is_held = False
        while not is_held:
            self.give_back()
            try:
                self._descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o666)
                if not self._is_locked():
                    return False
                is_held = self._is_current()
            except OSError as error:
                text = f"cannot be written: {error.strerror}"
                raise DatabaseError(text, str(self._path)) from error
        with suppress(OSError):  # the number only serves messages
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode())
        return True

    def give_back(self) -> None:
        """Let go of the lock, and of its file unless that is somebody else's."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            # Removed before it is let go: whoever opened it meanwhile finds that it is gone.
            if self._is_locked() and self._is_current():
                self._lock.unlink()
        os.close(self._descriptor)
        self._descriptor = -1

    def _is_locked(self) -> bool:
        """Lock what was opened, which is no change when it is locked; return whether it is."""
        try:
            if fcntl is not None:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

    def _is_current(self) -> bool:
        """Return whether the file that was opened still has the name."""
        found, own = file_identity(self._lock), identity_of(os.fstat(self._descriptor))
        return found is not None and found[:2] == own[:2]


def _owner(lock: Path) -> str:
    try:
        with lock.open("rb") as file:
            text = file.read(_LONGEST_PID)
    except OSError:
        return ""
    return f" by process {text.decode()}" if text.isdigit() else ""
