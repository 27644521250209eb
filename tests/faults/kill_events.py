"""Signals at a chosen moment of a process: at its n-th call of a function that touches a file."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Of the operating system, of files, of locks, and of DuckDB: between any two of them a process
# that is killed leaves the disk as it would between any two instructions.
_MODULES = ("posix", "_io", "fcntl", "_duckdb")


def _is_event(event: str, function: Any) -> bool:
    if event != "c_call":
        return False
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or type(owner).__module__
    return module in _MODULES or type(owner).__module__ in _MODULES


@dataclass(frozen=True)
class SignalAt:
    """Send a signal to the process that this runs in, at the n-th of its events."""

    number: int
    signal: int = signal.SIGKILL

    def __call__(self) -> None:
        left = self.number

        def watch(frame: Any, event: str, argument: Any) -> None:
            nonlocal left
            if _is_event(event, argument):
                left -= 1
                if left < 0:
                    sys.setprofile(None)
                    os.kill(os.getpid(), self.signal)

        sys.setprofile(watch)


@dataclass(frozen=True)
class CountEvents:
    """Write to a file how many events the process that this runs in has had so far."""

    file: Path

    def __call__(self) -> None:
        counted = 0
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

        def watch(frame: Any, event: str, argument: Any) -> None:
            nonlocal counted
            if _is_event(event, argument):
                counted += 1
                os.pwrite(descriptor, str(counted).encode(), 0)

        sys.setprofile(watch)

    def read(self) -> int:
        """Return the number of events of a process that has ended."""
        return int(self.file.read_bytes())
