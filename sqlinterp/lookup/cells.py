"""Targets as the cells that paths read: once per kernel and spelling of their dtypes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.operands import Operands, as_half_precision_brain
from sqlinterp.lookup.plan import Candidate, Plan, Target
from sqlinterp.paths import Path

Row = dict[str, Any]


class Cell(NamedTuple):
    """The target of a plan, in one spelling, as rows of a kernel.

    Attributes
    ----------
    limit : int
        Operands that the rows of its regimes are cut to, 0 for none.
    distance : int
        0 for the true dtype, 1 when FLOAT16 is answered by DT_BF16 rows.
    operands : Operands
        Those of the target in the spelling.
    """

    number: int
    candidate: Candidate
    target: Target
    limit: int
    distance: int
    operands: Operands


def cells_of(catalog: Catalog, path: Path, plans: Mapping[int, Plan]) -> Iterator[Cell]:
    """Yield the cells of plans, kernel by kernel."""
    for number, plan in plans.items():
        target = plan.seen
        spelled = _spellings(catalog, target, path)
        for candidate in plan.candidates:
            limit = catalog.regime_limit(candidate.kernel.file_id, path.name, plan.input_limit)
            for distance, operands in spelled:
                yield Cell(number, candidate, target, limit, distance, operands)


def texts_of(catalog: Catalog, cells: Iterable[Cell]) -> dict[str, str]:
    """Return cells as statements take them, ``item_id`` being the place of each.

    Kernel, dtypes and gaps are those of most cells of a batch, so they are told once for each kind.
    """
    targets: list[Row] = []
    kinds: list[Row] = []
    known: dict[tuple[Any, ...], int] = {}
    for place, cell in enumerate(cells):
        key = _kind_key(cell)
        kind = known.get(key)
        if kind is None:
            kind = known[key] = len(kinds)
            kinds.append(_kind(catalog, cell))
        target, kernel = cell.target, cell.candidate.kernel.kernel_type
        targets.append(
            {
                "item_id": place,
                "kind": kind,
                "operand_shapes": cell.operands.shapes,
                "output_shapes": [tensor.shape for tensor in target.outputs],
                **target.enrichment,
                **target.kernel_enrichment.get(kernel, {}),
            }
        )
    return {"targets": json.dumps(targets), "kinds": json.dumps(kinds)}


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


def _kind_key(cell: Cell) -> tuple[Any, ...]:
    """Return what decides the kind of a cell, told faster than the kind itself."""
    kernel, outputs = cell.candidate.kernel, [t.dtype for t in cell.target.outputs]
    own = (kernel.file_id, cell.limit, cell.distance, cell.operands.dtypes, cell.operands.gaps)
    return (*own, *outputs)


def _kind(catalog: Catalog, cell: Cell) -> Row:
    """Return what a cell has in common with others of its kernel and dtypes."""
    kernel = cell.candidate.kernel
    outputs = [catalog.dtype(t.dtype) or t.dtype for t in cell.target.outputs]
    if cell.distance:
        outputs = ["DT_BF16" if dtype == "FLOAT16" else dtype for dtype in outputs]
    return {
        "file_id": kernel.file_id,
        "kernel_type": kernel.kernel_type,
        "input_limit": cell.limit,
        "is_batched": catalog.trait(kernel.kernel_type).is_batched,
        "operand_dtypes": cell.operands.dtypes,
        "operand_gaps": cell.operands.gaps,
        "output_dtypes": outputs,
    }
