"""Interpolated attention lookups: axes, regimes, batches, transforms, every reason of a miss."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookup.attention_support import (
    ATTENTION,
    KERNEL,
    UNIQUE,
    Cells,
    attention_call,
    child_call,
    ingested,
    lookup,
    row,
    shaped,
)
from scipy.interpolate import griddata

import sqlinterp
from sqlinterp.cli.neighbours import neighbour_weights
from sqlinterp.model import Answer

TOKENS = 64
Point = tuple[int, int, int, int]  # seq, batch, heads, head_dim


def latency_of(point: Sequence[float]) -> float:
    """Curved in every axis, so that only the true cell gives the value of a direct call."""
    seq, batch, heads, head_dim = point
    return 5 + seq * batch / 1000 + math.sqrt(seq * heads) + heads * head_dim / 50 + seq**1.5 / 1e4


def measured(point: Point, latency: float | None = None, **changes: Any) -> Cells:
    """One row at a point of the four axes."""
    seq, batch, heads, head_dim = point
    value = latency_of(point) if latency is None else latency
    shapes = f"{TOKENS},{heads},{head_dim};64,128,2,{head_dim}"
    fields = {"input_shapes": shapes, "runtime_batch_size": batch, **changes}
    return row(repr(value), seq, **fields)


def asked(point: Point, **kwargs: Any) -> dict[str, Any]:
    """A call at a point of the four axes."""
    seq, batch, heads, head_dim = point
    query, key = (TOKENS, heads, head_dim), (64, 128, 2, head_dim)
    return attention_call(query=query, lengths=[seq] * batch, key=key, **kwargs)


def direct(points: Sequence[Point], target: Point, axes: Sequence[int]) -> float:
    """What scipy gives on all the points."""
    coordinates = np.array([[point[axis] for axis in axes] for point in points], dtype=float)
    values = np.array([latency_of(point) for point in points])
    at = np.array([[target[axis] for axis in axes]], dtype=float)
    return float(np.ravel(griddata(coordinates, values, at, method="linear"))[0])


def on_printed_points(answer: Answer) -> float:
    """What scipy gives on the points and the target as the answer prints them."""
    details, names = answer.details, answer.details["axes"]
    corners = details["corner_points"]
    points = np.array([[corner[name] for name in names] for corner in corners], dtype=float)
    values = np.array([corner["latency_us"] for corner in corners])
    at = np.array([[details["target"][name] for name in names]], dtype=float)
    return float(griddata(points, values, at, method="linear")[0])


def test_a_length_between_two_measured_ones_is_on_their_line(tmp_path: Path) -> None:
    rows = [row(100, 1000), row(400, 4000), row(900, 9000)]
    answer = lookup(tmp_path, rows, attention_call(lengths=[2000] * 16))
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 200)
    assert answer.shape_match_rule == "interpolated_1d_linear"
    details = answer.details
    assert (details["axes"], details["boundary"]) == (["seq"], {"seq": [1000, 4000]})
    assert details["attention_axes"] == {"seq": 2000, "batch": 16, "heads": 8, "head_dim": 128}
    assert details["regime_keys"]["sparse_mode"] == 3
    assert (details["regime_keys"]["num_kv_heads"], details["query_mode"]) == (
        2,
        "attention_special",
    )
    assert details["exact_fields"]["q_tokens"] == 16
    assert (details["raw_count"], details["axis_transform"]) == (3, None)
    assert [corner["line"] for corner in details["corner_points"]] == [2, 3]
    assert answer.confidence == 0.675  # 0.70 for one axis, less for a cell four times as wide


def test_seq_hold_out_equals_scipy(tmp_path: Path) -> None:
    points = [(seq, 4, 8, 128) for seq in (512, 1024, 4096, 8192)]
    target = (2048, 4, 8, 128)
    answer = lookup(tmp_path, [measured(point) for point in points], asked(target))
    assert answer.details["axes"] == ["seq"]
    assert answer.latency_us == pytest.approx(direct(points, target, [0]), rel=1e-12)


HOLD_OUTS = [
    # axes that vary, their measured values, the target between them, the corner left out
    ((0, 1), [(1024, 4096), (2, 8)], (2048, 4), (4096, 8)),
    ((0, 2), [(1024, 4096), (8, 32)], (2048, 12), (4096, 32)),
    ((0, 3), [(1024, 4096), (64, 256)], (2048, 96), (4096, 256)),
]


@pytest.mark.parametrize(("axes", "values", "at", "dropped"), HOLD_OUTS)
def test_plane_hold_outs_equal_scipy_where_the_cell_is_a_simplex(
    tmp_path: Path,
    axes: tuple[int, ...],
    values: list[tuple[int, ...]],
    at: tuple[int, ...],
    dropped: tuple[int, ...],
) -> None:
    far = [tuple(16 * value for value in dropped)]  # points that do not matter for the cell
    corners = [corner for corner in product(*values) if corner != dropped] + far
    points = [_point(axes, corner) for corner in corners]
    target = _point(axes, at)
    answer = lookup(tmp_path, [measured(point) for point in points], asked(target))
    assert answer.details["interpolation_dim"] == 2
    assert answer.latency_us == pytest.approx(direct(points, target, axes), rel=1e-12)
    assert answer.latency_us == on_printed_points(answer)
    assert len(answer.details["corner_points"]) == 3


def _point(axes: Sequence[int], values: Sequence[int]) -> Point:
    point = [2048, 4, 8, 128]
    for axis, value in zip(axes, values, strict=True):
        point[axis] = value
    return (point[0], point[1], point[2], point[3])


def test_a_3d_hold_out_equals_scipy_on_scattered_points(tmp_path: Path) -> None:
    corners = [(1000, 2, 64), (1100, 9, 66), (4000, 3, 70), (4100, 8, 256), (900, 7, 250)]
    points = [(seq, batch, 8, head_dim) for seq, batch, head_dim in corners]
    target = (2048, 5, 8, 128)
    answer = lookup(tmp_path, [measured(point) for point in points], asked(target))
    assert answer.details["axes"] == ["seq", "batch", "head_dim"]
    assert answer.latency_us == pytest.approx(direct(points, target, [0, 1, 3]), rel=1e-9)
    assert answer.latency_us == on_printed_points(answer)


def test_a_complete_3d_cell_of_an_additive_latency_is_exact(tmp_path: Path) -> None:
    def additive(point: Point) -> float:
        return point[0] / 10 + point[1] * 50 + point[3]

    points = [(s, b, 4, d) for s, b, d in product((1000, 2000), (2, 4), (64, 128))]
    rows = [measured(point, additive(point)) for point in points]
    answer = lookup(tmp_path, rows, asked((1500, 3, 4, 96)))
    assert answer.latency_us == pytest.approx(additive((1500, 3, 4, 96)))
    assert (answer.shape_match_rule, answer.confidence) == (
        "interpolated_3d_griddata_linear",
        0.60,
    )
    assert answer.details["envelope_us"] == pytest.approx([396.0, 396.0])


SQRT = {"interpolation_policy": {"kernel_overrides": {KERNEL: {"axis_transform": "sqrt"}}}}


def test_a_root_axis_transforms_points_and_target_alike(tmp_path: Path) -> None:
    rows = [row(100, 900), row(1600, 3600)]
    answer = lookup(tmp_path, rows, attention_call(lengths=[2025] * 16), extra=SQRT)
    assert answer.latency_us == pytest.approx(100 + 1500 * (45 - 30) / (60 - 30))
    assert answer.shape_match_rule == "interpolated_1d_linear_sqrt"
    details = answer.details
    assert (details["axis_transform"], details["target"]["seq"]) == ("sqrt(seq)", 2025)
    assert details["target_pre_transform"] == {"seq": 2025}
    assert details["target_post_transform"] == {"seq": 45}
    assert details["boundary_pre_transform"] == {"seq": [900, 3600]}
    assert details["boundary_post_transform"] == {"seq": [30, 60]}
    plain = lookup(tmp_path / "b", rows, attention_call(lengths=[2025] * 16))
    assert answer.confidence == pytest.approx((plain.confidence or 0) - 0.05)


@pytest.mark.parametrize(
    ("fields", "transformed"),
    [({"axis_transform": "sqrt_seq"}, True), ({"shape_transform": "sqrt"}, True),
     ({"shape_transform": "sqrt_seq"}, True), ({"axis_transform": "linear"}, False),
     ({"axis_transform": "linear", "shape_transform": "sqrt"}, False)],
)  # fmt: skip
def test_spellings_of_the_transform(
    tmp_path: Path, fields: dict[str, str], transformed: bool
) -> None:
    extra = {"interpolation_policy": {"kernel_overrides": {KERNEL: fields}}}
    rows = [row(100, 900), row(1600, 3600)]
    answer = lookup(tmp_path, rows, attention_call(lengths=[2025] * 16), extra=extra)
    assert answer.latency_us == pytest.approx(850 if transformed else 725)
    assert (answer.details["axis_transform"] == "sqrt(seq)") is transformed


def test_an_unknown_transform_is_reported_at_ingest_and_changes_nothing(tmp_path: Path) -> None:
    extra = {"interpolation_policy": {"axis_transform": "cube"}}
    path = ingested(tmp_path, [row(100, 900), row(1600, 3600)], extra=extra)
    summary = sqlinterp.ingest([tmp_path / "v"], path)
    assert any("axis_transform is 'cube'" in text for _, _, text in summary.messages)
    with sqlinterp.open(path) as database:
        assert database.lookup(attention_call(lengths=[2025] * 16)).latency_us == 725


def in_root(point: Sequence[float]) -> list[float]:
    return [math.sqrt(point[0]), *point[1:]]


@pytest.mark.parametrize(
    "corners",
    [
        [(1024, 2), (1024, 8), (4096, 2), (65536, 128)],  # three corners hold the target
        [
            (900, 2),
            (10000, 3),
            (1600, 9),
            (14400, 40),
        ],  # no corner of the box: asked point by point
        [(2116, 2), (1600, 8), (90000, 4), (400, 5), (10, 90)],
    ],
)
def test_a_cell_is_found_and_evaluated_in_the_transformed_space(
    tmp_path: Path, corners: list[tuple[int, int]]
) -> None:
    points = [(seq, batch, 8, 128) for seq, batch in corners]
    target = (2025, 4)
    answer = lookup(
        tmp_path, [measured(point) for point in points], asked((*target, 8, 128)), extra=SQRT
    )
    values = np.array([latency_of(point) for point in points])
    curved = griddata(np.array([in_root(c) for c in corners]), values, [in_root(target)])[0]
    raw = griddata(np.array(corners, dtype=float), values, [target])[0]
    assert answer.shape_match_rule == "interpolated_2d_griddata_linear_sqrt"
    assert answer.latency_us == pytest.approx(curved, rel=1e-9)
    assert answer.latency_us != pytest.approx(raw, rel=1e-6)
    weights = neighbour_weights(answer)
    shares = zip(weights, answer.details["corner_points"], strict=True)
    assert sum(w * c["latency_us"] for w, c in shares) == pytest.approx(answer.latency_us)


def test_scattered_clouds_equal_scipy_in_the_transformed_space(tmp_path: Path) -> None:
    chance, rows, calls, expected = random.Random(11), [], [], []
    for tokens in range(1000, 1030):  # a cloud of its own for each, none of them in one block
        cloud = [(chance.randint(16, 65536), chance.randint(1, 300)) for _ in range(9)]
        points = [(seq, batch, 8, 128) for seq, batch in cloud]
        shapes = f"{tokens * 200},8,128;64,128,2,128"
        rows += [measured(point, input_shapes=shapes) for point in points]
        weights = [chance.random() for _ in range(3)]
        corners = np.array(chance.sample(cloud, 3), dtype=float)
        seq, batch = (corners.T @ (np.array(weights) / sum(weights))).round().astype(int).tolist()
        calls.append(attention_call(query=(tokens * 200, 8, 128), lengths=[seq] * batch))
        values = [latency_of(point) for point in points]
        curved = np.array([in_root(place) for place in cloud])
        expected.append(float(griddata(curved, values, [in_root((seq, batch))])[0]))
    with sqlinterp.open(ingested(tmp_path, rows, extra=SQRT)) as database:
        answers = database.lookup_many(calls)
    found = [math.nan if a.latency_us is None else a.latency_us for a in answers]
    assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)
    assert sum(math.isfinite(value) for value in found) > 15


def test_the_transform_leaves_other_axes_and_multilinear_cells_alone(tmp_path: Path) -> None:
    policy = {"axis_transform": "sqrt", "method": "multilinear"}
    extra = {"interpolation_policy": {"kernel_overrides": {KERNEL: policy}}}
    points = [(s, b, 8, 128) for s, b in product((900, 3600), (2, 4))]
    rows = [measured(point, math.sqrt(point[0]) * point[1]) for point in points]
    both = lookup(tmp_path / "a", rows, asked((2025, 3, 8, 128)), extra=extra)
    assert both.latency_us == pytest.approx(45 * 3)
    heads = [measured((2048, 4, n, 128), n) for n in (4, 16)]
    one = lookup(tmp_path / "b", heads, asked((2048, 4, 9, 128)), extra=extra)
    assert (one.latency_us, one.shape_match_rule) == (9, "interpolated_1d_linear")
    assert one.details["axis_transform"] is None


def test_the_lowest_dimension_wins_then_seq_batch_heads_head_dim(tmp_path: Path) -> None:
    target = (2048, 4, 8, 128)
    names = ("seq", "batch", "heads", "head_dim")
    sides = [(1024, 4096), (2, 8), (4, 16), (64, 256)]
    points = [_point((axis,), (value,)) for axis, pair in enumerate(sides) for value in pair]
    for first in range(4):
        rows = [measured(point) for point in points[2 * first :]]
        answer = lookup(tmp_path / str(first), rows, asked(target), extra=UNIQUE)
        assert answer.details["axes"] == [names[first]]


@pytest.mark.parametrize(
    ("policy", "dimension", "reason"),
    [({"max_interpolation_dim": 0}, None, "interpolation_dim_disabled"),
     ({"max_interpolation_dim": 1}, None, "insufficient_filtered_candidates"),
     ({"max_interpolation_dim": 2}, 2, None), ({}, 2, None),
     ({"axes": ["seq", "heads"]}, None, "insufficient_filtered_candidates")],
)  # fmt: skip
def test_the_policy_limits_axes_and_dimensions(
    tmp_path: Path, policy: dict[str, Any], dimension: int | None, reason: str | None
) -> None:
    points = [(s, b, 8, 128) for s, b in product((1024, 4096), (2, 8))]
    extra = {"interpolation_policy": {"kernel_overrides": {KERNEL: policy}}}
    answer = lookup(tmp_path, [measured(p) for p in points], asked((2048, 4, 8, 128)), extra=extra)
    assert answer.details.get("interpolation_dim") == dimension
    assert answer.miss_reason == reason


@pytest.mark.parametrize(
    "change",
    [{"input_dtypes": "FLOAT;FLOAT;FLOAT"}, {"runtime_sparse_mode": 0},
     {"runtime_num_key_value_heads": 1}, {"runtime_input_layout": "BSH"},
     {"runtime_quant_mode": "int8"}, {"runtime_phase": "prefill"},
     {"runtime_kv_cache_mode": "dense"}, {"runtime_block_size": 16},
     {"output_dtypes": "INT8"}],
)  # fmt: skip
def test_neighbours_of_another_regime_do_not_count(tmp_path: Path, change: dict[str, Any]) -> None:
    known = {"runtime_quant_mode": "", "runtime_phase": "decode", "runtime_kv_cache_mode": "paged",
             "runtime_block_size": 128, "output_dtypes": "DT_BF16"}  # fmt: skip
    rows = [row(10, 1000, **known), row(99, 4000, **{**known, **change})]
    answer = lookup(tmp_path / "a", rows, attention_call(lengths=[2000] * 16))
    assert answer.miss_reason in ("outside_axis_boundary", "insufficient_filtered_candidates")
    same = [row(10, 1000, **known), row(40, 4000, **known)]
    assert lookup(tmp_path / "b", same, attention_call(lengths=[2000] * 16)).latency_us == 20


def test_what_a_call_does_not_tell_may_be_anything_but_is_never_mixed(tmp_path: Path) -> None:
    modes = [row(seq / 10, seq, runtime_kv_cache_mode="paged") for seq in (1000, 3000)]
    modes += [row(seq, seq, runtime_kv_cache_mode="dense") for seq in (1000, 3000, 4000)]
    open_call = attention_call(lengths=[2000] * 16)
    assert lookup(tmp_path / "a", modes, open_call).latency_us == 2000  # the larger regime
    told = child_call(avg_seq_len=2000, kv_cache_mode="paged")
    assert lookup(tmp_path / "b", modes, told).latency_us == 200


@pytest.mark.parametrize(
    ("column", "parameter", "values"),
    [("runtime_phase", "phase", ("decode", "prefill")),
     ("runtime_cache_layout", "cache_layout", ("PA_BSND", "BNSD")),
     ("runtime_kv_cache_mode", "kv_cache_mode", ("paged", "dense")),
     ("runtime_block_size", "block_size", (128, 16)), ("runtime_topk", "topk", (2048, 512))],
)  # fmt: skip
def test_what_a_call_tells_selects_the_regime(
    tmp_path: Path, column: str, parameter: str, values: tuple[Any, Any]
) -> None:
    rows = [
        row(scale * seq, seq, **{column: value})
        for scale, value in zip((1, 2), values, strict=True)
        for seq in (1000, 3000)
    ]
    rows.append(row(1, 500, **{column: values[0]}))  # the larger regime
    path = ingested(tmp_path, rows)
    with sqlinterp.open(path) as database:
        for scale, value in zip((1, 2), values, strict=True):
            answer = database.lookup(child_call(avg_seq_len=2000, **{parameter: value}))
            assert answer.latency_us == 2000 * scale


def test_quant_modes_are_equal_or_unknown_to_the_csv(tmp_path: Path) -> None:
    op = attention_call(lengths=[2000] * 16, quant_mode="int8")
    plain = [row(10, 1000), row(40, 4000)]
    unknown = lookup(tmp_path / "a", plain, op)
    assert unknown.latency_us == 20
    assert unknown.details["quant_mode_unknown_in_csv"] == "int8"
    blank = [{**cells, "Runtime quant_mode": ""} for cells in plain]
    other = [row(1, 1000, runtime_quant_mode="int8"), row(4, 4000, runtime_quant_mode="int8")]
    assert lookup(tmp_path / "b", blank + other, op).latency_us == 2
    missed = lookup(tmp_path / "c", blank, op)
    assert missed.miss_reason == "regime_key_unmatched"
    assert lookup(tmp_path / "d", other, attention_call(lengths=[2000] * 16)).source is None


def test_the_quant_mode_of_a_kernel_beats_that_of_the_entry_and_of_the_call(
    tmp_path: Path,
) -> None:
    rows = [row(scale * seq, seq, runtime_quant_mode=mode)
            for scale, mode in ((1, "call"), (2, "entry"), (3, "kernel"))
            for seq in (1000, 4000)]  # fmt: skip
    op = attention_call(lengths=[2000] * 16, quant_mode="call")
    entry = {"quant_mode": "entry"}
    policy = {"interpolation_policy": {"kernel_overrides": {KERNEL: {"quant_mode": "kernel"}}}}
    assert lookup(tmp_path / "a", rows, op).latency_us == 2000
    assert lookup(tmp_path / "b", rows, op, entry=entry).latency_us == 4000
    assert lookup(tmp_path / "c", rows, op, entry=entry, extra=policy).latency_us == 6000


def test_token_counts_are_never_mixed(tmp_path: Path) -> None:
    rows = [shaped(10, 1000, (2, 8, 128)), shaped(40, 4000, (4, 8, 128))]
    answer = lookup(tmp_path, rows, attention_call(query=(2, 8, 128), lengths=[2000, 2000]))
    assert answer.source is None
    assert answer.miss_reason == "insufficient_filtered_candidates"


def test_padded_tokens_answer_when_equal_ones_do_not_and_are_flagged(tmp_path: Path) -> None:
    def line(tokens: int, scale: float) -> list[Cells]:
        return [shaped(scale * seq, seq, (tokens, 8, 128)) for seq in (1000, 4000)]

    op = attention_call(lengths=[2000] * 16)
    more = [shaped(3, seq, (9, 8, 128)) for seq in (500, 600, 700)]  # more rows are no reason
    nearest = lookup(tmp_path / "a", [*line(1, 1), *line(15, 2), *line(9, 3), *more], op)
    assert (nearest.source, nearest.latency_us) == ("INTERPOLATED", 4000)
    assert nearest.details["asked_q_tokens"] == 16
    assert nearest.details["measured_q_tokens"] == 15
    assert nearest.details["padding_ratio"] == 16 / 15
    own = lookup(tmp_path / "b", [*line(15, 2), *line(16, 5)], op)
    assert own.latency_us == 10000 and "padding_ratio" not in own.details
    outside = [*line(15, 2), shaped(1, 100, (16, 8, 128)), shaped(2, 200, (16, 8, 128))]
    assert lookup(tmp_path / "c", outside, op).latency_us == 4000
    assert lookup(tmp_path / "d", line(48, 2), op).miss_reason == "regime_key_unmatched"


def test_only_padded_tokens_that_fail_are_told_apart_from_no_regime(tmp_path: Path) -> None:
    rows = [shaped(10, 9000, (16, 8, 128)), shaped(20, 9100, (16, 8, 128))]
    op = attention_call(query=(12, 8, 128), lengths=[2000] * 12)
    answer = lookup(tmp_path, rows, op)
    assert answer.miss_reason == "outside_axis_boundary"
    assert answer.details["attempts"][0]["status"] == "q_tokens_unmeasured"


def test_decode_interpolates_along_the_context(tmp_path: Path) -> None:
    rows = [shaped(seq / 100, seq, (1, 8, 128)) for seq in (1000, 5000)]
    answer = lookup(tmp_path, rows, attention_call(query=(1, 8, 128), lengths=[3000]))
    assert (answer.latency_us, answer.details["attention_axes"]["seq"]) == (30, 3000)


def test_a_length_within_a_block_of_a_measured_one_may_stand_for_it(tmp_path: Path) -> None:
    points = [(s, 4, n, 128) for s, n in product((1024, 4096), (4, 16))]
    rows = [measured(point, point[0] + point[2]) for point in points]
    near = lookup(tmp_path / "a", rows, asked((4110, 4, 8, 128)))
    assert (near.latency_us, near.details["axes"]) == (4104, ["heads"])
    assert (near.details["asked_seq"], near.details["measured_seq"]) == (4110, 4096)
    assert near.details["attention_axes"]["seq"] == 4110
    far = lookup(tmp_path / "b", rows, asked((4113, 4, 8, 128)))
    assert far.miss_reason == "outside_axis_boundary"


def lengths_row(latency: float, seq: int, shape: str, values: str) -> Cells:
    """A row of 16 tokens that tells its lengths but not its batch."""
    changes = {"runtime_actual_seq_lengths_shape": shape,
               "runtime_actual_seq_lengths_values": values}  # fmt: skip
    return row(latency, seq, **changes)


@pytest.mark.parametrize(
    ("shape", "values", "batch"),
    [("4", "4,8,12,16", 4), ("4", "4;4;4;4", 4), ("2", "10,16", 2), ("1", "16", 1),
     ("1", "4096", None), ("16", "16", None), ("4", "4,8,12", None), ("", "4,8,12,16", None),
     ("4", "", None), ("1", "1", None), ("2", "5,6", None), ("4,1", "4,8,12,16", None)],
)  # fmt: skip
def test_lengths_are_a_batch_only_where_they_account_for_every_token(
    tmp_path: Path, shape: str, values: str, batch: int | None
) -> None:
    rows = [lengths_row(seq, seq, shape, values) for seq in (1000, 3000)]
    answer = lookup(tmp_path / "a", rows, attention_call(lengths=[2000] * (batch or 7)))
    assert (answer.latency_us, answer.details["target"]["batch"]) == (2000, batch)
    attempts = lookup(tmp_path / "c", rows, attention_call(lengths=[9000] * 4)).details["attempts"]
    tried = {axis for attempt in attempts for axis in attempt.get("axes", [])}
    assert ("batch" in tried) is (batch is not None)  # no axis where it cannot be told
    status = None if batch else "batch_unknown_in_csv"
    assert answer.details.get("batch_axis_status") == status
    other = lookup(tmp_path / "b", rows, attention_call(lengths=[2000] * 9))
    assert (other.source is None) is (batch is not None)


def test_the_batch_is_as_recorded_or_that_of_a_4d_query(tmp_path: Path) -> None:
    shapes = "{0},8,1,128;{0},2,1024,128"
    fields = {"runtime_input_layout": "BNSD_NBSD", "runtime_sparse_mode": 0}
    rows = [row(seq, seq, input_shapes=shapes.format(16), **fields) for seq in (1000, 3000)]
    op = attention_call(query=(16, 8, 1, 128), key=(16, 2, 1024, 128), lengths=[2000] * 16)
    assert lookup(tmp_path / "a", rows, op).details["target"]["batch"] == 16
    recorded = [{**cells, "Runtime batch_size": 5} for cells in rows]
    assert lookup(tmp_path / "b", recorded, op).miss_reason == "outside_axis_boundary"


def test_rows_with_and_without_a_batch_are_never_mixed(tmp_path: Path) -> None:
    known = [measured((s, 4, 8, 128), s) for s in (1000, 3000)]
    unknown = [measured((s, 4, 8, 128), 9 * s, runtime_batch_size="") for s in (1000, 3000, 4000)]
    told = lookup(tmp_path / "a", known + unknown, asked((2000, 4, 8, 128)))
    assert told.latency_us == 2000 and "batch_axis_status" not in told.details
    other = lookup(tmp_path / "b", known + unknown, asked((2000, 5, 8, 128)))
    assert other.source is None  # not from rows of an unknown batch either
    child = child_call(query=(TOKENS, 8, 128), avg_seq_len=2000)
    open_batch = lookup(tmp_path / "c", known + unknown, child)
    assert (open_batch.latency_us, open_batch.details["batch_axis_status"]) == (
        18000,
        "batch_unknown",
    )


def test_a_call_without_a_batch_adopts_the_only_one(tmp_path: Path) -> None:
    child = child_call(query=(TOKENS, 8, 128), avg_seq_len=2000)
    one = [measured((s, 4, 8, 128), s) for s in (1000, 3000)]
    constant = lookup(tmp_path / "a", one, child)
    assert (constant.latency_us, constant.details["batch_axis_status"]) == (
        2000,
        "batch_axis_constant",
    )
    several = [*one, measured((1000, 8, 8, 128), 5)]
    assert lookup(tmp_path / "b", several, child).miss_reason == "batch_axis_unconstrained"
    told = child_call(query=(TOKENS, 8, 128), avg_seq_len=2000, batch_size=4)
    assert lookup(tmp_path / "c", several, told).latency_us == 2000


@pytest.mark.parametrize(
    ("column", "name"),
    [("runtime_sparse_mode", "Runtime sparse_mode"),
     ("runtime_input_layout", "Runtime input_layout"),
     ("runtime_num_key_value_heads", "Runtime num_key_value_heads"),
     ("runtime_avg_seq_len", "Runtime avg_seq_len")],
)  # fmt: skip
def test_a_csv_without_a_field_misses_by_its_name(tmp_path: Path, column: str, name: str) -> None:
    rows = [row(10, 1000, **{column: None}), row(20, 3000, **{column: None})]
    answer = lookup(tmp_path, rows, attention_call(lengths=[2000] * 16))
    assert answer.miss_reason == f"semantic_context_missing:csv:{name}"


def test_rows_that_are_no_points_are_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        row(1, 1000),
        row(2, 3000),
        {**row(3), "Input Shapes": ";64,128,2,128"},
        row(4, input_dtypes=";DT_BF16;DT_BF16"),
        shaped(5, 1024, (16, 1000)),
        row(6, runtime_sparse_mode="", runtime_input_layout=""),
        row(7, ""),
    ]
    with sqlinterp.open(ingested(tmp_path, rows)) as database:
        query = "select reason, row_count from dropped_point where path = 'attention_special'"
        assert dict(database.sql(query).fetchall()) == {
            "input_shapes_missing": 1,
            "input_dtypes_missing": 1,
            "q_shape_normalize_failed": 1,
            "semantic_context_missing:csv:input_layout,sparse_mode": 1,
            "semantic_context_missing:csv:avg_seq_len": 1,
        }
        answer = database.lookup(attention_call(lengths=[2000] * 16))
        assert (answer.latency_us, answer.details["dropped_count"]) == (1.5, 5)


def test_a_call_without_a_field_misses_by_its_name(tmp_path: Path) -> None:
    rows = [row(10, 1000), row(20, 3000)]
    answer = lookup(tmp_path, rows, child_call(avg_seq_len=2000, num_kv_heads=None))
    assert answer.miss_reason == "semantic_context_missing:target:num_kv_heads"


@pytest.mark.parametrize(
    ("points", "target", "reason"),
    [
        ([(1000, 4, 8, 128)], (2000, 4, 8, 128), "insufficient_filtered_candidates"),
        ([(1000, 4, 8, 128), (1500, 4, 8, 128)], (2000, 4, 8, 128), "outside_axis_boundary"),
        ([(1000, 2, 8, 128), (3000, 8, 8, 128)], (2000, 4, 8, 128), "grid_structure_rejected"),
        ([(1000, 2, 8, 128), (2000, 4, 8, 128), (3000, 6, 8, 128)], (1500, 5, 8, 128),
         "degenerate_point_cloud"),
        ([(1000, 2, 8, 128), (1100, 8, 8, 128), (3000, 8, 8, 128)], (2900, 3, 8, 128),
         "outside_convex_hull"),
    ],
)  # fmt: skip
def test_reasons_of_geometry(
    tmp_path: Path, points: list[Point], target: Point, reason: str
) -> None:
    policy = {"interpolation_policy": {"max_interpolation_dim": 2}}
    answer = lookup(tmp_path, [measured(p) for p in points], asked(target), extra=policy)
    assert answer.miss_reason == reason
    assert answer.details["exact_miss_reason"] == "shape_mismatch"
    assert any(attempt["status"] == reason for attempt in answer.details["attempts"])


def test_a_value_that_vanishes_is_no_latency(tmp_path: Path) -> None:
    smallest = 5e-324  # shares of it round to zero
    corners = [(1000, 2, 8, 128), (1000, 6, 8, 128), (3000, 2, 8, 128), (3000, 6, 8, 128)]
    rows = [measured(corner, smallest) for corner in corners]
    policy = {"interpolation_policy": {"max_interpolation_dim": 2}}
    answer = lookup(tmp_path, rows, asked((2000, 4, 8, 128)), extra=policy)
    assert answer.miss_reason == "latency_guard_rejected"


def test_a_regime_that_was_not_measured_is_told(tmp_path: Path) -> None:
    rows = [row(10, 1000), row(20, 3000)]
    answer = lookup(tmp_path, rows, attention_call(lengths=[2000], key=(64, 128, 4, 128)))
    assert answer.miss_reason == "regime_key_unmatched"
    assert answer.details["attempts"][0]["regime"]["meaning"]["num_kv_heads"] == 4


def test_a_batch_resolves_what_exact_lookups_find_ambiguous(tmp_path: Path) -> None:
    rows = [measured((2000, batch, 8, 128), batch) for batch in (2, 4)]
    answer = lookup(tmp_path / "a", rows, asked((2000, 4, 8, 128)), extra=UNIQUE)
    assert (answer.latency_us, answer.source) == (4, "MEASURED")
    assert (answer.shape_match_rule, answer.confidence) == ("exact_coordinate", 0.9)
    twice = [*rows, measured((2000, 4, 8, 128), 5)]
    ambiguous = lookup(tmp_path / "b", twice, asked((2000, 4, 8, 128)), extra=UNIQUE)
    assert ambiguous.miss_reason == f"ambiguous_semantic_match:{KERNEL}"
    between = lookup(tmp_path / "c", rows, asked((2000, 3, 8, 128)), extra=UNIQUE)
    assert (between.latency_us, between.source) == (3, "INTERPOLATED")


def test_one_latency_column_at_a_time_the_preferred_one_first(tmp_path: Path) -> None:
    rows = [row(10, 1000, duration=1), row("", 3000, duration=3), row("", 1000, duration=1),
            row(50, 5000, duration="")]  # fmt: skip
    preferred = lookup(tmp_path, rows, attention_call(lengths=[2000] * 16))
    assert preferred.latency_us == 20  # between 1000 and 5000, not 3000
    assert preferred.details["latency_column"] == "Average Duration(us)"


def test_half_precision_is_interpolated_from_its_own_rows_first(tmp_path: Path) -> None:
    op = attention_call(lengths=[2000] * 16, dtype="float16")
    brain = [row(10, 1000), row(30, 3000)]
    half = [row(1, 1000, input_dtypes="FLOAT16"), row(3, 3000, input_dtypes="FLOAT16")]
    assert lookup(tmp_path / "a", brain + half, op).latency_us == 2
    flagged = lookup(tmp_path / "b", brain, op)
    assert flagged.latency_us == 20 and "FLOAT16" in flagged.details["dtype_compatible"]


def test_alternates_are_tried_in_order(tmp_path: Path) -> None:
    entry = {"alternate_kernel_types": ["Other"]}
    other = [row(1, 1000), row(3, 3000)]
    op = attention_call(lengths=[2000] * 16)
    both = lookup(tmp_path / "a", [row(10, 1000), row(30, 3000)], op, entry=entry, Other=other)
    assert (both.kernel_type, both.latency_us) == (KERNEL, 20)
    rest = lookup(tmp_path / "b", [row(10, 1000)], op, entry=entry, Other=other)
    assert (rest.kernel_type, rest.latency_us) == ("Other", 2)


def test_a_child_of_a_composite_is_interpolated_by_its_own_parameters(tmp_path: Path) -> None:
    fields = {"runtime_input_layout": "BNSD_NBSD", "runtime_sparse_mode": 0}
    shapes = "16,8,1,512;64,1,128,512"
    rows = [row(seq, seq, input_shapes=shapes, runtime_num_key_value_heads=1, **fields)
            for seq in (1000, 3000)]  # fmt: skip
    child = child_call((16, 8, 512), avg_seq_len=2000, sparse_mode=0, num_kv_heads=1)
    op = {
        "op": "tensor_cast.multihead_latent_attention.default",
        "children": [
            {"kernel": KERNEL, "query_mode": "attention_special", "args": child["args"],
             "kwargs": {**child["kwargs"], "batch_size": 16}}
        ],
    }  # fmt: skip
    answer = lookup(tmp_path, rows, op)
    assert (answer.latency_us, answer.source) == (2000, "INTERPOLATED")


def test_without_interpolation_there_is_none(tmp_path: Path) -> None:
    path = ingested(tmp_path, [row(10, 1000), row(30, 3000)])
    with sqlinterp.open(path, disable_interpolation=True) as database:
        answer = database.lookup(attention_call(lengths=[2000] * 16))
    assert answer.miss_reason == "shape_mismatch"


def test_row_order_and_batch_size_do_not_matter(tmp_path: Path) -> None:
    points = list(product((1000, 2000, 5000), (2, 4, 9), (4, 16), (64, 128)))
    rows = [measured(point) for point in points]
    calls = [asked(target) for target in
             ((1500, 2, 4, 64), (1500, 3, 4, 64), (1500, 3, 8, 64), (1500, 3, 8, 100),
              (2000, 4, 16, 128), (9000, 4, 16, 128), (5010, 4, 8, 64))]  # fmt: skip
    calls += [attention_call(query=(33, 4, 64), key=(64, 128, 2, 64), lengths=[1500] * 2)]
    found = []
    for number in range(2):
        with sqlinterp.open(ingested(tmp_path / str(number), rows)) as database:
            together = database.lookup_many(calls)
            assert together == [database.lookup(op) for op in calls]
            found.append([(a.latency_us, a.miss_reason, a.details.get("axes")) for a in together])
        random.Random(7).shuffle(rows)
    assert found[0] == found[1]
    assert [axes and len(axes) for _, _, axes in found[0]] == [1, 2, 3, None, None, None, 1, 1]


def test_the_operator_is_the_one_that_the_mapping_names(tmp_path: Path) -> None:
    with sqlinterp.open(ingested(tmp_path, [row(10)])) as database:
        assert database.dispatch_of(attention_call()) == "attention_special"
        assert database.lookup(attention_call()).op == ATTENTION
