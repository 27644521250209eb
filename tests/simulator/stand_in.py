"""A simulator's side of the adapter in plain Python, and a database with every kind of answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from databases_for_tests import MATMUL_HEADER, write_version
from lookup.attention_support import ATTENTION, KERNEL, file_of
from lookup.attention_support import row as attention_row

import sqlinterp

MM, VIEW, SIN = "aten.mm.default", "aten.view.default", "aten.sin.default"
NORM, ADD = "tensor_cast.rms_norm.default", "aten.add.Tensor"
MLA = "tensor_cast.multihead_latent_attention.default"
REDUCE = "tensor_cast.all_reduce.default"
FUSED = "tensor_cast.matmul_all_reduce.default"


class Dtype:
    """A dtype as torch prints it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


BF16, INT64, FLOAT = Dtype("bfloat16"), Dtype("int64"), Dtype("float32")


class FakeTensor:
    """A tensor with a shape and a dtype, and values if it has data."""

    def __init__(self, *shape: int, dtype: Dtype = BF16, data: Any = None) -> None:
        self.shape, self.dtype, self._data = shape, dtype, data

    @property
    def is_meta(self) -> bool:
        return self._data is None

    def tolist(self) -> Any:
        if self._data is None:
            raise NotImplementedError("a meta tensor has no data")
        return self._data


class Overload:
    """An overload of an operator, which is only known by its text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name


@dataclass(eq=False)
class OpInvokeInfo:
    """An invocation as a simulator intercepts it."""

    func: Overload
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    out: Any = None


class Grid:
    """A device grid."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape


@dataclass
class CommGrid:
    """A communication grid; the keys of ``topologies`` are tiers."""

    grid: Grid
    topologies: Mapping[int, str]


@dataclass
class DeviceProfile:
    """A device."""

    comm_grid: CommGrid


@dataclass
class ParallelConfig:
    """Sizes of the parallel groups."""

    expert_parallel_size: int = 1
    tensor_parallel_size: int = 1


PROFILE = DeviceProfile(CommGrid(Grid(4, 2), {0: "between nodes", 1: "inside a node"}))


def invoke(name: str, *args: Any, out: Any = None, **kwargs: Any) -> OpInvokeInfo:
    """An invocation of an operator."""
    return OpInvokeInfo(Overload(name), args, kwargs, out)


def mm(m: int, k: int = 64, n: int = 32) -> OpInvokeInfo:
    """A multiplication of (m, k) and (k, n)."""
    return invoke(MM, FakeTensor(m, k), FakeTensor(k, n), out=FakeTensor(m, n))


def attention(*lengths: int, tokens: int = 16) -> OpInvokeInfo:
    """Attention over requests of the lengths."""
    query, cache = FakeTensor(tokens, 8, 128), FakeTensor(64, 128, 2, 128)
    seq_lens = FakeTensor(len(lengths), dtype=INT64, data=list(lengths))
    return invoke(ATTENTION, query, cache, cache, None, None, None, seq_lens)


def all_reduce(size: int, *ranks: int) -> OpInvokeInfo:
    """A collective over ``size`` bfloat16 numbers."""
    return invoke(REDUCE, FakeTensor(size), 0, list(ranks))


def mla(tokens: int) -> OpInvokeInfo:
    """A composite that has to be decomposed."""
    return invoke(MLA, FakeTensor(tokens, 64), FakeTensor(tokens, 64))


def matmul_row(m: int, latency: float, k: int = 64, n: int = 32) -> str:
    return f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency}'


def norm_row(tokens: int, latency: float) -> str:
    return f'"{tokens},64;64",DT_BF16;DT_BF16,ND;ND,"{tokens},64",DT_BF16,ND,{latency}'


def add_row(tokens: int, latency: float) -> str:
    shape = f"{tokens},64"
    return f'"{shape};{shape}",DT_BF16;DT_BF16,ND;ND,"{shape}",DT_BF16,ND,{latency}'


OPERATORS: dict[str, Any] = {
    MM: "MatMulV2",
    NORM: "RmsNorm",
    ADD: {"kernel_type": "Add", "query_mode": "elementwise"},
    ATTENTION: {"kernel_type": KERNEL, "query_mode": "attention_special"},
    REDUCE: {"kernel_type": "hcom_allReduce_", "category": "communication"},
    FUSED: {"composite": True, "sub_kernels": ["MatMulV2", "hcom_allReduce_"]},
    MLA: {"composite": True, "decomposer": True},
    VIEW: {"zero_cost": True},
}


def write_database(folder: Path, factor: float = 1.0) -> Path:
    """Ingest a version whose latencies are multiplied by a factor; return the database file."""
    files: dict[str, Sequence[str]] = {
        "MatMulV2.csv": [
            MATMUL_HEADER,
            *(matmul_row(m, factor * m) for m in (16, 64, 256)),
            *(matmul_row(m, factor * 2 * m, k=128) for m in (16, 64, 256)),
        ],
        "RmsNorm.csv": [MATMUL_HEADER, *(norm_row(t, factor * t / 8) for t in (16, 64, 256))],
        "Add.csv": [MATMUL_HEADER, *(add_row(t, factor * t / 4) for t in (16, 64, 256))],
        f"{KERNEL}.csv": file_of(
            [attention_row(factor * 10, 1024), attention_row(factor * 30, 2048)]
        ),
        "hcom_allReduce_.csv": [
            "message_bytes,num_devices,topology_tier,Duration(us)",
            *(f"{size},2,0,{factor * size / 100}" for size in (2048, 8192)),
            *(f"{size},2,1,{factor * size / 200}" for size in (2048, 8192)),
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_version(folder / "v", files, OPERATORS)
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def decompose(call: OpInvokeInfo) -> list[Any]:
    """Children of a composite: a multiplication, a norm, and above 200 tokens an unknown kernel."""
    tokens = call.args[0].shape[0]
    norm = {
        "kernel": "RmsNorm",
        "args": [
            {"shape": [tokens, 64], "dtype": "bfloat16"},
            {"shape": [64], "dtype": "bfloat16"},
        ],
    }
    extra = [{"kernel": "Nowhere", "args": [{"shape": [tokens, 64], "dtype": "bfloat16"}]}]
    return [mm(tokens), norm, *(extra if tokens > 200 else [])]
