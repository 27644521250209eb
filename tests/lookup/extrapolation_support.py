"""A small grid of one matmul kernel, and lookups under policies of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, kept_database, matmul_call, write_version

import sqlinterp
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase

OPERATORS = {"aten.mm.default": {"kernel_type": "MatMulV2", "alternate_kernel_types": ["MatMulV3"]}}
M, K, N = (256, 512, 768, 1024), (64, 128), (32, 64, 128)
Points = Iterable[tuple[int, int, int, float]]


def work(m: int, k: int, n: int) -> float:
    return m * k * n / 65536


def line(m: int, k: int, n: int, us: float) -> str:
    return f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{us!r}'


def grid(latency: Callable[[int, int, int], float] = work) -> list[tuple[int, int, int, float]]:
    return [(m, k, n, latency(m, k, n)) for m in M for k in K for n in N]


def write(folder: Path, points: Points, others: Points = (), **extra: Any) -> Path:
    """Ingest a version with points of MatMulV2 and of its alternate; return its database file."""
    files = {"MatMulV2.csv": [MATMUL_HEADER, *(line(*point) for point in points)]}
    if others:
        files["MatMulV3.csv"] = [MATMUL_HEADER, *(line(*point) for point in others)]
    write_version(folder / "d" / "b" / "v", files, OPERATORS, extra or None)
    return kept_database(folder / "d")


def opened(
    file: Path, rule: Any = None, kernel: str = "MatMulV2", **more: Any
) -> ProfilingDatabase:
    """Open under a policy that gives a kernel an extrapolation rule, none when it is None."""
    policy = dict(more)
    if rule is not None:
        policy["kernel_overrides"] = {kernel: {"extrapolation": rule}}
    return sqlinterp.open(file, policy=policy)


def ask(file: Path, target: tuple[int, int, int], rule: Any = None, **more: Any) -> Answer:
    with opened(file, rule, **more) as database:
        return database.lookup(matmul_call(*target))
