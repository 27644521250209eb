"""Small version directories that tests write."""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import yaml

import sqlinterp
from sqlinterp.database import connect_reader

MATMUL_HEADER = (
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
    "Average Duration(us)"
)


def write_version(
    folder: Path,
    files: Mapping[str, Iterable[str]],
    operators: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
) -> Path:
    """Write a version directory; an operator given as text maps to the kernel of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    entries = {
        op: {"kernel_type": entry} if isinstance(entry, str) else entry
        for op, entry in operators.items()
    }
    document = {"operator_mappings": entries, **(extra or {})}
    (folder / "op_mapping.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return folder


def kept_database(folder: Path) -> Path:
    """Return a new database file beside the folder, with what is in it, for tests that only ask.

    Folders of equal files are ingested once in a process: a third of these tests ask files that
    another test has written before. The path of the first folder is in all of the databases.
    """
    kept = Path(_kept_databases().name, f"{_digest(folder)}.duckdb")
    if not kept.exists():
        sqlinterp.ingest([folder], kept)
    database = folder.parent / "p.duckdb"
    copy = shutil.copyfile(kept, folder.parent / "p.copy")
    return copy.replace(database)  # whoever has the file before it open keeps that


@cache
def _kept_databases() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sqlinterp-tests-")


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def tensor(*shape: int, dtype: str = "bfloat16") -> dict[str, Any]:
    """A tensor argument."""
    return {"shape": list(shape), "dtype": dtype}


def call(op: str, *arguments: Any, outputs: Iterable[Any] = ()) -> dict[str, Any]:
    """An invocation."""
    return {"op": op, "args": list(arguments), "kwargs": {}, "outputs": list(outputs)}


def matmul_call(m: int, k: int, n: int, dtype: str = "bfloat16") -> dict[str, Any]:
    """``aten.mm`` of (m, k) and (k, n)."""
    inputs = (tensor(m, k, dtype=dtype), tensor(k, n, dtype=dtype))
    return call("aten.mm.default", *inputs, outputs=[tensor(m, n, dtype=dtype)])


def scattered_matmuls(seed: int, values: Sequence[int], count: int) -> list[str]:
    """A CSV of points scattered over M, K and N in two formats, with two latency columns."""
    chosen = random.Random(seed)
    lines = [f"{MATMUL_HEADER},Profiling Average Duration(us)"]
    for _ in range(count):
        m, k, n = (chosen.choice(values) for _ in range(3))
        latency, other = chosen.choice((("5.5", ""), ("7.25", ""), ("", "6.0")))
        formats = chosen.choice(("ND;ND", "ND;ND", "ND;FRACTAL_NZ"))
        weight = f"{k},{n}" if formats == "ND;ND" else f"{n // 16 or 1},{k // 16 or 1},16,16"
        lines.append(
            f'"{m},{k};{weight}",DT_BF16;DT_BF16,{formats},"{m},{n}",DT_BF16,ND,{latency},{other}'
        )
    return lines


def rows_of(database: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query over a database file."""
    connection = connect_reader(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def cursor_of(database: sqlinterp.ProfilingDatabase) -> duckdb.DuckDBPyConnection:
    """The cursor that the next lookup of this thread will use."""
    with database._lane() as (lane, _):
        return lane.cursor
