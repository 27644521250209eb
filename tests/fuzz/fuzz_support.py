"""What the fuzz tests share: settings, a checked ingest, and rows read by other means."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import HealthCheck, Phase, settings

import sqlinterp
from sqlinterp.ingestion import IngestSummary

# Kernels of every path, so that whatever their rows hold is also placed on axes.
KERNELS = (
    "MatMulV2", "QuantBatchMatmulV3", "BatchMatMulV2", "Add", "RmsNorm", "DynamicQuant",
    "FusedInferAttentionScore", "DispatchFFNCombine", "SparseFlashAttention", "LightningIndexer",
    "mla_preprocess_0_mix_aic", "ScatterNdUpdate", "GroupedMatmul", "KvRmsNormRopeCache",
)  # fmt: skip


def fuzzing(examples: int, is_long: bool = False) -> Any:
    """Settings of a fuzz test: as many cases, each as slow as it is; a short one has the same."""
    return settings(
        max_examples=examples,
        derandomize=not is_long,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
    )


def ingest(root: Path, database: Path) -> IngestSummary:
    """Ingest, and check that every row of every file has one end, and that views can be read."""
    summary = sqlinterp.ingest([root], database)
    fields = ("rows_read", "rows_stored", "rows_rejected", "rows_without_latency")
    with duckdb.connect(str(database), read_only=True) as connection:
        files = connection.execute(
            f"select {', '.join(fields)}, status, rows_read as read from source_file"
        ).fetchall()
        for read, stored, rejected, without, status, _ in files:
            assert read == stored + rejected + without
            assert status == "loaded" or read == 0
        assert [summary.total(field) for field in fields] == [
            sum(file[place] for file in files) for place in range(4)
        ]
        ends = connection.execute(
            "select file_id, row_number from measurement union all"
            " select file_id, row_number from unmeasured_row union all"
            " select file_id, row_number from rejected_row"
        ).fetchall()
        assert len(set(ends)) == len(ends), "a row has two ends"
        assert len(ends) == summary.total("rows_read")
    return summary


def read_every_view(database: Path) -> None:
    """Read all rows of all views."""
    with duckdb.connect(str(database), read_only=True) as connection:
        views = connection.execute("select view_name from duckdb_views() where not internal")
        for (view,) in views.fetchall():
            connection.execute(f"select * from {view}").fetchall()


def check_stored(database: Path, contents: Mapping[str, bytes]) -> int:
    """Compare every stored row with the text of its line, read by other means; return how many."""
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(
            "select file_path, line_number, latency_us, latency_column, input_shapes"
            " from measurement join source_file using (file_id)"
        ).fetchall()
        counted = connection.execute(
            "select file_path, rows_read from source_file where status = 'loaded'"
        ).fetchall()
    lines = {path: _lines(contents[path]) for path, _ in counted}
    for path, read in counted:
        assert read == sum(1 for line in lines[path][1:] if line.strip()), path
    for path, number, latency, column, shapes in rows:
        header = [name.strip() for name in next(csv.reader([lines[path][0]]))]
        cells = dict(zip(header, next(csv.reader([lines[path][number - 1]])), strict=True))
        assert math.isfinite(latency) and latency > 0
        assert float(cells[column].strip()) == latency
        if "Input Shapes" in cells:
            assert [shape for shape in shapes if shape] == _shapes(cells["Input Shapes"])
    return len(rows)


def _lines(content: bytes) -> list[str]:
    text = content.decode()
    while text.startswith("\ufeff"):
        text = text[1:]
    return re.split("\r\n|\n|\r", text)


def _shapes(cell: str) -> list[list[int]]:
    slots = cell.replace('"', "").strip().split(";")
    return [[int(size) for size in slot.split(",")] for slot in slots if slot.strip()]


def answer_problems(answer: Any) -> list[str]:
    """What is wrong with an answer, whatever was asked."""
    found = answer.to_dict()
    problems = []
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        problems.append(f"no JSON: {error}")
    latency, confidence = found["latency_us"], found["confidence"]
    if found["source"] not in ("MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL", None):
        problems.append(f"source is {found['source']}")
    if found["source"] is None and (latency is not None or not found["miss_reason"]):
        problems.append("a miss has a latency or no reason")
    if found["source"] is not None and not (math.isfinite(latency) and latency >= 0):
        problems.append(f"latency is {latency}")
    if confidence is not None and not 0 <= confidence <= 1:
        problems.append(f"confidence is {confidence}")
    return problems
