"""What a CSV file is before DuckDB reads it: content hash, encoding, header, row structure."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

_LFS_MAGIC = b"version https://git-lfs.github.com/spec/"
_BOM = b"\xef\xbb\xbf"
_COMPUTE_REQUIRED = ("Input Shapes", "Input Data Types")
_COMMUNICATION_REQUIRED = ("message_bytes", "num_devices")
_LONGEST_HEADER = 1_000_000
LATENCY_HEADERS = ("Average Duration(us)", "Profiling Average Duration(us)", "Duration(us)")


@dataclass(frozen=True)
class Rejection:
    """A row that cannot be read at all."""

    row_number: int
    line_number: int
    reason: str
    cell: str


@dataclass
class Inspection:
    """The state of one CSV file.

    Attributes
    ----------
    status : str
        ``loaded``, or why nothing can be read.
    row_count : int
        Physical lines after the header: the data rows of a regular file.
    longest_line : int
        Length of the longest line in bytes.
    repaired : bytes
        The readable rows as CSV, when the file itself has irregular ones.
    row_numbers, line_numbers : list of int
        Place of each readable row in the original file; empty when rows and lines are regular.
    """

    path: Path
    sha256: str = ""
    size_bytes: int = 0
    bom_count: int = 0
    status: str = "loaded"
    message: str | None = None
    header: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    is_communication: bool = False
    row_count: int = 0
    longest_line: int = 0
    needs_repair: bool = False
    repaired: bytes = b""
    row_numbers: list[int] = field(default_factory=list)
    line_numbers: list[int] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)

    def fail(self, status: str, message: str) -> Inspection:
        """Mark the file unusable."""
        self.status, self.message = status, message
        return self


def inspect_file(path: Path, known: Mapping[str, str]) -> Inspection:
    """Read a file once and say what can be loaded from it.

    Parameters
    ----------
    path : Path
        The CSV file.
    known : mapping of str to str
        Header to column name, from the table ``csv_column``.
    """
    result = Inspection(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        return result.fail("unreadable", f"{path.name} cannot be read: {error.strerror}")
    result.sha256 = hashlib.sha256(content).hexdigest()
    result.size_bytes = len(content)
    text = _decode(content, result)
    if text is None:
        return result
    _check_header(text, known, result)
    if result.status == "loaded":
        _measure_lines(content, result)
    return result


def _decode(content: bytes, result: Inspection) -> str | None:
    name = result.path.name
    if content.startswith(_LFS_MAGIC):
        result.fail("lfs_pointer", f"{name} is a Git-LFS pointer, not data: run 'git lfs pull'")
        return None
    body = content
    while body.startswith(_BOM):
        body = body[len(_BOM) :]
        result.bom_count += 1
    if not body.strip():
        result.fail("empty_file", f"{name} is empty: restore it or delete it")
        return None
    if b"\0" in body:
        result.fail("not_text", f"{name} contains NUL bytes: it is no CSV file")
        return None
    if body.isascii():
        return body[:_LONGEST_HEADER].decode("ascii")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        byte = body[error.start]
        result.fail("not_utf8", f"{name} line {line} has the byte 0x{byte:02x}: save it as UTF-8")
        return None


def _check_header(text: str, known: Mapping[str, str], result: Inspection) -> None:
    try:
        first_line = re.split("[\r\n]", text[:_LONGEST_HEADER], maxsplit=1)[0]
        header = next(csv.reader([first_line], strict=True))
    except (csv.Error, StopIteration) as error:
        result.fail("header_invalid", f"{result.path.name} line 1 is no CSV header: {error}")
        return
    result.header = [name.strip() for name in header]
    result.unknown = _unknown(result.header, known)
    result.is_communication = "message_bytes" in result.header
    if result.header != header:
        result.warnings.append(("padded_header", "header names have spaces around them"))
    problems = _duplicates(result.header) + _missing(result)
    if any(name == "" for name in result.header):
        problems.append("a column has no name")
    if problems:
        result.fail("header_invalid", f"{result.path.name} line 1: {'; '.join(problems)}")
    elif result.unknown:
        named = ", ".join(f"'{name}'" for name in result.unknown)
        result.warnings.append(("unknown_column", f"unknown columns kept as extra_json: {named}"))


def _unknown(header: list[str], known: Mapping[str, str]) -> list[str]:
    """Return the names that fill no column, or one that an earlier name fills already."""
    filled: set[str] = set()
    unknown = []
    for name in header:
        column = known.get(name)
        if column is None or column in filled:
            unknown.append(name)
        else:
            filled.add(column)
    return unknown


def _duplicates(header: list[str]) -> list[str]:
    seen: dict[str, str] = {}
    problems = []
    for name in header:
        first = seen.setdefault(name.lower(), name)
        if first is not name:
            problems.append(f"column '{name}' repeats '{first}'")
    return problems


def _missing(result: Inspection) -> list[str]:
    required = _COMMUNICATION_REQUIRED if result.is_communication else _COMPUTE_REQUIRED
    problems = [f"column '{name}' is missing" for name in required if name not in result.header]
    if not any(name in result.header for name in LATENCY_HEADERS):
        problems.append(f"no latency column (one of {', '.join(LATENCY_HEADERS)})")
    return problems


def _measure_lines(content: bytes, result: Inspection) -> None:
    """Count the lines and find out whether each of them is one row."""
    characters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    if not content.endswith(b"\n"):
        ends = np.append(ends, len(content))
    starts = np.concatenate(([0], ends[:-1] + 1))
    quotes = np.searchsorted(np.flatnonzero(characters == ord('"')), ends)
    result.row_count = len(ends) - 1
    result.longest_line = int((ends - starts).max())
    returns = content.count(b"\r")
    # A line without as many characters as columns may be blank; others are compared by DuckDB.
    short = np.flatnonzero(ends - starts < len(result.header))
    result.needs_repair = (
        result.bom_count > 1
        or (returns > 0 and not returns == content.count(b"\r\n") == content.count(b"\n"))
        or bool((np.diff(quotes, prepend=0) % 2).any())
        or any(not content[starts[line] : ends[line]].strip() for line in short)
    )


def repair(result: Inspection) -> None:
    """Take an irregular file apart line by line.

    Well-formed lines become ``repaired``, each with its place in the original file; every other
    line becomes a rejection. A quoted cell never spans lines in profiling CSVs, so a line with an
    open quote is rejected on its own and cannot swallow the lines after it.
    """
    text = result.path.read_bytes().decode("utf-8").lstrip("\ufeff")
    width = len(result.header)
    kept = io.StringIO()
    writer = csv.writer(kept, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(result.header)
    row_number = 0
    result.row_numbers, result.line_numbers, result.rejections = [], [], []
    for line_number, line in enumerate(re.split("\r\n|\n|\r", text), start=1):
        if line_number == 1 or not line.strip():
            continue
        row_number += 1
        row, reason = _parse_line(line, width)
        if reason:
            result.rejections.append(Rejection(row_number, line_number, reason, line[:200]))
            continue
        writer.writerow(row)
        result.row_numbers.append(row_number)
        result.line_numbers.append(line_number)
    result.repaired = kept.getvalue().encode("utf-8")


def _parse_line(line: str, width: int) -> tuple[list[str], str | None]:
    if line.count('"') % 2:
        return [], "unterminated_quote"
    try:
        row = next(csv.reader([line], strict=True))
    except csv.Error as error:
        return [], "cell_too_long" if "field limit" in str(error) else "malformed_quotes"
    if len(row) == width:
        return row, None
    return row, "short_row" if len(row) < width else "long_row"
