"""The rules in a database file: loading a file in place of them, and those that are shipped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.density.rules import Rule, read_rules
from sqlinterp.errors import SourceError

_DEFAULT = "default_rules.yaml"
_LARGEST_FILE = 1_000_000  # bytes
_COLUMNS = (
    "rule_name", "axis_name", "path", "kernel_type", "range_from", "range_to", "max_gap",
    "max_ratio", "required_value", "source",
)  # fmt: skip


def default_text() -> str:
    """Return the YAML text of the rules that sqlinterp ships."""
    return _default().decode("utf-8")


def load_default(connection: duckdb.DuckDBPyConnection) -> bool:
    """Load the shipped rules unless the file has them, or rules of its own; return whether it did.

    Source: ``density/default_rules.yaml``, which names the source of every number.
    """
    sha256 = hashlib.sha256(_default()).hexdigest()
    known = connection.execute("select sha256, is_default from density_source").fetchall()
    if known and (not known[0][1] or known[0][0] == sha256):
        return False
    restore_default(connection)
    return True


def restore_default(connection: duckdb.DuckDBPyConnection) -> list[Rule]:
    """Load the shipped rules in place of any others and return them."""
    return _replace(connection, _DEFAULT, _default(), is_default=True)


def load_rules(connection: duckdb.DuckDBPyConnection, path: Path) -> list[Rule]:
    """Load the rules of a YAML file in place of those that the database has, and return them.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection that may write.
    path : Path
        The YAML file, in the form of ``density/default_rules.yaml``.

    Raises
    ------
    SourceError
        If the file cannot be read or anything is wrong with it; the message lists every fault, and
        the database keeps the rules that it has.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise SourceError("the file is too large for rules", str(path), "at most 1 MB")
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(f"the rules cannot be read: {error.strerror}", str(path)) from error
    return _replace(connection, path.name, content, is_default=False, where=str(path))


def _default() -> bytes:
    return package_files("sqlinterp.density").joinpath(_DEFAULT).read_bytes()


def _replace(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    content: bytes,
    is_default: bool,
    where: str = _DEFAULT,
) -> list[Rule]:
    rules = _parsed(content, where)
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(rules)]
    sha256 = hashlib.sha256(content).hexdigest()
    source = {"file_name": name, "sha256": sha256, "is_default": is_default}
    connection.execute("begin")
    try:
        connection.execute("delete from density_rule; delete from density_source;")
        if rows:
            connection.execute(queries.load("density.insert_rules").body, {"rows": rows})
        connection.execute(queries.load("density.insert_source").body, source)
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise
    return rules


def _parsed(content: bytes, where: str) -> list[Rule]:
    from sqlinterp.strict_yaml import parse_yaml  # loads PyYAML, which lookups do not need

    try:
        document = parse_yaml(content)
    except ValueError as error:
        raise SourceError(f"the file {error}", where) from error
    rules, faults = read_rules(document)
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) > 1)}"
        listing = "\n  - ".join(["", *faults])
        raise SourceError(f"the density rules have {count}, nothing was loaded:{listing}", where)
    return rules


def _rows(rules: list[Rule]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of ``density_rule``, in the order of ``_COLUMNS``."""
    for rule in rules:
        for axis, path, kernel in rule.subjects():
            about = (rule.name, axis, path, kernel)
            for limit in rule.limits:
                ends = (limit.start, limit.end, limit.max_gap, limit.max_ratio)
                yield (*about, *ends, None, rule.source)
            for value in rule.required:
                yield (*about, None, None, None, None, value, rule.source)
