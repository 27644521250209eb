"""Lookups on Spark: the object that answers invocations from an export."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlinterp.export.manifest import Manifest, check_files, read_manifest
from sqlinterp.forks import Lock
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.context import read_context
from sqlinterp.lookup.invocation import read_invocations
from sqlinterp.lookup.statements import Statements
from sqlinterp.model import Answer
from sqlinterp.policy import PRESETS
from sqlinterp.relational.engine import RelationalEngine
from sqlinterp.session import Invocation
from sqlinterp.spark.backend import SparkBackend
from sqlinterp.spark.cluster import ship_package, spark_session
from sqlinterp.spark.driver import Driver
from sqlinterp.spark.tables import ExportTables
from sqlinterp.spark.views import VIEWS, SparkViews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ANSWER = (
    "number bigint, op string, source string, latency_us double, confidence double,"
    " kernel_type string, shape_match_rule string, miss_reason string"
)


class SparkProfilingDatabase:
    """One version of an export, answered by Spark.

    Operators are planned on the driver with the SQL and the code of every other lookup. Compute,
    quantised and elementwise leaves, those of composites too, are answered on Spark: exactly and
    along one axis by the queries of ``sql/canonical``, on two and three axes by the same geometry
    on every regime. Everything else (attention, collectives, fused MoE, cache updates, operators
    that may be extrapolated, padding of exact matches, elementwise without interpolation) is
    answered by DuckDB on the driver, from the files of the export. ``details["answered_on"]``
    tells which.

    Parameters
    ----------
    export_dir : path
        Folder that ``sqlinterp export`` wrote, under a name that driver and workers share.
    version : str, optional
        Version key or a unique suffix of one; needed when the export holds several.
    spark : SparkSession, optional
        Session to use; by default the active one, else a new one on this machine.
    **context
        As in :func:`sqlinterp.open`.

    Raises
    ------
    UsageError
        If pyspark, pyarrow or Java is missing, or the version or a context field is unknown.
    DatabaseError
        If the folder is no export or was changed.
    MigrationError
        If the export was made by another sqlinterp.
    """

    def __init__(
        self,
        export_dir: str | os.PathLike[str],
        version: str | None = None,
        spark: SparkSession | None = None,
        **context: Any,
    ) -> None:
        self.path = Path(export_dir).resolve()
        self.context = read_context(**context)
        manifest = read_manifest(self.path)
        check_files(self.path, manifest)
        self._driver = Driver(self.path, manifest, version)
        self.version_key = self._driver.version_key
        self._lock = Lock()
        try:
            self._session = spark_session(spark)
            ship_package(self._session)
            self._start(manifest)
        except BaseException:
            self._driver.close()
            raise

    def _start(self, manifest: Manifest) -> None:
        connection = self._driver.connection
        tables = ExportTables(self._session, self.path, manifest)
        self._backend = SparkBackend(
            self._session, tables, self._driver.version_ids, self._driver.kernels()
        )
        prefix = f"{self._backend.prefix}_view"
        self._views = SparkViews(self._session, tables, connection, prefix)
        catalog = Catalog(connection, self.version_key)
        self._engine = RelationalEngine(
            Statements(connection), catalog, self.context, self._backend, "spark"
        )

    def versions(self) -> list[str]:
        """Return the keys of the kernel versions in the export, sorted."""
        return list(self._driver.versions)

    def lookup(self, op: Invocation) -> Answer:
        """Answer one invocation; a batch costs hardly more."""
        return self.lookup_many([op])[0]

    def lookup_many(self, ops: Iterable[Invocation]) -> list[Answer]:
        """Answer invocations in order, with a handful of Spark jobs however many there are.

        Raises
        ------
        UsageError
            If an invocation is malformed; the message names its place.
        """
        invocations = read_invocations(list(ops))
        with self._lock:
            return self._engine.lookup_many(invocations)

    def answers(self, ops: Iterable[Invocation]) -> DataFrame:
        """Answer invocations as a data frame: the columns of an answer and ``number``, 0 first."""
        rows = [
            (
                number, a.op, a.source, a.latency_us, a.confidence, a.kernel_type,
                a.shape_match_rule, a.miss_reason,
            )
            for number, a in enumerate(self.lookup_many(ops))
        ]  # fmt: skip
        return self._session.createDataFrame(rows, _ANSWER)

    def exact_answers(self, target_key: DataFrame) -> DataFrame:
        """Return the exact answers of a data frame of keys, which stays on the cluster.

        Columns of keys and answers: ``sqlinterp.relational.canonical.TARGET_KEY`` and
        ``sql/canonical/exact_answer.sql``.
        """
        exact, _ = PRESETS[self.context.aggregation]
        return self._backend.frame("exact_answers", exact, target_key=target_key)

    def axis_answers(self, target_place: DataFrame) -> DataFrame:
        """Return the answers along one axis of a data frame of placed targets, likewise.

        Columns: ``sqlinterp.relational.canonical.TARGET_PLACE`` and
        ``sql/canonical/axis_answer.sql``.
        """
        _, aggregation = PRESETS[self.context.aggregation]
        return self._backend.frame("axis_answers", aggregation, target_place=target_place)

    @staticmethod
    def views() -> tuple[str, ...]:
        """Return the names of the analyst views that are the same on Spark, sorted."""
        return VIEWS

    def view(self, name: str) -> DataFrame:
        """Return an analyst view over all versions of the export, to be run on Spark.

        Columns are those of the view in a database file; ``coverage_axis`` has no lists.

        Raises
        ------
        UsageError
            If there is no such view, or none that means the same on Spark.
        """
        with self._lock:
            return self._views.frame(name)

    def create_views(self) -> tuple[str, ...]:
        """Make every view a temporary view of the session under its own name; return the names."""
        for name in VIEWS:
            self.view(name).createOrReplaceTempView(name)
        return VIEWS

    def close(self) -> None:
        """Let go of the driver's connection and temporary views; the session stays."""
        self._views.close()
        self._backend.close()
        self._driver.close()

    def __enter__(self) -> SparkProfilingDatabase:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
