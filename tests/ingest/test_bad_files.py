"""Files that cannot be loaded, or only in part: a clear record, and the rest still loads."""

from __future__ import annotations

import shutil

from csv_folders import HEADER, Folder, line, text

GOOD_LINE = line("8,8")
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
REPEATED = HEADER + ",average duration(US)"


UNUSABLE: list[tuple[str | bytes, str, str]] = [
    (POINTER, "lfs_pointer", "git lfs pull"),
    (b"", "empty_file", "is empty"),
    (b" \r\n\t\n", "empty_file", "is empty"),
    (b"\xef\xbb\xbf", "empty_file", "is empty"),
    (text(GOOD_LINE).encode() + b"caf\xe9,\n", "not_utf8", "line 3 has the byte 0xe9"),
    (text(GOOD_LINE).encode() + b"a\0b\n", "not_text", "NUL bytes"),
    (text(GOOD_LINE + ",1", header=REPEATED), "header_invalid", "repeats 'Average Duration(us"),
    (text(GOOD_LINE + ",1", header=HEADER + ","), "header_invalid", "a column has no name"),
    (text("1", header="Input Shapes"), "header_invalid", "'Input Data Types' is missing"),
    (text("1,2", header="Input Shapes,Input Data Types"), "header_invalid", "no latency column"),
    (text(GOOD_LINE, header='"' + HEADER), "header_invalid", "no CSV header"),
    ("\n" + text(GOOD_LINE), "header_invalid", "line 1"),
]
IRREGULAR = {
    "dynamic,AI_CORE": "short_row",
    line() + ",more": "long_row",
    'dynamic,"AI_CORE,x' + ",1" * 8: "unterminated_quote",
    'dynamic,"AI_CORE"x",' + ",1" * 8 + '"': "malformed_quotes",
    '"' + "x" * 200_000 + '",1': "cell_too_long",
}


def test_an_unusable_file_says_why_and_the_rest_loads(folder: Folder) -> None:
    files = {f"Bad{place}": case[0] for place, case in enumerate(UNUSABLE)}
    outcomes = folder.load_all(files)
    for (kernel, outcome), (_, status, words) in zip(outcomes.items(), UNUSABLE, strict=True):
        assert outcome.status == status
        assert f"{kernel}.csv" in outcome.message
        assert words in outcome.message
        assert outcome.counts == (0, 0, 0, 0)
        assert outcome.issues == [(None, None, status)]


def test_a_broken_link_is_unreadable(folder: Folder) -> None:
    (folder.path / "Bad.csv").symlink_to(folder.path / "nowhere")
    summary = folder.ingest()
    assert summary.total("files_unusable") == 1
    assert "Bad.csv cannot be read" in summary.messages[0][2]


def test_a_linked_csv_is_read_under_its_own_name(folder: Folder) -> None:
    other = folder.root / "elsewhere.csv"
    other.write_text(text(GOOD_LINE))
    (folder.path / "Linked.csv").symlink_to(other)
    folder.ingest()
    assert folder.rows("select rows_stored from source_file where kernel_type = 'Linked'") == [(1,)]


def test_an_irregular_row_is_rejected_and_the_rows_after_it_load(folder: Folder) -> None:
    cases = {
        f"Bad{place}_{name}": (text(GOOD_LINE, row, line("4,4"), GOOD_LINE, end=end), reason)
        for place, (row, reason) in enumerate(IRREGULAR.items())
        for name, end in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r"))
    }
    outcomes = folder.load_all({kernel: content for kernel, (content, _) in cases.items()})
    for kernel, outcome in outcomes.items():
        assert outcome.rejected == [(3, None, cases[kernel][1])], kernel
        assert outcome.counts == (4, 3, 1, 0)
        assert outcome.stored("row_number, line_number") == [(1, 2), (3, 4), (4, 5)]


def test_two_irregular_rows_in_one_file_and_blank_lines_keep_the_lines_right(
    folder: Folder,
) -> None:
    outcome = folder.load(text(GOOD_LINE, "", "a,b", "   ", line("N/A"), '"', "", line("2,2")))
    assert outcome.rejected == [
        (4, None, "short_row"),
        (6, "Input Shapes", "malformed_shape"),
        (7, None, "unterminated_quote"),
    ]
    assert outcome.stored("row_number, line_number") == [(1, 2), (5, 9)]
    assert outcome.counts == (5, 2, 3, 0)


def test_irregular_files_of_one_header_do_not_disturb_each_other(folder: Folder) -> None:
    for number in range(6):
        lines = [line(f"{number + 1},{place}") for place in range(1, 40)]
        if number % 2:
            lines.insert(10, "short")
        folder.write(f"Kernel{number}", text(*lines))
    folder.ingest()
    for number in range(6):
        shift = number % 2
        found = folder.rows(
            "select line_number, input_shapes[1] from measurement"
            f" where kernel_type = 'Kernel{number}' order by row_id"
        )
        numbers = [place + 1 + (shift if place > 10 else 0) for place in range(1, 40)]
        expected = [[number + 1, place] for place in range(1, 40)]
        assert found == list(zip(numbers, expected, strict=True))


