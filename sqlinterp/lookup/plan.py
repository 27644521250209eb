"""The plan of one invocation: which kernels may answer it, on which path, under which policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlinterp.lookup.catalog import Catalog, KernelFile, MappedOperator
from sqlinterp.lookup.operands import Operands
from sqlinterp.model import OpInvocation, QueryContext, Tensor
from sqlinterp.paths import Path
from sqlinterp.policy import Policy, effective_policy

NO_OPERANDS = Operands((), (), ())
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Candidate:
    """One kernel that may answer, in mapping order."""

    position: int
    kernel: KernelFile
    policy: Policy
    is_unique: bool


class Target(NamedTuple):
    """What a path sees of an invocation: its arguments in the slots of the CSV.

    Attributes
    ----------
    operands : Operands
        Input tensors in the order of the CSV.
    outputs : tuple of Tensor
        Results of the call.
    enrichment : mapping
        Values of columns of the table ``measurement`` that the call determines, for paths that
        read them.
    kernel_enrichment : mapping
        The same for single kernels, which their policy determines.
    """

    operands: Operands
    outputs: tuple[Tensor, ...] = ()
    enrichment: Mapping[str, Any] = _NOTHING
    kernel_enrichment: Mapping[str, Mapping[str, Any]] = _NOTHING


@dataclass(frozen=True)
class Plan:
    """What is to be done for one invocation.

    Attributes
    ----------
    dispatch : str
        Path of the mapping entry, ``unmapped`` when there is none.
    operands : Operands
        What the exact lookup matches.
    candidates : tuple of Candidate
        Kernels whose CSV is loaded, in order of preference.
    unavailable : tuple of KernelFile
        Kernels whose CSV is absent or unusable.
    path : Path or None
        Where interpolation places the target, None when it cannot.
    target : Target or None
        What the path sees; None stands for the operands and outputs of the call.
    target_problem : str or None
        Why the path cannot see the target; exact lookups do not mind.
    miss_reason : str or None
        Why there is no lookup to do at all.
    notes : mapping
        What answers of the dispatch tell in their details besides.
    """

    invocation: OpInvocation
    dispatch: str
    operands: Operands = NO_OPERANDS
    candidates: tuple[Candidate, ...] = ()
    unavailable: tuple[KernelFile, ...] = ()
    input_limit: int = 0
    path: Path | None = None
    target: Target | None = None
    target_problem: str | None = None
    miss_reason: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kernel_names(self) -> list[str]:
        """Names of the kernels, loaded or not, in mapping order."""
        names = [candidate.kernel.kernel_type for candidate in self.candidates]
        return names + [kernel.kernel_type for kernel in self.unavailable]

    def altered(self, **changes: Any) -> Plan:
        """Return the plan with other values of some fields.

        A batch plans every target, and ``dataclasses.replace`` asks for every field by its name.
        """
        plan = object.__new__(Plan)
        plan.__dict__.update(self.__dict__, **changes)
        return plan

    @property
    def seen(self) -> Target:
        """What the path sees."""
        return self.target or Target(self.operands, self.invocation.outputs)


def with_kernels(
    plan: Plan,
    kernels: Iterable[str],
    entry: MappedOperator,
    catalog: Catalog,
    context: QueryContext,
    **changes: Any,
) -> Plan:
    """Return the plan with the named kernels as candidates, those without a CSV set apart.

    Other fields may be changed with them, which saves another copy.
    """
    key = (entry.operator, tuple(kernels), context.aggregation, context.policy)
    known = catalog.kept_candidates.get(key)
    if known is None:
        known = catalog.kept_candidates.put(key, _candidates(key[1], entry, catalog, context))
    candidates, unavailable = known
    return plan.altered(candidates=candidates, unavailable=unavailable, **changes)


def _candidates(
    kernels: Iterable[str], entry: MappedOperator, catalog: Catalog, context: QueryContext
) -> tuple[tuple[Candidate, ...], tuple[KernelFile, ...]]:
    """Return kernels as candidates, and those without a CSV."""
    files = [catalog.file(name) for name in kernels]
    loaded = [file for file in files if file.status == "loaded"]
    candidates = tuple(
        Candidate(i, f, kernel_policy(catalog, entry, f, context), _is_unique(catalog, f))
        for i, f in enumerate(loaded)
    )
    return candidates, tuple(file for file in files if file.status != "loaded")


def kernel_policy(
    catalog: Catalog, entry: MappedOperator, file: KernelFile, context: QueryContext
) -> Policy:
    """Return the effective policy of a kernel in an entry: a kernel override wins.

    What the context tells for the run wins over the mapping.
    """
    key = (entry.operator, file.kernel_type, context.aggregation, context.policy)
    policy = catalog.effective_policies.get(key)
    if policy is None:
        run = json.loads(context.policy or "{}")
        own = catalog.policy("kernel", file.kernel_type)
        run_own = (run.get("kernel_overrides") or {}).get(file.kernel_type)
        policy = catalog.effective_policies[key] = effective_policy(
            catalog.policy("global", "*"),
            catalog.policy("operator", entry.operator),
            own,
            run,
            run_own,
            aggregation=context.aggregation,
            opting_in=(own, run_own),
        )
    return policy


def _is_unique(catalog: Catalog, file: KernelFile) -> bool:
    fields = catalog.policy("selection", file.kernel_type)
    return fields.get("require_semantic_unique") is True
