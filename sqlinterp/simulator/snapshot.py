"""The database file as it is now: opened once, and again when another file takes its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from sqlinterp.errors import UsageError
from sqlinterp.forks import Lock
from sqlinterp.locks import Identity, file_identity
from sqlinterp.memo import Memo
from sqlinterp.retiring import Retiring
from sqlinterp.session import ProfilingDatabase

Entry = TypeVar("Entry")


class Snapshot(Retiring, Generic[Entry]):
    """A content of the file: its database, and what was answered from it."""

    def __init__(self, identity: Identity, database: ProfilingDatabase, memo_size: int) -> None:
        super().__init__()
        self.identity, self.database = identity, database
        self.version_key = database.version_key
        self.memo: Memo[Entry] = Memo(memo_size)
        self._traits: dict[str, tuple[str, bool, bool]] = {}

    def traits(self, op: str) -> tuple[str, bool, bool]:
        """Return dispatch of an operator, whether it has to be decomposed, whether values matter.

        Values of tensors matter to attention, and to the decomposition of composites.
        """
        found = self._traits.get(op)
        if found is None:
            entry = self.database.catalog.operators.get(op)
            dispatch = "unmapped" if entry is None else entry.dispatch
            is_decomposed = self.database.is_decomposed(op)
            has_values = is_decomposed or dispatch.startswith("attention")
            found = self._traits[op] = (dispatch, is_decomposed, has_values)
        return found

    def _close(self) -> None:
        self.database.close()


class Snapshots(Generic[Entry]):
    """The current snapshot of a file.

    Parameters
    ----------
    open_database : callable
        Opens the file as it is now; given the key of the version that answered before, if any.
    """

    def __init__(
        self,
        path: Path,
        open_database: Callable[[str | None], ProfilingDatabase],
        memo_size: int,
    ) -> None:
        self._open, self._memo_size = open_database, memo_size
        self._path = os.fspath(path)
        self._lock = Lock()
        self._current: Snapshot[Entry] = self._opened()
        self._is_closed = False
        self.reopened = 0

    def current(self) -> Snapshot[Entry]:
        """Return the snapshot of the file that now has the name.

        A file that is gone leaves the snapshot that was opened.

        Raises
        ------
        SqlinterpError
            If another file has taken its place and cannot be opened, or after :meth:`close`.
        """
        if self._is_closed:
            raise UsageError("the data source is closed")
        snapshot = self._current
        identity = file_identity(self._path)
        if identity == snapshot.identity or identity is None:
            return snapshot
        with self._lock:
            previous = self._current
            if file_identity(self._path) in (previous.identity, None):
                return previous  # another thread opened it while this one waited
            fresh: Snapshot[Entry] = self._opened(previous.version_key)
            self._current = fresh
            self.reopened += 1
            is_closed = self._is_closed
        for unused in (previous, *([fresh] if is_closed else [])):
            unused.retire()
        return fresh

    def _opened(self, before: str | None = None) -> Snapshot[Entry]:
        database = self._open(before)
        return Snapshot(database.identity, database, self._memo_size)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._is_closed = True
            self._current.retire()
