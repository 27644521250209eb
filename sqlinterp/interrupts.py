"""Requests to end the process (Ctrl-C, SIGTERM): how they arrive, what they have to wait for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def is_interrupt(error: BaseException) -> bool:
    """Return whether an error is how DuckDB tells that the process was interrupted."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let interrupts wait until the block has ended; it should be short."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs handlers of signals in the main thread only
        return
    waiting: list[tuple[int, Any]] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for kind in ours:
        signal.signal(kind, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        for kind, handler in ours.items():
            signal.signal(kind, handler)
        for number, frame in waiting:
            ours[signal.Signals(number)](number, frame)
