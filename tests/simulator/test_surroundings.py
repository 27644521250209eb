"""What is read from the simulator's descriptions of device and parallel groups."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from simulator.stand_in import PROFILE, CommGrid, DeviceProfile, Grid, ParallelConfig

from sqlinterp.errors import UsageError
from sqlinterp.simulator.surroundings import (
    communication_grid,
    group_size,
    sequence_parallel_switch,
)


@pytest.mark.parametrize(
    ("profile", "grid"),
    [
        (None, None),
        (SimpleNamespace(name="no grid"), None),
        (PROFILE, ((4, 2), (0, 1))),
        (DeviceProfile(CommGrid(Grid(48, 8, 2), {2: "die", 0: "pod"})), ((48, 8, 2), (0, 2))),
        (SimpleNamespace(comm_grid=SimpleNamespace(grid=Grid(3, 2))), ((3, 2), (0, 1))),
        (SimpleNamespace(comm_grid=(8, 2)), ((8, 2), (0, 1))),
    ],
)
def test_the_grid_of_a_device(profile: Any, grid: Any) -> None:
    assert communication_grid(profile) == grid


@pytest.mark.parametrize("comm_grid", [5, CommGrid(Grid(2), {"die": "x"})])  # type: ignore[dict-item]
def test_a_grid_that_is_none_is_named(comm_grid: Any) -> None:
    with pytest.raises(UsageError, match="device_profile: the communication grid cannot be read"):
        communication_grid(SimpleNamespace(comm_grid=comm_grid))


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (None, None),
        (ParallelConfig(expert_parallel_size=16), 16),
        (SimpleNamespace(ep_size=4), 4),
        (SimpleNamespace(expert_parallel_size=None, ep_size=4), 4),
        (SimpleNamespace(expert_parallel_size=0), None),
        (SimpleNamespace(expert_parallel_size=True), None),
        (SimpleNamespace(expert_parallel_size="8"), None),
    ],
)
def test_the_size_of_a_group(config: Any, size: int | None) -> None:
    assert group_size(config, "expert_parallel_size", "ep_size") == size


def test_sequence_parallelism_as_told() -> None:
    assert sequence_parallel_switch(True, None)() is True
    assert sequence_parallel_switch(None, SimpleNamespace(sequence_parallel=True))() is True
    assert sequence_parallel_switch(False, SimpleNamespace(sequence_parallel=True))() is False
    states = iter([True, False])
    switch = sequence_parallel_switch(lambda: next(states), None)
    assert [switch(), switch()] == [True, False]


@pytest.mark.parametrize("is_nested", [True, False])
def test_the_switch_of_the_simulator_is_read_at_each_lookup(
    is_nested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = sequence_parallel_switch(None, ParallelConfig())
    assert switch() is False  # no simulator is loaded
    passes = SimpleNamespace(enable_sequence_parallel=True)
    compilation = SimpleNamespace(passes=passes)
    module = ModuleType("tensor_cast.config")
    if is_nested:
        module.config = SimpleNamespace(compilation=compilation)  # type: ignore[attr-defined]
    else:
        module.compilation = compilation  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensor_cast.config", module)
    assert switch() is True
    passes.enable_sequence_parallel = False
    assert switch() is False
    monkeypatch.setitem(sys.modules, "tensor_cast.config", ModuleType("tensor_cast.config"))
    assert switch() is False
