"""Small grids whose latencies follow a law, and runs over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp.fidelity import Options, Request, Run, Truth, run_fidelity
from sqlinterp.fidelity.results import Result

MS, KS, NS = (64, 128, 192, 256), (512, 1024, 1536), (768,)
CURVE = "curve.yaml"


def linear(m: float, k: float, n: float) -> float:
    """A latency that is linear in every axis, without rounding on whole steps [us]."""
    return 16 + m / 32 + k / 256 + n / 1024


def curved(m: float, k: float, n: float) -> float:
    """A latency that is convex in M [us]."""
    return 16 + m * m / 1024 + k / 256


def matmul_line(m: int, k: int, n: int, latency: float | str, formats: str = "ND;ND") -> str:
    """One row of a matmul CSV."""
    shapes = f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,{formats}'
    return f'{shapes},"{m},{n}",DT_BF16,ND,{latency}'


def grid_lines(
    law: Callable[[float, float, float], float],
    axes: Sequence[Sequence[int]] = (MS, KS, NS),
) -> list[str]:
    """A matmul CSV of the full grid."""
    return [MATMUL_HEADER, *(matmul_line(*c, law(*c)) for c in product(*axes))]


def matmul_database(folder: Path, lines: Iterable[str], **files: Iterable[str]) -> Path:
    """Ingest one version with a matmul CSV, and other CSVs by kernel."""
    tables = {"MatMulV2.csv": lines, **{f"{name}.csv": own for name, own in files.items()}}
    operators: dict[str, Any] = {"aten.mm.default": "MatMulV2"}
    write_version(folder / "v", tables, operators)
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def curve_database(
    folder: Path, versions: dict[str, dict[float, float | None]], **more: dict[float, float]
) -> Path:
    """Declare one-dimensional curves: latency [us] by size, per version; None is no latency.

    ``more`` are further kernels of the first version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    declaration = folder / CURVE
    declaration.write_text(
        "name: curve\nversion: 'dev/{framework}/{release}'\nkernel: {column: kernel}\n"
        "regime: [dtype]\naxes: [{name: x}]\nlatency: {column: us, unit: us}\n"
    )
    lines = ["framework,release,kernel,dtype,x,us"]
    for release, curve in versions.items():
        lines += [f"fw,{release},copy,bf16,{x!r},{'' if y is None else repr(y)}" for x, y in
                  curve.items()]  # fmt: skip
    first = next(iter(versions))
    for kernel, curve in more.items():
        lines += [f"fw,{first},{kernel},bf16,{x!r},{y!r}" for x, y in curve.items()]
    table = folder / "curves.csv"
    table.write_text("\n".join(lines) + "\n")
    sqlinterp.ingest_table(declaration, [table], folder / "p.duckdb")
    return folder / "p.duckdb"


def run(database: Path, scheme: str = "loo", small_us: float = 0.0, **request: Any) -> Run:
    """Hold out; scheme options are given by their names."""
    names = ("keep_every", "factors", "cells", "k", "salt", "axis")
    options = Options(**{name: request.pop(name) for name in names if name in request})
    truth = request.pop("truth", Truth(scheme=scheme, options=options))
    return run_fidelity(Request(database, truth=truth, small_us=small_us, **request))


def region(found: Run, name: str) -> list[Result]:
    """Results of one region."""
    return [result for result in found.results if result.region == name]


def ratios(results: Iterable[Result]) -> list[float | None]:
    """Ratios of results."""
    return [result.ratio for result in results]


def targets(results: Iterable[Result]) -> list[dict[str, float]]:
    """Coordinates of results."""
    return [result.probe.target for result in results]


def at(found: Run, **target: float) -> Result:
    """The one result of a coordinate."""
    (result,) = [result for result in found.results if result.probe.target == target]
    return result
