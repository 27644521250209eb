"""Calls of every operator whose lookups are portable: as measured, and beside what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from databases_for_tests import call, rows_of, tensor

TORCH = {
    "DT_BF16": "bfloat16",
    "FLOAT16": "float16",
    "FLOAT": "float32",
    "INT8": "int8",
    "INT32": "int32",
    "INT64": "int64",
}
ROWS = (
    "select distinct o.operator, operand_shapes, operand_dtypes, output_shapes, output_dtypes"
    " from op_mapping as o join profile_version as v using (version_id)"
    " join measurement as m on m.version_id = o.version_id and m.kernel_type = o.kernel_type"
    " where v.version_key like '%' || '{version}' and o.dispatch in"
    " ('compute', 'compute_scale', 'quantized_matmul', 'elementwise')"
    " qualify row_number() over (partition by o.operator order by m.row_id) <= {most}"
    " order by all"
)
# What is done to the largest first dim: nothing, between, beyond, and a size that pads.
CHANGES = (lambda m: m, lambda m: m + 3, lambda m: 3 * m // 2 + 1, lambda m: 64 * m)


def portable_calls(database: Path, version: str, most: int = 4) -> list[dict[str, Any]]:
    """Calls like the rows of each operator, in several sizes, with and without results."""
    found: list[dict[str, Any]] = []
    for operator, *slots in rows_of(database, ROWS.format(version=version, most=most)):
        if any(dtype not in TORCH for dtypes in slots[1::2] for dtype in dtypes or ()):
            continue
        own = [_call(operator, slots, change) for change in CHANGES]
        found += own
        found.append({**own[1], "outputs": []})
    return [one for place, one in enumerate(found) if one not in found[:place]]


def _call(operator: str, slots: list[Any], change: Any) -> dict[str, Any]:
    inputs, input_dtypes, outputs, output_dtypes = slots
    size = inputs[0][0] if inputs and inputs[0] else 0
    sides = []
    for shapes, dtypes in ((inputs, input_dtypes), (outputs, output_dtypes)):
        pairs = [pair for pair in zip(shapes or (), dtypes or (), strict=False) if pair[0]]
        sides.append(
            [
                tensor(*(change(d) if d == size else d for d in shape), dtype=TORCH[dtype])
                for shape, dtype in pairs
            ]
        )
    return call(operator, *sides[0], outputs=sides[1])
