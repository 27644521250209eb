"""Analyst views on Spark: those whose SQL means the same there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from sqlinterp import queries
from sqlinterp.errors import UsageError
from sqlinterp.relational.canonical import parsed, rename_tables, tables_of, transpiled
from sqlinterp.spark.tables import ExportTables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from sqlglot import exp

# They read small tables only, with functions that Spark lacks, so the driver makes them.
_ON_DRIVER = ("assigned_kernel", "average_meaning")
# The view without its columns that are lists, in portable SQL.
_CANONICAL = ("coverage_axis",)
_TRANSPILED = (
    "axis_rule",
    "core_envelope_outlier",
    "csv_without_mapping",
    "duplicate_point",
    "effective_latency",
    "gap_hotspot",
    "ingest_balance",
    "ingest_issue",
    "kernel_coverage",
    "latency_variation",
    "mapping_summary",
    "mapping_without_csv",
    "measured_point",
    "metadata_completeness",
    "missing_latency",
    "rejection_summary",
    "unplaced_row",
)
VIEWS = tuple(sorted((*_ON_DRIVER, *_CANONICAL, *_TRANSPILED)))
_GREATEST = "1.7976931348623157e308"


class SparkViews:
    """Analyst views over all versions of an export.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Of the driver, with the small tables.
    prefix : str
        Begin of the names of temporary views that are only read by others.
    """

    def __init__(
        self,
        session: SparkSession,
        tables: ExportTables,
        connection: duckdb.DuckDBPyConnection,
        prefix: str,
    ) -> None:
        self._session, self._tables, self._connection = session, tables, connection
        self._prefix = prefix
        self._names: dict[str, str] = {}

    def frame(self, name: str) -> DataFrame:
        """Return a view as a data frame that was not run yet.

        Raises
        ------
        UsageError
            If there is no such view, or none that means the same on Spark.
        """
        if name not in VIEWS:
            known = ", ".join(VIEWS)
            raise UsageError(f"view '{name}' is not available on Spark", expected=known)
        return self._made(name)

    def _made(self, name: str) -> DataFrame:
        if name in _ON_DRIVER:
            self._connection.execute(queries.load(f"views.{name}").body)
            found = self._connection.sql(f"from {name}").to_arrow_table()
            return self._session.createDataFrame(found)
        if name == "regime_axis":
            return (
                self._tables.read("regime")
                .selectExpr("regime_id", "posexplode(axis_names) as (place, axis_name)")
                .selectExpr("regime_id", "place + 1 as axis_position", "axis_name")
            )
        if name in _CANONICAL:
            return self._session.sql(transpiled("coverage_axis", "spark", self._named(name)))
        if name in _TRANSPILED:
            return self._session.sql(spark_view(name, self._named(name)))
        return self._tables.read(name)

    def _named(self, view: str) -> dict[str, str]:
        """Return the temporary views that a view reads by the names of their tables."""
        tree = parsed("coverage_axis") if view in _CANONICAL else view_query(view)
        for table in tables_of(tree):
            if table not in self._names:
                frame = self._made(table)
                self._names[table] = f"{self._prefix}_{table}"
                frame.createOrReplaceTempView(self._names[table])
        return self._names

    def close(self) -> None:
        """Drop the temporary views."""
        for name in self._names.values():
            self._session.catalog.dropTempView(name)


def view_query(name: str) -> exp.Expr:
    """Return the query of a packaged view."""
    import sqlglot
    from sqlglot import exp

    statements = sqlglot.parse(queries.load(f"views.{name}").body, dialect="duckdb")
    tree: exp.Expr = next(one for one in statements if isinstance(one, exp.Create)).expression
    return tree


def spark_view(name: str, tables: dict[str, str]) -> str:
    """Return the query of a packaged view in Spark's SQL, over tables of other names."""
    from sqlglot.errors import ErrorLevel

    tree = view_query(name).transform(_for_spark)
    rename_tables(tree, tables)
    return tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)


def _for_spark(node: exp.Expr) -> exp.Expr:
    """Write what sqlglot passes on although Spark has no such thing, or raises an error for it."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous) and node.name.lower() == "isfinite":
        bound = exp.Literal.number(_GREATEST)
        return exp.Between(this=node.expressions[0], low=exp.Neg(this=bound.copy()), high=bound)
    if isinstance(node, exp.Div):  # an error by zero, even in rows that a later filter leaves out
        return exp.func("try_divide", node.left, node.right)
    if isinstance(node, exp.Bracket) and isinstance(node.expressions[0], exp.Slice):
        part = node.expressions[0]
        length = part.expression.transform(_as_size)
        return exp.func("slice", exp.paren(node.this), part.this, length)
    return node


def _as_size(node: exp.Expr) -> exp.Expr:
    """Write the length of a list, which is that of a text in Spark otherwise."""
    from sqlglot import exp

    return exp.func("size", node.this) if isinstance(node, exp.Length) else node
