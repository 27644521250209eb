"""Which planner and handler serve which dispatch; a path registers here, nowhere else."""

from __future__ import annotations

from sqlinterp.lookup.attention import AttentionHandler, attention_plan
from sqlinterp.lookup.cache_children import CacheHandler, cache_plan
from sqlinterp.lookup.cache_update import CacheUpdateHandler, cache_update_plan
from sqlinterp.lookup.communication import CommunicationHandler, communication_plan
from sqlinterp.lookup.composite import CompositeHandler, composite_plan
from sqlinterp.lookup.compute import ComputeHandler, compute_plan
from sqlinterp.lookup.coordinate import LeafHandler
from sqlinterp.lookup.elementwise import ElementwiseHandler, elementwise_plan
from sqlinterp.lookup.mlapo_child import MlapoHandler, mlapo_plan
from sqlinterp.lookup.moe import MoeHandler, moe_plan
from sqlinterp.lookup.mtp import MtpHandler, mtp_plan
from sqlinterp.lookup.points import PointHandler, point_plan
from sqlinterp.lookup.quantisation import (
    OwnRegimeHandler,
    compute_scale_plan,
    quantized_matmul_plan,
)
from sqlinterp.lookup.services import Route
from sqlinterp.lookup.sparse_attention import sparse_attention_plan

ROUTES: dict[str, Route] = {
    "attention_special": Route(attention_plan, AttentionHandler),
    "scatter_nd_update_mla": Route(cache_update_plan, CacheUpdateHandler),
    "attention_lightning_indexer": Route(sparse_attention_plan, LeafHandler),
    "attention_sparse_sharedkv": Route(sparse_attention_plan, LeafHandler),
    "composite": Route(composite_plan, CompositeHandler),
    "cache_postprocess": Route(cache_plan, CacheHandler),
    "scatter_cache_write": Route(cache_plan, CacheHandler),
    "mlapo_preprocess": Route(mlapo_plan, MlapoHandler),
    "moe_fused": Route(moe_plan, MoeHandler),
    "mtp_projection": Route(mtp_plan, MtpHandler),
    "communication": Route(communication_plan, CommunicationHandler),
    "compute": Route(compute_plan, ComputeHandler),
    "elementwise": Route(elementwise_plan, ElementwiseHandler),
    "compute_scale": Route(compute_scale_plan, OwnRegimeHandler),
    "quantized_matmul": Route(quantized_matmul_plan, OwnRegimeHandler),
    "points": Route(point_plan, PointHandler),
}
