"""A kernel CSV as text cells, read strictly and written back without touching them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlinterp.errors import SourceError
from sqlinterp.ingestion.inspection import inspect_file, repair

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Table:
    """The cells of one CSV.

    Attributes
    ----------
    kernel : str
        Kernel type, the name of the file without ``.csv``.
    rows : tuple of tuple of str
        Cells of every data row as they are written, as many as the header has names.
    lines : tuple of int
        Line number of every row in the file.
    bom_count : int
        Byte order marks at the start of the file.
    line_end : str
        What ends its lines.
    """

    kernel: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    bom_count: int = 0
    line_end: str = "\n"

    def column(self, name: str) -> tuple[str, ...]:
        """Return the cells of a column, blank ones when the table has no such column."""
        if name not in self.header:
            return ("",) * len(self.rows)
        place = self.header.index(name)
        return tuple(row[place] for row in self.rows)

    def with_column(self, name: str, cells: Sequence[str]) -> Table:
        """Return the table with the cells of a column replaced, or with the column at the end."""
        if name not in self.header:
            rows = ((*row, cell) for row, cell in zip(self.rows, cells, strict=True))
            return replace(self, header=(*self.header, name), rows=tuple(rows))
        place = self.header.index(name)
        rows = (
            (*row[:place], cell, *row[place + 1 :])
            for row, cell in zip(self.rows, cells, strict=True)
        )
        return replace(self, rows=tuple(rows))

    def arranged(self, header: Sequence[str]) -> Table:
        """Return the table with the columns of another header; new ones are blank."""
        places = [self.header.index(name) if name in self.header else -1 for name in header]
        rows = (tuple("" if place < 0 else row[place] for place in places) for row in self.rows)
        return replace(self, header=tuple(header), rows=tuple(rows))


def read_table(path: Path) -> tuple[Table, bytes]:
    """Read a CSV if every row of it can be read.

    Returns
    -------
    tuple of Table and bytes
        The cells, and the content of the file that they were read from.

    Raises
    ------
    SourceError
        If the file is no readable table, or has a row that would be rejected by ingest.
    """
    if path.is_symlink():
        raise SourceError(
            f"{path.name} is a symbolic link", todo="Upgrade the folder that it points to."
        )
    inspection = inspect_file(path, {})
    if inspection.status != "loaded":
        raise SourceError(inspection.message or f"{path.name} cannot be read")
    repair(inspection)
    if inspection.rejections:
        first = inspection.rejections[0]
        count = len(inspection.rejections)
        raise SourceError(
            f"{count} broken row{'s' * (count > 1)}, the first in line {first.line_number}"
            f" ({first.reason.replace('_', ' ')})",
            todo="Repair or delete them first.",
        )
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != inspection.sha256:
        raise SourceError(f"{path.name} was changed while it was read", todo="Try again.")
    text = inspection.repaired.decode("utf-8")
    header, *rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)]
    line_end = "\r\n" if b"\r\n" in content else "\n"
    lines = tuple(inspection.line_numbers)
    return Table(path.stem, header, tuple(rows), lines, inspection.bom_count, line_end), content


def encode(table: Table) -> bytes:
    """Return the file of a table, with its byte order marks and line ends."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=table.line_end)
    writer.writerow(table.header)
    writer.writerows(table.rows)
    return _BOM * table.bom_count + stream.getvalue().encode("utf-8")
