"""``sql/`` as named queries, and named steps composed into one statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from sqlinterp.errors import QueryFileError
from sqlinterp.resources import resource_folder


@dataclass(frozen=True)
class Query:
    """One SQL file: its name (path with dots), one-sentence purpose and body."""

    name: str
    purpose: str
    body: str

    @property
    def parameters(self) -> frozenset[str]:
        """Names of the ``$name`` parameters that the body uses."""
        return frozenset(re.findall(r"\$([a-z_]+)", self.body))


@cache
def load(name: str) -> Query:
    """Return the query ``lookup.exact`` from ``sql/lookup/exact.sql``.

    Raises
    ------
    QueryFileError
        If there is no such file or its header says no purpose.
    """
    path = resource_folder("sql").joinpath(*name.split(".")).with_suffix(".sql")
    if not path.is_file():
        raise QueryFileError(f"no query named '{name}'", str(path))
    lines = path.read_text(encoding="utf-8").splitlines()
    header = [line for line in lines if line.startswith("--")]
    if not header:
        raise QueryFileError("the file has no header comment", str(path))
    body = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
    return Query(name, header[0].removeprefix("--").strip(), body)


@cache
def compose(*steps: str) -> str:
    """Return one statement made of named steps, each visible to the later ones as a table.

    A step is written ``alias=query.name``; its alias is the table that later steps read. The
    last step is the result.

    Examples
    --------
    >>> print(compose("numbers=unit.one")) # doctest: +SKIP
    with numbers as (select 1) from numbers
    """
    named = [step.split("=", 1) for step in steps]
    tables = ",\n".join(f"{alias} as (\n{load(name).body}\n)" for alias, name in named)
    return f"with {tables}\nselect * from {named[-1][0]}"


def names(folder: str) -> list[str]:
    """Return the names of the queries in one folder of ``sql/``, sorted."""
    root = resource_folder("sql") / folder
    return sorted(f"{folder}.{path.stem}" for path in root.glob("*.sql"))
