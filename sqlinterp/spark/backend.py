"""The canonical queries on Spark, and cells by a function on every regime."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlinterp.relational.backend import Relation, Row
from sqlinterp.relational.canonical import INPUTS, TABLES, Name, text, transpiled
from sqlinterp.relational.cells import CELL_ANSWER, solve_cells
from sqlinterp.spark.tables import ExportTables, spark_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_NUMBERS = itertools.count(1)
Places = Mapping[int, str]


class SparkBackend:
    """Answers relations of targets from one version of an export.

    Parameters
    ----------
    versions : iterable of int
        Partitions of the version.
    kernels : (mapping, mapping)
        Kernels by ``file_id`` and by ``regime_id``, so that no other partition is read.
    """

    def __init__(
        self,
        session: SparkSession,
        tables: ExportTables,
        versions: Iterable[int],
        kernels: tuple[Places, Places],
    ) -> None:
        self._session, self._tables = session, tables
        self._versions, self._kernels = tuple(versions), kernels
        self.prefix = f"sqlinterp_{next(_NUMBERS)}"
        self._names = {name: f"{self.prefix}_{name}" for name in (*TABLES, *INPUTS)}

    def run(self, name: Name, aggregation: str, **relations: Relation) -> list[Row]:
        """Return the rows of a canonical query over the given relations, in any order."""
        frames = {table: self._given(relation) for table, relation in relations.items()}
        frame = self.frame(name, aggregation, self._kernels_of(relations), **frames)
        return _collected(frame)

    def frame(
        self, name: Name, aggregation: str, kernels: Iterable[str] = (), **relations: DataFrame
    ) -> DataFrame:
        """Return a canonical query over data frames as a data frame that was not run yet."""
        for table, frame in relations.items():
            frame.createOrReplaceTempView(self._names[table])
        wanted = list(kernels)
        for table in TABLES:
            stored = self._tables.read(table, self._versions, wanted)
            stored.createOrReplaceTempView(self._names[table])
        query = transpiled(name, "spark", self._names)
        has_parameter = "$aggregation" in text(name)
        return self._session.sql(query, {"aggregation": aggregation} if has_parameter else {})

    def cells(self, places: Relation, aggregation: str) -> list[Row]:
        """Return what the cells of every regime say of the targets in it."""
        given = self._given(places)
        kernels = self._kernels_of({"target_place": places})
        points = self.frame("needed_points", aggregation, kernels, target_place=given)
        together = given.groupBy("regime_id").cogroup(points.groupBy("regime_id"))
        return _collected(together.applyInPandas(solve_cells, spark_schema(CELL_ANSWER)))

    def _given(self, relation: Relation) -> DataFrame:
        return self._session.createDataFrame(_arrow(relation))

    def _kernels_of(self, relations: Mapping[str, Relation]) -> list[str]:
        by_file, by_regime = self._kernels
        found = set()
        for relation in relations.values():
            names = list(relation.columns)
            key, kernels = ("file_id", by_file) if "file_id" in names else ("regime_id", by_regime)
            place = names.index(key)
            found |= {kernels[row[place]] for row in relation.rows}
        return sorted(found)

    def close(self) -> None:
        """Drop the temporary views."""
        for name in self._names.values():
            self._session.catalog.dropTempView(name)


def _collected(frame: DataFrame) -> list[Row]:
    rows: list[Row] = frame.toArrow().to_pylist()
    return rows


def _arrow(relation: Relation) -> pa.Table:
    import pyarrow as pa

    types: dict[str, Any] = {
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "VARCHAR": pa.string(),
    }
    columns = list(zip(*relation.rows, strict=True)) or [()] * len(relation.columns)
    arrays = [
        pa.array(values, types[kind])
        for values, kind in zip(columns, relation.columns.values(), strict=True)
    ]
    return pa.table(arrays, names=list(relation.columns))
