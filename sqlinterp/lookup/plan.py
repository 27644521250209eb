"""Dispatch: which kernels may answer an invocation, on which path, under which policy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlinterp.lookup.catalog import Catalog, KernelFile, MappedOperator
from sqlinterp.lookup.operands import Operands, operands_of
from sqlinterp.lookup.rewriting import rewrite
from sqlinterp.model import OpInvocation, QueryContext
from sqlinterp.paths import Path, compute_path
from sqlinterp.policy import Policy, effective_policy


@dataclass(frozen=True)
class Candidate:
    """One kernel that may answer, in mapping order."""

    position: int
    kernel: KernelFile
    policy: Policy
    is_unique: bool


@dataclass(frozen=True)
class Plan:
    """What is to be done for one invocation.

    Attributes
    ----------
    dispatch : str
        Path of the mapping entry, ``unmapped`` when there is none.
    miss_reason : str or None
        Why there is no lookup to do at all.
    candidates : tuple of Candidate
        Kernels whose CSV is loaded, in order of preference.
    unavailable : tuple of KernelFile
        Kernels whose CSV is absent or unusable.
    """

    invocation: OpInvocation
    dispatch: str
    operands: Operands = field(default_factory=lambda: Operands((), (), ()))
    candidates: tuple[Candidate, ...] = ()
    unavailable: tuple[KernelFile, ...] = ()
    input_limit: int = 0
    path: Path | None = None
    miss_reason: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def kernel_names(self) -> list[str]:
        """Names of the kernels, loaded or not, in mapping order."""
        names = [candidate.kernel.kernel_type for candidate in self.candidates]
        return names + [kernel.kernel_type for kernel in self.unavailable]


def make_plan(invocation: OpInvocation, catalog: Catalog, context: QueryContext) -> Plan:
    """Return the plan of one invocation."""
    entry = catalog.operators.get(invocation.op)
    if entry is None:
        return Plan(invocation, "unmapped", miss_reason="unmapped")
    plan = Plan(invocation, entry.dispatch, fields=entry.fields)
    if entry.dispatch in ("zero_cost", "accepted_miss"):
        return plan
    if entry.dispatch == "query_mode_unknown":
        mode = entry.fields.get("query_mode")
        return replace(plan, miss_reason=f"query_mode_unknown:{mode}")
    if entry.dispatch != "compute":
        return plan
    return _compute_plan(plan, entry, catalog, context)


def _compute_plan(
    plan: Plan, entry: MappedOperator, catalog: Catalog, context: QueryContext
) -> Plan:
    operands, problem = operands_of(plan.invocation, catalog)
    if not operands.shapes:
        return replace(plan, miss_reason="no_tensor_inputs")
    rewritten = rewrite(entry, operands.cut(entry.input_limit), context.tp_size)
    files = [catalog.file(name) for name in rewritten.kernels]
    loaded = [file for file in files if file.status == "loaded"]
    policies = {file.kernel_type: kernel_policy(catalog, entry, file, context) for file in files}
    primary = policies[files[0].kernel_type] if files else effective_policy()
    return replace(
        plan,
        operands=rewritten.operands,
        candidates=tuple(
            Candidate(i, file, policies[file.kernel_type], _is_unique(catalog, file))
            for i, file in enumerate(loaded)
        ),
        unavailable=tuple(file for file in files if file.status != "loaded"),
        input_limit=entry.input_limit,
        path=_path(entry, catalog, primary),
        miss_reason=rewritten.miss_reason or problem,
    )


def kernel_policy(
    catalog: Catalog, entry: MappedOperator, file: KernelFile, context: QueryContext
) -> Policy:
    """Return the effective policy of a kernel in an entry: a kernel override wins."""
    key = (entry.operator, file.kernel_type, context.aggregation)
    policy = catalog.effective_policies.get(key)
    if policy is None:
        policy = catalog.effective_policies[key] = effective_policy(
            catalog.policy("global", "*"),
            catalog.policy("operator", entry.operator),
            catalog.policy("kernel", file.kernel_type),
            aggregation=context.aggregation,
        )
    return policy


def _is_unique(catalog: Catalog, file: KernelFile) -> bool:
    fields = catalog.policy("selection", file.kernel_type)
    return fields.get("require_semantic_unique") is True


def _path(entry: MappedOperator, catalog: Catalog, policy: Policy) -> Path | None:
    if entry.fields.get("compute_subcategory") == "compute_scale":
        return None
    primary = entry.kernels[0]
    return compute_path(catalog.trait(primary).is_matmul, policy.generic_axis)
