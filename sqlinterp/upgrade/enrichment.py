"""Steps that fill cells which follow from other cells of the same row, and no others.

What a row does not prove stays blank. That concerns most of the ``Runtime`` columns: shapes do not
tell the sparse mode, the phase or the quantisation that a kernel ran with.
"""

from __future__ import annotations

import re

from sqlinterp.upgrade.changes import Change, Facts, fill_column
from sqlinterp.upgrade.table import Table

OP_STATE = "OP State"
EP_SIZE = "EP Size"
BATCH_SIZE = "Runtime batch_size"
_FUSED_MOE = "DispatchFFNCombine"
_ATTENTION = ("FusedInferAttentionScore", "SparseFlashAttention", "LightningIndexer")
_SHAPE = re.compile(r"\d+(,\d+)*")
_BLOCK_TABLE_SLOT = 14

_NO_LENGTHS = "the query is not (B, N, 1, D) and the row has no sequence lengths"
_SINGLE = "a single sequence length may be a length as well as a count"
_NO_VALUES = "the shape of the sequence lengths has neither values nor a block table to confirm it"
_NOT_OFFSETS = "the sequence lengths are not offsets that rise to the number of query tokens"
_CONTRADICTION = "two cells of the row contradict each other"
_EP_UNKNOWN = "the file does not say how many ranks the experts were spread over; give --ep-size"


def fill_op_state(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Fill blank cells of ``OP State`` with ``static``, as the owners of the layout did."""
    if OP_STATE not in table.header:
        return table, Change()
    return fill_column(table, OP_STATE, [("static", "")] * len(table.rows))


def add_ep_size(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Fill ``EP Size`` of fused MoE rows with what the owner of the files states.

    The rows hold the experts of one rank. The number of all experts is in no file of the kernel,
    and the gating kernel beside it may belong to another model, so nothing is concluded from it.
    """
    if table.kernel != _FUSED_MOE:
        return table, Change()
    value = ("", _EP_UNKNOWN) if facts.ep_size is None else (str(facts.ep_size), "")
    return fill_column(table, EP_SIZE, [value] * len(table.rows))


def add_batch_size(table: Table, facts: Facts) -> tuple[Table, Change]:
    """Fill ``Runtime batch_size`` of attention rows that prove how many requests they hold."""
    if table.kernel not in _ATTENTION:
        return table, Change()
    names = (
        "Input Shapes",
        "Runtime input_layout",
        "Runtime actual_seq_lengths_shape",
        "Runtime actual_seq_lengths_values",
        "Runtime block_table_shape",
    )
    columns = [table.column(name) for name in names]
    return fill_column(table, BATCH_SIZE, [batch_size(*row) for row in zip(*columns, strict=True)])


def batch_size(
    input_shapes: str, layout: str, length_shape: str, length_values: str, block_table: str
) -> tuple[str, str]:
    """Return the number of requests of an attention row, or why it is not known.

    Parameters
    ----------
    input_shapes, layout, length_shape, length_values, block_table : str
        Cells of the columns that :func:`add_batch_size` names.

    Returns
    -------
    tuple of str
        The value and a blank reason, or a blank value and the reason.

    Examples
    --------
    >>> batch_size('"5,16,1,512;892,1,128,512"', "", "", "", "")
    ('5', '')
    >>> batch_size('"512,4,128;512,1,128"', "TND", "1", "512", "")[0]
    ''
    """
    slots = [_dims(slot) for slot in input_shapes.strip().strip('"').split(";")]
    query, shape, values = slots[0], _dims(length_shape), _dims(length_values)
    if len(query) == 4 and query[2] == 1 and layout.strip()[:4] in ("", "BNSD"):
        # (B, N, 1, D): one token of every request.
        agrees = len(values) < 2 or len(values) == query[0]
        return (str(query[0]), "") if agrees else ("", _CONTRADICTION)
    if not values:
        slot = slots[_BLOCK_TABLE_SLOT] if len(slots) > _BLOCK_TABLE_SLOT else ()
        return _confirmed_count(shape, _dims(block_table) or slot)
    if len(values) == 1:
        return "", _SINGLE
    if shape not in ((), (len(values),)):
        return "", _CONTRADICTION
    return _offset_count(query, values)


def _confirmed_count(shape: tuple[int, ...], table: tuple[int, ...]) -> tuple[str, str]:
    """Return how many entries the lengths have, if the block table has one row for each."""
    if not shape:
        return "", _NO_LENGTHS
    if shape == (1,):
        return "", _SINGLE
    if len(shape) == 1 and len(table) == 2 and shape[0] == table[0]:
        return str(shape[0]), ""
    return "", _NO_VALUES


def _offset_count(query: tuple[int, ...], values: tuple[int, ...]) -> tuple[str, str]:
    """Return how many requests cumulative offsets separate.

    The query is (T, N, D) or (T, N * D), T tokens of all requests one after the other. An offset
    that does not rise is the padding of a fixed batch, so that the count would be too high.
    """
    rises = all(low < high for low, high in zip((0, *values), values, strict=False))
    if len(query) in (2, 3) and rises and values[-1] == query[0]:
        return str(len(values)), ""
    return "", _NOT_OFFSETS


def _dims(cell: str) -> tuple[int, ...]:
    """Return the integers of a cell, empty when it holds anything else."""
    text = cell.strip().strip('"').replace(" ", "")
    return tuple(map(int, text.split(","))) if _SHAPE.fullmatch(text) else ()
