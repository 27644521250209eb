"""One version of a database file, open for hold-outs: its groups, and lookups that may not see all.

The lookup is the production one. What it may not see is taken away in front of it: for single
targets by the macro ``is_kept``, which every search of points asks; for all targets together by a
temporary table that stands in front of the table ``point``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlinterp import queries
from sqlinterp.database import (
    connect_reader,
    define_macros,
    load_aliases,
    resolve_version,
    rows,
)
from sqlinterp.definitions import check_derived
from sqlinterp.fidelity.grid import Coordinate, Group, Row, point_of
from sqlinterp.fidelity.schemes import Holdout
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.levels import ignore_levels
from sqlinterp.lookup.regimes import Regime, RegimeError, read_regime
from sqlinterp.lookup.services import Services
from sqlinterp.lookup.statements import Statements
from sqlinterp.migrations import check_current
from sqlinterp.model import QueryContext

_KEYS = "select version_key from profile_version where kind = 'kernel' order by version_key"
_NUMBERS = ("1", "2", "3", "4")


class Measured:
    """A version of a database file, opened read-only.

    Attributes
    ----------
    version_key : str
        Key of the version.
    versions : list of str
        Keys of all kernel versions of the file.

    Raises
    ------
    DatabaseError
        If there is no such file, or it cannot be read by this sqlinterp.
    UsageError
        If the version is unknown or ambiguous.
    """

    def __init__(self, database: Path, version: str | None, is_exact_key: bool = False) -> None:
        self._connection = connect_reader(database, threads="1")
        try:
            check_current(self._connection, database)
            check_derived(self._connection, database)
            define_macros(self._connection)
            load_aliases(self._connection)
            ignore_levels(self._connection)
            self.versions = [row[0] for row in self._connection.execute(_KEYS).fetchall()]
            self._is_exact_key = is_exact_key
            self.version_key = self.resolved(version)
            self.catalog = Catalog(self._connection, self.version_key)
        except BaseException:
            self._connection.close()
            raise
        self._statements = Statements(self._connection)
        self._catalogs = {self.version_key: self.catalog}
        self._engines: dict[tuple[str, QueryContext], Engine] = {}
        self._is_restricted = False

    def __enter__(self) -> Measured:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def resolved(self, version: str | None) -> str:
        """Return the one version key that equals a name or, unless keys are exact, ends with it.

        Raises
        ------
        UsageError
            If there is none, or several.
        """
        if self._is_exact_key and version not in self.versions:
            what = f"there is no version '{version}'"
            raise RegimeError("unknown_version", what, self.versions)
        return resolve_version(self.versions, version)

    @property
    def schema_version(self) -> int:
        """Number of the last schema migration of the file."""
        found = self._connection.execute("select max(id) from schema_migration").fetchall()
        return int(found[0][0])

    def run(self, query: str, **parameters: object) -> list[Row]:
        """Return the rows of a query of ``sql/fidelity``."""
        body = queries.load(f"fidelity.{query}").body
        return rows(self._connection.execute(body, parameters))

    def services(self, context: QueryContext, version_key: str | None = None) -> Services:
        """Return what lookups of a version, by default the opened one, work with."""
        key = version_key or self.version_key
        if key not in self._catalogs:
            self._catalogs[key] = Catalog(self._connection, key)
        if (key, context) not in self._engines:
            self._engines[key, context] = Engine(self._statements, self._catalogs[key], context)
        return self._engines[key, context].services

    def regimes(self, version_key: str | None = None) -> list[tuple[Row, Regime]]:
        """Return all regimes of a version, with the row that tells each one's names."""
        found = self.run("groups", version_key=version_key or self.version_key)
        return [(row, read_regime(row)) for row in found]

    def groups(
        self, regimes: Iterable[tuple[Row, Regime]], aggregation: str, version_key: str = ""
    ) -> list[Group]:
        """Return regimes with their points, in the order given."""
        chosen = list(regimes)
        ids = [regime.regime_id for _, regime in chosen]
        points: dict[int, list[Row]] = {regime_id: [] for regime_id in ids}
        for row in self.run("group_points", regime_ids=ids, aggregation=aggregation):
            points[row["regime_id"]].append(row)
        return [
            Group(
                version_key=version_key or self.version_key,
                group_id=row["group_id"],
                device=row["device"],
                dtype=row["dtype"],
                kernel_type=row["kernel_type"],
                regime=regime,
                feasible=row["feasible_cells"],
                points=tuple(point_of(own) for own in points[regime.regime_id]),
            )
            for row, regime in chosen
        ]

    @contextmanager
    def without(self, holdouts: Sequence[Holdout | None]) -> Iterator[None]:
        """Hide from each target, by its number, the points that its hold-out takes away.

        Only ranges and single points can be hidden like this.
        """
        if not self._is_restricted:
            self._connection.execute(queries.load("fidelity.is_kept").body)
            self._is_restricted = True
        told = [{"target": i, **_restriction(holdout)} for i, holdout in enumerate(holdouts)]
        self.run("hold", held=json.dumps(told))
        yield

    @contextmanager
    def hiding(self, held: Mapping[int, Iterable[Coordinate]]) -> Iterator[None]:
        """Hide coordinates of regimes from all targets."""
        told = [
            {"regime_id": regime_id, **dict(zip(_AXES, coordinate, strict=True))}
            for regime_id, coordinates in held.items()
            for coordinate in sorted(coordinates)
        ]
        if not told:
            yield
            return
        self.run("hide_points", held=json.dumps(told))
        try:
            yield
        finally:
            self.run("show_points")


_AXES = tuple(f"axis_{number}" for number in _NUMBERS)


def _restriction(holdout: Holdout | None) -> dict[str, Any]:
    if holdout is None:
        return {}
    told: dict[str, Any] = {}
    for axis, low, high in holdout.ranges:
        told[f"low_{axis + 1}"], told[f"high_{axis + 1}"] = low, high
    if holdout.at is not None:
        told.update({f"at_{number}": x for number, x in zip(_NUMBERS, holdout.at, strict=True)})
    return told
