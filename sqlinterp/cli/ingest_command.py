"""``sqlinterp ingest``: CSV folders into a database file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sqlinterp.cli.options import Database
from sqlinterp.cli.output import broken, data_console, make_table, print_table, say
from sqlinterp.cli.progress import file_progress
from sqlinterp.database import database_path
from sqlinterp.errors import SourceError
from sqlinterp.ingestion import ingest as run_ingest
from sqlinterp.ingestion.summary import IngestSummary

_MOST_MESSAGES = 20
_WIDE, _NARROW_KEY, _TELLING = 100, 16, 8
_COUNTS = {
    "files": "files",
    "unchanged": "files_unchanged",
    "unusable": "files_unusable",
    "rows read": "rows_read",
    "= stored": "rows_stored",
    "+ rejected": "rows_rejected",
    "+ without latency": "rows_without_latency",
    "warnings": "warnings",
    "errors": "errors",
}


def ingest(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folders that are, or contain, version directories.",
            show_default=False,
        ),
    ],
    db: Database = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 unless every file, row and entry was usable."),
    ] = False,
) -> None:
    """Read every version directory below DIR into the database file."""
    path = database_path(db)
    with file_progress("reading") as advance:
        summary = run_ingest(folders, path, advance)
    show_messages(summary)
    print_summary(data_console(), summary)
    if summary.removed_files:
        say(f"{summary.removed_files} files that are gone were removed from the database")
    if strict and not summary.is_clean:
        raise SourceError(
            f"strict: {summary.total('rows_rejected')} rows were rejected and"
            f" {summary.total('errors')} errors were found"
        )


def show_messages(summary: IngestSummary) -> None:
    """Write the first issues to stderr, and where the rest can be read."""
    for severity, key, message in summary.messages[:_MOST_MESSAGES]:
        say(f"{severity}: {key}: {message}", "red" if severity == "error" else "yellow")
    more = len(summary.messages) - _MOST_MESSAGES
    if more > 0:
        say(f"... and {more} more, see: sqlinterp sql 'SELECT * FROM source_issue'")


def print_summary(console: Console, summary: IngestSummary) -> None:
    """Write the counts per version; every row read ends in exactly one of three ways."""
    optional = {"unchanged", "unusable"}
    counts = {
        title: field
        for title, field in _COUNTS.items()
        if title not in optional or summary.total(field)
    }
    names = short_keys([version.version_key for version in summary.versions])
    if console.width < _WIDE:
        names = [broken(name, _NARROW_KEY) for name in names]
    rows = [
        [name, *(f"{getattr(version, field):,}" for field in counts.values())]
        for name, version in zip(names, summary.versions, strict=True)
    ]
    if len(rows) > 1:
        rows.append(["total", *(f"{summary.total(field):,}" for field in counts.values())])
    print_table(console, make_table(["version", *counts], rows, counts))


def short_keys(keys: Sequence[str]) -> list[str]:
    """Return the shortest telling ending of each key that no other key has.

    Examples
    --------
    >>> short_keys(["npu/hccl/v8.5", "npu/vllm/vllm0.18.0"])
    ['hccl/v8.5', 'vllm0.18.0']
    """
    return [_short_key(key, keys) for key in keys]


def _short_key(key: str, keys: Sequence[str]) -> str:
    parts = key.split("/")
    for start in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[start:])
        owners = [other for other in keys if other.endswith(f"/{name}")]
        if len(owners) == 1 and len(name) >= _TELLING:
            return name
    return key
