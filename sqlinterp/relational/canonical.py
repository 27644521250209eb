"""The portable queries of ``sql/canonical``: their chains of steps, inputs, and other dialects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

from sqlinterp import queries
from sqlinterp.errors import QueryFileError

if TYPE_CHECKING:
    from sqlglot import exp

Name = Literal[
    "key_groups", "exact_answers", "measured_points", "axis_estimates", "axis_answers",
    "needed_points", "coverage_axis",
]  # fmt: skip

_GROUPS = ("key_groups=canonical.key_group",)
_ESTIMATES = ("brackets=canonical.axis_bracket", "axis_estimates=canonical.axis_estimate")
QUERIES: dict[Name, tuple[str, ...]] = {
    "key_groups": _GROUPS,
    "exact_answers": (*_GROUPS, "answers=canonical.exact_answer"),
    "measured_points": ("points=canonical.measured_point",),
    "axis_estimates": _ESTIMATES,
    "axis_answers": (*_ESTIMATES, "answers=canonical.axis_answer"),
    "needed_points": ("points=canonical.needed_point",),
    "coverage_axis": ("coverage=canonical.coverage_axis",),
}
# Columns of the relations that the queries read besides tables, by DuckDB's types.
TARGET_KEY = {
    "target_id": "BIGINT",
    "position": "INTEGER",
    "file_id": "INTEGER",
    "match_key": "VARCHAR",
    "rule": "VARCHAR",
    "quality": "INTEGER",
    "distance": "INTEGER",
    "is_unique": "BOOLEAN",
}
PLACE = {
    **{f"axis_{axis}": "DOUBLE" for axis in (1, 2, 3, 4)},
    **{f"varies_{axis}": "BOOLEAN" for axis in (1, 2, 3, 4)},
    "refuses_conflicts": "BOOLEAN",
}
TARGET_PLACE = {
    "place_id": "BIGINT",
    "target_id": "BIGINT",
    "position": "INTEGER",
    "distance": "INTEGER",
    "regime_id": "INTEGER",
    **PLACE,
    "is_consensus": "BOOLEAN",
}
INPUTS = {"target_key": TARGET_KEY, "target_place": TARGET_PLACE}
TABLES = ("exact_key", "point", "regime")


@cache
def text(name: Name) -> str:
    """Return a query as one statement in DuckDB's SQL."""
    return queries.compose(*QUERIES[name])


def parsed(name: Name) -> exp.Expr:
    """Return a query as sqlglot's tree."""
    import sqlglot

    tree: exp.Expr = sqlglot.parse_one(text(name), dialect="duckdb")
    return tree


def tables_of(tree: exp.Expr) -> set[str]:
    """Return the names of the tables and relations that a query reads."""
    from sqlglot import exp

    own = {step.alias for step in tree.find_all(exp.CTE)}
    return {table.name for table in tree.find_all(exp.Table)} - own


def rename_tables(tree: exp.Expr, names: Mapping[str, str]) -> None:
    """Call the tables and relations of a query by other names, wherever it reads them."""
    from sqlglot import exp

    for table in tree.find_all(exp.Table):
        if table.name in names:
            alias = exp.to_identifier(table.alias or table.name)
            table.set("alias", exp.TableAlias(this=alias))
            table.set("this", exp.to_identifier(names[table.name], quoted=True))


def transpiled(name: Name, dialect: str, tables: Mapping[str, str] | None = None) -> str:
    """Return a query as one statement of another engine.

    Parameters
    ----------
    name : str
        One of :data:`QUERIES`.
    dialect : str
        sqlglot's name of the engine.
    tables : mapping, optional
        What tables and input relations are called there.

    Raises
    ------
    QueryFileError
        If sqlglot cannot write the query for the engine.
    """
    from sqlglot.errors import ErrorLevel, SqlglotError

    try:
        tree = parsed(name)
        rename_tables(tree, tables or {})
        return tree.sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise QueryFileError(f"cannot be written for {dialect}: {error}", name) from error
