"""Something open that is closed when it is no longer wanted and nobody uses it any more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from sqlinterp.forks import Lock, renew_after_fork


class Retiring(ABC):
    """Counts its users; once retired it closes when the last of them leaves. Safe under threads."""

    def __init__(self) -> None:
        self._use_lock = Lock()
        self._users, self._is_retired = 0, False
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget users that are threads of the parent and never leave."""
        self._users = 0

    @abstractmethod
    def _close(self) -> None:
        """Close what is open; called once."""

    @contextmanager
    def use(self) -> Iterator[bool]:
        """Keep it open for a while; False when it was closed before that."""
        with self._use_lock:
            is_open = not self._is_retired
            self._users += is_open
        try:
            yield is_open
        finally:
            if is_open:
                self._leave()

    def _leave(self) -> None:
        with self._use_lock:
            self._users -= 1
            is_last = self._is_retired and self._users == 0
        if is_last:
            self._close()

    def retire(self) -> None:
        """Close it as soon as nobody uses it."""
        with self._use_lock:
            was_retired, self._is_retired = self._is_retired, True
            is_unused = self._users == 0
        if is_unused and not was_retired:
            self._close()
