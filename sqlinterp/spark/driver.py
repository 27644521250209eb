"""The driver's own DuckDB over an export: small tables in memory, measured rows in their files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqlinterp.database import connect_writer, load_aliases, resolve_version
from sqlinterp.definitions import definition_digest
from sqlinterp.errors import MigrationError
from sqlinterp.export.manifest import File, Manifest, Table
from sqlinterp.migrations import available

# Every regime of the version is looked at when targets are placed.
_IN_MEMORY = ("regime",)
_VERSIONS = "select version_key from profile_version where kind = 'kernel' order by version_key"
_READ = "read_parquet($files, hive_partitioning = true, hive_types_autocast = false)"


class Driver:
    """One version of an export on the connection of the driver.

    Attributes
    ----------
    connection : DuckDBPyConnection
        In memory, with the tables of a database file under their names.
    version_ids : tuple of int
        The version and the folder of collectives that it refers to.

    Raises
    ------
    MigrationError
        If the export was made by another sqlinterp.
    UsageError
        If the version is unknown or ambiguous.
    """

    def __init__(self, folder: Path, manifest: Manifest, version: str | None) -> None:
        check_definitions(folder, manifest)
        self._folder = folder
        self.connection = connect_writer(Path(":memory:"))
        # As in a database that is open for lookups: products of floats depend on their order.
        self.connection.execute("set threads = 1")
        for table in manifest.tables:
            if not table.partitioned_by:
                self._load(table, table.files)
        self.versions = [row[0] for row in self.connection.execute(_VERSIONS).fetchall()]
        self.version_key = resolve_version(self.versions, version)
        self.version_ids = self._version_ids()
        for table in manifest.tables:
            if table.partitioned_by:
                self._place(table)
        load_aliases(self.connection)

    def _version_ids(self) -> tuple[int, ...]:
        found = self.connection.execute(
            "select version_id, communication_version_id from profile_version"
            " where version_key = $key",
            {"key": self.version_key},
        ).fetchall()
        return tuple(number for number in found[0] if number is not None)

    def _place(self, table: Table) -> None:
        """Make a partitioned table, or a view of its files, with the rows of the version."""
        own = [f"{table.name}/version_id={number}/" for number in self.version_ids]
        paths = [file.path for file in table.files if file.path.startswith(tuple(own))]
        if not paths or table.name in _IN_MEMORY:
            self._load(table, [file for file in table.files if file.path in set(paths)])
            return
        files = ", ".join(_quoted(str(self._folder / path)) for path in paths)
        self.connection.execute(
            f'create view "{table.name}" as select {_columns(table)}'
            f" from {_READ.replace('$files', f'[{files}]')}"
        )

    def _load(self, table: Table, files: Iterable[File]) -> None:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in table.columns)
        self.connection.execute(f'create table "{table.name}" ({columns})')
        paths = [str(self._folder / file.path) for file in files]
        if paths:
            self.connection.execute(
                f'insert into "{table.name}" select {_columns(table)} from {_READ}',
                {"files": paths},
            )

    def kernels(self) -> tuple[dict[int, str], dict[int, str]]:
        """Return the kernels by ``file_id`` and, those of the version, by ``regime_id``."""
        files, regimes = (
            dict(self.connection.execute(query).fetchall())
            for query in (
                "select file_id, kernel_type from source_file",
                "select regime_id, kernel_type from regime",
            )
        )
        return files, regimes

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def check_definitions(folder: Path, manifest: Manifest) -> None:
    """Make sure that targets are placed as the rows of an export were.

    Raises
    ------
    MigrationError
        If the export was made by another sqlinterp.
    """
    if (manifest.definition_digest, manifest.schema_version) == (
        definition_digest(), len(available()),
    ):  # fmt: skip
        return
    raise MigrationError(
        f"the export was made by another sqlinterp ({manifest.package_version})",
        str(folder),
        todo="Run 'sqlinterp migrate', then 'sqlinterp export --format parquet' again.",
    )


def _columns(table: Table) -> str:
    return ", ".join(f'"{name}"::{kind} as "{name}"' for name, kind in table.columns)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
