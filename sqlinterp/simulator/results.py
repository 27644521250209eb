"""Result types: the simulator's own where they can be imported, else equal ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from importlib import import_module
from typing import Any

_MODULE = "tensor_cast.performance_model.profiling_database.data_source"
_BASE = "DataSourcePerformanceModel"


class QuerySource(Enum):
    """Where a latency comes from."""

    MEASURED = auto()
    INTERPOLATED = auto()
    EXTRAPOLATED = auto()
    PARTIAL = auto()


@dataclass
class ShapeMatchInfo:
    """How the shapes of a call met those of the database.

    Attributes
    ----------
    simulation_shapes : list of list of int
        Shapes of the call [elements].
    kernel_shapes : list of list
        Shapes of the measured row where they are known, coordinates of the neighbours when the
        answer is interpolated, empty otherwise [elements].
    shape_match_rule : str
        The rule, or the reason of a miss.
    source : str or None
        Name of the :class:`QuerySource`, None for a miss.
    fallback_reason : str or None
        Why there is no complete answer, or what interpolation stood in for.
    """

    simulation_shapes: list[list[int]]
    kernel_shapes: list[list[float]]
    shape_match_rule: str
    source: str | None = None
    fallback_reason: str | None = None


@dataclass
class QueryResult:
    """An answered lookup.

    Attributes
    ----------
    latency_us : float
        Latency [us].
    confidence : float
        Label between 0 and 1 for display.
    source : QuerySource
        Where the latency comes from.
    details : dict
        What the answer tells of itself.
    shape_match_info : ShapeMatchInfo or None
        How the shapes matched.
    """

    latency_us: float
    confidence: float
    source: Any
    details: dict[str, Any] = field(default_factory=dict)
    shape_match_info: Any = None


@dataclass(frozen=True)
class ResultTypes:
    """The types that answers are given in, whichever they are."""

    sources: Mapping[str, Any]
    make_result: Callable[[Mapping[str, Any]], Any]
    make_info: Callable[[Mapping[str, Any]], Any]


def own_types() -> ResultTypes:
    """Return the types of this module."""
    return ResultTypes(
        QuerySource.__members__, lambda fields: QueryResult(**fields), _maker(ShapeMatchInfo)
    )


def simulator_types(adapter: type) -> ResultTypes:
    """Return the simulator's result types, those of this module where it cannot be imported.

    ``adapter`` becomes a subclass, in name, of the base class of the simulator's data sources.
    """
    try:
        module = import_module(_MODULE)
        sources = module.QuerySource.__members__
        if not set(QuerySource.__members__) <= set(sources):
            return own_types()
        types = ResultTypes(sources, _maker(module.QueryResult), _maker(module.ShapeMatchInfo))
        types.make_info(dict.fromkeys(ShapeMatchInfo.__dataclass_fields__, ""))
        types.make_result({**dict.fromkeys(QueryResult.__dataclass_fields__), "details": {}})
    except Exception:  # whatever keeps a simulator from being imported, it is not in use then
        return own_types()
    register = getattr(getattr(module, _BASE, None), "register", None)
    if register is not None:
        register(adapter)
    return types


def _maker(cls: type) -> Callable[[Mapping[str, Any]], Any]:
    """Return what makes an instance from the fields that its constructor takes."""
    parameters = inspect.signature(cls).parameters.values()
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    needed = {p.name for p in parameters if p.default is p.empty and p.name in names}

    def make(fields: Mapping[str, Any]) -> Any:
        given = {name: fields[name] for name in names if name in fields}
        given.update({name: None for name in needed if name not in given})
        return cls(**given)

    return make
