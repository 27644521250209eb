"""Values by axis group of large regimes, so that lookups need not read all their points."""

from __future__ import annotations

import duckdb

from sqlinterp import queries

# Reading the points of a regime takes a lookup longer than asking for its values from about here.
MOST_READ_POINTS = 8_192


def derive_levels(connection: duckdb.DuckDBPyConnection) -> None:
    """Rebuild ``levelled_regime`` and ``axis_level`` from ``regime`` and ``point``."""
    connection.execute("truncate levelled_regime; truncate axis_level;")
    own = {"most": MOST_READ_POINTS}
    connection.execute(queries.load("ingest.levelled_regime").body, own)
    found = connection.execute("select coalesce(max(axis_count), 0) from levelled_regime")
    axes = range(found.fetchall()[0][0])
    build = queries.load("ingest.build_level").body
    for varying in range(1, 1 << len(axes)):
        group = [axis for axis in axes if varying >> axis & 1]
        for axis in group:
            asked = {"varying": varying, "axis": axis + 1, "is_counted": axis == group[0]}
            connection.execute(build, asked)
