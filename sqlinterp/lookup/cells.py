"""Targets as the cells that paths read: once per kernel and spelling of their dtypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Operands, as_half_precision_brain
from sqlinterp.lookup.plan import Candidate, Plan, Target
from sqlinterp.paths import Path

Row = dict[str, Any]


class Wanted(NamedTuple):
    """What a cell stands for: the target of a plan, in one spelling, as rows of a kernel.

    Attributes
    ----------
    distance : int
        0 for the true dtype, 1 when FLOAT16 is answered by DT_BF16 rows.
    """

    number: int
    candidate: Candidate
    distance: int
    target: Target


def cells_of(
    catalog: Catalog, path: Path, plans: Mapping[int, Plan]
) -> tuple[list[Wanted], list[Row]]:
    """Return what is wanted, and as many cells, whose ``item_id`` is its place in the list."""
    wanted: list[Wanted] = []
    cells: list[Row] = []
    for number, plan in plans.items():
        target = plan.seen
        spelled = _spellings(catalog, target, path)
        for candidate in plan.candidates:
            limit = catalog.regime_limit(candidate.kernel.file_id, path.name, plan.input_limit)
            for distance, operands in spelled:
                cell = _cell(catalog, target, candidate, (distance, operands))
                cells.append({"item_id": len(wanted), "input_limit": limit, **cell})
                wanted.append(Wanted(number, candidate, distance, target))
    return wanted, cells


def _spellings(catalog: Catalog, target: Target, path: Path) -> list[tuple[int, Operands]]:
    """Return the operands as they are, without gaps, and with FLOAT16 read as DT_BF16."""
    operands, spelled = target.operands, [(0, target.operands)]
    half = as_half_precision_brain(operands)
    if half is None and any(catalog.dtype(t.dtype) == "FLOAT16" for t in target.outputs):
        half = operands  # only the results are FLOAT16
    if half is not None and not path.is_dtype_strict:
        spelled.append((1, half))
    plain = [
        (distance, Operands(o.shapes, o.dtypes, (0,) * len(o.shapes)))
        for distance, o in spelled
        if o.has_gaps
    ]
    return spelled + plain


def _cell(
    catalog: Catalog, target: Target, candidate: Candidate, spelling: tuple[int, Operands]
) -> Row:
    distance, operands = spelling
    results = target.outputs
    outputs = [catalog.dtype(t.dtype) or t.dtype for t in results]
    if distance:
        outputs = ["DT_BF16" if dtype == "FLOAT16" else dtype for dtype in outputs]
    return {
        "file_id": candidate.kernel.file_id,
        "kernel_type": candidate.kernel.kernel_type,
        "is_batched": catalog.trait(candidate.kernel.kernel_type).is_batched,
        "operand_shapes": operands.shapes,
        "operand_dtypes": operands.dtypes,
        "operand_gaps": operands.gaps,
        "output_shapes": [t.shape for t in results],
        "output_dtypes": outputs,
        **target.enrichment,
        **target.kernel_enrichment.get(candidate.kernel.kernel_type, {}),
    }
