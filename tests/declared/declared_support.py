"""Small tables and declarations that tests write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from databases_for_tests import rows_of

import sqlinterp
from sqlinterp.declared import TableSummary

VERSION = "dev/fw/1.0"
GEMM: dict[str, Any] = {
    "name": "gemm_table",
    "source": {"repository": "https://example.org/tables", "commit": "abc", "licence": "MIT"},
    "version": VERSION,
    "kernel": "gemm",
    "regime": ["dtype"],
    "axes": ["m", "k"],
    "latency": {"column": "t", "unit": "us"},
}


def write_declaration(folder: Path, told: Mapping[str, Any] = GEMM, **changes: Any) -> Path:
    """Write a declaration, some of its keys changed; None takes a key out."""
    document = {k: v for k, v in {**told, **changes}.items() if v is not None}
    path = folder / f"{document.get('name', 'declaration')}.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def write_csv(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ingest(
    folder: Path, lines: Iterable[str], told: Mapping[str, Any] = GEMM, **changes: Any
) -> TableSummary:
    """Write a declaration and a table, and ingest them into ``p.duckdb``."""
    declaration = write_declaration(folder, told, **changes)
    table = write_csv(folder / "table.csv", lines)
    return sqlinterp.ingest_table(declaration, [table], folder / "p.duckdb")


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the database that :func:`ingest` wrote."""
    return rows_of(folder / "p.duckdb", sql)
