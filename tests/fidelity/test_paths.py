"""Calls of each path are rebuilt from rows, and attention answers are those of scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER as HEADER
from databases_for_tests import write_version
from fidelity_support import run
from lookup.attention_support import Cells, ingested, row, shaped
from scipy.interpolate import griddata

import sqlinterp
from sqlinterp.fidelity import Run
from sqlinterp.fidelity.results import Result


def answered_by_operators(path: Path) -> Run:
    """Check that operators and coordinates are answered alike without each point."""
    called = run(path, is_by_operator=True, max_probes=None)
    asked = run(path, max_probes=None)
    assert called.results and all(r.has_truth for r in called.results)
    assert [r.pred_us for r in called.results] == [r.pred_us for r in asked.results]
    return called


def inner(found: Run) -> Result:
    """The one probe that is answered."""
    (result,) = [result for result in found.results if result.is_answered]
    return result


def test_generic_elementwise_and_output_size(tmp_path: Path) -> None:
    sizes = (64, 128, 256)
    files = {
        "Softmax.csv": [
            HEADER,
            *(f'"{n},1024",DT_BF16,ND,"{n},1024",DT_BF16,ND,{1 + n / 64}' for n in sizes),
        ],
        "Add.csv": [
            HEADER,
            *(f'"{n},32;{n},32",FLOAT;FLOAT,ND;ND,"{n},32",FLOAT,ND,{2 + n / 64}' for n in sizes),
        ],
        "GatherV2.csv": [
            HEADER,
            *(f'"1000,32;{n}",DT_BF16;INT64,ND;ND,"{n},32",DT_BF16,ND,{3 + n / 64}' for n in sizes),
        ],
    }
    by_size = {"interpolation_policy": {"generic_compute": {"axis": "output_numel"}}}
    operators = {
        "aten._softmax.default": "Softmax",
        "aten.add.Tensor": {"kernel_type": "Add", "query_mode": "elementwise"},
        "aten.embedding.default": {"kernel_type": "GatherV2", **by_size},
    }
    write_version(tmp_path / "v", files, operators)
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    found = answered_by_operators(tmp_path / "p.duckdb")
    told = {
        r.probe.group.path: (r.answer.op, r.ratio, r.n_candidates)
        for r in found.results
        if r.is_answered
    }
    assert told == {
        "generic_axis_0": ("aten._softmax.default", pytest.approx(1), 2),
        "elementwise": ("aten.add.Tensor", pytest.approx(1), 2),
        "generic_output_numel": ("aten.embedding.default", pytest.approx(1), 2),
    }


SEQ = [row(10, 512), row(20, 1024), row(25, 4096)]
SEQ_BATCH = [
    row(17, 1024, runtime_batch_size=4),
    row(10, 512, runtime_batch_size=2),
    row(31, 2048, runtime_batch_size=3),
    row(23, 1536, runtime_batch_size=16),
]
SEQ_HEADS = [
    shaped(17, 1024, (16, 8, 128)),
    shaped(10, 512, (16, 4, 128)),
    shaped(31, 2048, (16, 6, 128)),
    shaped(23, 1536, (16, 32, 128)),
]
SEQ_BATCH_DIM = [
    shaped(17, 1024, (16, 8, 96), runtime_batch_size=4),
    shaped(10, 512, (16, 8, 64), runtime_batch_size=2),
    shaped(31, 2048, (16, 8, 80), runtime_batch_size=3),
    shaped(23, 1536, (16, 8, 112), runtime_batch_size=16),
    shaped(29, 768, (16, 8, 256), runtime_batch_size=5),
]


@pytest.mark.parametrize(
    ("rows", "axes"),
    [
        (SEQ_BATCH, ["seq", "batch"]),
        (SEQ_HEADS, ["seq", "heads"]),
        (SEQ_BATCH_DIM, ["seq", "batch", "head_dim"]),
    ],
)
def test_attention_without_its_target_is_what_griddata_says(
    tmp_path: Path, rows: list[Cells], axes: list[str]
) -> None:
    """The remaining points are one simplex, so that there is one triangulation only."""
    path = ingested(tmp_path, rows)
    found = answered_by_operators(path)
    result = inner(found)
    targets = [r.probe.target for r in found.results]
    points = np.array([[target[axis] for axis in axes] for target in targets])
    values = np.array([r.probe.truth_us for r in found.results])
    asked = found.results.index(result)
    kept = np.arange(len(points)) != asked
    expected = griddata(points[kept], values[kept], points[asked : asked + 1], method="linear")
    assert values[asked] == 17 and result.answer.details["axes"] == axes
    assert result.pred_us == pytest.approx(expected[0], rel=1e-9)
    assert result.answer.details["method"] == "griddata_linear"
    assert result.n_candidates == len(rows) - 1


def test_attention_along_seq_is_what_griddata_says(tmp_path: Path) -> None:
    result = inner(answered_by_operators(ingested(tmp_path, SEQ)))
    expected = griddata(np.array([512.0, 4096.0]), np.array([10.0, 25.0]), 1024.0)
    assert result.pred_us == pytest.approx(float(expected), rel=1e-12)
    assert result.region == "axis0"


def test_paths_without_calls_are_asked_by_coordinate_only(tmp_path: Path) -> None:
    rows = [
        HEADER,
        *(
            f'"{n},1024",DT_BF16,ND,"{n},1024;{n}",INT8;FLOAT,ND;ND,{n / 64}'
            for n in (64, 128, 192)
        ),
    ]
    entry = {"kernel_type": "DynamicQuant", "query_mode": "compute_scale"}
    write_version(tmp_path / "v", {"DynamicQuant.csv": rows}, {"q.default": entry})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    path = tmp_path / "p.duckdb"
    assert inner(run(path, paths=("compute_scale",))).ratio == 1
    called = run(path, paths=("compute_scale",), is_by_operator=True)
    assert {r.answer.miss_reason for r in called.results} == {"path_without_calls"}
    assert called.figures.total.statistics.n_truth == 0
