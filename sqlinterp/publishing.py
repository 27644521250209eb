"""Changes of a database file, made beside it and published at once or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from sqlinterp.database import connect_writer
from sqlinterp.errors import DatabaseError
from sqlinterp.interrupts import is_interrupt, undisturbed
from sqlinterp.locks import HeldFile, check_regular, only_writer

_BLOCK = 1 << 24  # bytes
_LONG_AGO_S = 1  # the time of a copy that DuckDB has not written to


@contextmanager
def publishing(path: Path, patience_s: float = 0.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a connection to a copy of a database file that takes its place when the block ends.

    Everybody who changes a database file does it here. Readers have the file as it was until they
    notice the new one; they never wait and never see a part. When the block raises, or the process
    is killed, the file stays as it was; what a killed process left beside it, the next writer
    removes.

    Parameters
    ----------
    path : Path
        The database file; it is made when there is none. A link stays a link.
    patience_s : float
        How long to wait for another writer [s].

    Raises
    ------
    DatabaseError
        If somebody else writes the file, it is no database or damaged, or it cannot be written.
    KeyboardInterrupt
        If the process was interrupted, in whatever form DuckDB tells that.
    """
    building = Building(path)
    try:
        with building.lent(patience_s) as connection:
            yield connection
    except duckdb.Error as error:
        raise _failed(error, path) from error
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise


def copy_database(source: Path, target: Path) -> None:
    """Copy a database file that nobody writes meanwhile, with what has not been written into it.

    Raises
    ------
    DatabaseError
        If the file cannot be read, another program writes it, or the copy cannot be written.
    """
    held = HeldFile(source)
    try:
        _copy(held, target)
        log = _log_of(source)
        if log.exists():
            shutil.copyfile(log, _log_of(target))
    except OSError as error:
        raise _failed(error, target) from error
    finally:
        held.close()


class Building:
    """The file that is made beside a database file, and everything else that belongs to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._target = Path(os.path.realpath(path))
        self._folder = self._target.parent
        name = f".{self._target.name}"
        self._lock = self._folder / f"{name}.lock"
        self._file = self._folder / f"{name}.building"

    @contextmanager
    def lent(self, patience_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a connection to the file, and publish it."""
        made = self._make_folder()
        try:
            with only_writer(self._lock, self._path, patience_s):
                self._remove()
                try:
                    with self._original() as original:
                        yield from self._filled(original)
                except BaseException:
                    with undisturbed():
                        self._remove()
                    raise
        except BaseException:
            for folder in made:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
            raise

    def _filled(self, original: HeldFile | None) -> Iterator[duckdb.DuckDBPyConnection]:
        if original is not None:
            try:
                _copy(original, self._file)
                os.utime(self._file, (_LONG_AGO_S, _LONG_AGO_S))
            except OSError as error:
                raise _failed(error, self._path) from error
        connection = connect_writer(self._file, self._path)
        try:
            yield connection
            connection.execute("checkpoint")
        finally:
            connection.close()
        try:
            if original is not None and os.stat(self._file).st_mtime == _LONG_AGO_S:
                self._remove()  # nothing was written, so readers need not open it again
            else:
                with undisturbed():
                    self._swap_in(original)
        except OSError as error:
            raise _failed(error, self._path) from error

    @contextmanager
    def _original(self) -> Iterator[HeldFile | None]:
        """Hold the file that is there now, so that what others write is not lost."""
        log = _log_of(self._target)
        if not os.path.exists(self._target):
            if log.exists():
                raise DatabaseError(
                    "there are changes of a database file that is gone",
                    str(log),
                    todo="Restore the database file, or remove this one.",
                )
            yield None
            return
        check_regular(self._path)
        if not os.access(self._target, os.W_OK):
            raise DatabaseError("the file is read-only", str(self._path))
        if log.exists():
            self._write_log()
        held = HeldFile(self._path)
        try:
            yield held
        finally:
            held.close()

    def _write_log(self) -> None:
        """Let DuckDB finish what a program that was killed had begun to write in the file itself.

        The log has to go before another file takes the place, or it would be read with that one.
        """
        try:
            connection = connect_writer(self._target)
        except DatabaseError as error:
            raise DatabaseError(
                f"{_log_of(self._target).name} holds changes that are not in the file yet, and"
                f" they cannot be written into it: {error.what}",
                str(self._path),
                todo="Close the file in all programs, then run the command again.",
            ) from error
        try:
            connection.execute("checkpoint")
        finally:
            connection.close()

    def _swap_in(self, original: HeldFile | None) -> None:
        descriptor = os.open(self._file, os.O_RDONLY)
        try:
            if original is not None:
                before = os.fstat(original.descriptor)
                os.fchmod(descriptor, before.st_mode & 0o7777)
                with suppress(OSError):  # only root may give files away
                    os.fchown(descriptor, before.st_uid, before.st_gid)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(self._file, self._target)
        _sync_folder(self._folder)

    def _make_folder(self) -> list[Path]:
        """Make the folder of the file; return the folders that are new, the innermost first."""
        made = []
        folder = self._folder
        while not os.path.exists(folder) and folder != folder.parent:
            made.append(folder)
            folder = folder.parent
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseError(
                f"the folder cannot be created: {error.strerror}", str(self._folder)
            ) from error
        return made

    def _remove(self) -> None:
        """Remove the file and what DuckDB keeps beside it."""
        for file in (self._file, _log_of(self._file)):
            with suppress(OSError):
                file.unlink()
        shutil.rmtree(f"{self._file}.tmp", ignore_errors=True)


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _copy(source: HeldFile, target: Path) -> None:
    """Copy a file; where the file system can, both share their blocks until one changes."""
    size = os.fstat(source.descriptor).st_size
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        done = 0
        while done < size:
            copied = _copy_block(source.descriptor, descriptor, done)
            if not copied:
                raise OSError("the file became shorter while it was copied")
            done += copied
    finally:
        os.close(descriptor)


def _copy_block(source: int, target: int, start: int) -> int:
    if hasattr(os, "copy_file_range"):
        with suppress(OSError):  # between these file systems it is not possible
            return os.copy_file_range(source, target, _BLOCK, start, start)
    block = os.pread(source, _BLOCK, start)
    return os.pwrite(target, block, start)


def _sync_folder(folder: Path) -> None:
    """Make a new name last through a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(error: Exception, path: Path) -> DatabaseError:
    text = (error.strerror if isinstance(error, OSError) else None) or str(error).split("\n")[0]
    return DatabaseError(f"cannot be written: {text}", str(path), todo="It is as it was before.")
