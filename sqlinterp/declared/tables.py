"""CSV and Parquet tables as columns of cells, with the line that every row starts on."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp.errors import SourceError
from sqlinterp.ingestion.folders import kind_of
from sqlinterp.ingestion.reading import plain_paths

_LFS_MAGIC = b"version https://git-lfs"
_PARQUET_MAGIC = b"PAR1"
_BOM = b"\xef\xbb\xbf"
_LONGEST_CELL = 200


@dataclass(frozen=True)
class Rejection:
    """A row that cannot be used, and why."""

    row_number: int
    line_number: int
    column: str | None
    reason: str
    cell: str | None


@dataclass
class Table:
    """The cells of one table.

    Attributes
    ----------
    columns : dict of str to list
        Cells by column: text for CSV, the values of the file for Parquet; None where missing.
    row_numbers, line_numbers : list of int
        Data row (1 = first) and line where it starts; for Parquet both are the row.
    rejections : list of Rejection
        Rows that are no rows of the table: too few or too many cells.
    """

    path: Path
    sha256: str
    size_bytes: int
    bom_count: int = 0
    columns: dict[str, list[Any]] = field(default_factory=dict)
    row_numbers: list[int] = field(default_factory=list)
    line_numbers: list[int] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)

    @property
    def header(self) -> list[str]:
        """Names of the columns in file order."""
        return list(self.columns)

    def __len__(self) -> int:
        return len(self.row_numbers)


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of the content of a file [hex].

    Raises
    ------
    SourceError
        If it cannot be read, or is no file.
    """
    digest = hashlib.sha256()
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise SourceError(f"cannot be read: it is a {kind_of(mode)}, no file", str(path))
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", str(path)) from error
    return digest.hexdigest()


def read_table(path: Path, sha256: str, connection: duckdb.DuckDBPyConnection) -> Table:
    """Read a table; what it is says its content, not its name.

    Parameters
    ----------
    sha256 : str
        Hash of the content that is expected.

    Raises
    ------
    SourceError
        If it is neither CSV nor Parquet, has no header or no column names to go by, or has another
        hash afterwards.
    """
    table = Table(path, sha256, path.stat().st_size)
    with path.open("rb") as file:
        head = file.read(len(_LFS_MAGIC))
    if head.startswith(_LFS_MAGIC):
        raise SourceError("is a Git-LFS pointer, not data", str(path), todo="Run 'git lfs pull'.")
    if head.startswith(_PARQUET_MAGIC):
        _read_parquet(table, connection)
    else:
        _read_csv(table)
    if fingerprint(path) != sha256:
        raise SourceError("changed while it was read", str(path), todo="Try again.")
    return table


def _read_parquet(table: Table, connection: duckdb.DuckDBPyConnection) -> None:
    try:
        with plain_paths([str(table.path)]) as paths:
            result = connection.execute("from read_parquet($path)", {"path": paths[0]})
            names = [column[0] for column in result.description or []]
            cells = list(zip(*result.fetchall(), strict=True)) or [()] * len(names)
    except duckdb.Error as error:
        text = str(error).splitlines()[0]
        raise SourceError(f"is no readable Parquet: {text}", str(table.path)) from error
    table.columns = {name: list(column) for name, column in zip(names, cells, strict=True)}
    table.row_numbers = list(range(1, len(cells[0]) + 1 if cells else 1))
    table.line_numbers = list(table.row_numbers)


def _read_csv(table: Table) -> None:
    """Read a CSV line by line.

    A quoted cell never spans lines here, so that an open quote costs its own line and cannot
    swallow the lines after it.
    """
    lines = re.split("\r\n|\n|\r", _decoded(table))
    header, reason = _cells(lines[0])
    if reason is not None:
        raise SourceError(f"line 1 is no CSV header: {reason}", str(table.path))
    header = [name.strip() for name in header]
    repeated = sorted({name for name in header if name and header.count(name) > 1})
    if repeated:
        named = ", ".join(f"'{name}'" for name in repeated)
        raise SourceError(f"line 1 names columns twice: {named}", str(table.path))
    rows: list[list[str]] = []
    number = 0
    for line_number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        number += 1
        cells, reason = _cells(line)
        if reason is None and len(cells) != len(header):
            reason = "short_row" if len(cells) < len(header) else "long_row"
        if reason is not None:
            shown = line[:_LONGEST_CELL]
            table.rejections.append(Rejection(number, line_number, None, reason, shown))
            continue
        rows.append(cells)
        table.row_numbers.append(number)
        table.line_numbers.append(line_number)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    table.columns = {n: list(c) for n, c in zip(header, columns, strict=True) if n}


def _cells(line: str) -> tuple[list[str], str | None]:
    """Return the cells of a line, or why it has none."""
    if '"' not in line:
        return line.split(","), None
    if line.count('"') % 2:
        return [], "unterminated_quote"
    try:
        return next(csv.reader([line], strict=True)), None
    except csv.Error as error:
        return [], "cell_too_long" if "field limit" in str(error) else "malformed_quotes"


def _decoded(table: Table) -> str:
    content = table.path.read_bytes()
    while content.startswith(_BOM):
        content = content[len(_BOM) :]
        table.bom_count += 1
    if not content.strip():
        raise SourceError("is empty", str(table.path), todo="Restore it or delete it.")
    if b"\0" in content:
        raise SourceError("contains NUL bytes: neither CSV nor Parquet", str(table.path))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"line {line} has the byte 0x{content[error.start]:02x}"
        raise SourceError(what, str(table.path), todo="Save it as UTF-8.") from error
