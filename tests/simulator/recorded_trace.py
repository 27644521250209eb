"""Recorded forward passes, a simulator that runs them, a database with made-up latencies."""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, write_version
from simulator.stand_in import PROFILE, Dtype, FakeTensor, OpInvokeInfo, invoke

import sqlinterp
from sqlinterp.simulator import SqlDataSource

GROUP = [0, 1, 2, 3]
CSV_NAMES = {
    "float16": "DT_FLOAT16",
    "float32": "FLOAT",
    "int64": "INT64",
    "int8": "INT8",
    "bool": "BOOL",
}


@dataclass(frozen=True)
class TracedOp:
    """One operator with one set of shapes, and how often a forward pass calls it."""

    trace: str
    name: str
    calls: int
    row: dict[str, str]

    @property
    def inputs(self) -> list[tuple[tuple[int, ...], str]]:
        return tensors(self.row["input_shapes"], self.row["input_dtypes"])

    @property
    def outputs(self) -> list[tuple[tuple[int, ...], str]]:
        return tensors(self.row["output_shapes"], self.row["output_dtypes"])

    @property
    def measured_kernel(self) -> str:
        """The kernel whose time depends on the shapes: its own, or the first of a fused one."""
        if self.row["category"] == "communication":
            return ""
        fused = self.row["sub_kernels"].split("|")[0] if "all_reduce" in self.name else ""
        return self.row["kernel_type"] or fused

    def invocation(self) -> OpInvokeInfo:
        """The call as a simulator makes it; collectives also get a rank and a group."""
        made = [fake(shape, dtype) for shape, dtype in self.inputs]
        more: tuple[Any, ...] = ()
        if self.row["category"] == "communication":
            more = (0, GROUP) if "all_reduce" in self.name else (0, 0, GROUP)
        elif "all_reduce" in self.name:
            more = (None, 0, GROUP)
        out = [fake(shape, dtype) for shape, dtype in self.outputs]
        return invoke(self.name, *made, *more, out=out[0] if len(out) == 1 else tuple(out))


def fake(shape: tuple[int, ...], dtype: str) -> FakeTensor:
    return FakeTensor(*shape, dtype=Dtype(dtype or "float16"))


def tensors(shapes: str, dtypes: str) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of every tensor of two cells of the trace file."""
    if not shapes.strip():
        return []
    sizes = [
        tuple(int(size) for size in text.strip(" ()").split(",") if size.strip())
        for text in shapes.split(";")
    ]
    # The trace does not give the dtype of every tensor; its models compute in float16.
    names = [name.strip() or "float16" for name in dtypes.split(";")]
    return list(zip_longest(sizes, names, fillvalue="float16"))


def read_trace(path: Path) -> list[TracedOp]:
    """All operators of the trace file; the calls of one are split over its variants."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    found = []
    for row in rows:
        calls, variants = int(row["count"]), int(row["unique_shape_variants"])
        place = int(row["variant_index"])
        share = calls // variants + (place < calls % variants)
        found.append(TracedOp(row["trace"], row["op_name"], share, row))
    return found


def write_trace_database(folder: Path, trace: list[TracedOp]) -> Path:
    """Ingest a database that measured what one model calls, and around what the other calls."""
    files: dict[str, list[str]] = defaultdict(lambda: [MATMUL_HEADER])
    operators: dict[str, Any] = {}
    for op in trace:
        operators[op.name] = mapped(op)
        kernel = op.measured_kernel
        if kernel and len(op.inputs) < 9:
            scales = (0.5, 2) if op.trace == "dsv3_decode" else (1,)
            files[f"{kernel}.csv"] += [measured(op, scale) for scale in scales]
    for kernel in ("hcom_allReduce_", "hcom_allGather_", "hcom_alltoallv_"):
        files[f"{kernel}.csv"] = ["message_bytes,num_devices,topology_tier,Duration(us)"] + [
            f"{size},4,{tier},{size / 1e4 + 20}" for size in (1024, 2**31) for tier in (0, 1)
        ]
    lines = {name: list(dict.fromkeys(rows)) for name, rows in files.items()}
    write_version(folder / "v", lines, {name: e for name, e in operators.items() if e})
    sqlinterp.ingest([folder / "v"], folder / "trace.duckdb")
    return folder / "trace.duckdb"


def mapped(op: TracedOp) -> dict[str, Any] | None:
    """The mapping entry of an operator, from what the trace says of it."""
    row = op.row
    if row["zero_cost"] == "True":
        return {"zero_cost": True}
    if row["composite"] == "True":
        if "all_reduce" in op.name:
            return {"composite": True, "sub_kernels": row["sub_kernels"].split("|")}
        return {"composite": True, "decomposer": True}
    if row["category"] == "communication":
        return {"kernel_type": row["kernel_type"], "category": "communication"}
    return {"kernel_type": row["kernel_type"]} if row["kernel_type"] else None


def measured(op: TracedOp, scale: float) -> str:
    """A CSV row of an operator whose number of tokens is multiplied by a scale."""
    sizes = [size for shape, _ in op.inputs for size in shape[:2]]
    tokens = max(sizes, key=lambda size: (sizes.count(size), size))
    tokens = op.inputs[0][0][0] if op.name.endswith(("mm.default", "linear.default")) else tokens

    def scaled(shape: tuple[int, ...]) -> str:
        return ",".join(str(int(n * scale) if n == tokens else n) for n in shape)

    cells = []
    for side in (op.inputs, op.outputs):
        cells.append(";".join(scaled(shape) for shape, _ in side))
        cells.append(";".join(CSV_NAMES[dtype] for _, dtype in side))
        cells.append(";".join("ND" for _ in side))
    work = sum(math.prod(shape) for shape, _ in op.inputs) * scale
    return ",".join(f'"{cell}"' for cell in cells) + f",{1 + work / 1e5:.3f}"


def children(call: OpInvokeInfo) -> list[Any]:
    """What a composite of the trace is made of: one multiplication of its first input."""
    first = call.args[0].shape
    return [invoke("aten.mm.default", fake((first[0], 7168), ""), fake((7168, 256), ""))]


@dataclass
class Simulation:
    """What a forward pass took, call by call.

    Attributes
    ----------
    answers : list
        Operator, source, latency [us] and reason of each call, in order.
    """

    answers: list[tuple[str, str | None, float | None, str | None]]

    def calls(self) -> Iterator[tuple[str, str | None]]:
        return ((name, source) for name, source, _, _ in self.answers)

    def total_us(self) -> float:
        return sum(latency or 0.0 for _, _, latency, _ in self.answers)


def simulate(source: SqlDataSource, trace: list[TracedOp], prefetch: bool = False) -> Simulation:
    """Run every call of the trace, layer by layer, as a simulator without a device does."""
    calls = [op.invocation() for op in trace]
    if prefetch:
        source.prefetch(calls)
    answers = []
    for layer in range(max(op.calls for op in trace)):
        for op, call in zip(trace, calls, strict=True):
            if layer < op.calls:
                result = source.lookup(call)
                kind = None if result is None else result.source.name
                latency = None if result is None else result.latency_us
                answers.append((op.name, kind, latency, source.last_miss_reason))
    return Simulation(answers)


def simulate_file(database: Path, trace_file: Path) -> Simulation:
    """Run a whole trace with a data source of its own; what another process is given to do."""
    with SqlDataSource(database, None, PROFILE, decompose=children) as source:
        return simulate(source, read_trace(trace_file))
