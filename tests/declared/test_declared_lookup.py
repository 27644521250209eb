"""Declared kernels are looked up as all others: same neighbours, geometry and policies."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version
from declared_support import GEMM, ingest, query, write_csv, write_declaration

import sqlinterp
from sqlinterp.lookup.regimes import RegimeError
from sqlinterp.model import Answer
from sqlinterp.session import ProfilingDatabase

M, K, N = (1, 3, 16, 40, 64, 100, 256), (64, 96, 512, 1000), (32, 128, 640)
MATMUL = {**GEMM, "kernel": "MatMulV2", "axes": ["M", "K", "N"]}


def told(answers: list[Answer]) -> list[tuple[Any, ...]]:
    """What must be equal whichever way the numbers came in."""
    kept = ("method", "interpolation_dim", "axes", "target", "boundary", "aggregated_count")
    fields = ("source", "latency_us", "confidence", "shape_match_rule", "miss_reason")
    return [
        (*(getattr(a, name) for name in fields), *(a.details.get(key) for key in kept))
        for a in answers
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfilingDatabase]:
    """A grid with holes and duplicates as a version directory and as a declared table."""
    folder = tmp_path_factory.mktemp("both")
    draw = random.Random(7)
    cells = [cell for cell in itertools.product(M, K, N) if draw.random() < 0.7]
    cells += draw.sample(cells, 8)
    grid = [(*cell, round(draw.uniform(1, 500), 4)) for cell in cells]
    rows = [
        f'"{m},{k};{k},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{t}' for m, k, n, t in grid
    ]
    write_version(
        folder / "dev" / "fw" / "2.0",
        {"MatMulV2.csv": [MATMUL_HEADER, *rows]},
        {"aten.mm.default": "MatMulV2"},
    )
    sqlinterp.ingest([folder / "dev"], folder / "p.duckdb")
    ingest(folder, ["dtype,M,K,N,t", *(f"bf16,{m},{k},{n},{t}" for m, k, n, t in grid)], MATMUL)
    with sqlinterp.open(folder / "p.duckdb", version="dev/fw/1.0") as opened:
        yield opened


@pytest.fixture(scope="module")
def targets() -> list[dict[str, float]]:
    draw = random.Random(11)
    axes = {"M": (*M, 2, 20, 77, 200, 300), "K": (*K, 80, 300, 700), "N": (*N, 100, 400)}
    return [{name: draw.choice(values) for name, values in axes.items()} for _ in range(150)]


@pytest.mark.parametrize("aggregation", ["mean", "reference"])
def test_the_same_grid_gives_the_same_answers_as_an_ordinary_csv(
    both: ProfilingDatabase, targets: list[dict[str, float]], aggregation: str
) -> None:
    versions = ("dev/fw/1.0", "dev/fw/2.0")
    found = []
    for version in versions:
        with sqlinterp.open(both.path, version=version, aggregation=aggregation) as database:
            found.append(told(database.lookup_points("MatMulV2", {}, targets)))
    assert found[0] == found[1]
    sources = {answer[0] for answer in found[0]}
    dimensions = {answer[6] for answer in found[0] if answer[0] == "INTERPOLATED"}
    assert (sources, dimensions) == ({"MEASURED", "INTERPOLATED", None}, {1, 2, 3})


def test_operators_get_the_latency_of_their_coordinate(
    both: ProfilingDatabase, targets: list[dict[str, float]]
) -> None:
    calls = [matmul_call(int(t["M"]), int(t["K"]), int(t["N"])) for t in targets]
    with sqlinterp.open(both.path, version="dev/fw/2.0") as database:
        by_operator = database.lookup_many(calls)
    by_point = both.lookup_points("MatMulV2", {"dtype": "bf16"}, targets)
    pairs = [
        (o, p) for o, p in zip(by_operator, by_point, strict=True) if o.source == "INTERPOLATED"
    ]
    assert len(pairs) > 30
    assert all(o.latency_us == p.latency_us for o, p in pairs)
    assert all(o.confidence == p.confidence for o, p in pairs)


def test_a_batch_is_the_sum_of_its_parts(
    both: ProfilingDatabase, targets: list[dict[str, float]]
) -> None:
    batch = told(both.lookup_points("MatMulV2", {}, targets[:20]))
    assert batch == [told(both.lookup_points("MatMulV2", {}, [t]))[0] for t in targets[:20]]


def test_policies_and_context_hold(
    both: ProfilingDatabase, targets: list[dict[str, float]]
) -> None:
    free = both.lookup_points("MatMulV2", {}, targets)
    flat = both.lookup_points("MatMulV2", {}, targets, {"max_interpolation_dim": 1})
    dimensions = {a.details["interpolation_dim"] for a in flat if a.source == "INTERPOLATED"}
    assert dimensions == {1}
    assert sum(a.source is None for a in flat) > sum(a.source is None for a in free)
    with sqlinterp.open(both.path, version="dev/fw/1.0", disable_interpolation=True) as database:
        exact = database.lookup_points("MatMulV2", {}, targets)
    assert {answer.source for answer in exact} == {"MEASURED", None}
    with pytest.raises(sqlinterp.errors.UsageError, match="colour"):
        both.lookup_points("MatMulV2", {}, targets, {"colour": 1})


def test_the_policy_of_the_declaration_holds(tmp_path: Path) -> None:
    lines = ["dtype,m,k,t", *(f"bf16,{m},{k},{m + k}" for m in (1, 4) for k in (2, 8))]
    ingest(tmp_path, lines, policy={"max_interpolation_dim": 1})
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        line, cell = database.lookup_points("gemm", {}, [{"m": 2, "k": 8}, {"m": 2, "k": 4}])
    assert (line.latency_us, cell.source) == (10.0, None)


def test_duplicates_are_aggregated_and_contradict_nobody(tmp_path: Path) -> None:
    ingest(tmp_path, ["dtype,m,k,t", "bf16,1,1,2", "bf16,1,1,3", "bf16,1,1,7"])
    for aggregation, latency in (("mean", 4), ("median", 3), ("min", 2), ("first", 2)):
        with sqlinterp.open(tmp_path / "p.duckdb", aggregation=aggregation) as database:
            (answer,) = database.lookup_points("gemm", {}, [{"m": 1, "k": 1}])
        assert (answer.source, answer.latency_us) == ("MEASURED", latency)
    assert query(tmp_path, "select is_conflicting from point") == [(False,)]


def test_three_of_four_axes_may_vary(tmp_path: Path) -> None:
    sides = (1, 3)
    rows = [
        f"x,{a},{b},{c},{d},{a + 2 * b + 3 * c + 4 * d}"
        for a, b, c, d in itertools.product(sides, repeat=4)
    ]
    ingest(tmp_path, ["dtype,a,b,c,d,t", *rows], axes=["a", "b", "c", "d"])
    points = [[2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 2, 1], [1, 2, 2, 2], [2, 2, 2, 2]]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answers = database.lookup_points("gemm", {}, points)
    assert [a.details.get("interpolation_dim") for a in answers] == [1, 2, 3, 3, None]
    assert [a.latency_us for a in answers[:4]] == pytest.approx([11, 13, 16, 19])
    assert answers[4].source is None


def test_a_transformed_axis_is_linear_in_its_transform(tmp_path: Path) -> None:
    axis = {"name": "size", "column": "kb", "scale": 1024, "transform": "log2"}
    ingest(tmp_path, ["dtype,kb,t", "x,1,10", "x,4,30"], axes=[axis])
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        asked = [{"size": 2048}, {"size": 1024}, {"size": 4096.0}, {"size": 0}]
        middle, low, high, outside = database.lookup_points("gemm", {}, asked)
        (stored,) = database.lookup_points("gemm", {}, [[11]])
    assert (middle.latency_us, low.source, high.source) == (20.0, "MEASURED", "MEASURED")
    assert outside.miss_reason == "coordinate_outside_domain"
    assert stored.latency_us == middle.latency_us
    assert middle.details["boundary"] == {"size": [10.0, 12.0]}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfilingDatabase]:
    """Three rows in three regimes."""
    folder = tmp_path_factory.mktemp("asking")
    lines = ["dtype,tp,m,t", "bf16,1,1,2", "bf16,2,1,3", "fp8,2,1,4"]
    ingest(folder, lines, regime=["dtype", "tp"], axes=["m"])
    with sqlinterp.open(folder / "p.duckdb") as opened:
        yield opened


class TestAsking:
    """Requests that mean nothing or several things."""

    def test_fields_that_follow_may_be_left_out(self, database: ProfilingDatabase) -> None:
        (answer,) = database.lookup_points("gemm", {"dtype": "fp8"}, [{"m": 1}])
        assert answer.latency_us == 4
        for tp in (2, 2.0, "2"):
            (answer,) = database.lookup_points("gemm", {"tp": tp, "dtype": "bf16"}, [{"m": 1}])
            assert answer.latency_us == 3

    @pytest.mark.parametrize(
        ("kernel", "regime", "points", "code", "known"),
        [
            ("gem", {}, [], "unknown_kind", ("gemm",)),
            ("gemm", {"gpu": 1}, [], "unknown_regime_key", ("dtype", "tp")),
            ("gemm", {"dtype": "BF16"}, [], "no_points", ("bf16", "fp8")),
            ("gemm", {"dtype": "fp8", "tp": 1}, [], "no_points", ("2",)),
            ("gemm", {"dtype": "bf16"}, [], "ambiguous_regime", ("tp=1", "tp=2")),
            ("gemm", {"dtype": "fp8"}, [{"k": 1}], "bad_request", ("m",)),
            ("gemm", {"dtype": "fp8"}, [{"m": 1, "k": 1}], "bad_request", ("m",)),
            ("gemm", {"dtype": "fp8"}, [[1, 2]], "bad_request", ("m",)),
            ("gemm", {"dtype": "fp8"}, [{"m": "1"}], "bad_request", ()),
            ("gemm", {"dtype": "fp8"}, [{"m": True}], "bad_request", ()),
            ("gemm", {"dtype": "fp8"}, [{"m": float("nan")}], "bad_request", ()),
            ("gemm", {"dtype": "fp8"}, [{"m": 10**400}], "bad_request", ()),
        ],
    )
    def test_the_error_lists_what_is_known(
        self,
        database: ProfilingDatabase,
        kernel: str,
        regime: Any,
        points: Any,
        code: str,
        known: tuple[str, ...],
    ) -> None:
        with pytest.raises(RegimeError) as caught:
            database.lookup_points(kernel, regime, points)
        assert (caught.value.code, caught.value.known) == (code, known)
        assert caught.value.exit_code == 2


class TestRealTables:
    """Tables as others publish them, with the shipped declarations."""

    def ingest(self, folder: Path, shared: Path, declaration: str, table: str) -> Path:
        path = folder / "p.duckdb"
        sqlinterp.ingest_table(declaration, [shared / "data" / table], path)
        return path

    def test_gemm_on_one_axis_is_what_numpy_says(self, tmp_path: Path, shared: Path) -> None:
        table = "aiconfigurator/h200_sxm/gemm_vllm_0.24.0.parquet"
        path = self.ingest(tmp_path, shared, "aiconfigurator_gemm", table)
        counts = "select regime_key, measurement_count from regime order by 1"
        assert query(tmp_path, counts)[:2] == [
            ('{"gemm_dtype":"bfloat16"}', 35742),
            ('{"gemm_dtype":"fp8"}', 35742),
        ]
        draw = random.Random(3)
        with duckdb.connect() as connection:
            rows = connection.execute(
                "select n, k, m, latency * 1000 from read_parquet($path)"
                " where gemm_dtype = 'bfloat16' order by all",
                {"path": str(shared / "data" / table)},
            ).fetchall()
        lines: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for n, k, m, latency_us in rows:
            lines.setdefault((n, k), []).append((m, latency_us))
        asked, expected = [], []
        for n, k in draw.sample(sorted(lines), 25):
            m_values, latencies = zip(*lines[n, k], strict=True)
            m = draw.uniform(m_values[0], m_values[-1])
            asked.append({"m": m, "n": n, "k": k})
            expected.append(float(np.interp(m, m_values, latencies)))
        with sqlinterp.open(path, version="NVIDIA H200/VLLM/0.24.0") as opened:
            answers = opened.lookup_points("gemm", {"gemm_dtype": "bfloat16"}, asked)
        assert {a.details["interpolation_dim"] for a in answers} == {1}
        assert [a.latency_us for a in answers] == pytest.approx(expected, rel=1e-12)

    def test_token_wise_operators(self, tmp_path: Path, shared: Path) -> None:
        import pandas as pd

        name = "vidur/h100_phi-2_mlp.csv"
        path = self.ingest(tmp_path, shared, "vidur_mlp", name)
        frame = pd.read_csv(shared / "data" / name)
        assert query(tmp_path, "select count(*), count(distinct kernel_type) from measurement") == [
            (9 * len(frame), 9)
        ]
        tokens = [1, 3, 100, 333, 2000, 4096]
        means = frame.groupby("num_tokens")["time_stats.mlp_up_proj.median"].mean() * 1000
        expected = np.interp(tokens, means.index.to_numpy(float), means.to_numpy())
        with sqlinterp.open(path, version="h100/vidur/7d47513") as database:
            asked = [{"num_tokens": value} for value in tokens]
            answers = database.lookup_points("mlp_up_proj", {}, asked)
        assert [a.latency_us for a in answers] == pytest.approx(expected.tolist(), rel=1e-12)

    def test_collectives(self, tmp_path: Path, shared: Path) -> None:
        name = "vidur/h100_pairwise_nvlink_all_reduce.csv"
        path = self.ingest(tmp_path, shared, "vidur_all_reduce", name)
        with sqlinterp.open(path) as database:
            config = {"fabric": "pairwise_nvlink", "num_workers": 2}
            (answer,) = database.lookup_points("all_reduce", config, [{"size": 2048}])
        assert (answer.source, answer.latency_us) == ("MEASURED", 28.0)

    @pytest.mark.parametrize(
        ("declaration", "table", "rows", "kernels"),
        [
            ("llmservingsim_dense", "rtx4090_llama3.1-8b_tp1_dense.csv", 1368, 9),
            ("llmservingsim_attention", "rtx4090_llama3.1-8b_tp1_attention.csv", 8643, 1),
        ],
    )
    def test_layers_and_attention(
        self, tmp_path: Path, shared: Path, declaration: str, table: str, rows: int, kernels: int
    ) -> None:
        path = self.ingest(tmp_path, shared, declaration, f"llmservingsim/{table}")
        counts = "select count(*), count(distinct kernel_type) from measurement"
        assert query(tmp_path, counts) == [(rows, kernels)]
        regime = '{"model":"llama3.1-8b","tp":1,"variant":"bf16"}'
        assert query(tmp_path, "select distinct regime_key from regime") == [(regime,)]
        with sqlinterp.open(path) as database:
            assert database.version_key == "rtx4090/llmservingsim/5daddb2"

    def test_context_attention_and_its_heads(self, tmp_path: Path, shared: Path) -> None:
        table = "aiconfigurator/h200_sxm/context_attention_vllm_0.24.0.parquet"
        path = self.ingest(tmp_path, shared, "aiconfigurator_context_attention", table)
        config = {
            "head_dim": 128,
            "kv_cache_dtype": "fp8",
            "num_key_value_heads": 8,
            "window_size": 0,
        }
        with sqlinterp.open(path, version="NVIDIA H200/VLLM/0.24.0") as database:
            asked = [{"isl": 1024, "batch_size": 3, "num_heads": 64}]
            (answer,) = database.lookup_points("context_attention", config, asked)
        low, high = (point["latency_us"] for point in answer.details["corner_points"])
        assert answer.details["boundary"] == {"batch_size": [2.0, 4.0]}
        assert answer.latency_us == pytest.approx((low + high) / 2)


def test_two_tables_of_one_run(tmp_path: Path) -> None:
    first = write_csv(tmp_path / "a.csv", ["dtype,m,k,t", "bf16,1,1,1"])
    second = write_csv(tmp_path / "b.csv", ["dtype,m,k,t", "fp8,1,1,2"])
    declaration = write_declaration(tmp_path)
    summary = sqlinterp.ingest_table(declaration, [first, second, first], tmp_path / "p.duckdb")
    assert (summary.total("files"), summary.total("rows_stored")) == (2, 2)
