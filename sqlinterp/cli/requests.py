"""Reading invocations: one JSON object, or a stream of JSON Lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from sqlinterp.errors import UsageError

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Line:
    """One non-empty line of a request and its number in the input."""

    number: int
    content: bytes


@dataclass(frozen=True)
class Requests:
    """What was asked: ``single`` is the text of one object, otherwise ``lines`` is a stream."""

    single: bytes | None
    lines: Iterator[Line]


@contextmanager
def open_input(path: Path | None) -> Iterator[BinaryIO]:
    """Open the file of a request; None or ``-`` is stdin.

    Raises
    ------
    UsageError
        If the file cannot be read.
    """
    if path is None or str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", str(path)) from error
    with stream:
        yield stream


def read_requests(stream: Iterable[bytes]) -> Requests:
    """Tell one object, on one line or on several, from a stream of objects.

    Raises
    ------
    UsageError
        If there is nothing at all.
    """
    lines = _lines(stream)
    head = list(islice(lines, 2))
    if not head:
        raise UsageError("there is no invocation", expected="a JSON object, or one per line")
    if len(head) == 1:
        return Requests(head[0].content, iter(()))
    if _is_object(head[0]):
        return Requests(None, chain(head, lines))
    head.extend(lines)
    whole = b"\n".join(line.content for line in head)
    if _parses(whole) or not any(_is_invocation(line) for line in head):
        return Requests(whole, iter(()))
    return Requests(None, iter(head))


def _lines(stream: Iterable[bytes]) -> Iterator[Line]:
    for number, content in enumerate(stream, start=1):
        text = content.removeprefix(_BOM) if number == 1 else content
        if text.strip():
            yield Line(number, text.strip())


def _parses(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_object(line: Line) -> bool:
    return line.content.startswith(b"{") and _parses(line.content)


def _is_invocation(line: Line) -> bool:
    return _is_object(line) and "op" in json.loads(line.content)
