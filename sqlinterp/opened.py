"""One version in one content of a database file, open until nobody looks up in it any more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from sqlinterp.database import (
    connect_reader,
    damaged,
    define_macros,
    is_damage,
    load_aliases,
    resolve_version,
)
from sqlinterp.definitions import check_derived
from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.forks import Lock, renew_after_fork
from sqlinterp.interrupts import is_interrupt
from sqlinterp.locks import HeldFile, file_identity
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.lanes import USUAL_MEMORY, Lanes
from sqlinterp.migrations import check_current
from sqlinterp.retiring import Retiring

# Planning is most of a single lookup; these passes find nothing to do in its statements.
_IDLE_OPTIMIZERS = (
    "common_subplan,statistics_propagation,sampling_pushdown,cte_filter_pusher,"
    "column_lifetime,compressed_materialization"
)
_KERNEL_VERSIONS = (
    "select version_key from profile_version where kind = 'kernel' order by version_key"
)
_ATTEMPTS, _PAUSE_S = 20, 0.01
# Contents that a fork inherited; closing one would wait for a thread that it does not have.
_LEFT_TO_PARENTS: list[Content] = []


class Content(Retiring):
    """One version as one file has it, with cursors and prepared statements.

    Attributes
    ----------
    identity : tuple of int
        What tells the file from another one under its name.
    """

    def __init__(self, held: HeldFile, path: Path, version: str | None, before: str | None) -> None:
        super().__init__()
        self._held, self.identity = held, held.identity
        self._connection = connect_reader(
            path,
            threads="1",
            disabled_optimizers=_IDLE_OPTIMIZERS,
            memory_limit=USUAL_MEMORY,
            temp_directory="",  # what needs more memory gets it, rather than a folder on disk
        )
        try:
            with readable(path):
                check_current(self._connection, path)
                check_derived(self._connection, path)
                define_macros(self._connection)
                load_aliases(self._connection)
                self.versions = self._versions()
                wanted = before if before in self.versions else version
                self.version_key = resolve_version(self.versions, wanted)
                self.catalog = Catalog(self._connection, self.version_key)
        except BaseException:
            self._connection.close()
            raise
        self.lanes = Lanes(self._connection, self.catalog)

    def _versions(self) -> list[str]:
        return [row[0] for row in self._connection.execute(_KERNEL_VERSIONS).fetchall()]

    def _close(self) -> None:
        self.lanes.close()
        self._held.close()


class CurrentContent:
    """The content of the file that has the name now, opened again when another one took it.

    Parameters
    ----------
    version : str or None
        Version key or a unique suffix of one. Once it has been found, the same key is taken from
        every later file that has it.
    follow : bool
        Whether to open a file that takes the place of the first one.
    """

    def __init__(self, path: Path, version: str | None, follow: bool) -> None:
        self._path, self._version, self._follow = path, version, follow
        self._lock = Lock()
        self._is_closed = self._is_inherited = False
        self._current = self._opened(None)
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Open the file anew when it is next asked: the parent's threads may be inside DuckDB."""
        _LEFT_TO_PARENTS.append(self._current)
        self._is_inherited = True

    def get(self) -> Content:
        """Return the content to ask now; a file that is gone leaves the one that was opened.

        Raises
        ------
        SqlinterpError
            If another file has taken the place and cannot be opened, in a forked process even one
            that is not to be followed, or after :meth:`close`.
        """
        if self._is_inherited:
            self._leave_to_parent()
        content = self._current
        if self._is_closed:
            raise UsageError("the database is closed", str(self._path))
        if not self._follow or file_identity(self._path) in (content.identity, None):
            return content
        with self._lock:
            content = self._current
            if file_identity(self._path) in (content.identity, None):
                return content
            fresh = self._opened(content.version_key)
            self._current = fresh
            is_closed = self._is_closed
        for unused in (content, *([fresh] if is_closed else [])):
            unused.retire()
        return fresh

    def _leave_to_parent(self) -> None:
        """Open the file for this process; what the parent opened is neither used nor closed."""
        with self._lock:
            if not self._is_inherited or self._is_closed:
                return
            fresh = self._opened(self._current.version_key)
            if not self._follow and fresh.identity != self._current.identity:
                fresh.retire()
                raise DatabaseError(
                    "another file took its place, so a forked process cannot open it any more",
                    str(self._path),
                    todo="Open the database after the fork.",
                )
            self._current, self._is_inherited = fresh, False

    @contextmanager
    def use(self) -> Iterator[Content]:
        """Lend the content to ask now; DuckDB's errors become those of a file that is unreadable.

        Raises
        ------
        DatabaseError
            If the file is damaged or cannot be read.
        """
        while True:
            content = self.get()
            with content.use() as is_open:
                if is_open:
                    with readable(self._path):
                        yield content
                    return

    def _opened(self, before: str | None) -> Content:
        """Open the file; if another one takes its place meanwhile, open that."""
        for attempt in range(_ATTEMPTS):
            held = HeldFile(self._path)
            try:
                content = Content(held, self._path, self._version, before)
            except BaseException:
                held.close()
                raise
            if file_identity(self._path) == held.identity:
                return content
            content.retire()
            time.sleep(attempt * _PAUSE_S)
        raise DatabaseError("the file keeps changing while it is opened", str(self._path))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._is_closed = True
        if not self._is_inherited:
            self._current.retire()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what DuckDB raises about a file into errors of this package.

    Raises
    ------
    DatabaseError
        If the file is damaged or cannot be read.
    KeyboardInterrupt
        If the process was interrupted.
    """
    try:
        yield
    except duckdb.Error as error:
        if is_damage(error):
            raise damaged(error, path) from error
        text = str(error).splitlines()[0]
        raise DatabaseError(f"cannot be read: {text}", str(path)) from error
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
