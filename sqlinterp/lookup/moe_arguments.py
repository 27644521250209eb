"""Arguments of a fused MoE call as the seven inputs that its kernel's CSV records."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Operands, Shape
from sqlinterp.model import Argument, OpInvocation, Tensor

# Quantisation of the weights and the positions of the GMM1 and GMM2 weight lists, by operator.
# Source: profiling RFC phase 2, section 4.1.1 (plain, W8A8, INT4, FP8 and MXFP4 entries).
_OPERATORS = {
    "tensor_cast.dispatch_ffn_combine.default": ("plain", 2, 4),
    "tensor_cast.dispatch_ffn_combine_quant.default": ("w8a8", 2, 7),
    "tensor_cast.dispatch_ffn_combine_quant_int4.default": ("int4", 2, 7),
    "tensor_cast.dispatch_ffn_combine_fp8.default": ("fp8", 2, 7),
    "tensor_cast.dispatch_ffn_combine_mxfp4.default": ("mxfp4", 2, 7),
}


@dataclass(frozen=True)
class Projection:
    """A fused MoE call in the slots of its CSV.

    Attributes
    ----------
    operands : Operands
        Activation (tokens, hidden), GMM1 (experts, hidden, n), GMM2 (experts, n', hidden), expert
        ids, GMM1 scales (experts * n), GMM2 scales (experts * hidden), routing weights [elements].
    quant_subtype : str
        plain, w8a8, int4, fp8 or mxfp4, from the operator.
    """

    operands: Operands
    quant_subtype: str


def projected(invocation: OpInvocation, catalog: Catalog) -> Projection | str:
    """Return the seven inputs, or ``moe_fused_target_unextractable:`` and what is not there."""
    known = _OPERATORS.get(invocation.op)
    if known is None:
        return _lacking("operator")
    subtype, gmm1_place, gmm2_place = known
    activation, experts = _tensor(invocation, 0), _tensor(invocation, 1)
    if activation is None or len(activation.shape) < 2:
        return _lacking("activation")
    if experts is None or len(experts.shape) == 0:
        return _lacking("expert_ids")
    hidden = activation.shape[-1]
    gmm1 = _stacked(_argument(invocation, gmm1_place), hidden, 0)
    gmm2 = _stacked(_argument(invocation, gmm2_place), hidden, 1)
    if gmm1 is None:
        return _lacking("gmm1_weights")
    if gmm2 is None or gmm2.shape[0] != gmm1.shape[0]:
        return _lacking("gmm2_weights")
    for place, tensor in ((0, activation), (gmm1_place, gmm1), (gmm2_place, gmm2)):
        if catalog.dtype(tensor.dtype) is None:
            return f"dtype_unmapped:args[{place}]:{tensor.dtype}"
    return Projection(_operands(activation, gmm1, gmm2, experts, catalog), subtype)


def _operands(
    activation: Tensor, gmm1: Tensor, gmm2: Tensor, experts: Tensor, catalog: Catalog
) -> Operands:
    count, hidden, width = gmm1.shape
    ids = _flattened(experts.shape)
    shapes = (
        _flattened(activation.shape),
        gmm1.shape,
        gmm2.shape,
        ids,
        (count * width,),
        (count * hidden,),
        ids,
    )
    own = tuple(catalog.dtype(tensor.dtype) or "" for tensor in (activation, gmm1, gmm2))
    return Operands(shapes, (*own, "INT32", "INT64", "INT64", "FLOAT"), (0,) * len(shapes))


def _flattened(shape: Shape) -> Shape:
    """Merge all dims but the last: the database records tokens, not how they were grouped."""
    return shape if len(shape) < 3 else (math.prod(shape[:-1]), shape[-1])


def _stacked(weights: Argument, hidden: int, place: int) -> Tensor | None:
    """Stack the weights of the experts, each turned so that hidden is at a place of its two dims.

    None when they are no list of equal matrices with a hidden dim.
    """
    if not isinstance(weights, list) or not weights:
        return None
    first = weights[0]
    if not isinstance(first, Tensor) or len(first.shape) != 2 or hidden not in first.shape:
        return None
    if any(
        not isinstance(other, Tensor) or (other.shape, other.dtype) != (first.shape, first.dtype)
        for other in weights
    ):
        return None
    shape = first.shape if first.shape[place] == hidden else first.shape[::-1]
    return Tensor((len(weights), *shape), first.dtype)


def _argument(invocation: OpInvocation, place: int) -> Argument:
    return invocation.args[place] if place < len(invocation.args) else None


def _tensor(invocation: OpInvocation, place: int) -> Tensor | None:
    argument = _argument(invocation, place)
    return argument if isinstance(argument, Tensor) else None


def _lacking(what: str) -> str:
    return f"moe_fused_target_unextractable:{what}"
