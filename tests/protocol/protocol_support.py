"""What the tests of the protocol share: names, a plane of latencies, one-axis tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

import sqlinterp
from sqlinterp.protocol import answer_bytes

DECLARED, ORDINARY = "dev/fw/1.0", "dev/fw/2.0"
M, K = (1, 4, 16, 64, 255, 256, 257, 258, 512, 513), (8, 32, 128)
Ask = Callable[..., dict[str, Any]]


def latency(m: float, k: float) -> float:
    """A plane with a step above 256."""
    return 2 + m + 3 * k + (100 if m > 256 else 0)


def grid_of(folder: Path, rows: Iterable[tuple[float, float]]) -> dict[str, Any]:
    """The grid of a table with the given coordinates and latencies."""
    declaration = {
        "name": "t", "version": "a/b/c", "kernel": "k", "axes": ["m"],
        "latency": {"column": "t", "unit": "us"},
    }  # fmt: skip
    (folder / "d.yaml").write_text(yaml.safe_dump(declaration))
    (folder / "t.csv").write_text("m,t\n" + "".join(f"{m},{t}\n" for m, t in rows))
    sqlinterp.ingest_table(folder / "d.yaml", [folder / "t.csv"], folder / "p.duckdb")
    request = {"protocol": 1, "op": "grid", "version": "a/b/c", "kind": "k", "config": {}}
    document, code = answer_bytes(json.dumps(request).encode(), folder / "p.duckdb")
    assert code == 0, document
    return document
