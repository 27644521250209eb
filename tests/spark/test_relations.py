"""From a relation of targets to a relation of answers: the same answers as ``lookup_many``."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, matmul_call, tensor, write_version
from spark.calls import portable_calls
from spark.conftest import VERSION
from spark.duckdb_backend import DuckBackend

import sqlinterp
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import Answer
from sqlinterp.relational.engine import RelationalEngine
from sqlinterp.relational.keys import RelationalExact

SIZES = (1, 3, 16, 40, 64, 100, 256)
WIDTHS = (64, 96, 512)
FIELDS = ("source", "latency_us", "miss_reason", "shape_match_rule", "confidence", "kernel_type")


@contextmanager
def engines(
    database: Path, version: str | None = None, **context: Any
) -> Iterator[tuple[sqlinterp.ProfilingDatabase, RelationalEngine, DuckBackend]]:
    """The production database, and the relational engine over the same file on DuckDB."""
    with sqlinterp.open(database, version, **context) as opened, opened.services() as services:
        backend = DuckBackend(services.statements._cursor)
        yield (
            opened,
            RelationalEngine(
                services.statements, services.catalog, opened.context, backend, "duckdb"
            ),
            backend,
        )


def fields(answers: list[Answer]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(answer, name) for name in FIELDS) for answer in answers]


def told(answer: Answer) -> dict[str, Any]:
    """The details that both engines tell: attempts that come to nothing may be fewer."""
    details: dict[str, Any] = answer.to_dict()["details"]
    return {k: v for k, v in details.items() if k not in ("answered_on", "attempts")}


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"aggregation": "reference"},
        {"disable_interpolation": True},
        {"policy": {"method": "bracket_consensus"}},
        {"policy": {"method": "multilinear", "max_interpolation_dim": 2}},
        {"policy": {"max_interpolation_dim": 0}},
    ],
    ids=lambda context: "-".join(map(str, context.values())) or "default",
)
def test_every_portable_operator_is_answered_as_ever(sample: Path, context: dict[str, Any]) -> None:
    calls = portable_calls(sample, VERSION, most=2)
    with engines(sample, VERSION, **context) as (opened, engine, backend):
        expected = opened.lookup_many(calls)
        answers = engine.lookup_many([read_invocation(one) for one in calls])
    assert fields(answers) == fields(expected)
    assert [told(answer) for answer in answers] == [told(answer) for answer in expected]
    assert {"exact_answers", "key_groups"} <= set(backend.asked)
    sources = Counter(answer.source for answer in expected)
    assert sources["MEASURED"] > 40 and sources[None] > 40
    is_off = "disable_interpolation" in context or context.get("policy") == {
        "max_interpolation_dim": 0
    }
    assert (sources["INTERPOLATED"] == 0) is is_off


def random_version(seed: int, folder: Path) -> Path:
    """Two matmul kernels with two layouts, formats, dtypes and latency columns, and a norm."""
    chosen = random.Random(seed)
    header = f"{MATMUL_HEADER},Profiling Average Duration(us),Duration(us)"
    files = {}
    for kernel in ("MatMulV2", "MatMulV3"):
        lines = [header]
        for _ in range(chosen.choice((12, 40, 90))):
            m, k, n = chosen.choice(SIZES), chosen.choice(WIDTHS), chosen.choice(WIDTHS)
            weight = f"{k},{n}" if chosen.random() < 0.5 else f"{n},{k}"
            dtype = chosen.choice(("DT_BF16", "DT_BF16", "FLOAT16"))
            formats = chosen.choice(("ND;ND", "ND;ND", "NCHW;NCHW"))
            latency = round(chosen.uniform(1, 90), chosen.choice((1, 4)))
            cells = chosen.choice((f"{latency},,", f"{latency},,", f",{latency},", f",,{latency}"))
            lines.append(
                f'"{m},{k};{weight}",{dtype};{dtype},{formats},"{m},{n}",{dtype},ND,{cells}'
            )
        files[f"{kernel}.csv"] = lines
    norms = [
        f'"{m},{k};{k}",DT_BF16;DT_BF16,ND;ND,"{m},{k}",DT_BF16,ND,{m + chosen.random():.3f},,'
        for m, k in ((chosen.choice(SIZES), chosen.choice(WIDTHS)) for _ in range(15))
    ]
    files["RmsNorm.csv"] = [header, *norms]
    operators = {
        "aten.mm.default": {"kernel_type": "MatMulV2", "alternate_kernel_types": ["MatMulV3"]},
        "aten.addmm.default": {"kernel_type": "MatMulV3", "tc_input_count": 2},
        "tensor_cast.rms_norm.default": "RmsNorm",
    }
    # Of this kernel, two latency columns have one rank.
    extra = {
        "query_selection_policy": {
            "kernel_overrides": {"MatMulV3": {"require_semantic_unique": True}}
        },
        "latency_policy": {"kernel_overrides": {"MatMulV3": {"prefer_profiling_rows": True}}},
    }
    write_version(folder / "d" / "b" / "v", files, operators, extra)
    sqlinterp.ingest([folder / "d"], folder / "p.duckdb")
    return folder / "p.duckdb"


def random_calls(seed: int, count: int) -> list[dict[str, Any]]:
    chosen = random.Random(seed)
    calls = []
    for _ in range(count):
        m = chosen.choice((*SIZES, 2, 20, 50, 77, 128, 200, 300))
        k, n = (chosen.choice((*WIDTHS, *WIDTHS, 80, 300)) for _ in range(2))
        dtype = chosen.choice(("bfloat16", "bfloat16", "float16"))
        kind = chosen.random()
        if kind < 0.7:
            calls.append(matmul_call(m, k, n, dtype))
        elif kind < 0.8:
            arguments = (tensor(m, k), tensor(k, n), tensor(n))
            calls.append(call("aten.addmm.default", *arguments, outputs=[tensor(m, n)]))
        else:
            calls.append(call("tensor_cast.rms_norm.default", tensor(m, k), tensor(k)))
    return calls


@pytest.mark.parametrize("seed", range(5))
def test_random_tables_are_answered_as_ever(seed: int, tmp_path: Path) -> None:
    database = random_version(seed, tmp_path)
    method = ("griddata_linear", "bracket_consensus", "multilinear")[seed % 3]
    aggregation = ("mean", "median", "min", "first", "reference")[seed]
    calls = random_calls(seed, 150)
    with engines(database, policy={"method": method}, aggregation=aggregation) as found:
        opened, engine, _ = found
        expected = opened.lookup_many(calls)
        answers = engine.lookup_many([read_invocation(one) for one in calls])
    assert fields(answers) == fields(expected)
    assert [told(answer) for answer in answers] == [told(answer) for answer in expected]
    assert {answer.source for answer in expected} == {"MEASURED", "INTERPOLATED", None}


class Recorder(DuckBackend):
    """Keeps the answer relations that the canonical queries give for the relations asked."""

    def __init__(self, cursor: Any) -> None:
        super().__init__(cursor)
        self.exact: list[dict[str, Any]] = []
        self.axis: list[dict[str, Any]] = []

    def run(self, name: Any, aggregation: str, **relations: Any) -> list[dict[str, Any]]:
        found = super().run(name, aggregation, **relations)
        if name == "exact_answers":
            self.exact += found
        if name == "axis_estimates":
            self.axis += super().run("axis_answers", aggregation, **relations)
        return found


def compared(database: Path, calls: list[dict[str, Any]], method: str) -> Counter[str]:
    """Compare the relations of answers with ``lookup_many``; return how many of each method."""
    with engines(database, policy={"method": method}) as (opened, engine, _):
        expected = opened.lookup_many(calls)
        services = engine._relational
        recorder = Recorder(services.statements._cursor)
        RelationalEngine(
            services.statements, services.catalog, opened.context, recorder, "duckdb"
        ).lookup_many([read_invocation(one) for one in calls])
    exact = {row["target_id"]: row for row in recorder.exact}
    axis = {row["target_id"]: row for row in recorder.axis}
    assert len(exact) == len(recorder.exact) and len(axis) == len(recorder.axis)
    counts = Counter[str]()
    for number, answer in enumerate(expected):
        rule = answer.shape_match_rule or ""
        if answer.source == "MEASURED" and "padding" not in rule and rule != "exact_coordinate":
            row = exact[number]
            assert (row["latency_us"], row["rule"]) == (answer.latency_us, rule)
            assert row["line_number"] == answer.details["line"]
            counts["exact"] += 1
        elif rule.startswith("interpolated_1d"):
            row = axis[number]
            assert (row["source"], row["latency_us"]) == (answer.source, answer.latency_us)
            assert row["method"] == answer.details["method"]
            counts[row["method"]] += 1
    return counts


def test_answer_relations_hold_what_lookups_answer_exactly_and_along_one_axis(
    tmp_path: Path,
) -> None:
    calls = [one for one in random_calls(3, 400) if one["op"] == "aten.mm.default"]
    counts = compared(random_version(2, tmp_path), calls, "griddata_linear")
    assert counts["exact"] > 10 and counts["linear_1d"] > 10


def test_the_consensus_of_axes_is_made_in_sql_as_well(tmp_path: Path) -> None:
    sizes = (16, 100, 250, 600)
    holes = [(100, 250, 100), (250, 100, 16), (100, 16, 600), (600, 250, 250)]
    lines = [
        f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{m * k * n / 7e4 + k:.3f}'
        for m in sizes for k in sizes for n in sizes if (m, k, n) not in holes
    ]  # fmt: skip
    files = {"MatMulV2.csv": [MATMUL_HEADER, *lines]}
    write_version(tmp_path / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
    calls = [matmul_call(*hole) for hole in [*holes, (30, 100, 100)]]
    counts = compared(tmp_path / "p.duckdb", calls, "bracket_consensus")
    assert counts == {"bracket_consensus": 3, "linear_1d": 2}


def test_contradicting_measurements_of_a_unique_kernel_are_no_answer(tmp_path: Path) -> None:
    rows = [f'"4,64;64,8",DT_BF16;DT_BF16,{f},"4,8",DT_BF16,ND,{us}' for f, us in
            (("ND;ND", 5), ("NCHW;NCHW", 7))]  # fmt: skip
    unique = {"kernel_overrides": {"MatMulV2": {"require_semantic_unique": True}}}
    write_version(
        tmp_path / "d" / "b" / "v", {"MatMulV2.csv": [MATMUL_HEADER, *rows]},
        {"aten.mm.default": "MatMulV2"}, {"query_selection_policy": unique},
    )  # fmt: skip
    sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
    with engines(tmp_path / "p.duckdb") as (opened, engine, _):
        answer = engine.lookup_many([read_invocation(matmul_call(4, 64, 8))])[0]
        assert answer.miss_reason == opened.lookup(matmul_call(4, 64, 8)).miss_reason
    assert answer.miss_reason == "ambiguous_semantic_match:MatMulV2"


def test_what_a_kernel_may_extrapolate_is_answered_beside(tmp_path: Path) -> None:
    lines = [
        f'"{m},64;64,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m * 2}'
        for m in (50, 100, 150, 175, 200)
    ]
    files = {"MatMulV2.csv": [MATMUL_HEADER, *lines]}
    write_version(tmp_path / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
    rule = {
        "allow": True,
        "axes": ["M"],
        "form": "hold_rate",
        "work": "M * K * N",
        "max_ratio": 2.0,
    }
    policy = {"kernel_overrides": {"MatMulV2": {"extrapolation": rule}}}
    calls = [matmul_call(m, 64, 32) for m in (120, 300, 9999)]
    with engines(tmp_path / "p.duckdb", policy=policy) as (opened, engine, _):
        expected = opened.lookup_many(calls)
        answers = engine.lookup_many([read_invocation(one) for one in calls])
    assert fields(answers) == fields(expected)
    assert [told(answer) for answer in answers] == [told(answer) for answer in expected]
    assert [answer.source for answer in answers] == ["INTERPOLATED", "EXTRAPOLATED", None]
    places = [answer.details["answered_on"] for answer in answers]
    assert places == ["duckdb", "driver", "duckdb"]


def test_keys_of_a_batch_are_made_once_each(sample: Path) -> None:
    with engines(sample, VERSION) as (_, engine, backend):
        services = engine._relational
        search = RelationalExact(services.statements, services.catalog, "mean", backend)
        plan = engine.plan(read_invocation(matmul_call(64, 1536, 2304)))
        keys = search.target_keys(list(search._wishes(0, plan)))
    assert len(set(keys.rows)) == len(keys.rows) > 3
    assert {len(row) for row in keys.rows} == {len(keys.columns)}


def test_what_is_not_portable_is_answered_beside(sample: Path) -> None:
    reduce = call("tensor_cast.all_reduce.default", tensor(64, 5120), "sum", {"ints": [0, 1]})
    pair = {**call("aten.mm.default"), "children": [matmul_call(64, 1536, 2304)]}
    grid = {"shape": [48, 8, 2], "tiers": [0, 1, 2]}
    with engines(sample, VERSION, comm_grid=grid) as (opened, engine, backend):
        calls = [reduce, pair, call("aten.sin.default", tensor(4))]
        answers = engine.lookup_many([read_invocation(one) for one in calls])
        assert fields(answers) == fields(opened.lookup_many(calls))
    assert answers[0].details["answered_on"] == "driver"
    assert "exact_answers" in backend.asked  # the leaf of the composite
    assert "answered_on" not in answers[2].details  # nothing was looked up
