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
from sqlinterp.fidelity import Report
from sqlinterp.fidelity.sample import ANSWERED, Sample


def answered_by_their_own_rows(path: Path, report: Report) -> None:
    """Check that each call gets the latency of its row while nothing is held out."""
    assert report.samples
    with sqlinterp.open(path) as database:
        answers = database.lookup_many([s.question.call for s in report.samples])
    assert [a.latency_us for a in answers] == [s.question.point.truth_us for s in report.samples]
    assert {a.source for a in answers} == {"MEASURED"}


def inner(report: Report) -> Sample:
    """The one sample that is answered."""
    (sample,) = [s for s in report.samples if s.outcome == ANSWERED]
    return sample


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
    report = run(tmp_path / "p.duckdb")
    answered_by_their_own_rows(tmp_path / "p.duckdb", report)
    found = {
        s.question.family.path: (s.question.call.op, s.ratio, s.candidate_count)
        for s in report.samples
        if s.outcome == ANSWERED
    }
    assert found == {
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
    report = run(path)
    answered_by_their_own_rows(path, report)
    sample = inner(report)
    targets = [s.record()["target"] for s in report.samples]
    points = np.array([[t[axis] for axis in axes] for t in targets])
    values = np.array([s.question.point.truth_us for s in report.samples])
    asked = next(i for i, s in enumerate(report.samples) if s is sample)
    kept = np.arange(len(points)) != asked
    expected = griddata(points[kept], values[kept], points[asked : asked + 1], method="linear")
    assert values[asked] == 17 and sample.answer.details["axes"] == axes
    assert sample.answer.latency_us == pytest.approx(expected[0], rel=1e-9)
    assert sample.answer.details["method"] == "griddata_linear"
    assert sample.candidate_count == len(rows) - 1


def test_attention_along_seq_is_what_griddata_says(tmp_path: Path) -> None:
    path = ingested(tmp_path, SEQ)
    report = run(path)
    answered_by_their_own_rows(path, report)
    expected = griddata(np.array([512.0, 4096.0]), np.array([10.0, 25.0]), 1024.0)
    assert inner(report).answer.latency_us == pytest.approx(float(expected), rel=1e-12)
    assert inner(report).question.region == "axis0"


def test_paths_whose_calls_are_not_rebuilt_are_told(tmp_path: Path) -> None:
    rows = [
        HEADER,
        *(
            f'"{n},1024",DT_BF16,ND,"{n},1024;{n}",INT8;FLOAT,ND;ND,{n / 64}'
            for n in (64, 128, 256)
        ),
    ]
    entry = {"kernel_type": "DynamicQuant", "query_mode": "compute_scale"}
    write_version(tmp_path / "v", {"DynamicQuant.csv": rows}, {"q.default": entry})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    report = run(tmp_path / "p.duckdb", paths=("compute_scale",))
    assert report.samples == []
    assert report.skipped == {("DynamicQuant", "compute_scale", "path_without_calls"): 3}
