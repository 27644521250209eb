"""The call that a measurement was made of, as the simulator would ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlinterp.fidelity.grid import Coordinate, Group, Row
from sqlinterp.model import Argument, OpInvocation, Tensor

PATHS_WITH_CALLS = (
    "matmul",
    "generic_axis_0",
    "generic_output_numel",
    "elementwise",
    "attention_special",
)
_INTEGERS = ("num_heads", "sparse_mode", "num_kv_heads", "block_size", "topk")
_TEXTS = ("input_layout", "quant_mode", "phase", "kv_cache_mode", "cache_layout")
_BATCH = 1  # place of the axis


def call_of(
    group: Group, coordinate: Coordinate, row: Row, names: Mapping[str, str]
) -> OpInvocation | str:
    """Return the call of a measurement with the operator left open, or why it cannot be told.

    Parameters
    ----------
    row : dict
        A row of ``fidelity.measured_rows``.
    names : mapping
        torch's names of the dtypes of the database.
    """
    dtypes = row["operand_dtypes"] or []
    unknown = [dtype for dtype in dtypes if dtype not in names]
    if not row["operand_shapes"]:
        return "no_operands"
    if unknown:
        return f"dtype_without_torch_name:{unknown[0]}"
    if group.path == "attention_special":
        return _attention_call(group, coordinate, row, names)
    args: list[Argument] = []
    operands = zip(row["operand_shapes"], dtypes, row["operand_gaps"], strict=True)
    for shape, dtype, gap in operands:
        args += [None] * gap
        args.append(Tensor(tuple(shape), names[dtype]))
    return OpInvocation("", tuple(args), outputs=_outputs(row, names))


def _outputs(row: Row, names: Mapping[str, str]) -> tuple[Tensor, ...]:
    """Return the results, none of them when the row does not tell all shapes and dtypes."""
    shapes, dtypes = row["output_shapes"] or [], row["output_dtypes"] or []
    if len(shapes) != len(dtypes) or any(dtype not in names for dtype in dtypes):
        return ()
    if any(shape is None for shape in shapes):
        return ()
    return tuple(
        Tensor(tuple(shape), names[dtype]) for shape, dtype in zip(shapes, dtypes, strict=True)
    )


def _attention_call(
    group: Group, coordinate: Coordinate, row: Row, names: Mapping[str, str]
) -> OpInvocation | str:
    """Return a call that tells what the row tells, as keyword arguments named like attributes."""
    if row["operand_gaps"][0] != 0:
        return "query_missing"
    count = 2 if row["operand_gaps"][1:2] == [0] else 1
    tensors = zip(row["operand_shapes"][:count], row["operand_dtypes"][:count], strict=True)
    kwargs: dict[str, Any] = {"avg_seq_len": row["avg_seq_len"]}
    kwargs |= {name: row[name] for name in _INTEGERS if row[name] is not None}
    kwargs |= {name: row[name].lower() for name in ("phase",) if row[name] is not None}
    kwargs |= {name: row[name] for name in _TEXTS if name != "phase" and row[name] is not None}
    if group.fields.get("has_batch"):
        kwargs["batch_size"] = int(coordinate[_BATCH])
    return OpInvocation("", tuple(Tensor(tuple(s), names[d]) for s, d in tensors), kwargs)
