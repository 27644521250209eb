"""The shapes of the demonstration: slots, dtypes, formats and metadata agree with each other."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from sqlinterp.demo import DemoSummary
from sqlinterp.demo.axes import axis, box_sides
from sqlinterp.demo.columns import LEGACY36
from sqlinterp.demo.tables import TYPE_NAMES, kernels
from sqlinterp.demo.versions import VERSIONS, Version

CURRENT = VERSIONS[-1]
MATMULS = ("MatMulV2", "MatMulV3", "MatMulCommon", "QuantBatchMatmulV3")
BATCHED = ("BatchMatMulV2", "BatchMatMulNd", "TransposeBatchMatMul", "batch_matmul_transpose_0")
BY_NAME = {kernel.name: kernel for kernel in kernels()}

Row = dict[str, str]
Shape = tuple[int, ...]


@cache
def read(path: Path) -> tuple[list[str], list[Row]]:
    reader = csv.reader(io.StringIO(path.read_bytes().decode().lstrip("\ufeff"), newline=""))
    header = next(reader)
    return header, [dict(zip(header, row, strict=True)) for row in reader]


def rows_of(summary: DemoSummary, kernel: str, version: Version = CURRENT) -> list[Row]:
    return read(summary.directory / version.path / f"{kernel}.csv")[1]


def kernel_files(summary: DemoSummary) -> list[tuple[Version, str, Path]]:
    return [
        (version, path.stem, path)
        for version in VERSIONS
        for path in sorted((summary.directory / version.path).glob("*.csv"))
    ]


def slots(text: str) -> list[Shape]:
    assert re.fullmatch(r'"(\d+(,\d+)*)?(;(\d+(,\d+)*)?)*"', text), text
    parts = text[1:-1].split(";")
    return [tuple(map(int, part.split(","))) if part else () for part in parts]


def plain(shape: Shape, layout: str) -> Shape:
    if layout != "FRACTAL_NZ" or len(shape) < 4:
        return shape
    *batch, high, wide, low, block = shape
    return (*batch, high * block, wide * low)


def latency(row: Row) -> float:
    names = ("Average Duration(us)", "Profiling Average Duration(us)")
    return next((float(row[n]) for n in names if row.get(n) and float(row[n]) > 0), 0.0)


def numbers(row: Row, name: str) -> list[int]:
    text = row[f"Runtime {name}"]
    return [int(part) for part in text.split(",")] if text else []


def test_cells_parse_and_slots_align(full: DemoSummary) -> None:
    dtypes, formats = set(TYPE_NAMES.values()), {"ND", "FRACTAL_NZ", "NULL"}
    for _, name, path in kernel_files(full):
        assert '"""' in path.read_text(encoding="utf-8")
        for row in read(path)[1]:
            for side in ("Input", "Output"):
                shapes = slots(row[f"{side} Shapes"])
                types = row[f"{side} Data Types"].split(";")
                layouts = row[f"{side} Formats"].split(";")
                assert len(shapes) == len(types) == len(layouts), name
                assert any(shapes)
                assert set(types) <= dtypes and set(layouts) <= formats
                for shape, dtype, layout in zip(shapes, types, layouts, strict=True):
                    assert (dtype == "DT_UNDEFINED") == (layout == "NULL")
                    assert not shape or (min(shape) > 0 and dtype != "DT_UNDEFINED"), (name, row)


def test_matmul_shapes_agree(full: DemoSummary) -> None:
    weights = Counter()
    for version, name, path in kernel_files(full):
        if name not in MATMULS:
            continue
        for row in read(path)[1]:
            (m, k), weight, *rest = slots(row["Input Shapes"])
            layout = row["Input Formats"].split(";")[1]
            n, inner = plain(weight, layout)
            if layout == "FRACTAL_NZ" and not name.startswith("Quant"):
                inner, n = n, inner
            assert (inner, [(m, n)]) == (k, slots(row["Output Shapes"])), (version, name, row)
            if layout == "FRACTAL_NZ":
                assert weight[2:] == (16, 32 if name.startswith("Quant") else 16)
            assert rest in ([], [(n,), (m,)], [(n,), (n,)])
            weights[version.name, name, layout] += 1
    assert weights["0.18", "MatMulV2", "FRACTAL_NZ"] > 900
    assert weights["0.18", "MatMulV2", "ND"] > 900
    assert weights["0.18", "QuantBatchMatmulV3", "ND"] == 0
    shapes = {row["Input Shapes"] for row in rows_of(full, "MatMulV2")}
    assert '"16,5120;320,48,16,16"' in shapes, "the documented example: K 5120, N 768"
    quantised = {row["Input Shapes"] for row in rows_of(full, "QuantBatchMatmulV3")}
    assert '"16,2304;224,144,16,32;7168;16"' in quantised


def test_batched_shapes_agree(full: DemoSummary) -> None:
    for name in BATCHED:
        for row in rows_of(full, name):
            left, right = slots(row["Input Shapes"])
            if len(left) == 2:
                expected = (left[0], right[0])
                assert left[1] == right[1]
            else:
                assert left[0] == right[0] and left[2] == right[1]
                head = (left[1], left[0]) if "ranspose" in name else left[:2]
                expected = (*head, right[2])
            assert slots(row["Output Shapes"]) == [expected]


@pytest.mark.parametrize("name", ["MatMulV2", "MatMulV3"])
def test_boxes_are_complete_and_measured(full: DemoSummary, sample: DemoSummary, name: str) -> None:
    for summary, least in ((full, (4, 4, 3)), (sample, (4, 4, 3))):
        points = {}
        for row in rows_of(summary, name):
            if row["Input Formats"] == "ND;ND":
                (m, k), (n, _) = slots(row["Input Shapes"])
                points[m, k, n] = float(row["Average Duration(us)"] or 0)
        count = len(points)
        sides = next(
            box
            for box in (box_sides(size) for size in range(count + 200, 0, -1))
            if set(product(*box)) <= set(points)
        )
        assert all(len(side) >= low for side, low in zip(sides, least, strict=True))
        assert all(points[point] > 0 for point in product(*sides))


