"""Results are of the simulator's own types when there is a simulator."""

from __future__ import annotations

import abc
import sys
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from simulator.stand_in import decompose, mla, mm

from sqlinterp.simulator import QueryResult, QuerySource, SqlDataSource

MODULE = "tensor_cast.performance_model.profiling_database.data_source"


class TheirSource(Enum):
    """The simulator's sources."""

    MEASURED = "m"
    INTERPOLATED = "i"
    EXTRAPOLATED = "e"
    PARTIAL = "p"


@dataclass
class TheirInfo:
    """The simulator's shape information, with a field that we know nothing of."""

    simulation_shapes: list[Any]
    kernel_shapes: list[Any]
    shape_match_rule: str
    theirs_alone: str
    also: int = 3


@dataclass
class TheirResult:
    """The simulator's result."""

    latency_us: float
    confidence: float
    source: TheirSource
    details: dict[str, Any] = field(default_factory=dict)
    shape_match_info: TheirInfo | None = None


class TheirBase(abc.ABC):
    """The base class of the simulator's data sources."""

    @abc.abstractmethod
    def lookup(self, op_invoke_info: Any) -> Any:
        """Answer."""


def install(monkeypatch: pytest.MonkeyPatch, **members: Any) -> None:
    """Make a module with the members the simulator's own for a test."""
    names = MODULE.split(".")
    for end in range(1, len(names) + 1):
        module = ModuleType(".".join(names[:end]))
        module.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name, member in members.items():
        setattr(sys.modules[MODULE], name, member)


THEIRS = {
    "QuerySource": TheirSource,
    "QueryResult": TheirResult,
    "ShapeMatchInfo": TheirInfo,
    "DataSourcePerformanceModel": TheirBase,
}


def test_the_types_of_the_simulator_are_used(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, **THEIRS)
    with SqlDataSource(database, decompose=decompose) as source:
        assert isinstance(source, TheirBase)
        result = source.lookup(mm(100))
        assert type(result) is TheirResult and result.source is TheirSource.INTERPOLATED
        assert (result.latency_us, result.details["axes"]) == (100, ["M"])
        info = result.shape_match_info
        assert type(info) is TheirInfo and info is source.last_shape_match_info
        assert (info.shape_match_rule, info.theirs_alone) == ("interpolated_1d_linear", None)
        assert source.lookup(mla(256)).source is TheirSource.PARTIAL
        assert source.lookup(mm(9999)) is None
        assert source.last_shape_match_info.shape_match_rule == "outside_axis_boundary"


class _Fewer(Enum):
    MEASURED = 1


class _Picky:
    def __init__(self, latency_us: float) -> None:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "members",
    [
        {},
        {**THEIRS, "QuerySource": _Fewer},
        {**THEIRS, "QueryResult": _Picky},
        {name: member for name, member in THEIRS.items() if name != "ShapeMatchInfo"},
    ],
    ids=["empty", "fewer sources", "unusable result", "no shape information"],
)
def test_ours_are_used_when_theirs_cannot_be(
    members: dict[str, Any], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, **members)
    with SqlDataSource(database) as source:
        result = source.lookup(mm(64))
    assert type(result) is QueryResult and result.source is QuerySource.MEASURED


def test_there_is_no_simulator_here(database: Path) -> None:
    with SqlDataSource(database) as source:
        assert type(source.lookup(mm(64))) is QueryResult
    assert not [name for name in sys.modules if name.split(".")[0] in ("tensor_cast", "torch")]
