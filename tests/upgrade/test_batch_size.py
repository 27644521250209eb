"""``Runtime batch_size`` is derived where a row proves it, and never otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upgrade_support import table

from sqlinterp.demo import write_demo
from sqlinterp.upgrade.changes import Facts
from sqlinterp.upgrade.enrichment import BATCH_SIZE, add_batch_size, batch_size
from sqlinterp.upgrade.table import Table, read_table

TND = '"12,4,128;12,1,128;12,1,128"'
PAGED = '"16,4,128;99,128,128;99,128,128;;;16;16;;;;;;;;16,512;;"'

# Input Shapes, input_layout, lengths shape, lengths values, block table shape.
PROVEN = {
    "one token of every request": (('"5,16,1,512;9,1,128,512"', "", "", "", ""), "5"),
    "with its layout": (('"5,16,1,512"', "BNSD_NBSD", "", "", ""), "5"),
    "one request": (('"1,16,1,512"', "BNSD", "1", "4096", ""), "1"),
    "offsets": ((TND, "TND", "3", "2,7,12", ""), "3"),
    "offsets without their shape": ((TND, "TND", "", "2,7,12", ""), "3"),
    "offsets with blanks": ((TND, "", "3", " 2, 7 ,12 ", ""), "3"),
    "offsets of a flat query": (('"12,512;12,128"', "TND", "2", "5,12", ""), "2"),
    "shape confirmed by the block table": ((TND, "TND", "3", "", "3,40"), "3"),
    "shape confirmed by the slot of the block table": ((PAGED, "TND", "16", "", ""), "16"),
}
OPEN = {
    "no lengths": ((TND, "TND", "", "", ""), "no sequence lengths"),
    "single value": ((TND, "TND", "1", "12", ""), "single"),
    "single value without shape": ((TND, "TND", "", "12", ""), "single"),
    "single entry": ((TND, "TND", "1", "", "1,40"), "single"),
    "shape alone": ((TND, "TND", "3", "", ""), "confirm"),
    "shape unlike the block table": ((TND, "TND", "3", "", "4,40"), "confirm"),
    "shape of rank 2": ((TND, "TND", "3,2", "", "3,40"), "confirm"),
    "lengths, no offsets": ((TND, "TND", "3", "4,4,4", ""), "offsets"),
    "padded offsets": ((TND, "TND", "4", "2,7,12,12", ""), "offsets"),
    "offsets of other tokens": ((TND, "TND", "3", "2,7,11", ""), "offsets"),
    "first request without tokens": ((TND, "TND", "3", "0,7,12", ""), "offsets"),
    "shape unlike the values": ((TND, "TND", "4", "2,7,12", ""), "contradict"),
    "query unlike the values": (('"5,16,1,512"', "BNSD", "3", "1,2,3", ""), "contradict"),
    "several tokens": (('"5,16,2,512"', "BNSD", "", "", ""), "no sequence lengths"),
    "a query of 4 dims that is called TND": (('"5,16,1,512"', "TND", "", "", ""), "lengths"),
    "no query": (("", "", "3", "1,2,3", ""), "offsets"),
    "words": ((TND, "TND", "[3]", "a;b", ""), "no sequence lengths"),
}


@pytest.mark.parametrize("case", PROVEN)
def test_a_proven_batch(case: str) -> None:
    cells, expected = PROVEN[case]
    assert batch_size(*cells) == (expected, "")


@pytest.mark.parametrize("case", OPEN)
def test_an_open_batch_has_a_reason(case: str) -> None:
    cells, reason = OPEN[case]
    value, why = batch_size(*cells)
    assert value == ""
    assert reason in why


@given(st.integers(1, 10**6))
def test_a_single_length_is_never_a_batch(length: int) -> None:
    query = f'"{length},4,128;{length},1,128"'
    for shape in ("", "1", str(length)):
        assert batch_size(query, "TND", shape, str(length), "")[0] == ""


def test_a_column_without_any_value_is_not_added() -> None:
    some = table("FusedInferAttentionScore", Input_Shapes=(TND, TND))
    after, change = add_batch_size(some, Facts())
    assert after is some
    assert [(blank.column, blank.count) for blank in change.blanks] == [(BATCH_SIZE, 2)]


def test_a_value_that_is_there_is_kept() -> None:
    shapes = ('"5,16,1,512"', '"5,16,1,512"')
    some = table("FusedInferAttentionScore", Input_Shapes=shapes, Runtime_batch_size=("7", ""))
    after, change = add_batch_size(some, Facts())
    assert after.column(BATCH_SIZE) == ("7", "5")
    assert [fill.line for fill in change.filled] == [3]


def test_other_kernels_have_no_batch() -> None:
    some = table("Transpose", Input_Shapes=('"5,16,1,512"',))
    assert add_batch_size(some, Facts())[0] is some


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, scale=0.05)
    return next(folder.rglob("SparseFlashAttention.csv")).parent


@pytest.mark.parametrize("kernel", ["SparseFlashAttention", "LightningIndexer"])
def test_the_batch_of_generated_scenes_is_found_again(demo: Path, kernel: str) -> None:
    known, _ = read_table(demo / f"{kernel}.csv")
    truth = known.column(BATCH_SIZE)
    header = [name for name in known.header if name != BATCH_SIZE]
    after, change = add_batch_size(known.arranged(header), Facts())
    found = after.column(BATCH_SIZE)
    assert all(value in ("", true) for value, true in zip(found, truth, strict=True))
    assert {true for value, true in zip(found, truth, strict=True) if not value} <= {"1"}
    assert len(change.filled) > len(truth) / 2


def test_the_batch_of_generated_attention_is_the_number_of_lengths(demo: Path) -> None:
    some, _ = read_table(demo / "FusedInferAttentionScore.csv")
    after, change = add_batch_size(some, Facts())
    lengths = some.column("Runtime actual_seq_lengths_kv_values")
    assert len(change.filled) > 10
    for found, values in zip(_filled(after), lengths, strict=True):
        assert not found or int(found) == len(values.split(","))


def _filled(some: Table) -> tuple[str, ...]:
    return some.column(BATCH_SIZE)
