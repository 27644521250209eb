"""Composites that somebody decomposes: each child is looked up, the sum is made once."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from simulator.stand_in import BF16, MLA, MM, FakeTensor, decompose, invoke, mla, mm

import sqlinterp
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import ChildInvocation, OpInvocation, Tensor
from sqlinterp.simulator import QuerySource, SqlDataSource

REGISTRY = "tensor_cast.performance_model.profiling_database.profiling_data_source"


@dataclass
class Spec:
    """A kernel query as a decomposer may describe it."""

    kernel_type: str
    shapes: list[tuple[int, ...]]
    dtype: Any = BF16
    query_mode: str | None = None
    avg_seq_len: int | None = None
    parameters: dict[str, Any] | None = None


PLAIN = OpInvocation(MM, (Tensor((64, 64), "bfloat16"), Tensor((64, 32), "bfloat16")))
Named = namedtuple("Named", "kernel input_shapes input_dtypes")


class Slotted:
    """A description without a dictionary."""

    __slots__ = ("dtypes", "kernel_type", "shapes")

    def __init__(self) -> None:
        self.kernel_type, self.shapes, self.dtypes = "RmsNorm", [(64, 64), (64,)], [BF16, "DT_BF16"]


@pytest.mark.parametrize(
    ("tokens", "source", "latency"),
    [(64, "MEASURED", 72.0), (100, "INTERPOLATED", None), (256, "PARTIAL", 288.0)],
)
def test_children_are_summed_as_the_database_does(
    tokens: int, source: str, latency: float | None, database: Path
) -> None:
    call = mla(tokens)
    children = [
        child if isinstance(child, dict) else _as_contract(child) for child in decompose(call)
    ]
    with SqlDataSource(database, decompose=decompose) as adapter, sqlinterp.open(database) as plain:
        op = {"op": MLA, "args": [], "children": children}
        answer, result = plain.lookup(op), adapter.lookup(call)
        assert (answer.source, result.source) == (source, QuerySource[source])
        assert (result.latency_us, result.confidence) == (answer.latency_us, answer.confidence)
        assert latency is None or result.latency_us == latency
        assert result.details.items() >= answer.details.items()
        assert adapter.last_miss_reason == answer.miss_reason
        assert adapter.lookup(call) == result


def _as_contract(call: Any) -> dict[str, Any]:
    args = [{"shape": list(tensor.shape), "dtype": "bfloat16"} for tensor in call.args]
    outputs = [{"shape": list(call.out.shape), "dtype": "bfloat16"}]
    return {"op": str(call.func), "args": args, "outputs": outputs}


def test_a_partial_sum_says_what_is_missing(database: Path) -> None:
    with SqlDataSource(database, decompose=decompose) as source:
        result = source.lookup(mla(256))
        assert source.last_miss_reason == "sub_kernel_miss:Nowhere"
    details = result.details
    assert details["sub_kernel_durations"] == [(MM, 256.0), ("RmsNorm", 32.0)]
    assert (details["hit_kernels"], details["missed_kernels"]) == ([MM, "RmsNorm"], ["Nowhere"])
    assert details["partial"] and details["composite"]
    assert details["partial_miss_reason"] == "sub_kernel_miss:Nowhere"


@pytest.mark.parametrize(
    "child",
    [
        mm(64),
        ChildInvocation(PLAIN),
        OpInvocation(MM, list(PLAIN.args)),  # type: ignore[arg-type]
        PLAIN,
        {"kernel": "MatMulV2", "args": [{"shape": [64, 64], "dtype": "bfloat16"},
                                        {"shape": [64, 32], "dtype": "bfloat16"}]},
        Spec("MatMulV2", [(64, 64), (64, 32)]),
        Spec("MatMulV2", [(64, 64), (64, 32)], "DT_BF16", "compute"),
        Named("MatMulV2", [(64, 64), (64, 32)], [BF16, BF16]),
    ],
    ids=["simulator", "child", "lists", "invocation", "contract", "spec", "csv dtype", "named"],
)  # fmt: skip
def test_a_child_may_be_given_in_many_ways(child: Any, database: Path) -> None:
    with SqlDataSource(database, decompose=lambda _: [child, Slotted()]) as source:
        assert source.lookup(mla(64)).latency_us == 64 + 8


@pytest.mark.parametrize("number", [int, np.int64])
def test_a_description_may_tell_what_an_attention_kernel_needs(
    database: Path, number: type[int]
) -> None:
    lengths = [number(1024), number(1024)]
    told = {"sparse_mode": 3, "num_kv_heads": number(2), "actual_seq_lengths_kv": lengths}
    spec = Spec("FusedInferAttentionScore", [(16, 8, 128)], BF16, "attention_special", 1024, told)
    with SqlDataSource(database, decompose=lambda _: [spec]) as source:
        assert source.lookup(mla(16)).latency_us == 10
        assert source.last_answer is not None
        (part,) = source.last_answer.details["sub_kernels"]
        assert part["details"]["num_kv_heads"] == 2


def test_only_composites_that_need_it_are_decomposed(database: Path) -> None:
    def never(call: Any) -> Any:
        raise AssertionError(call.func)

    with SqlDataSource(database, decompose=never) as source:
        assert source.lookup(mm(64)).latency_us == 64


def test_children_given_with_the_invocation_come_first(database: Path) -> None:
    child = {"kernel": "MatMulV2", "args": _as_contract(mm(64))["args"]}
    with SqlDataSource(database, decompose=decompose) as source:
        assert source.lookup({"op": MLA, "children": [child]}).latency_us == 64
        assert source.lookup(read_invocation({"op": MLA, "children": [child]})).latency_us == 64


def test_other_children_are_another_invocation(database: Path) -> None:
    tokens = 16

    def varying(call: Any) -> list[Any]:
        return [mm(tokens)]

    with SqlDataSource(database, decompose=varying) as source:
        assert source.lookup(mla(64)).latency_us == 16
        tokens = 64
        assert source.lookup(mla(64)).latency_us == 64


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        (lambda _: None, "decompose_failed"),
        (lambda _: [], "decompose_failed"),
        (lambda _: [SimpleNamespace(kernel_type="MatMulV2")], "decompose_failed:UsageError"),
        (lambda _: [OpInvocation(MM, (object(),))], "decompose_failed:UsageError"),
        (lambda _: [ChildInvocation(OpInvocation("", ({},)), "K")], "decompose_failed:UsageError"),
        (lambda _: [7], "decompose_failed:UsageError"),
        (lambda _: 7, "decompose_failed:TypeError"),
        (lambda call: call.nothing, "decompose_failed:AttributeError"),
    ],
)
def test_what_cannot_be_decomposed_is_a_miss(
    hook: Callable[[Any], Any], reason: str, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SqlDataSource(database, decompose=hook) as source:
        assert source.lookup(mla(64)) is None
        assert source.last_miss_reason == reason
        assert source.lookup_many([mla(64), mm(64)])[1].latency_us == 64
    assert caplog.text.count(f"{MLA} cannot be decomposed") == (reason != "decompose_failed")


def test_the_decomposers_of_a_simulator_are_used_by_default(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in range(1, REGISTRY.count(".") + 2):
        name = ".".join(REGISTRY.split(".")[:end])
        module = ModuleType(name)
        module.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    registry = {MLA: lambda call: [Spec("MatMulV2", [(call.args[0].shape[0], 64), (64, 32)])]}
    monkeypatch.setattr(sys.modules[REGISTRY], "COMPOSITE_DECOMPOSERS", registry, raising=False)
    with SqlDataSource(database) as source:
        assert source.lookup(mla(64)).latency_us == 64
    with SqlDataSource(database, decompose=lambda _: [mm(16)]) as source:
        assert source.lookup(mla(64)).latency_us == 16
    registry.clear()
    with SqlDataSource(database) as source:
        assert source.lookup(invoke(MLA, FakeTensor(64, 64))) is None
        assert source.last_miss_reason == "decomposition_unavailable"
