"""``manifest.json``: what an export holds, with counts and hashes, and no time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlinterp.errors import DatabaseError

NAME = "manifest.json"
FORMAT = "sqlinterp-export"
FORMAT_VERSION = 1
_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True)
class File:
    """One Parquet file: path below the export, rows, size [bytes] and SHA-256 of its content."""

    path: str
    rows: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Table:
    """One table of the database.

    Attributes
    ----------
    columns : tuple of (str, str)
        Names and DuckDB's types, in the order of the database.
    partitioned_by : tuple of str
        Columns whose values stand in the folder names instead of the files.
    """

    name: str
    rows: int
    columns: tuple[tuple[str, str], ...]
    partitioned_by: tuple[str, ...]
    files: tuple[File, ...]


@dataclass(frozen=True)
class Manifest:
    """What an export holds.

    Attributes
    ----------
    schema_version : int
        Number of the last schema migration.
    definition_digest : str
        SHA-256 of everything that keys, regimes and points were made with.
    versions : tuple of str
        Keys of the versions, sorted.
    """

    schema_version: int
    definition_digest: str
    package_version: str
    duckdb_version: str
    versions: tuple[str, ...]
    tables: tuple[Table, ...]

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def files(self) -> list[File]:
        """Every file of every table."""
        return [file for table in self.tables for file in table.files]

    def table(self, name: str) -> Table:
        """Return one table.

        Raises
        ------
        DatabaseError
            If the export has no such table.
        """
        for table in self.tables:
            if table.name == name:
                return table
        raise DatabaseError(f"the export has no table '{name}'")

    @property
    def sha256(self) -> str:
        """SHA-256 of everything that the manifest says: equal for equal content."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> str:
        """Return the text of the file."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION, "sha256": self.sha256}
        return json.dumps(head | asdict(self), indent=1, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an export.

    Raises
    ------
    DatabaseError
        If the folder is no export, or its manifest is damaged or of a newer sqlinterp.
    """
    path = folder / NAME
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatabaseError(
            "is no export of sqlinterp", str(folder), f"a folder with {NAME}",
            "Make one with 'sqlinterp export --format parquet DIR'.",
        ) from error  # fmt: skip
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DatabaseError("is no manifest of sqlinterp", str(path))
    if told.get("format_version") != FORMAT_VERSION:
        what = f"is a manifest of format {told.get('format_version')}"
        raise DatabaseError(what, str(path), str(FORMAT_VERSION), "Export again.")
    try:
        manifest = _manifest(told)
    except (KeyError, TypeError, ValueError) as error:
        raise DatabaseError(
            f"the manifest lacks {error}", str(path), todo="Export again."
        ) from error
    if manifest.sha256 != told["sha256"]:
        raise DatabaseError("the manifest was changed", str(path), todo="Export again.")
    return manifest


def _manifest(told: dict[str, Any]) -> Manifest:
    tables = tuple(
        Table(
            name=table["name"],
            rows=table["rows"],
            columns=tuple((name, kind) for name, kind in table["columns"]),
            partitioned_by=tuple(table["partitioned_by"]),
            files=tuple(File(**file) for file in table["files"]),
        )
        for table in told["tables"]
    )
    names = ("schema_version", "definition_digest", "package_version", "duckdb_version")
    own = {name: told[name] for name in names}
    return Manifest(
        **own,
        versions=tuple(told["versions"]),
        tables=tables,
    )


def check_files(folder: Path, manifest: Manifest, with_content: bool = False) -> None:
    """Make sure that every file of an export is there as it was written.

    Parameters
    ----------
    with_content : bool
        Whether to read the files and compare their hashes, not only their sizes.

    Raises
    ------
    DatabaseError
        If a file is missing or differs; the message names it.
    """
    for file in manifest.files:
        path = folder / file.path
        try:
            size = path.stat().st_size
            is_same = size == file.size_bytes
            if is_same and with_content:
                is_same = file_sha256(path) == file.sha256
        except OSError as error:
            what = f"a file of the export is missing: {error.strerror}"
            raise DatabaseError(what, str(path), todo="Export again.") from error
        if not is_same:
            raise DatabaseError(
                "differs from what the export wrote", str(path), todo="Export again."
            )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
