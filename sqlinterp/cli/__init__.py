"""The command line: parses arguments and renders what the library returns."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave with the exit code of the contract.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after the program name, by default those of the process.

    Raises
    ------
    SystemExit
        Always; 0 answered, 1 no answer, 2 bad request, 3 source data, 4 schema or SQL, 5 a strict
        verdict, 130 interrupted.
    """
    # The arrays of a lookup are tiny: threads of the linear algebra library only cost time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _end_like_an_interrupt()
    try:
        from sqlinterp.cli.app import app

        app(args=None if arguments is None else list(arguments), prog_name="sqlinterp")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    raise SystemExit(0)


def _end_like_an_interrupt() -> None:
    """Let a request to end (SIGTERM) clean up as Ctrl-C does, unless somebody else handles it."""

    def interrupt(number: int, frame: Any) -> NoReturn:
        raise KeyboardInterrupt

    is_ours = threading.current_thread() is threading.main_thread()
    if is_ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, interrupt)
