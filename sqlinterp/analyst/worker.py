"""The process in which one query is checked and run; started by :mod:`sqlinterp.analyst.process`.

It reads one request from stdin, answers with lines on stdout, and writes the rows to the file that
the request names. Nothing of a query is looked at anywhere else.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import duckdb

from sqlinterp.analyst.check import check_query, readable
from sqlinterp.analyst.failure import described
from sqlinterp.analyst.limits import Limits
from sqlinterp.analyst.process import PARTS, READY, Request
from sqlinterp.database import connect_analyst
from sqlinterp.errors import QueryError, SqlinterpError

_RECURSION = 10_000  # frames; long sums and conditions are deep trees
_ADDRESS_MARGIN = 512 * 2**20  # bytes; what threads and allocators reserve without using it
_VALUE_BYTES = 8  # of every value once Python holds the result
_PREFIX = "create table result.answer as from (\n"
_VALUES = (
    "select coalesce(sum(count), 0)::bigint from pragma_storage_info('result.answer')"
    " where segment_type <> 'VALIDITY'"
)


def main() -> NoReturn:
    """Serve one request and end."""
    try:
        size = int.from_bytes(sys.stdin.buffer.read(8), "big")
        request = pickle.loads(sys.stdin.buffer.read(size))
        folder = request.result.parent
        threading.Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()
        sys.setrecursionlimit(_RECURSION)
        _serve(request)
        reply: dict[str, Any] = {"done": True}
    except SqlinterpError as error:
        reply = _told(error)
    except Exception as error:
        reply = _told(QueryError(f"unexpected {type(error).__name__}: {error}"))
    _send(json.dumps(reply).encode() + b"\n")
    os._exit(0)


def _told(error: SqlinterpError) -> dict[str, Any]:
    return {part: getattr(error, part) for part in PARTS} | {"kind": type(error).__name__}


def _send(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _leave_with_parent(folder: Path) -> None:
    """End as soon as the other side of the pipe is gone, and leave no file behind."""
    sys.stdin.buffer.read(1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _serve(request: Request) -> None:
    limits = request.limits
    settings = limits.settings() | {
        "errors_as_json": "true",
        # The size of the file is then the size of the rows, and can be limited.
        "force_compression": "uncompressed",
    }
    connection = connect_analyst(request.database, settings, request.result)
    known = readable(connection)
    _restrict(limits)
    _send(READY)
    shift = 0
    try:
        text = check_query(connection, request.query, known.names)
        shift = len(_PREFIX)
        _store(connection, text, request)
        connection.close()
    except (duckdb.Error, MemoryError, RecursionError) as error:
        raise described(error, request.query, limits, shift, known.views) from error


def _store(connection: duckdb.DuckDBPyConnection, text: str, request: Request) -> None:
    """Run the checked statement and keep its rows in the file of the result."""
    limits = request.limits
    most = request.first or limits.rows + 1
    statement = f"{_PREFIX}{text}\n) limit {most}"
    if [one.type for one in connection.extract_statements(statement)] != [
        duckdb.StatementType.CREATE
    ]:
        raise QueryError("the text is more than one query", expected="one SELECT")
    count = connection.execute(statement, request.parameters).fetchall()[0][0]
    if count > limits.rows and request.first is None:
        raise QueryError(
            f"the result has more than {limits.rows:,} rows", todo="Use LIMIT or a condition."
        )
    connection.execute("checkpoint result")
    if connection.execute(_VALUES).fetchall()[0][0] * _VALUE_BYTES > limits.memory_bytes:
        raise QueryError(f"the result is larger than {limits.memory}", todo="Ask for less at once.")


def _restrict(limits: Limits) -> None:
    """Set the limits of this process, where the operating system has them."""
    try:
        import resource
    except ImportError:
        return
    seconds = limits.threads * (limits.seconds + 10)
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits.memory_bytes),
    ]
    used = _address_space()
    if used is not None:
        wanted.append((resource.RLIMIT_AS, used + limits.memory_bytes + _ADDRESS_MARGIN))
    for kind, value in wanted:
        most = resource.getrlimit(kind)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))


def _address_space() -> int | None:
    """Return the size of this process [bytes], None where there is no such file."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
