"""What is wrong with an invocation is told argument by argument, each with its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, matmul_call, tensor, write_version

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.plan import Plan
from sqlinterp.model import OpInvocation, Tensor


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        (5, ["the invocation is 5, expected an object"]),
        ({}, ["op is None, expected the name of an operator"]),
        (
            {"op": "a", "later": 1, "also": 2},
            ["the invocation has unknown keys: also, later"],
        ),
        (
            {"op": "a", "args": [1, {"shape": [1, True], "dtype": 3}, [{"shape": [-1]}]]},
            [
                "args[1].shape is [1, True], expected dims from 0 to 2**40",
                "args[1].dtype is 3, expected a torch dtype name",
                "args[2][0].shape is [-1], expected dims from 0 to 2**40",
                "args[2][0].dtype is None, expected a torch dtype name",
            ],
        ),
        (
            {"op": "a", "args": 5, "kwargs": [1], "outputs": {"a": 1}, "children": 7},
            [
                "args is 5, expected a list",
                "kwargs is [1], expected an object",
                "outputs is {'a': 1}, expected a list",
                "children is 7, expected a list",
            ],
        ),
        (
            {"op": "a", "kwargs": {"lens": {"ints": [1, False]}, "mask": {"bools": 3}}},
            [
                "kwargs.lens.ints holds something else than ints",
                "kwargs.mask.bools is 3, expected a list",
            ],
        ),
        (
            {"op": "a", "outputs": [None, 1, "a", {"shape": [1], "dtype": "x", "values": [0.5]}]},
            [
                "outputs[3].values is [0.5], expected integers",
                "outputs[2] is 'a', expected a tensor",
            ],
        ),
        (
            {
                "op": "a",
                "children": [
                    5,
                    {"kernel": "K", "tc_input_count": 0, "query_mode": 1},
                    {"args": [{}]},
                ],
            },
            [
                "children[0] is 5, expected an object",
                "children[1].tc_input_count is 0, expected a positive integer",
                "children[1].query_mode is 1, expected text",
                "children[2].op is None, expected the name of an operator",
                "children[2].args[0] is {}, expected a tensor with shape and dtype",
            ],
        ),
    ],
)
def test_every_problem_is_told_with_its_place(given: Any, problems: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        read_invocation(given)
    assert error.value.what == "malformed invocation: " + "; ".join(problems)


def test_a_well_formed_invocation_is_read_as_it_is() -> None:
    given = {
        "op": "torch.ops.aten.mm.default",
        "args": [tensor(2, 3), [tensor(3, 4), None], {"ints": [1, 2]}, 1.5, "x"],
        "kwargs": {"lens": {"shape": (2,), "dtype": "torch.int64", "values": [1, 2]}},
        "outputs": [None, tensor(2, 4), 1],
    }
    half = "bfloat16"
    assert read_invocation(given) == OpInvocation(
        "aten.mm.default",
        (Tensor((2, 3), half), [Tensor((3, 4), half), None], (1, 2), 1.5, "x"),
        {"lens": Tensor((2,), "int64", (1, 2))},
        (Tensor((2, 4), half),),
    )


def test_the_place_of_a_malformed_invocation_among_others_is_told(tmp_path: Path) -> None:
    write_version(tmp_path / "v", {}, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "profiling.duckdb")
    calls = [matmul_call(64, 128, 256), call("aten.mm.default", 5, {})]
    with (
        sqlinterp.open(tmp_path / "profiling.duckdb") as database,
        pytest.raises(UsageError) as error,
    ):
        database.lookup_many(calls)
    assert error.value.where == "invocation 2"
    assert error.value.what.startswith("malformed invocation: args[1] is {}, expected a tensor")


def test_a_large_batch_is_answered_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f'"{m},128;128,256",DT_BF16;DT_BF16,ND;ND,"{m},256",DT_BF16,ND,{m}.5'
            for m in (64, 128, 512)]  # fmt: skip
    write_version(
        tmp_path / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "MatMulV2"}
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "profiling.duckdb")
    calls = [matmul_call(m, 128, 256) for m in (64, 100, 128, 300, 512)]
    planned = []
    with sqlinterp.open(tmp_path / "profiling.duckdb") as database:
        together = database.lookup_many(iter(calls))
        monkeypatch.setattr("sqlinterp.session._MOST_TOGETHER", 2)
        lookup_many = Engine.lookup_many
        monkeypatch.setattr(
            Engine,
            "lookup_many",
            lambda self, asked: planned.append(len(asked)) or lookup_many(self, asked),
        )
        assert database.lookup_many(iter(calls)) == together
        with pytest.raises(UsageError) as error:
            database.lookup_many([*calls[:4], {}])
    assert planned == [2, 2, 1, 2, 2]
    assert [answer.latency_us for answer in together] == [64.5, 100.5, 128.5, 300.5, 512.5]
    assert error.value.where == "invocation 5"


def test_a_plan_is_altered_as_a_dataclass_is_replaced() -> None:
    plan = Plan(OpInvocation("aten.mm.default"), "compute", fields={"a": 1})
    altered = plan.altered(input_limit=2, miss_reason="no_tensor_inputs")
    assert altered == replace(plan, input_limit=2, miss_reason="no_tensor_inputs") != plan
