"""Invocations of the tour, one for every kind of answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlinterp.model import OpInvocation, Tensor

VERSION = "vllm0.18.0_torch2.9.0_cann8.5"


@dataclass(frozen=True)
class Example:
    """An invocation with bfloat16 tensors, and a word on what its answer shows."""

    op: str
    shapes: tuple[tuple[int, ...], ...]
    note: str = ""

    @property
    def invocation(self) -> OpInvocation:
        """The invocation."""
        return OpInvocation(self.op, tuple(Tensor(shape, "bfloat16") for shape in self.shapes))


def _mm(m: int, k: int, n: int, note: str = "") -> Example:
    return Example("aten.mm.default", ((m, k), (k, n)), note)


def _norm(tokens: int, note: str = "") -> Example:
    return Example("tensor_cast.rms_norm.default", ((tokens, 5120), (5120,)), note)


EXAMPLES = (
    _norm(256, "measured as asked"),
    _mm(64, 1536, 2304, "weight stored as (N, K)"),
    _mm(1, 5120, 768, "stored as FRACTAL_NZ"),
    Example("aten.constant_pad_nd.default", ((64, 5120),)),
    _mm(100, 1536, 2304),
    _mm(100, 2000, 2304),
    _mm(100, 2000, 1500),
    _norm(100),
    Example("aten.view.default", ((16, 5120),), "declared by the mapping"),
    _mm(64, 1536, 99999, "N is beyond every row"),
    Example("aten.sin.default", ((16, 5120),), "not in op_mapping.yaml"),
)
