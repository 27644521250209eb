"""``sqlinterp sql``: read-only analyst SQL."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

from sqlinterp.analyst import run_sql, write_parquet
from sqlinterp.cli.options import Database
from sqlinterp.cli.output import data_console, print_result, say, write_line
from sqlinterp.database import database_path
from sqlinterp.errors import UsageError

_MOST_TABLE_ROWS = 1_000
_BATCH = 10_000
_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*")

Row = tuple[Any, ...]


class Format(StrEnum):
    """How the result is written."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def sql(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT statement.", show_default=False)
    ],
    db: Database = None,
    format: Annotated[Format, typer.Option("--format", help="Form of the result.")] = Format.table,
) -> None:
    """Run one SELECT over the tables and views of a database file.

    It runs in a process of its own, read-only, with a limit on time, memory and rows, and
    without access to other files or to settings. 'sqlinterp views' lists what can be read.
    """
    path = database_path(db)
    if format is Format.parquet:
        _write_parquet(path, query)
        return
    if format is Format.table:
        _write_table(run_sql(path, query, first=_MOST_TABLE_ROWS + 1))
    elif format is Format.csv:
        _write_csv(run_sql(path, query))
    else:
        _write_json(run_sql(path, query))


def _batches(result: duckdb.DuckDBPyConnection) -> Iterator[list[Row]]:
    while batch := result.fetchmany(_BATCH):
        yield batch


def _names(result: duckdb.DuckDBPyConnection) -> list[str]:
    return [column[0] for column in result.description or []]


def _write_table(result: duckdb.DuckDBPyConnection) -> None:
    rows = result.fetchall()
    columns = result.description or []
    numeric = [column[0] for column in columns if _NUMERIC.fullmatch(str(column[1]))]
    print_result(data_console(), _names(result), rows[:_MOST_TABLE_ROWS], numeric)
    if len(rows) > _MOST_TABLE_ROWS:
        say(f"only the first {_MOST_TABLE_ROWS:,} rows are shown; --format csv gives all")


def _write_csv(result: duckdb.DuckDBPyConnection) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_names(result))
    for batch in _batches(result):
        writer.writerows([_cell(value) for value in row] for row in batch)


def _write_json(result: duckdb.DuckDBPyConnection) -> None:
    names = _names(result)
    separator = "["
    for batch in _batches(result):
        for row in batch:
            item = {name: _plain(value) for name, value in zip(names, row, strict=True)}
            sys.stdout.write(separator + json.dumps(item, ensure_ascii=False, allow_nan=False))
            separator = ",\n "
    write_line("[]" if separator == "[" else "]")


def _cell(value: Any) -> Any:
    plain = _plain(value)
    if isinstance(plain, (list, dict)):
        return json.dumps(plain, ensure_ascii=False)
    return {True: "true", False: "false"}[plain] if isinstance(plain, bool) else plain


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: no NaN, dates as ISO text, bytes as hex."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _write_parquet(path: Path, query: str) -> None:
    if sys.stdout.isatty():
        raise UsageError(
            "Parquet is binary", "--format parquet", todo="Redirect the output to a file."
        )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "result.parquet"
        write_parquet(path, query, target)
        with target.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
