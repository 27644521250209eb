"""Small attention databases: rows as dictionaries of cells, calls as the simulator makes them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from databases_for_tests import call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

ATTENTION = "tensor_cast.attention.default"
KERNEL = "FusedInferAttentionScore"
UNIQUE = {
    "query_selection_policy": {"kernel_overrides": {KERNEL: {"require_semantic_unique": True}}}
}
Cells = dict[str, Any]


def row(latency: object, seq: object = 1024, **changes: Any) -> Cells:
    """One measured row: 16 tokens of 8 heads of 128 over 2 key-value heads, unless changed.

    A change is named after its column (``runtime_phase`` is ``Runtime phase``); None drops it.
    """
    cells: Cells = {
        "Input Shapes": "16,8,128;64,128,2,128;64,128,2,128",
        "Input Data Types": "DT_BF16;DT_BF16;DT_BF16",
        "Input Formats": "ND;ND;ND",
        "Average Duration(us)": latency,
        "Runtime avg_seq_len": seq,
        "Runtime sparse_mode": 3,
        "Runtime num_key_value_heads": 2,
        "Runtime input_layout": "TND",
    }
    for name, value in changes.items():
        column = _column(name)
        if value is None:
            cells.pop(column)
        else:
            cells[column] = value
    return cells


def shaped(latency: object, seq: object, query: Sequence[int], **changes: Any) -> Cells:
    """One measured row with another query."""
    shapes = ",".join(map(str, query)) + ";64,128,2,128;64,128,2,128"
    return row(latency, seq, input_shapes=shapes, **changes)


def _column(name: str) -> str:
    known = {"input_shapes": "Input Shapes", "input_dtypes": "Input Data Types",
             "output_dtypes": "Output Data Types", "duration": "Duration(us)"}  # fmt: skip
    return known.get(name) or name.replace("runtime_", "Runtime ", 1)


def file_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of a CSV whose columns are those of its rows; a row without one is blank there."""
    columns = list(dict.fromkeys(name for cells in rows for name in cells))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().splitlines()


def attention_call(
    query: Sequence[int] = (16, 8, 128),
    lengths: Sequence[int] = (1024,) * 16,
    key: Sequence[int] = (64, 128, 2, 128),
    dtype: str = "bfloat16",
    **kwargs: Any,
) -> dict[str, Any]:
    """A direct call of the attention operator."""
    lengths_tensor = {"shape": [len(lengths)], "dtype": "int64", "values": list(lengths)}
    tensors = (tensor(*query, dtype=dtype), tensor(*key, dtype=dtype), tensor(*key, dtype=dtype))
    return {**call(ATTENTION, *tensors, None, None, None, lengths_tensor, None), "kwargs": kwargs}


def child_call(
    query: Sequence[int] = (16, 8, 128), dtype: str = "bfloat16", **parameters: Any
) -> dict[str, Any]:
    """A call that tells its parameters as children of composites do; None leaves one out."""
    told = {"avg_seq_len": 1024, "sparse_mode": 3, "num_kv_heads": 2, **parameters}
    kwargs = {name: value for name, value in told.items() if value is not None}
    return {**call(ATTENTION, tensor(*query, dtype=dtype)), "kwargs": kwargs}


def ingested(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    entry: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    **files: Sequence[Mapping[str, Any]],
) -> Path:
    """Ingest one version with the rows and return its database file."""
    tables = {f"{name}.csv": file_of(own) for name, own in {KERNEL: rows, **files}.items() if own}
    mapped = {"kernel_type": KERNEL, "query_mode": "attention_special", **(entry or {})}
    write_version(folder / "v", tables, {ATTENTION: mapped}, extra)
    return kept_database(folder / "v")


def exact(folder: Path, rows: Sequence[Mapping[str, Any]], op: Any, **given: Any) -> Answer:
    """Answer one call from its own database, exactly only."""
    aggregation = given.pop("aggregation", "mean")
    path = ingested(folder, rows, **given)
    with sqlinterp.open(path, disable_interpolation=True, aggregation=aggregation) as database:
        return database.lookup(op)


def lookup(folder: Path, rows: Sequence[Mapping[str, Any]], op: Any, **given: Any) -> Answer:
    """Answer one call from its own database."""
    with sqlinterp.open(ingested(folder, rows, **given)) as database:
        return database.lookup(op)
