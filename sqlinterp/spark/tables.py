"""Tables of an export as Spark data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlinterp.export.manifest import Manifest, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTITION_TYPES = {"version_id": "INTEGER", "kernel_type": "VARCHAR"}


class ExportTables:
    """Reads tables of an export, only those versions and kernels that are asked for."""

    def __init__(self, session: SparkSession, folder: Path, manifest: Manifest) -> None:
        self._session, self._folder, self._manifest = session, folder, manifest
        self._frames: dict[str, DataFrame] = {}  # their files are listed once

    def read(
        self, name: str, versions: Iterable[int] = (), kernels: Iterable[str] = ()
    ) -> DataFrame:
        """Return a table with the columns that it has in a database file.

        Parameters
        ----------
        versions, kernels : iterable, optional
            Partitions to read, all when there are none.
        """
        table = self._manifest.table(name)
        columns = [column for column, _ in table.columns]
        if name not in self._frames:
            self._frames[name] = self._frame(table)
        frame = self._frames[name]
        for column, wanted in (("version_id", list(versions)), ("kernel_type", list(kernels))):
            if wanted and column in table.partitioned_by:
                frame = frame.filter(frame[column].isin(wanted))
        return frame.select(*(f"`{column}`" for column in columns))

    def _frame(self, table: Table) -> DataFrame:
        types = dict(table.columns)
        extra = {name: _PARTITION_TYPES[name] for name in table.partitioned_by if name not in types}
        schema = spark_schema({**types, **extra})
        if not table.rows:
            return self._session.createDataFrame([], schema)
        return self._session.read.schema(schema).parquet((self._folder / table.name).as_uri())


def spark_schema(columns: Mapping[str, str]) -> str:
    """Return columns with DuckDB's types as Spark writes a schema."""
    return ", ".join(f"`{name}` {spark_type(kind)}" for name, kind in columns.items())


@cache
def spark_type(kind: str) -> str:
    """Return Spark's name of a type of DuckDB."""
    from sqlglot import exp

    return exp.DataType.build(kind, dialect="duckdb").sql(dialect="spark")