def test_sample_box_values() -> None:
    assert box_sides(0) == ([16, 64, 160, 512], [1024, 1536, 3072, 5120], [768, 2304, 6144])
    assert len(axis((1, 100), 40, 100)) == 40


def test_latency_grows_with_the_box(full: DemoSummary) -> None:
    by_m: dict[Shape, list[tuple[int, float]]] = {}
    for row in rows_of(full, "MatMulV2"):
        (m, k), weight, *_ = slots(row["Input Shapes"])
        if latency(row):
            by_m.setdefault((k, *weight), []).append((m, latency(row)))
    for series in by_m.values():
        assert max(series)[1] > min(series)[1]


def test_expert_parallel_sizes(full: DemoSummary, sample: DemoSummary) -> None:
    for summary in (full, sample):
        rows = rows_of(summary, "DispatchFFNCombine")
        assert {row["EP Size"] for row in rows} == {"8", "16", "32"}
        for row in rows:
            (m, h), (e, h1, n), (e2, half, h2), ids, scale, out, probs = slots(row["Input Shapes"])
            assert (h1, h2, e2, 2 * half) == (h, h, e, n)
            assert (ids, probs, scale, out) == ((m, 8), (m, 8), (e * n,), (e * h,))
            assert e * int(row["EP Size"]) == 256
            assert slots(row["Output Shapes"]) == [(m, h), (e,)]
    legacy = read(full.directory / VERSIONS[1].path / "DispatchFFNCombine.csv")[0]
    assert legacy == list(LEGACY36)


def test_fused_attention(full: DemoSummary) -> None:
    states = Counter()
    for row in rows_of(full, "FusedInferAttentionScore"):
        query, key, *_ = shapes = slots(row["Input Shapes"])
        assert len(shapes) == 31 and slots(row["Output Shapes"]) == [query, ()]
        assert int(row["Runtime num_heads"]) == query[1]
        state = row["Runtime attn_state"]
        mean, groups = float(row["Runtime avg_seq_len"]), int(row["Runtime num_key_value_heads"])
        filled = {i for i, shape in enumerate(shapes) if shape}
        if state == "paged_runtime":
            assert filled == {0, 1, 2, 4, 5, 6, 14} and key[2] == 128 * groups
            assert numbers(row, "actual_seq_lengths_values")[-1] == query[0]
            assert set(numbers(row, "actual_seq_lengths_kv_values")) == {int(mean)}
        elif state == "prefill_no_cache":
            assert filled == {0, 1, 2, 4, 5, 6} and key[:2] == (query[0], groups)
            assert numbers(row, "actual_seq_lengths_kv_values")[-1] == query[0]
        else:
            assert filled == {0, 1, 2, 6, 14, 24, 25} and (groups, query[2]) == (1, 1)
            assert row["Runtime sparse_mode"] == "0"
        states[state] += 1
    assert len(states) == 3 and min(states.values()) >= 10


@pytest.mark.parametrize("name", ["SparseFlashAttention", "LightningIndexer"])
def test_sparse_attention(full: DemoSummary, name: str) -> None:
    phases = Counter()
    ids = set()
    for row in rows_of(full, name):
        query, *_ = slots(row["Input Shapes"])
        ends = numbers(row, "actual_seq_lengths_values")
        contexts = numbers(row, "actual_seq_lengths_kv_values")
        lengths = [b - a for a, b in zip([0, *ends], ends, strict=False)]
        assert ends[-1] == query[0] and len(ends) == len(contexts)
        assert len(ends) == int(row["Runtime batch_size"])
        phase = "mixed"
        if lengths == contexts:
            phase = "prefill"
        elif set(lengths) == {1}:
            phase = "decode"
        assert row["Runtime phase"] == phase
        assert row["Runtime metadata_completeness"] == "complete"
        assert numbers(row, "block_table_valid_blocks") == [-(-c // 128) for c in contexts]
        phases[phase] += 1
        ids.add(row["Runtime case_id"])
    assert min(phases.values()) > 100 and len(ids) == phases.total()


def test_mla_preprocess_layout(full: DemoSummary) -> None:
    for row in rows_of(full, "mla_preprocess_0_mix_aic"):
        t, hd, h, rq, nope = (
            int(row[f"Runtime {name}"])
            for name in (
                *("num_tokens", "hidden_size", "local_num_heads"),
                *("q_lora_rank", "qk_nope_head_dim"),
            )
        )
        f, q, c = rq + 512 + 64, h * (nope + 64), -(-t // 128)
        caches = [(c, 128, 1, 512), (c, 128, 1, 64)]
        assert slots(row["Input Shapes"]) == [
            *[(t, hd), (1, hd // 32, f, 32), (f,), (rq,), (rq,), (1, rq // 32, q, 32), (q,)],
            *[(512,), (t, 64), (t, 64), (h, nope, 512), *caches, (t,), (1,), (1,), (f,)],
            *[(1,), (1,), (q,), (1,), (1,)],
        ]
        assert slots(row["Output Shapes"]) == [
            *[(t, h, 512), caches[0], (t, h, 64), caches[1], (t, rq)]
        ]
        types, formats = row["Input Data Types"].split(";"), row["Input Formats"].split(";")
        assert [i for i, text in enumerate(formats) if text == "FRACTAL_NZ"] == [1, 5]
        assert types[1] == types[5] == "INT8" and types[0] == "DT_BF16"
