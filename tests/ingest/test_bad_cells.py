"""Cells that make a row unusable, or only a column of it."""

from __future__ import annotations

from csv_folders import HEADER, Folder, line, text

AVERAGE, PROFILING = "Average Duration(us)", "Profiling Average Duration(us)"
EP_HEADER = HEADER + ",EP Size"


def test_a_bad_input_shape_rejects_the_row(folder: Folder) -> None:
    cells = ["N/A", "16,x", "16,-1", "16,,1", "16.5,2", "1" * 13, "16,16\uff1b8"]
    outcome = folder.load(text(line(), *map(line, cells), line()))
    lines = range(3, 3 + len(cells))
    assert outcome.rejected == [(place, "Input Shapes", "malformed_shape") for place in lines]
    assert outcome.counts == (9, 2, 7, 0)


def test_a_blank_shape_cell_rejects_the_row(folder: Folder) -> None:
    lines = [line().replace('"""16,16"""', cell, 1) for cell in ("", '""', "   ", '""""""')]
    outcome = folder.load(text(line(), *lines))
    assert outcome.rejected == [(place, "Input Shapes", "blank_shape") for place in range(3, 7)]
    assert outcome.counts == (5, 1, 4, 0)


def test_a_malformed_output_shape_keeps_the_row(folder: Folder) -> None:
    outcome = folder.load(text(line(), line(out='"""N/A"""')))
    assert outcome.counts == (2, 2, 0, 0)
    assert outcome.issues == [(3, "Output Shapes", "malformed_shape")]
    assert outcome.stored("output_shapes") == [([[16, 16]],), (None,)]


BAD_LATENCIES = {
    "-1.5": "latency_negative",
    "nan": "latency_not_finite",
    "NaN": "latency_not_finite",
    "inf": "latency_not_finite",
    "-inf": "latency_not_finite",
    "1e999": "latency_not_finite",
    "fast": "latency_not_a_number",
    "12 us": "latency_not_a_number",
}


def test_a_bad_latency_rejects_a_row_that_has_no_other(folder: Folder) -> None:
    outcome = folder.load(text(*(line(average=cell, profiling="") for cell in BAD_LATENCIES)))
    reasons = enumerate(BAD_LATENCIES.values(), start=2)
    assert outcome.rejected == [(place, AVERAGE, reason) for place, reason in reasons]
    assert outcome.counts == (8, 0, 8, 0)


def test_a_bad_latency_beside_a_good_one_is_an_issue(folder: Folder) -> None:
    first = [line(average=cell, profiling="12") for cell in BAD_LATENCIES]
    second = [line(average="10", profiling=cell) for cell in BAD_LATENCIES]
    outcome = folder.load(text(*first, *second))
    reasons = list(BAD_LATENCIES.values())
    assert outcome.counts == (16, 16, 0, 0)
    assert outcome.issues == [
        *((place, AVERAGE, reason) for place, reason in enumerate(reasons, start=2)),
        *((place, PROFILING, reason) for place, reason in enumerate(reasons, start=10)),
    ]
    found = outcome.stored("latency_us, latency_column")
    assert found == [(12.0, PROFILING)] * 8 + [(10.0, AVERAGE)] * 8
    ((message,),) = folder.rows("select message from source_issue where line_number = 8")
    assert message.startswith(f'Bad.csv line 8, column {AVERAGE}: "fast" is ignored')


def test_a_row_without_any_latency_waits_for_one(folder: Folder) -> None:
    cells = ["", "0", "0.000000", "null", "N/A", " "]
    lines = [line(average=cell, profiling=cell) for cell in cells]
    outcome = folder.load(text(*lines, *(line(average=cell) for cell in cells)))
    assert outcome.counts == (12, 6, 0, 6)
    assert outcome.stored("latency_us, latency_column") == [(12.0, PROFILING)] * 6
    found = folder.rows("select kernel_type, line_number, input_shapes from unmeasured_row")
    assert sorted(found) == [("Bad", place, '"16,16"') for place in range(2, 8)]


def test_a_fractional_or_huge_ep_size_rejects_the_row(folder: Folder) -> None:
    cells = ["8.5", "eight", "9" * 11, "9" * 30, "0x8"]
    lines = [line() + f",{cell}" for cell in (*cells, "16", "8.0", "")]
    outcome = folder.load(text(*lines, header=EP_HEADER))
    assert outcome.rejected == [(place, "EP Size", "not_an_integer") for place in range(2, 7)]
    assert outcome.stored("line_number, ep_size") == [(7, 16), (8, 8), (9, None)]
    assert folder.rows("select cell from rejected_row order by line_number") == [
        (c,) for c in cells
    ]


def test_bad_counters_are_ignored_with_a_warning_that_names_the_files_own_header(
    folder: Folder,
) -> None:
    for kernel, name in (
        ("Old", "Average aicore_time(us)"),
        ("New", "Profiling Average aicore_time(us)"),
    ):
        outcome = folder.load(
            text(line() + ",abc", line() + ",inf", line() + ",nan", line() + ",5",
                 header=f"{HEADER},{name}"), kernel
        )  # fmt: skip
        assert outcome.counts == (4, 4, 0, 0)
        assert outcome.issues == [(2, name, "not_a_number"), (3, name, "not_a_number")]
    found = folder.rows("select profiling_aicore_time_us from hardware_counter order by row_id")
    assert found == [(None,), (None,), (None,), (5.0,)] * 2


def test_the_first_problem_of_a_row_is_its_reason(folder: Folder) -> None:
    bad = line("N/A", average="x", profiling="") + ",8.5"
    outcome = folder.load(text(bad, header=EP_HEADER))
    assert outcome.rejected == [(2, "Input Shapes", "malformed_shape")]
    assert outcome.counts == (1, 0, 1, 0)


def test_a_full_width_semicolon_in_formats_is_no_separator(folder: Folder) -> None:
    outcome = folder.load(text(line("8,8;8,8", dtypes="DT_BF16;DT_BF16", formats="ND\uff1bND")))
    assert outcome.counts == (1, 1, 0, 0)
    assert outcome.stored("input_formats") == [(["ND\uff1bND"],)]


def test_communication_rows_need_bytes_and_devices(folder: Folder) -> None:
    hccl = folder.root / "NPU" / "hccl" / "v8.5"
    hccl.mkdir(parents=True)
    header = "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps"
    rows = ["1024,8,DT_BF16,1,12.5,3", ",8,DT_BF16,1,12.5,3", "1024,8.5,DT_BF16,1,1,3",
            "1024,8,DT_BF16,1,-3,3", "1024,8,DT_BF16,1,0,3", "1024,8,DT_BF16,,9,"]  # fmt: skip
    (hccl / "hcom_allReduce_.csv").write_text(text(*rows, header=header))
    folder.ingest()
    rejected = folder.rows("select line_number, column_name, reason from rejected_row order by all")
    assert rejected == [
        (3, "message_bytes", "blank_cell"),
        (4, "num_devices", "not_an_integer"),
        (5, "Duration(us)", "latency_negative"),
    ]
    assert folder.rows("select line_number from unmeasured_row") == [(6,)]
