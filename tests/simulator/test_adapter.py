"""The adapter gives what the database gives, in the simulator's terms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lookup.attention_support import ATTENTION
from simulator.stand_in import (
    ADD,
    BF16,
    FUSED,
    INT64,
    MLA,
    MM,
    NORM,
    PROFILE,
    SIN,
    VIEW,
    FakeTensor,
    OpInvokeInfo,
    Overload,
    ParallelConfig,
    all_reduce,
    attention,
    invoke,
    mla,
    mm,
)

import sqlinterp
from sqlinterp.errors import DatabaseError, UsageError
from sqlinterp.model import Answer
from sqlinterp.simulator import QueryResult, QuerySource, ShapeMatchInfo, SqlDataSource

GRID = ((4, 2), (0, 1))
NORM_OF = (FakeTensor(100, 64), FakeTensor(64))
CASES: dict[str, tuple[OpInvokeInfo, str | None]] = {
    "exact": (mm(64), "MEASURED"),
    "batch of one": (invoke(MM, FakeTensor(1, 64, 64), FakeTensor(64, 32)), "MEASURED"),
    "padded": (mm(32, 64), "MEASURED"),
    "1d": (mm(100), "INTERPOLATED"),
    "2d": (mm(100, 100), "INTERPOLATED"),
    "axis 0": (invoke(NORM, *NORM_OF, out=FakeTensor(100, 64)), "INTERPOLATED"),
    "elementwise": (
        invoke(ADD, FakeTensor(100, 64), FakeTensor(100, 64), out=FakeTensor(100, 64)),
        "INTERPOLATED",
    ),
    "attention": (attention(1024, 1024), "MEASURED"),
    "attention between": (attention(1500, 1540), "INTERPOLATED"),
    "zero cost": (invoke(VIEW, FakeTensor(4, 4), [2, 8]), "MEASURED"),
    "collective": (all_reduce(1024, 0, 1), "MEASURED"),
    "collective of another tier": (all_reduce(1024, 0, 2), "MEASURED"),
    "collective between": (all_reduce(2000, 0, 1), "INTERPOLATED"),
    "static composite": (
        invoke(FUSED, FakeTensor(64, 64), FakeTensor(64, 32), None, 0, [0, 1]),
        "INTERPOLATED",
    ),
    "beyond": (mm(9999), None),
    "unmapped": (invoke(SIN, FakeTensor(4)), None),
    "no decomposer": (mla(64), None),
    "attention of unknown lengths": (
        invoke(ATTENTION, *[FakeTensor(16, 8, 128)] * 6, FakeTensor(2, dtype=INT64)),
        None,
    ),
}  # fmt: skip


def check(result: Any, source: SqlDataSource, answer: Answer) -> None:
    """Assert that a result, and what the data source tells of it, is an answer."""
    assert source.last_miss_reason == answer.miss_reason
    assert source.last_answer == answer
    info = source.last_shape_match_info
    assert info.shape_match_rule == (answer.shape_match_rule or answer.miss_reason or "")
    if answer.source is None:
        assert result is None and info.source is None
        assert info.fallback_reason == answer.miss_reason
        return
    assert isinstance(result, QueryResult) and isinstance(info, ShapeMatchInfo)
    assert result.source is QuerySource[answer.source]
    assert (result.latency_us, result.confidence) == (answer.latency_us, answer.confidence)
    assert result.details.items() >= {**answer.details, "source": answer.source}.items()
    assert result.details["kernel_type"] == (answer.kernel_type or "")
    assert result.shape_match_info is info


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_answer_is_that_of_the_database(name: str, database: Path) -> None:
    call, expected = CASES[name]
    config = ParallelConfig(tensor_parallel_size=2)
    with (
        SqlDataSource(database, "v", PROFILE, config) as source,
        sqlinterp.open(database, ep_size=1, tp_size=2, comm_grid=GRID) as plain,
    ):
        answer = plain.lookup(call)
        assert answer.source == expected
        check(source.lookup(call), source, answer)
        check(source.lookup(call), source, answer)  # from the memo


def test_a_batch_gives_the_same_in_order_and_twice_what_is_asked_twice(database: Path) -> None:
    calls = [call for call, _ in CASES.values()] * 2
    with SqlDataSource(database, device_profile=PROFILE) as source:
        one_by_one = [source.lookup(call) for call in calls]
    with SqlDataSource(database, device_profile=PROFILE) as source:
        assert source.lookup_many(calls) == one_by_one
        assert source.lookup_many([]) == []
    with SqlDataSource(database, device_profile=PROFILE) as source:
        assert source.prefetch(calls) == len(CASES)
        source._snapshots.current().database.close()  # so whatever is answered was prefetched
        assert [source.lookup(call) for call in calls] == one_by_one


def test_the_hard_switch_leaves_exact_answers(database: Path) -> None:
    with SqlDataSource(database, disable_interpolation=True) as source:
        assert source.lookup(mm(64)).source is QuerySource.MEASURED
        assert source.lookup(mm(100)) is None
        assert source.last_miss_reason == "shape_mismatch"


def test_the_grid_tells_the_tier_of_a_collective(database: Path) -> None:
    with SqlDataSource(database, device_profile=PROFILE) as source:
        assert source.lookup(all_reduce(1024, 0, 1)).latency_us == 2048 / 200
        assert source.lookup(all_reduce(1024, 0, 2)).latency_us == 2048 / 100
    with SqlDataSource(database) as source:
        assert source.lookup(all_reduce(1024, 0, 1)) is None
        assert source.last_miss_reason == "topology_tier_unknown"


def test_what_the_caller_changes_in_a_result_stays_there(database: Path) -> None:
    with SqlDataSource(database) as source:
        first = source.lookup(mm(64))
        first.details.clear()
        first.latency_us = 0.0
        second = source.lookup(mm(64))
    assert second.latency_us == 64 and second.details["file"] == "MatMulV2.csv"


def test_shapes_of_both_sides(database: Path) -> None:
    with SqlDataSource(database) as source:
        exact = source.lookup(mm(64)).shape_match_info
        assert exact.simulation_shapes == exact.kernel_shapes == [[64, 64], [64, 32]]
        padded = source.lookup(mm(32)).shape_match_info
        assert (padded.simulation_shapes[0], padded.kernel_shapes[0]) == ([32, 64], [16, 64])
        between = source.lookup(mm(100)).shape_match_info
        assert (between.simulation_shapes[0], between.kernel_shapes) == ([100, 64], [[64], [256]])
        assert (between.shape_match_rule, between.fallback_reason) == (
            "interpolated_1d_linear",
            "exact_miss",
        )


def test_invocations_as_the_contract_writes_them_are_taken_too(database: Path) -> None:
    text = (
        '{"op": "torch.ops.aten.mm.default", "args": [{"shape": [64, 64], "dtype": "bfloat16"},'
        ' {"shape": [64, 32], "dtype": "bfloat16"}]}'
    )
    with SqlDataSource(database) as source:
        assert source.lookup(text).latency_us == 64
        assert source.lookup(invoke(f"torch.ops.{MM}", *mm(64).args)).latency_us == 64


def test_storing_is_refused(database: Path) -> None:
    with SqlDataSource(database) as source, pytest.raises(NotImplementedError, match="read-only"):
        source.store(mm(64), source.lookup(mm(64)))


def test_before_the_first_lookup_there_is_nothing_to_tell(database: Path) -> None:
    with SqlDataSource(database) as source:
        assert source.last_miss_reason is None and source.last_shape_match_info is None
        assert source.last_answer is None and source.last_candidate is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": "red"}, "unknown options: colour"),
        ({"mode": "bold"}, "rollout mode 'bold' is unknown"),
        ({"aggregation": "mode"}, "aggregation 'mode' is unknown"),
        ({"memo_size": 1}, "memo_size is 1"),
        ({"version": "v9"}, "version 'v9' is unknown"),
    ],
)
def test_wrong_options_are_named(given: dict[str, Any], message: str, database: Path) -> None:
    with pytest.raises(UsageError, match=message):
        SqlDataSource(database, **given)


def test_a_missing_file_and_a_closed_source(database: Path, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no such database file"):
        SqlDataSource(tmp_path / "none.duckdb")
    source = SqlDataSource(database)
    source.close()
    with pytest.raises(UsageError, match="closed"):
        source.lookup(mm(64))


@pytest.mark.parametrize("shape", [(2, "many"), (2, -1), 5])
def test_what_is_no_invocation_is_refused(shape: Any, database: Path) -> None:
    broken = FakeTensor(1)
    broken.shape = shape
    with SqlDataSource(database) as source:
        with pytest.raises(UsageError, match="is no shape"):
            source.lookup(invoke(MM, broken))
        with pytest.raises(UsageError, match=r"args of .* are no sequence"):
            source.lookup(OpInvokeInfo(Overload(MM), 5))  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="expected an object"):
            source.lookup(5)


def test_other_arguments_do_not_matter(database: Path) -> None:
    with SqlDataSource(database) as source:
        call = invoke(MM, *mm(64).args, object(), dtype=BF16, scale=1.5, flags=[True, False])
        assert source.lookup(call).latency_us == 64
        assert source.lookup(invoke(MM, [FakeTensor(64, 64), None, FakeTensor(64, 32)])) is not None
        memo = source._snapshots.current().memo
        before = len(memo)
        source.lookup(
            invoke(MM, *mm(64).args, object(), dtype=BF16, scale=1.5, flags=[True, False])
        )
        assert len(memo) == before  # another device of the same kind


def test_importing_the_adapter_loads_no_pandas_and_the_package_no_adapter() -> None:
    code = (
        "import sys, sqlinterp; print('sqlinterp.simulator' in sys.modules, end=' ');"
        " sqlinterp.simulator.SqlDataSource;"
        " print([m for m in ('pandas', 'scipy', 'torch', 'sqlglot', 'typer') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(sqlinterp.__file__).parents[1],
    )
    assert done.stdout.strip() == "False []"


def test_the_operator_of_the_stand_in_is_the_one_that_needs_children(database: Path) -> None:
    with SqlDataSource(database) as source:
        assert source.lookup(mla(64)) is None
        assert source.last_miss_reason == "decomposition_unavailable"
        with sqlinterp.open(database) as plain:
            assert [op for op in (MM, FUSED, MLA) if plain.is_decomposed(op)] == [MLA]