def test_marks_line_ends_and_missing_newlines_lose_nothing(folder: Folder) -> None:
    mark = b"\xef\xbb\xbf"
    lines = (GOOD_LINE, line("4,4"), line("2,2"))
    mixed = f"{HEADER}\r\n{lines[0]}\n{lines[1]}\r{lines[2]}\r\n"
    variants: dict[str, bytes] = {
        "Plain": text(*lines).encode(),
        "Once": mark + text(*lines).encode(),
        "Thrice": mark * 3 + text(*lines).encode(),
        "Crlf": text(*lines, end="\r\n").encode(),
        "Mixed": mixed.encode(),
        "Blank": text(lines[0], "", lines[1], "  ", lines[2], "", "").encode(),
        "Open": text(*lines).encode().rstrip(b"\n"),
        "OpenCrlf": text(*lines, end="\r\n").encode().rstrip(b"\r\n"),
    }
    for kernel, content in variants.items():
        folder.write(kernel, content)
    folder.ingest()
    expected = [([[8, 8]], 10.0), ([[4, 4]], 10.0), ([[2, 2]], 10.0)]
    for kernel in variants:
        query = "select input_shapes, latency_us from measurement where kernel_type = $k"
        found = folder.rows(query + " order by row_number", {"k": kernel})
        assert found == expected, kernel
    blank = "select line_number from measurement where kernel_type = 'Blank' order by all"
    assert folder.rows(blank) == [(2,), (4,), (6,)]
    issues = folder.rows("select reason, message from source_issue")
    assert issues == [("repeated_bom", "Thrice.csv starts with 3 byte order marks")]


def test_a_file_of_only_a_header_has_no_rows(folder: Folder) -> None:
    outcomes = folder.load_all({"None_": HEADER, "Lf": HEADER + "\n", "Crlf": HEADER + "\r\n"})
    for outcome in outcomes.values():
        assert outcome.status == "loaded"
        assert outcome.counts == (0, 0, 0, 0)


def test_a_cell_of_many_megabytes_is_read(folder: Folder) -> None:
    outcome = folder.load(text(GOOD_LINE, line(state="x" * 9_000_000), line("N" * 3_000_000)))
    assert outcome.counts == (3, 2, 1, 0)
    assert outcome.rejected == [(4, "Input Shapes", "malformed_shape")]
    assert outcome.stored("len(op_state)") == [(7,), (9_000_000,)]
    assert folder.rows("select len(cell) from rejected_row") == [(200,)]


def test_a_quoted_cell_keeps_its_commas_and_quotes(folder: Folder) -> None:
    outcome = folder.load(text(line(state='"a ""b"", c"'), line(state='""')))
    assert outcome.stored("op_state") == [('a "b", c',), (None,)]


def test_unknown_columns_are_kept(folder: Folder) -> None:
    header = HEADER + ",Zeta,file_id,filename,Min Duration(us)"
    outcome = folder.load(
        text(line() + ',"a ""q""",1,2,', "short", line("N/A") + ",,,,", header=header)
    )
    assert outcome.stored("extra_json") == [
        ('{"Zeta":"a \\"q\\"","file_id":"1","filename":"2","Min Duration(us)":null}',)
    ]
    assert outcome.counts == (3, 1, 2, 0)
    assert (None, None, "unknown_column") in outcome.issues


def test_two_headers_of_one_column_are_not_mixed(folder: Folder) -> None:
    header = HEADER + ",Profiling Average aicore_time(us),Average aicore_time(us)"
    outcome = folder.load(text(line() + ",3,4", header=header))
    assert outcome.stored("extra_json") == [('{"Average aicore_time(us)":"4"}',)]
    found = folder.rows("select profiling_aicore_time_us from hardware_counter")
    assert found == [(3.0,)]


def test_padded_header_names_are_known_and_reported(folder: Folder) -> None:
    outcome = folder.load(text(line(), header=HEADER.replace("OP State", " OP State ")))
    assert outcome.counts == (1, 1, 0, 0)
    assert outcome.issues == [(None, None, "padded_header")]


def test_folder_names_are_taken_literally(folder: Folder) -> None:
    names = ["v[1]", "v*", "v?", "v 1", "v'1", "ünï"]
    for name in names:
        shutil.copytree(folder.path, folder.path.parent / name)
    summary = folder.ingest()
    assert [version.rows_stored for version in summary.versions] == [2] * (len(names) + 1)


def test_a_file_of_irregular_rows_only_is_counted(folder: Folder) -> None:
    outcome = folder.load(text("short", '"'))
    assert outcome.counts == (2, 0, 2, 0)
    assert folder.rows("select max(row_id), max(signature_id) from measurement") == [(2, 2)]


def test_a_row_without_dtypes_is_stored_and_reported(folder: Folder) -> None:
    outcome = folder.load(text(line(dtypes="")))
    assert outcome.counts == (1, 1, 0, 0)
    assert outcome.issues == [(2, "Input Data Types", "dtype_count_mismatch")]
