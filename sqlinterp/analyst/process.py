"""Runs a query in a process of its own, which can be ended whatever it is doing."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlinterp import errors
from sqlinterp.analyst.limits import Limits
from sqlinterp.errors import DatabaseError, QueryError, UsageError

READY = b"ready\n"
PARTS = ("what", "where", "expected", "todo")  # of an error
_START_SECONDS = 60  # for loading the libraries on a busy machine; no foreign text is read yet
_GRACE_SECONDS = 0.5  # after the limit, in which the query may still end by itself
_LONGEST_REPLY = 1_000_000  # bytes
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from sqlinterp.analyst.worker import main; main()"
)


@dataclass(frozen=True)
class Request:
    """What the process is asked to do.

    Attributes
    ----------
    database, result : Path
        The file that is read, and the file that the result is written to.
    query : str
        What somebody typed.
    parameters : mapping, sequence or None
        Values of the parameters of the query.
    limits : Limits
        What the query may use.
    first : int or None
        Keep so many rows and leave out the rest, instead of refusing a longer result.
    """

    database: Path
    result: Path
    query: str
    parameters: Any
    limits: Limits
    first: int | None


def run_in_process(request: Request) -> None:
    """Run a query in a new process, and return when its result is written.

    Whatever happens, the process has ended when this returns or raises.

    Raises
    ------
    QueryError
        If the SQL is refused, wrong, or over its limits.
    DatabaseError
        If the file cannot be opened, or the process does not start.
    """
    message = _packed(request)
    places = [str(Path(place).absolute()) for place in sys.path]
    with subprocess.Popen(
        [sys.executable, "-I", "-c", _PROGRAM, *places],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=request.result.parent,
        env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        start_new_session=True,  # an interrupt from the keyboard is for this process to handle
    ) as process:
        try:
            reply = _talk(process, message, request.limits)
        finally:
            process.kill()
            process.wait()  # before the pipe is closed, on which it would remove the result
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
    if reply != {"done": True}:
        raise _error(reply)


def _packed(request: Request) -> bytes:
    try:
        content = pickle.dumps(request)
    except Exception as error:
        raise UsageError(f"the parameters cannot be handed over: {error}", "parameters") from error
    return len(content).to_bytes(8, "big") + content


def _talk(process: subprocess.Popen[bytes], message: bytes, limits: Limits) -> Any:
    """Send the request and return the reply; end the process when its time is over."""
    assert process.stdin is not None and process.stdout is not None
    with _deadline(process, _START_SECONDS) as is_late:
        with suppress(BrokenPipeError):
            process.stdin.write(message)
            process.stdin.flush()
        line = process.stdout.readline(_LONGEST_REPLY)
    if line == READY:
        with _deadline(process, limits.seconds + _GRACE_SECONDS) as is_late:
            line = process.stdout.readline(_LONGEST_REPLY)
        if not line and is_late():
            raise too_slow(limits)
    if line.endswith(b"\n"):
        return json.loads(line)
    process.kill()
    code = process.wait()
    if code >= 0 or is_late():
        raise DatabaseError("the process for queries does not start", sys.executable)
    raise QueryError(
        f"the query ended its process ({signal.Signals(-code).name}): it is too large"
        " or too deeply nested",
        todo="Ask for less at once.",
    )


@contextmanager
def _deadline(process: subprocess.Popen[bytes], seconds: float) -> Iterator[Callable[[], bool]]:
    """End the process if the block takes longer [s]; lends a function that says whether it did."""
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late.is_set
    finally:
        timer.cancel()


def too_slow(limits: Limits) -> QueryError:
    """Return the error of a query that was stopped because of its time."""
    return QueryError(
        f"the query was stopped: it took longer than {limits.seconds} s",
        todo="Ask for less at once.",
    )


def _error(reply: dict[str, Any]) -> errors.SqlinterpError:
    """Return the error that the process tells of."""
    kinds = {kind.__name__: kind for kind in (DatabaseError, QueryError, UsageError)}
    return kinds.get(reply["kind"], QueryError)(*(str(reply[part]) for part in PARTS))
