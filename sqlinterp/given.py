"""Arguments of the public functions, brought into one form or refused with their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlinterp.errors import UsageError

_MOST_TOLD = 60
_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def path_of(given: Any, name: str) -> Path:
    """Return a path that is given as text or as a path object.

    Raises
    ------
    UsageError
        If it is neither, or empty.

    >>> path_of("databases", "folder")
    PosixPath('databases')
    """
    try:
        text = os.fsdecode(given)
    except TypeError:
        text = ""
    if not text:
        raise UsageError(f"{name} is {told(given)}", expected="a path")
    return Path(text)


def paths_of(given: Any, name: str) -> list[Path]:
    """Return the paths of a list, or of a single one.

    Raises
    ------
    UsageError
        If something else than paths is among them.
    """
    if isinstance(given, (str, bytes, os.PathLike)):
        return [path_of(given, name)]
    return [path_of(one, name) for one in list_of(given, name, "a path or a list of them")]


def list_of(given: Any, name: str, expected: str) -> list[Any]:
    """Return what an iterable holds; text and mappings are single things.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise UsageError(f"{name} is {told(given)}", expected=expected)
    return list(given)


def told(given: Any) -> str:
    """Return how an argument reads in a message; the same fault is told in the same words."""
    try:
        text = _ADDRESS.sub("", repr(given))
    except Exception:  # somebody else's code
        text = type(given).__name__
    return text if len(text) <= _MOST_TOLD else text[: _MOST_TOLD - 3] + "..."
