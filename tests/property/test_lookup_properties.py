"""Answers depend on what was measured and asked, not on order, threads or batch."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from databases_for_tests import (
    MATMUL_HEADER,
    call,
    cursor_of,
    matmul_call,
    tensor,
    write_version,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.interpolate import griddata

import sqlinterp

M = (1, 3, 16, 40, 64, 100, 256)
K = (64, 96, 512, 1000)
N = (32, 128, 640)
OPERATORS = {
    "aten.mm.default": {"kernel_type": "MatMulV2", "alternate_kernel_types": ["MatMulV3"]},
    "tensor_cast.rms_norm.default": "RmsNorm",
}
Row = tuple[str, str]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    """Rows of two matmul kernels (both weight layouts, both formats, duplicates) and one norm."""
    latency = st.floats(1.0, 500.0, allow_nan=False).map(lambda x: round(x, 4))
    cell = st.tuples(st.sampled_from(M), st.sampled_from(K), st.sampled_from(N))
    rows: dict[str, list[str]] = {}
    for kernel in ("MatMulV2", "MatMulV3"):
        rows[kernel] = []
        for m, k, n in draw(st.lists(cell, max_size=40)):
            weight = f"{k},{n}" if draw(st.booleans()) else f"{n},{k}"
            dtype = draw(st.sampled_from(["DT_BF16", "DT_BF16", "DT_BF16", "FLOAT16"]))
            value = draw(latency)
            rows[kernel].append(
                f'"{m},{k};{weight}",{dtype};{dtype},ND;ND,"{m},{n}",{dtype},ND,{value}'
            )
    rows["RmsNorm"] = [
        f'"{m},{k};{k}",DT_BF16;DT_BF16,ND;ND,"{m},{k}",DT_BF16,ND,{draw(latency)}'
        for m, k in draw(st.lists(st.tuples(st.sampled_from(M), st.sampled_from(K)), max_size=20))
    ]
    return rows


@st.composite
def invocations(draw: st.DrawFn) -> list[dict[str, Any]]:
    size = st.sampled_from([1, 2, 3, 16, 24, 40, 48, 64, 77, 100, 128, 200, 256, 300])
    ops: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 12))):
        m, dtype = draw(size), draw(st.sampled_from(["bfloat16", "float16"]))
        k, n = (
            draw(st.sampled_from([64, 80, 96, 300, 512, 1000])),
            draw(st.sampled_from([32, 100, 128, 640])),
        )
        if draw(st.booleans()):
            ops.append(matmul_call(m, k, n, dtype))
        else:
            out = [tensor(m, k)]
            ops.append(call("tensor_cast.rms_norm.default", tensor(m, k), tensor(k), outputs=out))
    return ops


def open_table(rows: dict[str, list[str]], folder: Path) -> Any:
    files = {f"{kernel}.csv": [MATMUL_HEADER, *lines] for kernel, lines in rows.items()}
    write_version(folder / "d" / "b" / "v", files, OPERATORS)
    sqlinterp.ingest([folder / "d"], folder / "p.duckdb")
    return sqlinterp.open(folder / "p.duckdb")


def without_lines(answer: Any) -> dict[str, Any]:
    """An answer without the line numbers, which shuffling changes."""
    fields = answer.to_dict()
    fields["details"].pop("line", None)
    for point in fields["details"].get("corner_points", []):
        point.pop("line")
    return dict(fields)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=tables(), ops=invocations(), seed=st.integers(0, 2**16))
def test_row_order_changes_no_answer(
    rows: dict[str, list[str]], ops: list[dict[str, Any]], seed: int
) -> None:
    shuffled = {
        kernel: random.Random(seed).sample(lines, len(lines)) for kernel, lines in rows.items()
    }
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        open_table(rows, Path(one)) as first,
        open_table(shuffled, Path(two)) as second,
    ):
        ours = [without_lines(answer) for answer in first.lookup_many(ops)]
        theirs = [without_lines(answer) for answer in second.lookup_many(ops)]
    assert ours == theirs


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=tables(), ops=invocations())
def test_batches_threads_and_scipy_agree(
    rows: dict[str, list[str]], ops: list[dict[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_table(rows, Path(folder)) as database:
        loop = [database.lookup(op).to_dict() for op in ops]
        assert [answer.to_dict() for answer in database.lookup_many(ops)] == loop
        repeated = [answer.to_dict() for answer in database.lookup_many(ops * 4)]
        assert repeated == loop * 4
        cursor_of(database).execute("set threads = 2")
        assert [answer.to_dict() for answer in database.lookup_many(ops)] == loop
    for answer in loop:
        check_answer(answer)


def check_answer(answer: dict[str, Any]) -> None:
    """Inside the neighbours, repeatable with scipy, or a miss with a reason."""
    details = answer["details"]
    if answer["source"] is None:
        assert answer["latency_us"] is None and answer["miss_reason"]
        return
    assert answer["latency_us"] > 0
    if answer["source"] == "MEASURED":
        return
    values = [point["latency_us"] for point in details["corner_points"]]
    slack = 1e-9 * max(values)
    assert min(values) - slack <= answer["latency_us"] <= max(values) + slack
    if details["interpolation_dim"] > 1:
        axes = details["axes"]
        points = np.array([[p[a] for a in axes] for p in details["corner_points"]])
        target = np.array([[details["target"][a] for a in axes]])
        assert answer["latency_us"] == float(griddata(points, np.array(values), target)[0])
        assert points.tolist() == sorted(points.tolist())


def test_an_unrelated_kernel_or_version_changes_nothing(tmp_path: Path) -> None:
    line = '"{m},64;64,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m}.5'
    rows = {"MatMulV2": [line.format(m=m) for m in (1, 16, 256)], "MatMulV3": [], "RmsNorm": []}
    ops = [matmul_call(m, 64, 32) for m in (1, 2, 16, 100, 256, 300)]
    with open_table(rows, tmp_path / "a") as database:
        alone = [answer.to_dict() for answer in database.lookup_many(ops)]
    other = {"MatMulV2.csv": [MATMUL_HEADER, line.format(m=50)]}
    write_version(tmp_path / "b" / "d" / "b" / "other", other, OPERATORS)
    rows["Unrelated"] = [line.format(m=m) for m in (2, 100)]
    files = {f"{kernel}.csv": [MATMUL_HEADER, *lines] for kernel, lines in rows.items()}
    write_version(tmp_path / "b" / "d" / "b" / "v", files, OPERATORS)
    sqlinterp.ingest([tmp_path / "b" / "d"], tmp_path / "b.duckdb")
    with sqlinterp.open(tmp_path / "b.duckdb", "d/b/v") as database:
        assert [answer.to_dict() for answer in database.lookup_many(ops)] == alone
