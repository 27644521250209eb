"""Which planner and handler serve which dispatch; a path registers here, nowhere else."""

from __future__ import annotations

from sqlinterp.lookup.communication import CommunicationHandler, communication_plan
from sqlinterp.lookup.compute import ComputeHandler, compute_plan
from sqlinterp.lookup.elementwise import ElementwiseHandler, elementwise_plan
from sqlinterp.lookup.moe import MoeHandler, moe_plan
from sqlinterp.lookup.mtp import MtpHandler, mtp_plan
from sqlinterp.lookup.quantisation import (
    OwnRegimeHandler,
    compute_scale_plan,
    quantized_matmul_plan,
)
from sqlinterp.lookup.services import Route

ROUTES: dict[str, Route] = {
    "moe_fused": Route(moe_plan, MoeHandler),
    "mtp_projection": Route(mtp_plan, MtpHandler),
    "communication": Route(communication_plan, CommunicationHandler),
    "compute": Route(compute_plan, ComputeHandler),
    "elementwise": Route(elementwise_plan, ElementwiseHandler),
    "compute_scale": Route(compute_scale_plan, OwnRegimeHandler),
    "quantized_matmul": Route(quantized_matmul_plan, OwnRegimeHandler),
}
