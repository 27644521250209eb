"""Every step on its own: what it changes, what it keeps, and that a second time changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upgrade_support import BASE_CELLS, SAMPLE, csv_bytes, legacy_bytes, legacy_row, table

from sqlinterp.demo.columns import BASE8, COUNTERS, CURRENT62, LEGACY36, MINIMAL9
from sqlinterp.errors import SourceError, UsageError
from sqlinterp.ingestion.catalog import layout
from sqlinterp.ingestion.inspection import inspect_file
from sqlinterp.upgrade import STEPS
from sqlinterp.upgrade.changes import Facts
from sqlinterp.upgrade.enrichment import add_ep_size, fill_op_state
from sqlinterp.upgrade.layouts import PREFIXED36, layout_of, read_target
from sqlinterp.upgrade.plan import plan_file
from sqlinterp.upgrade.steps import (
    add_microbench_columns,
    prefix_profiling_columns,
    repair_bom,
    steps_to,
)
from sqlinterp.upgrade.table import Table, encode, read_table

NOTHING = Facts()
FILES = sorted(SAMPLE.rglob("*.csv"))


def parsed(tmp_path: Path, content: bytes, name: str = "Add.csv") -> Table:
    path = tmp_path / name
    path.write_bytes(content)
    return read_table(path)[0]


def cells(some: Table, name: str) -> tuple[str, ...]:
    assert name in some.header
    return some.column(name)


def test_steps_are_numbered_in_order() -> None:
    numbers = [step.name.split("_")[0] for step in STEPS]
    assert numbers == [f"{number:03}" for number in range(1, len(STEPS) + 1)]
    assert [step.name for step in steps_to("current62")] == [step.name for step in STEPS]
    assert steps_to("prefixed36") == STEPS[:3]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_shipped_file_keeps_its_bytes_and_each_step_runs_once(path: Path) -> None:
    some, content = read_table(path)
    assert encode(some) == content
    detected = layout(inspect_file(path, {}))
    assert layout_of(some.header) == detected
    for step in steps_to("current62"):
        some, _ = step.run(some, NOTHING)
        assert step.run(some, NOTHING)[0] is some
    if detected == "legacy36":
        assert some.header[:62] == CURRENT62


def test_legacy_columns_are_renamed_in_place(tmp_path: Path) -> None:
    before = parsed(tmp_path, legacy_bytes(legacy_row("12.5"), legacy_row("")))
    after, change = prefix_profiling_columns(before, NOTHING)
    assert after.header == PREFIXED36
    assert after.rows == before.rows
    assert len(change.renamed) == 28 and not change.added
    assert dict(change.renamed)["Average Duration(us)"] == "Profiling Average Duration(us)"


def test_microbench_columns_are_blank_and_in_documented_order(tmp_path: Path) -> None:
    middle, _ = prefix_profiling_columns(parsed(tmp_path, legacy_bytes()), NOTHING)
    after, change = add_microbench_columns(middle, NOTHING)
    assert after.header == CURRENT62
    assert len(change.added) == 26
    for name in change.added:
        assert cells(after, name) == ("",)
    for name in PREFIXED36:
        assert cells(after, name) == cells(middle, name)


def test_a_legacy_file_without_median_is_completed(tmp_path: Path) -> None:
    header = [name for name in LEGACY36 if name != "Median Duration(us)"]
    row = [cell for name, cell in zip(LEGACY36, legacy_row(), strict=True) if name in header]
    after, change = prefix_profiling_columns(parsed(tmp_path, csv_bytes(header, row)), NOTHING)
    assert after.header == PREFIXED36
    assert change.added == ("Profiling Median Duration(us)",)


def test_other_columns_stay_behind_the_documented_ones(tmp_path: Path) -> None:
    names = ("avg_seq_len", "MicroBench Duration(us)", "Site")
    content = csv_bytes([*LEGACY36, *names], [*legacy_row(), "4096", "3.5", "x"])
    some = parsed(tmp_path, content)
    assert layout_of(some.header) == "legacy36"
    for step in steps_to("current62"):
        some, _ = step.run(some, NOTHING)
    assert some.header == (*CURRENT62, *names)
    assert some.rows[0][-3:] == ("4096", "3.5", "x")


def test_a_current_file_that_lacks_columns_is_completed(tmp_path: Path) -> None:
    header = [*BASE8, "Average Duration(us)", "Profiling Average Duration(us)"]
    some = parsed(tmp_path, csv_bytes(header, [*BASE_CELLS, "3", "4"]))
    after, change = add_microbench_columns(some, NOTHING)
    assert after.header == CURRENT62
    assert len(change.added) == 52
    assert cells(after, "Average Duration(us)") == ("3",)


def test_missing_descriptions_of_the_operator_are_not_added(tmp_path: Path) -> None:
    header = [name for name in LEGACY36 if name not in ("OP State", "Output Formats")]
    row = [cell for name, cell in zip(LEGACY36, legacy_row(), strict=True) if name in header]
    some = parsed(tmp_path, csv_bytes(header, row))
    for step in steps_to("current62"):
        some, _ = step.run(some, NOTHING)
    assert set(CURRENT62) - set(some.header) == {"OP State", "Output Formats"}


def test_a_minimal_file_keeps_its_columns(tmp_path: Path) -> None:
    some = parsed(tmp_path, csv_bytes(MINIMAL9, [*BASE_CELLS, "3"]))
    for step in steps_to("current62"):
        assert step.run(some, NOTHING)[0] is some


@pytest.mark.parametrize("newer", ["Profiling Std Duration(us)", f"MicroBench {COUNTERS[0]}"])
def test_a_header_of_two_layouts_is_refused(tmp_path: Path, newer: str) -> None:
    path = tmp_path / "Add.csv"
    path.write_bytes(csv_bytes([*LEGACY36, newer], [*legacy_row(), "1"]))
    report = plan_file(path, "current62", NOTHING, None).report
    assert report.outcome == "left alone"
    assert newer in report.reason and "Median Duration(us)" in report.reason


@pytest.mark.parametrize("count", [0, 1])
def test_up_to_one_byte_order_mark_is_kept(tmp_path: Path, count: int) -> None:
    some = parsed(tmp_path, b"\xef\xbb\xbf" * count + legacy_bytes())
    assert some.bom_count == count
    assert repair_bom(some, NOTHING)[0] is some


def test_several_byte_order_marks_become_one(tmp_path: Path) -> None:
    body = legacy_bytes()
    after, change = repair_bom(parsed(tmp_path, b"\xef\xbb\xbf" * 3 + body), NOTHING)
    assert encode(after) == b"\xef\xbb\xbf" + body
    assert change.other == (("byte order marks", "3", "1"),)


def test_only_blank_states_are_filled() -> None:
    before = table("Add", OP_State=("", "dynamic", "  ", "static"))
    after, change = fill_op_state(before, NOTHING)
    assert after.column("OP State") == ("static", "dynamic", "static", "static")
    assert [fill.line for fill in change.filled] == [2, 4]


def test_a_missing_state_column_is_not_added() -> None:
    before = table("Add", Input_Shapes=("1",))
    assert fill_op_state(before, NOTHING)[0] is before


def test_ep_size_is_filled_only_with_what_was_given() -> None:
    before = table("DispatchFFNCombine", EP_Size=("8", ""))
    same, change = add_ep_size(before, NOTHING)
    assert same is before
    assert [(blank.column, blank.count) for blank in change.blanks] == [("EP Size", 1)]
    after, change = add_ep_size(before, Facts(ep_size=16))
    assert after.column("EP Size") == ("8", "16")
    assert not change.blanks


def test_ep_size_is_no_column_of_other_kernels_and_never_a_blank_one() -> None:
    other, fused = table("Add", A_b=("1",)), table("DispatchFFNCombine", A_b=("1",))
    assert add_ep_size(other, Facts(ep_size=16))[0] is other
    assert add_ep_size(fused, NOTHING)[0] is fused
    after, change = add_ep_size(fused, Facts(ep_size=16))
    assert after.header == ("A b", "EP Size") and change.added == ("EP Size",)


def test_unknown_targets_are_refused_with_the_known_ones() -> None:
    assert read_target("latest") == "current62"
    for name in ("legacy36", "", None):
        with pytest.raises(UsageError, match="prefixed36, current62 or latest"):
            read_target(name)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n", "Git-LFS"),
        (b"", "empty"),
        (legacy_bytes().replace(b"dynamic", b"dyn\xe4mic"), "save it as UTF-8"),
        (legacy_bytes() + b"1,2\r\n", "line 3 .short row"),
        (legacy_bytes() + b'"1,2\r\n', "line 3 .unterminated quote"),
        (csv_bytes([*LEGACY36, "OP State"], [*legacy_row(), ""]), "repeats"),
        (csv_bytes(["Average Duration(us)"], ["1"]), "'Input Shapes' is missing"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        parsed(tmp_path, content)


CELL = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\r\n\0\x85\u2028\u2029\ufeff"),
    max_size=12,
)


@given(st.lists(st.lists(CELL, min_size=28, max_size=28), max_size=4))
def test_no_cell_is_changed_or_lost_on_the_way(rows: list[list[str]]) -> None:
    full = tuple((*BASE_CELLS, *row) for row in rows)
    before = Table("Add", LEGACY36, full, tuple(range(2, len(full) + 2)))
    after = before
    for step in steps_to("current62"):
        after, _ = step.run(after, NOTHING)
    names = dict(zip(LEGACY36, PREFIXED36, strict=True))
    for old, new in names.items():
        assert after.column(new) == before.column(old)
