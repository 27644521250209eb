"""Whatever goes wrong as one error document with the exit code of the protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import duckdb

from sqlinterp.errors import SqlinterpError, UsageError

OK, BAD_REQUEST, DATA_ERROR, TRUTH_FAILED, STRICT_FAILED = 0, 2, 3, 4, 5
CODES = (
    "bad_request", "unknown_kind", "unknown_version", "unknown_regime_key", "ambiguous_regime",
    "no_points", "data_error", "truth_failed",
)  # fmt: skip


class RequestError(UsageError):
    """A request that cannot be answered.

    Attributes
    ----------
    code : str
        One of ``CODES``.
    known : tuple of str
        What could have been given instead.
    """

    def __init__(self, what: str, code: str = "bad_request", known: Iterable[str] = ()) -> None:
        self.code, self.known = code, tuple(known)
        super().__init__(what)


def error_document(error: BaseException) -> tuple[dict[str, Any], int]:
    """Return the document that tells of an error, and the exit code that goes with it.

    Errors may bring a ``code`` of the protocol and a list ``known`` along; ``known`` is then not
    repeated in the message.
    """
    code = getattr(error, "code", None)
    known = [str(item) for item in getattr(error, "known", ()) or ()]
    if code not in CODES:
        code = "bad_request" if isinstance(error, UsageError) else "data_error"
    if isinstance(error, SqlinterpError):
        message = f"{error.where}: {error.what}" if error.where else error.what
        message += f" (expected {error.expected})" if error.expected else ""
        message += f". {error.todo}" if error.todo and not known else ""
    elif isinstance(error, (duckdb.Error, OSError)):
        message = str(error)
    else:
        message = f"unexpected {type(error).__name__}: {error}"
    body: dict[str, Any] = {"code": code, "message": message}
    if known:
        body["known"] = known
    return {"error": body}, exit_code(str(code))


def exit_code(code: str) -> int:
    """Return the exit code of an error code."""
    return {"data_error": DATA_ERROR, "truth_failed": TRUTH_FAILED}.get(code, BAD_REQUEST)
