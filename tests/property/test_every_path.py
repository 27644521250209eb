"""On every path: row order and unrelated data change nothing, an exact row beats a padded one."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from databases_for_tests import call, matmul_call, tensor, write_version
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlinterp

BASE = (
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
    "Average Duration(us)"
)
HEADERS = {
    "MatMulV2": BASE,
    "RmsNorm": BASE,
    "Add": BASE,
    "DynamicQuant": BASE,
    "ScatterNdUpdate": BASE,
    "FusedInferAttentionScore": (
        f"{BASE},Runtime avg_seq_len,Runtime sparse_mode,Runtime num_key_value_heads,"
        "Runtime input_layout,Runtime batch_size"
    ),
    "hcom_allReduce_": "message_bytes,num_devices,topology_tier,dtype,Average Duration(us)",
}
ATTENTION, ADD = "tensor_cast.attention.default", "aten.add.Tensor"
REDUCE, QUANT = "tensor_cast.all_reduce.default", "tensor_cast.dynamic_quantize_symmetric.default"
SCATTER, MC2 = "tensor_cast.scatter_nd_update_mla.default", "tensor_cast.matmul_all_reduce.default"
PAIR = "tensor_cast.pair.default"
OPERATORS = {
    "aten.mm.default": "MatMulV2",
    "tensor_cast.rms_norm.default": "RmsNorm",
    ADD: {"kernel_type": "Add", "query_mode": "elementwise"},
    QUANT: {"kernel_type": "DynamicQuant", "compute_subcategory": "compute_scale"},
    SCATTER: {"kernel_type": "ScatterNdUpdate", "query_mode": "scatter_nd_update_mla"},
    ATTENTION: {"kernel_type": "FusedInferAttentionScore", "query_mode": "attention_special"},
    REDUCE: {"kernel_type": "hcom_allReduce_", "category": "communication"},
    MC2: {"composite": True, "sub_kernels": ["MatMulV2", "hcom_allReduce_"]},
    PAIR: {"composite": True},
}
TOKENS = (1, 2, 4, 16, 24, 64, 65, 72)
WIDTH = (64, 128, 512)
Rows = dict[str, list[str]]


def matmul_row(m: int, n: int, latency: float) -> str:
    return f'"{m},64;64,{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency}'


def norm_row(m: int, n: int, latency: float) -> str:
    return f'"{m},{n};{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency}'


def add_row(m: int, n: int, latency: float) -> str:
    return f'"{m},{n};{m},{n}",DT_BF16;DT_BF16,ND;ND,"{m},{n}",DT_BF16,ND,{latency}'


def quant_row(m: int, n: int, latency: float) -> str:
    return f'"{m},{n}",DT_BF16,ND,"{m},{n};{m}",INT8;FLOAT,ND;ND,{latency}'


def scatter_row(m: int, n: int, latency: float) -> str:
    shapes = f"4096,{n};{m},1;{m},{n}"
    return f'"{shapes}",DT_BF16;INT32;DT_BF16,ND;ND;ND,"4096,{n}",DT_BF16,ND,{latency}'


def attention_row(m: int, n: int, latency: float) -> str:
    shapes = f"{m},4,128;9,2,128;9,2,128"
    cells = f'"{shapes}",DT_BF16;DT_BF16;DT_BF16,ND;ND;ND,"{m},4,128",DT_BF16,ND,{latency}'
    return f"{cells},{8 * n},3,2,TND,{m}"


def reduce_row(m: int, n: int, latency: float) -> str:
    return f"{2 * m * n},2,0,bf16,{latency}"


WRITERS: dict[str, Callable[[int, int, float], str]] = {
    "MatMulV2": matmul_row,
    "RmsNorm": norm_row,
    "Add": add_row,
    "DynamicQuant": quant_row,
    "ScatterNdUpdate": scatter_row,
    "FusedInferAttentionScore": attention_row,
    "hcom_allReduce_": reduce_row,
}


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    latency = st.floats(1.0, 500.0, allow_nan=False).map(lambda x: round(x, 4))
    cell = st.tuples(st.sampled_from(TOKENS), st.sampled_from(WIDTH), latency)
    return {
        kernel: [writer(*values) for values in draw(st.lists(cell, max_size=14))]
        for kernel, writer in WRITERS.items()
    }


def attention_call(m: int, seq: int) -> dict[str, Any]:
    lengths = {"shape": [m], "dtype": "int64", "values": [seq] * m}
    key = tensor(9, 2, 128)
    return call(ATTENTION, tensor(m, 4, 128), key, key, None, None, None, lengths)


def calls(m: int, n: int) -> list[dict[str, Any]]:
    """One call of every operator at one size."""
    group = {"ints": [0, 1]}
    scaled = [tensor(m, n, dtype="int8"), tensor(m, dtype="float32")]
    index = tensor(m, 1, dtype="int32")
    return [
        matmul_call(m, 64, n),
        call("tensor_cast.rms_norm.default", tensor(m, n), tensor(n), outputs=[tensor(m, n)]),
        call(ADD, tensor(m, n), tensor(m, n), outputs=[tensor(m, n)]),
        call(QUANT, tensor(m, n), outputs=scaled),
        call(SCATTER, tensor(m, n), tensor(4096, n), index, outputs=[tensor(4096, n)]),
        attention_call(m, 8 * n),
        call(REDUCE, tensor(m, n), "sum", group),
        call(MC2, tensor(m, 64), tensor(64, n), group),
        {**call(PAIR), "children": [matmul_call(m, 64, n), attention_call(m, 8 * n)]},
    ]


def open_rows(rows: Rows, folder: Path, more: Rows | None = None, **context: Any) -> Any:
    """Open a version with the rows; ``more`` becomes a second version beside it."""
    for name, tables_of in (("v", rows), ("other", more)):
        if tables_of is not None:
            files = {f"{kernel}.csv": [HEADERS[kernel], *r] for kernel, r in tables_of.items()}
            write_version(folder / "d" / "b" / name, files, OPERATORS)
    sqlinterp.ingest([folder / "d"], folder / "p.duckdb")
    return sqlinterp.open(folder / "p.duckdb", "d/b/v", **context)


def without_lines(value: Any) -> Any:
    """An answer without the line numbers, which row order and other rows change."""
    if isinstance(value, dict):
        return {k: without_lines(v) for k, v in value.items() if "line" not in k and k != "rows"}
    if isinstance(value, list):
        return [without_lines(item) for item in value]
    return value


def answers(database: Any, ops: list[dict[str, Any]]) -> list[Any]:
    return [without_lines(answer.to_dict()) for answer in database.lookup_many(ops)]


SIZES = st.lists(
    st.tuples(st.sampled_from((1, 3, 16, 40, 64, 72, 80)), st.sampled_from((64, 100, 128, 512))),
    min_size=2,
    max_size=4,
)
QUICK = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(rows=tables(), sizes=SIZES, seed=st.integers(0, 2**16), exactly=st.booleans())
def test_row_order_changes_no_answer(
    rows: Rows, sizes: list[tuple[int, int]], seed: int, exactly: bool
) -> None:
    shuffled = {k: random.Random(seed).sample(lines, len(lines)) for k, lines in rows.items()}
    ops = [op for size in sizes for op in calls(*size)]
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        open_rows(rows, Path(one), disable_interpolation=exactly) as first,
        open_rows(shuffled, Path(two), disable_interpolation=exactly) as second,
    ):
        assert answers(first, ops) == answers(second, ops)
        assert answers(first, ops) == [answers(first, [op])[0] for op in ops]


@QUICK
@given(rows=tables(), others=tables(), sizes=SIZES)
def test_an_unrelated_regime_or_version_changes_nothing(
    rows: Rows, others: Rows, sizes: list[tuple[int, int]]
) -> None:
    ops = [op for size in sizes for op in calls(*size)]
    foreign = {
        kernel: [
            line.replace("DT_BF16", "FLOAT").replace(",2,0,bf16", ",4,0,bf16") for line in more
        ]
        for kernel, more in others.items()
    }
    # Exact lookups let DT_BF16 and FLOAT rows of this one kernel serve each other.
    foreign["MatMulV2"] = [line.replace("FLOAT", "INT8") for line in foreign["MatMulV2"]]
    mixed = {kernel: [*rows[kernel], *foreign[kernel]] for kernel in rows}
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        open_rows(rows, Path(one)) as alone,
        open_rows(mixed, Path(two), others) as beside,
    ):
        mine, theirs = answers(alone, ops), answers(beside, ops)
    assert [(a["source"], a["latency_us"], a["shape_match_rule"]) for a in mine] == [
        (a["source"], a["latency_us"], a["shape_match_rule"]) for a in theirs
    ]


@QUICK
@given(rows=tables(), size=st.tuples(st.sampled_from((16, 64, 72)), st.sampled_from((64, 128))))
def test_an_exact_row_beats_a_padded_one(rows: Rows, size: tuple[int, int]) -> None:
    m, n = size
    smaller = {kernel: [writer(m - 1, n, 1.0)] for kernel, writer in WRITERS.items()}
    exact = {kernel: [writer(m, n, 777.0)] for kernel, writer in WRITERS.items()}
    only = {k: [*smaller[k], *exact[k]] for k in WRITERS}
    with (
        tempfile.TemporaryDirectory() as one,
        open_rows(only, Path(one), disable_interpolation=True) as database,
    ):
        found = database.lookup_many(calls(m, n))
    for answer in found:
        padded_parts = "padding" in str(answer.shape_match_rule)
        assert not padded_parts, answer
        expected = 2 * 777.0 if answer.op in (MC2, PAIR) else 777.0
        assert answer.latency_us == expected, answer
