"""A stand-in simulator drives the adapter through every call of four recorded forward passes."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from simulator.recorded_trace import (
    Simulation,
    TracedOp,
    children,
    read_trace,
    simulate,
    simulate_file,
    write_trace_database,
)
from simulator.stand_in import PROFILE

from sqlinterp.simulator import SqlDataSource

CALLS = {
    "qwen3_32b_prefill": 2_392, "qwen3_32b_decode": 2_392,
    "dsv3_prefill": 18_360, "dsv3_decode": 18_360,
}  # fmt: skip


@pytest.fixture(scope="module")
def trace_file(shared: Path) -> Path:
    return shared / "data" / "msmodeling" / "trace_ops.csv"


@pytest.fixture(scope="module")
def trace(trace_file: Path) -> list[TracedOp]:
    return read_trace(trace_file)


@pytest.fixture(scope="module")
def database(trace: list[TracedOp], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trace_database(tmp_path_factory.mktemp("trace"), trace)


@pytest.fixture(scope="module")
def simulation(database: Path, trace_file: Path) -> Simulation:
    """The run of one thread in one process."""
    return simulate_file(database, trace_file)


def test_the_trace_has_the_recorded_number_of_calls(trace: list[TracedOp]) -> None:
    counts: Counter[str] = Counter()
    for op in trace:
        counts[op.trace] += op.calls
    assert counts == CALLS


def test_every_call_is_answered_or_says_why_not(simulation: Simulation) -> None:
    assert len(simulation.answers) == sum(CALLS.values())
    for name, source, latency, reason in simulation.answers:
        assert (source is None) == (latency is None), name
        assert latency is None or (math.isfinite(latency) and latency >= 0), name
        assert latency is not None or reason, name
    kinds = Counter(source for _, source in simulation.calls())
    assert kinds["MEASURED"] > 30_000 and kinds["INTERPOLATED"] > 5_000
    assert kinds[None] < 3_000
    assert math.isfinite(simulation.total_us()) and simulation.total_us() > 0


def test_what_was_measured_is_answered_as_measured(
    simulation: Simulation, trace: list[TracedOp]
) -> None:
    first = {op.name: op for op in reversed(trace) if op.trace == "qwen3_32b_prefill"}
    op = first["aten.mm.default"]
    inputs = sum(math.prod(shape) for shape, _ in op.inputs)
    answer = next(a for a in simulation.answers if a[0] == "aten.mm.default")
    assert answer[1:3] == ("MEASURED", pytest.approx(1 + inputs / 1e5, abs=1e-3))


def test_two_threads_and_two_processes_get_equal_answers(
    simulation: Simulation, database: Path, trace: list[TracedOp], trace_file: Path
) -> None:
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes,
        ThreadPoolExecutor(2) as threads,
        SqlDataSource(database, None, PROFILE, decompose=children) as source,
    ):
        apart = [processes.submit(simulate_file, database, trace_file) for _ in range(2)]
        together = [threads.submit(simulate, source, trace) for _ in range(2)]
        found = [future.result() for future in (*apart, *together)]
    assert all(other.answers == simulation.answers for other in found)


def test_a_prefetched_trace_gets_the_same_answers(
    simulation: Simulation, database: Path, trace: list[TracedOp]
) -> None:
    with SqlDataSource(database, None, PROFILE, decompose=children) as source:
        assert simulate(source, trace, prefetch=True).answers == simulation.answers
