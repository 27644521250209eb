"""The config object of a request: which measured regimes it means, backend by backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.lookup.regimes import Regime, columns_of, select_regimes, spelled
from sqlinterp.protocol.failures import RequestError

BACKENDS, DEVICE = "backends", "gpu_name"
_BACKEND_FIELD = "backend"


@dataclass(frozen=True)
class Group:
    """The regimes that one backend answers from; ``backend`` is None when there is no choice."""

    backend: str | None
    regimes: tuple[Regime, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.regimes[0].axes


@dataclass(frozen=True)
class Groups:
    """What a config means.

    Attributes
    ----------
    groups : tuple of Group
        One for every backend, of which the fastest answers.
    columns : tuple of str
        Fields that a config may name.
    described : dict
        The config with every field that it left open and that has only one value.
    """

    groups: tuple[Group, ...]
    columns: tuple[str, ...]
    described: dict[str, Any]

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes in the order of preference."""
        return self.groups[0].axes

    @property
    def regime_ids(self) -> list[int]:
        """Regimes of all groups."""
        return sorted(regime.regime_id for group in self.groups for regime in group.regimes)


def resolve(regimes: Sequence[Regime], config: Mapping[str, Any], device: str) -> Groups:
    """Return the groups of regimes that a config means.

    Parameters
    ----------
    regimes : sequence of Regime
        All regimes of the kernel.
    device : str
        Device of the version, which ``gpu_name`` must equal to the letter.

    Raises
    ------
    RequestError, RegimeError
        If a key or a value is unknown, or the config leaves open what it must tell.
    """
    columns = columns_of(regimes)
    told = dict(config)
    routing: dict[str, Any] = {}
    if DEVICE in told and DEVICE not in columns:
        routing[DEVICE] = _device(told.pop(DEVICE), device)
    if BACKENDS in told and BACKENDS not in columns:
        routing[BACKENDS] = _backends(told.pop(BACKENDS))
        field = _backend_field(regimes, columns)
        groups = [
            Group(name, tuple(select_regimes(regimes, {**told, field: name})))
            for name in routing[BACKENDS]
        ]
    else:
        groups = [_single(regimes, told)]
    if len({group.regimes[0].path for group in groups}) > 1:
        raise RequestError("the backends lie on different axes", "ambiguous_regime")
    return Groups(tuple(groups), tuple(columns), {**routing, **_common(groups, columns)})


def _single(regimes: Sequence[Regime], told: Mapping[str, Any]) -> Group:
    chosen = tuple(select_regimes(regimes, told))
    field = chosen[0].backend or _BACKEND_FIELD
    backend = chosen[0].fields.get(field)
    return Group(None if backend is None else spelled(backend), chosen)


def _device(given: Any, device: str) -> str:
    if given != device:
        what = f"{DEVICE} {spelled(given)} is not the device of the version; keys are exact"
        raise RequestError(what, "no_points", [device])
    return device


def _backends(given: Any) -> list[str]:
    is_list = isinstance(given, list) and all(isinstance(name, str) for name in given)
    if not is_list or not given or len(set(given)) < len(given):
        raise RequestError(f"config.{BACKENDS} is {spelled(given)}, expected a list of names")
    return list(given)


def _backend_field(regimes: Sequence[Regime], columns: Sequence[str]) -> str:
    field = regimes[0].backend or _BACKEND_FIELD
    if field not in columns:
        what = f"the kernel has no backends to choose from, so '{BACKENDS}' is no key of its config"
        raise RequestError(what, "unknown_regime_key", columns)
    return field


def _common(groups: Sequence[Group], columns: Sequence[str]) -> dict[str, Any]:
    """Return the fields that have one value in all regimes of all groups."""
    every = [regime for group in groups for regime in group.regimes]
    common = {}
    for name in columns:
        values = {spelled(regime.columns.get(name)) for regime in every}
        if len(values) == 1 and name in every[0].columns:
            common[name] = every[0].columns[name]
    return common
