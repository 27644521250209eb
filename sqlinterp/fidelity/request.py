"""What a fidelity run is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.fidelity.results import BAR
from sqlinterp.fidelity.schemes import SCHEMES
from sqlinterp.fidelity.truths import Truth
from sqlinterp.lookup.regimes import Regime
from sqlinterp.policy import PRESETS

Select = Callable[[Sequence[Regime], str], set[int]]
DEFAULT_PROBES, DEFAULT_SMALL_US, DEFAULT_REGION_N = 500, 10.0, 5


@dataclass(frozen=True)
class Compare:
    """What is asked besides on the same probes: another policy, version or kernel."""

    policy: Mapping[str, Any] | None = None
    version: str | None = None
    kernel: str | None = None

    def record(self) -> dict[str, Any]:
        """Return what was asked for."""
        told = {"policy": self.policy, "version": self.version, "kind": self.kernel}
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True)
class Request:
    """One run.

    Attributes
    ----------
    kernels, paths : tuple of str
        Only these; empty for all.
    config : mapping
        Fields that the regimes must have.
    select : callable or None
        Chooses regimes by id, from all of the kernels and the device, instead of ``config``.
    where : str or None
        Condition over the columns of regimes.
    limit_groups : int or None
        Only so many groups, those with the most points.
    probes : sequence of (coordinate, region) or None
        What to ask for, by names of axes; None for what the truth brings along.
    is_generated : bool
        Whether to ask for generated coordinates instead of those of a version or table.
    policy : mapping or None
        Policy fields that win over those of the kernels.
    max_probes : int or None
        Most probes of a group, None for all.
    small_us : float
        Truths below this are a region of their own [us].
    min_region_n : int
        Fewest answers that get a verdict.
    is_by_operator : bool
        Whether to ask through the operators of the mapping instead of by coordinate.
    """

    database: Path
    version: str | None = None
    kernels: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    select: Select | None = None
    where: str | None = None
    limit_groups: int | None = None
    truth: Truth = field(default_factory=Truth)
    probes: Sequence[tuple[Mapping[str, float], str]] | None = None
    is_generated: bool = False
    policy: Mapping[str, Any] | None = None
    compare: Compare | None = None
    bar: float = BAR
    max_probes: int | None = DEFAULT_PROBES
    small_us: float = DEFAULT_SMALL_US
    min_region_n: int = DEFAULT_REGION_N
    aggregation: str = "mean"
    is_exact_version: bool = False
    is_by_operator: bool = False

    def check(self) -> None:
        """Make sure that the names in the request are known.

        Raises
        ------
        UsageError
            If one is not, or parts of the request do not go together.
        """
        known: list[tuple[str, str, Sequence[str]]] = [
            ("aggregation", self.aggregation, tuple(PRESETS))
        ]
        if self.truth.kind == "holdout":
            known.append(("scheme", self.truth.scheme, tuple(SCHEMES)))
        for what, given, names in known:
            if given not in names:
                raise UsageError(f"{what} '{given}' is unknown", expected=", ".join(names))
        if self.bar <= 0 or self.min_region_n < 1 or (self.max_probes or 1) < 1:
            raise UsageError("bar, min_region_n and max_probes must be positive")
        if self.is_by_operator and (self.truth.kind != "holdout" or self.compare):
            raise UsageError("operators can be asked for hold-outs only, without a comparison")
        if self.truth.kind == "holdout" and self.is_generated:
            raise UsageError("a hold-out has no truth at generated coordinates")

    def record(self) -> dict[str, Any]:
        """Return everything that the outcome depends on besides the data, as JSON holds it."""
        compare = {} if self.compare is None else {"compare": self.compare.record()}
        given = {} if self.probes is None else {
            "probes": [{"coords": dict(at), "region": region} for at, region in self.probes]
        }  # fmt: skip
        return {
            "truth": self.truth.record(),
            "kernels": list(self.kernels),
            "paths": list(self.paths),
            "config": dict(self.config),
            "where": self.where,
            "limit_groups": self.limit_groups,
            "generated": self.is_generated,
            "policy": None if self.policy is None else dict(self.policy),
            "bar": self.bar,
            "max_probes": self.max_probes,
            "small_us": self.small_us,
            "min_region_n": self.min_region_n,
            "aggregation": self.aggregation,
            "by_operator": self.is_by_operator,
            **compare,
            **given,
        }
