"""What torch itself hands to a dispatch mode, wherever torch is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from lookup.attention_support import ATTENTION
from simulator.stand_in import MM, OpInvokeInfo, Overload

from sqlinterp.simulator import SqlDataSource

torch = pytest.importorskip("torch", reason="torch is not installed")


@contextmanager
def traced(calls: list[OpInvokeInfo]) -> Iterator[None]:
    """Keep every call of an operator, as a simulator does."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[misc, name-defined, unused-ignore]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            out = func(*args, **(kwargs or {}))
            calls.append(OpInvokeInfo(func, args, kwargs or {}, out))
            return out

    with Mode():
        yield


def fake_mode() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    return FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)


@pytest.mark.parametrize("kind", ["cpu", "meta", "fake"])
def test_calls_of_torch_are_answered(database: Path, kind: str) -> None:
    calls: list[OpInvokeInfo] = []
    mode = fake_mode() if kind == "fake" else None
    with mode or nullcontext(), SqlDataSource(database) as source:
        with traced(calls):
            device = "meta" if kind == "meta" else "cpu"
            left, right = (
                torch.empty(*shape, dtype=torch.bfloat16, device=device)
                for shape in ((64, 64), (64, 32))
            )
            product = left @ right
            product.view(32, 64).to(torch.float32)
            torch.empty(3, dtype=torch.int64, device=device).cumsum(0)
        known = len(calls)
        with traced(calls):
            found = {str(call.func): source.lookup(call) for call in calls[:known]}
        assert len(calls) == known  # asking runs no operator
        prefetched = SqlDataSource(database)
        prefetched.prefetch(calls)
        assert {str(call.func): prefetched.lookup(call) for call in calls} == found
        prefetched.close()
    assert found[MM].latency_us == 64
    assert found["aten.view.default"].latency_us == 0
    assert found["aten.cumsum.default"] is None
    if mode is not None:
        assert mode.shape_env.pending_fresh_unbacked_symbols == []


def test_symbolic_sizes_are_sizes_and_lengths_without_data_stay_so(database: Path) -> None:
    mode = fake_mode()

    def fake(*shape: int, dtype: Any = torch.bfloat16) -> Any:
        return mode.from_tensor(torch.zeros(shape, dtype=dtype))

    query, cache, lengths = fake(16, 8, 128), fake(64, 128, 2, 128), fake(3, dtype=torch.int64)
    asked = (query, cache, cache, None, None, None, lengths)
    with SqlDataSource(database) as source:
        product = OpInvokeInfo(torch.ops.aten.mm.default, (fake(64, 64), fake(64, 32)))
        assert source.lookup(product).latency_us == 64
        assert source.lookup(OpInvokeInfo(Overload(ATTENTION), asked)) is None
        assert "seq" in str(source.last_miss_reason)
    assert mode.shape_env.pending_fresh_unbacked_symbols == []
