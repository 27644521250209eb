"""The view of attention axes: counts worked out by hand, and equal to what the path can place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import write_version
from lookup.attention_support import ATTENTION, KERNEL, file_of, row, shaped

import sqlinterp

COLUMNS = ("q_tokens_rows", "seq_rows", "batch_rows", "heads_rows", "head_dim_rows")


def lengths(shape: str, values: str) -> dict[str, Any]:
    """Cells that tell the lengths of a batch."""
    return {"runtime_actual_seq_lengths_shape": shape, "runtime_actual_seq_lengths_values": values}


ROWS = {
    # rows -> which of q_tokens, seq, batch, heads, head_dim can be told
    "batch recorded": (row(1, runtime_batch_size=4), (1, 1, 1, 1, 1)),
    "batch unknown": (row(2), (1, 1, 0, 1, 1)),
    "four dims": (shaped(3, 1024, (16, 8, 1, 128)), (1, 1, 1, 1, 1)),
    "four dims, two tokens each": (shaped(4, 1024, (16, 8, 2, 128)), (0, 1, 0, 0, 0)),
    "two dims": (shaped(5, 1024, (16, 1024)), (1, 1, 0, 1, 1)),
    "two dims that do not split": (shaped(6, 1024, (16, 1000)), (1, 1, 0, 0, 0)),
    "cumulative lengths": (row(7, **lengths("4", "4,8,12,16")), (1, 1, 1, 1, 1)),
    "one length that is a context": (row(8, **lengths("1", "4096")), (1, 1, 0, 1, 1)),
    "a count in the wrong place": (row(9, **lengths("16", "16")), (1, 1, 0, 1, 1)),
    "no length": (row(10, ""), (1, 0, 0, 1, 1)),
    "unknown length": (row(11, -1), (1, 0, 0, 1, 1)),
    "no query": ({**row(12), "Input Shapes": ";64,128,2,128"}, (0, 1, 0, 0, 0)),
}


def view_of(folder: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The view of a version with the rows and a second kernel that has no file."""
    operators = {
        ATTENTION: {"kernel_type": KERNEL, "query_mode": "attention_special"},
        "x.other.default": {"kernel_type": "Other", "query_mode": "attention_special"},
    }
    write_version(folder / "v", {f"{KERNEL}.csv": file_of(rows)}, operators)
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    with sqlinterp.open(folder / "p.duckdb") as database:
        frame = database.sql("select * from attention_axis_derivability").df()
    records: list[dict[str, Any]] = frame.to_dict("records")
    return records


@pytest.mark.parametrize("name", ROWS)
def test_which_axes_a_row_tells(tmp_path: Path, name: str) -> None:
    cells, expected = ROWS[name]
    view = view_of(tmp_path, [cells])
    assert [record["kernel_type"] for record in view] == [KERNEL, "Other"]
    assert tuple(view[0][column] for column in COLUMNS) == expected
    assert (view[0]["row_count"], view[0]["file_name"]) == (1, f"{KERNEL}.csv")


def test_a_kernel_without_a_file_has_no_rows(tmp_path: Path) -> None:
    other = view_of(tmp_path, [row(1)])[1]
    assert other["row_count"] == 0 and all(other[column] == 0 for column in COLUMNS)


def test_the_counts_add_up_to_what_the_path_places(tmp_path: Path) -> None:
    view = view_of(tmp_path, [cells for cells, _ in ROWS.values()])[0]
    totals = [sum(flags) for flags in zip(*(flags for _, flags in ROWS.values()), strict=True)]
    assert [view[column] for column in COLUMNS] == totals
    query = (
        "select regime_key ->> '$.has_batch' = 'true', sum(measurement_count)::int from regime"
        " where path = 'attention_special' group by 1 order by 1"
    )
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        placed = dict(database.sql(query).fetchall())
    complete = [flags for _, flags in ROWS.values() if flags[0] and flags[1] and flags[3]]
    with_batch = sum(flags[2] for flags in complete)
    assert placed == {True: with_batch, False: len(complete) - with_batch}


def test_a_bare_column_counts_where_there_is_no_other(tmp_path: Path) -> None:
    old = {**row(1), "avg_seq_len": 512}
    del old["Runtime avg_seq_len"]
    assert view_of(tmp_path / "a", [old])[0]["seq_rows"] == 1
    both = {**row(1, ""), "avg_seq_len": 512}
    assert view_of(tmp_path / "b", [both])[0]["seq_rows"] == 0
