"""The smallest databases of fused MoE kernels, and the calls that ask them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase

HEADER = f"{MATMUL_HEADER},EP Size"
DFC = "tensor_cast.dispatch_ffn_combine"
W8A8 = f"{DFC}_quant.default"
OPERATORS = {
    "plain": f"{DFC}.default",
    "w8a8": W8A8,
    "int4": f"{DFC}_quant_int4.default",
    "fp8": f"{DFC}_fp8.default",
    "mxfp4": f"{DFC}_mxfp4.default",
}
WEIGHTS = {  # torch dtype of a weight, and the name that the CSV has for it
    "plain": ("bfloat16", "DT_BF16"),
    "w8a8": ("int8", "INT8"),
    "int4": ("int4", "INT4"),
    "fp8": ("float8_e4m3fn", "FLOAT8_E4M3FN"),
    "mxfp4": ("float4_e2m1fn_x2", "FLOAT4_E2M1"),
}
ENTRY = {"kernel_type": "DispatchFFNCombine", "query_mode": "moe_fused", "project_full_shape": True}


def row(tokens: int, latency: object, ep_size: object = 16, **changes: Any) -> str:
    """One CSV row: 2 experts, hidden 64, GMM1 (2, 64, 64), GMM2 (2, 32, 64), top-k 8."""
    x = changes.get("activation", f"{tokens},64")
    ids = changes.get("ids", f"{tokens},{changes.get('topk', 8)}")
    gmm1, gmm2 = changes.get("gmm1", "2,64,64"), changes.get("gmm2", "2,32,64")
    shapes = changes.get("shapes", f"{x};{gmm1};{gmm2};{ids};128;128;{ids}")
    weight = changes.get("weight", "INT8")
    dtypes = f"{changes.get('dtype', 'DT_BF16')};{weight};{weight};INT32;INT64;INT64;FLOAT"
    dtypes = changes.get("dtypes", dtypes)
    formats = changes.get("formats", ";".join(["ND"] * len(dtypes.split(";"))))
    output = changes.get("output", f"{tokens},64")
    return f'"{shapes}",{dtypes},{formats},"{output}",DT_BF16,ND,{latency},{ep_size}'


def moe_call(tokens: int = 150, subtype: str = "w8a8", **changes: Any) -> dict[str, Any]:
    """A fused call as the simulator makes it: scales, offsets and biases are lists or null."""
    weight = changes.get("weight", WEIGHTS[subtype][0])
    count = changes.get("experts", 2)
    gmm1 = [tensor(*changes.get("gmm1", (64, 64)), dtype=weight)] * count
    gmm2 = [tensor(*changes.get("gmm2", (32, 64)), dtype=weight)] * count
    x = tensor(*changes.get("activation", (tokens, 64)), dtype=changes.get("dtype", "bfloat16"))
    ids = tensor(*changes.get("ids", (tokens, changes.get("topk", 8))), dtype="int64")
    group = {"ints": list(range(16))}
    if subtype == "plain":
        arguments: list[Any] = [x, ids, gmm1, None, gmm2, None, 0, group]
    else:
        arguments = [x, ids, gmm1, [], [], [], None, gmm2, [], [], [], None, 0, group]
    return call(changes.get("op", OPERATORS[subtype]), *arguments)


def database(
    folder: Path, rows: Iterable[str], entry: Any = None, header: str = HEADER, **context: Any
) -> ProfilingDatabase:
    """Ingest the rows under every fused operator and open them, at EP 16 unless said otherwise."""
    operators = dict.fromkeys(OPERATORS.values(), entry or ENTRY)
    write_version(folder / "v", {"DispatchFFNCombine.csv": [header, *rows]}, operators)
    return sqlinterp.open(kept_database(folder / "v"), **{"ep_size": 16, **context})


def ask(folder: Path, rows: Iterable[str], op: dict[str, Any], **context: Any) -> Answer:
    with database(folder, rows, **context) as opened:
        return opened.lookup(op)


def exact(folder: Path, rows: Iterable[str], op: dict[str, Any], **context: Any) -> Answer:
    return ask(folder, rows, op, disable_interpolation=True, **context)


TWO = (row(100, 10), row(200, 30))
