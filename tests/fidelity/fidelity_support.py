"""Small grids whose latencies follow a law, and runs over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp.fidelity import Report, Request, hold_out

MS, KS, NS = (64, 128, 256, 512), (512, 1024, 2048), (768,)


def linear(m: float, k: float, n: float) -> float:
    """A latency that is linear in every axis [us]."""
    return 2 + 0.03 * m + 0.004 * k + 0.001 * n


def curved(m: float, k: float, n: float) -> float:
    """A latency that is convex in M [us]."""
    return 5 + m * m / 1000 + 0.001 * k


def matmul_line(m: int, k: int, n: int, latency: float | str, formats: str = "ND;ND") -> str:
    """One row of a matmul CSV."""
    shapes = f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,{formats}'
    return f'{shapes},"{m},{n}",DT_BF16,ND,{latency}'


def grid_lines(law: Callable[[float, float, float], float]) -> list[str]:
    """A matmul CSV of the full grid."""
    return [MATMUL_HEADER, *(matmul_line(*c, law(*c)) for c in product(MS, KS, NS))]


def matmul_database(folder: Path, lines: Iterable[str], **files: Iterable[str]) -> Path:
    """Ingest one version with a matmul CSV, and other CSVs by kernel."""
    tables = {"MatMulV2.csv": lines, **{f"{name}.csv": own for name, own in files.items()}}
    operators: dict[str, Any] = {"aten.mm.default": "MatMulV2"}
    write_version(folder / "v", tables, operators)
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def run(database: Path, **request: Any) -> Report:
    """Hold out and return the report."""
    return hold_out(Request(database, **request))


def targets(report: Report, region: str | None = None) -> list[dict[str, float]]:
    """Targets of the samples, of one region if told."""
    records = [sample.record() for sample in report.samples]
    return [r["target"] for r in records if region in (None, r["region"])]
