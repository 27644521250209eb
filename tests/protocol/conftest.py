"""One database with a declared table and a version directory, and a way to ask it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from databases_for_tests import MATMUL_HEADER, write_version
from protocol_support import DECLARED, Ask, K, M, latency

import sqlinterp
from sqlinterp.protocol import answer_bytes, problems, write_document

TABLE: dict[str, Any] = {
    "name": "table",
    "version": DECLARED,
    "kernel": {"column": "op"},
    "regime": ["dtype", {"name": "source", "default": "none"}],
    "axes": [{"name": "m", "unit": "rows"}, "k"],
    "latency": {"column": "t", "unit": "us"},
    "backend": "source",
}


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database file.

    ``gemm`` of ``bf16`` is a full grid but for one cell, with one point measured twice; ``fp8``
    has two backends, of which ``b`` is faster where k is large; ``line`` is stored by log2.
    """
    folder = tmp_path_factory.mktemp("protocol")
    rows = [f"gemm,bf16,,{m},{k},{latency(m, k)}" for m in M for k in K if (m, k) != (4, 8)]
    rows += ["gemm,bf16,,16,32,200"]
    rows += [f"gemm,fp8,a,{m},{k},{10 + k}" for m in (1, 4) for k in (8, 32)]
    rows += [f"gemm,fp8,b,{m},{k},{34 - k / 8}" for m in (1, 4) for k in (8, 32, 128)][:-2]
    (folder / "t.csv").write_text("\n".join(["op,dtype,source,m,k,t", *rows]) + "\n")
    (folder / "l.csv").write_text("size,t\n1,10\n4,30\n64,50\n")
    for told, table in (
        (TABLE, "t.csv"),
        (
            {
                **TABLE,
                "name": "line",
                "kernel": "line",
                "regime": [],
                "backend": None,
                "axes": [{"name": "size", "transform": "log2"}],
                "feasible": "size < 5",
            },
            "l.csv",
        ),
    ):
        file = folder / "d.yaml"
        file.write_text(yaml.safe_dump({k: v for k, v in told.items() if v is not None}))
        sqlinterp.ingest_table(file, [folder / table], folder / "p.duckdb")
    matmul = [
        f'"{m},{k};{k},{n}",{d};{d},{f};{f},"{m},{n}",{d},{f},{m + k + n}'
        for d in ("DT_BF16", "FLOAT16")
        for f in ("ND", "NZ")[: 2 if d == "DT_BF16" else 1]
        for m in (16, 32)
        for k in (64, 128)
        for n in (256, 512)
    ]
    norm = [f'"{m},64;64",DT_BF16;DT_BF16,ND;ND,"{m},64",DT_BF16,ND,{m}' for m in (1, 3)]
    write_version(
        folder / "v" / "dev" / "fw" / "2.0",
        {"MatMulV2.csv": [MATMUL_HEADER, *matmul], "RmsNorm.csv": [MATMUL_HEADER, *norm]},
        {"aten.mm.default": "MatMulV2", "tensor_cast.rms_norm.default": "RmsNorm"},
    )
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


@pytest.fixture
def ask(database: Path) -> Ask:
    """Ask the database; the response is checked against its schema."""

    def start(op: str, kind: str = "gemm", code: int = 0, **fields: Any) -> dict[str, Any]:
        fields = {"version": DECLARED, "config": {}, **fields}
        request = {"protocol": 1, "op": op, "kind": kind, **fields}
        request = {key: value for key, value in request.items() if value is not None}
        document, exit_code = answer_bytes(json.dumps(request).encode(), database)
        assert exit_code == code, document
        name = "error" if code else {"eval_coords": "eval"}.get(op, op)
        if name != "suggest":  # it has no schema of its response
            assert problems(document, f"{name}.response") == []
        written = write_document(document)
        assert written.endswith(b"\n") and json.loads(written) == document
        return document

    return start
