"""Whatever bytes a CSV holds: no traceback, every row has one end, and no number is invented."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from operator import itemgetter
from pathlib import Path

import pytest
from databases_for_tests import matmul_call
from fuzz_support import KERNELS, check_stored, fuzzing, ingest, read_every_view
from hypothesis import given
from hypothesis import strategies as st

import sqlinterp
from sqlinterp.resources import resource_folder

SAMPLE_FOLDER = next(resource_folder("databases").glob("*/vllm_ascend/vllm0.18*"))
SAMPLE = [
    (path.stem, list(csv.reader(path.read_text("utf-8-sig").splitlines())))
    for path in sorted(SAMPLE_FOLDER.glob("*.csv"))
]
CALLS = [matmul_call(m, 64, 32) for m in (8, 16, 40)]
NEEDED = ("Input Shapes", "Input Data Types", "Average Duration(us)")
COMMUNICATION = ("message_bytes", "num_devices", "dtype", "topology_tier", "Duration(us)")
OPTIONAL = (
    "OP State", "Accelerator Core", "Input Formats", "Output Shapes", "Output Data Types",
    "Output Formats", "Profiling Average Duration(us)", "Duration(us)", "bandwidth_gbps",
    "Profiling Average aicore_time(us)", "Profiling Average aiv_time(us)",
    "MicroBench aicore_time(us)", "EP Size", "avg_seq_len", "Runtime topk", "Runtime phase",
    "Runtime batch_size", "Runtime avg_seq_len", "Runtime num_heads",
    "Runtime num_key_value_heads", "Runtime block_size", "Runtime actual_seq_lengths_values",
    "Runtime actual_seq_lengths_kv_values", "Runtime input_layout", "Runtime sparse_mode",
    "Runtime metadata_completeness", "Runtime num_tokens", "Runtime quant_mode",
    "MicroBench Duration(us)", "API Path",
)  # fmt: skip
ODD_SIZES = (
    "0", "-1", "00", "007", "1e3", "1.0", "999999999999", "9" * 13, "9" * 30, "x", "", " 8", "+8",
    "1_0", "\u0661", "\uff11",
)  # fmt: skip
ODD_NUMBERS = (
    "", "0", "0.000000", "N/A", "nan", "-inf", "1e999", "1e-400", "0x10", "1,5", "1_0", "+-5",
    "5 us", "\u0665", "--5", ".", "1e", "\t7\t", "null", "-0", "4.9e-324",
)  # fmt: skip
SIZES = st.one_of(st.integers(0, 4096).map(str), st.sampled_from(ODD_SIZES))
SHAPES = st.lists(st.lists(SIZES, max_size=5).map(",".join), max_size=6).map(";".join)
SOUND_SHAPES = st.lists(
    st.lists(st.integers(1, 8192).map(str), min_size=1, max_size=4).map(",".join),
    min_size=1, max_size=5,
).map(";".join)  # fmt: skip
DTYPES = st.lists(
    st.sampled_from(["DT_BF16", "FLOAT16", "INT8", "INT64", "DT_UNDEFINED", "", "65534", "Bool"]),
    max_size=5,
).map(";".join)
FORMATS = st.lists(st.sampled_from(["ND", "FRACTAL_NZ", "NULL", "", "NCHW", "nd"]), max_size=5).map(
    ";".join
)
NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(0.001, 1e6).map("{:.6f}".format),
    st.integers(-(10**40), 10**40).map(str),
    st.sampled_from(ODD_NUMBERS),
)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
LISTS = st.lists(SIZES, max_size=6).map(",".join).map("[{}]".format)
ANY = st.one_of(SHAPES, SOUND_SHAPES, DTYPES, FORMATS, NUMBERS, TEXT, LISTS)


INTEGERS = ("message_bytes", "num_devices", "topology_tier", "EP Size", "avg_seq_len")
WORDS = ("decode", "prefill", "TND", "BSH", "static", "complete", "4096", "3", "0", "1")


def sound_cell(name: str) -> st.SearchStrategy[str]:
    """What a column is meant to hold."""
    if "Shapes" in name:
        return st.one_of(SOUND_SHAPES.map('"{}"'.format), SOUND_SHAPES)
    if "Data Types" in name or name == "dtype":
        return DTYPES
    if "Formats" in name:
        return FORMATS
    if "values" in name:
        return st.lists(st.integers(0, 9999).map(str), max_size=5).map(",".join).map("[{}]".format)
    if "(us)" in name or name == "bandwidth_gbps":
        return st.floats(0.001, 1e6).map("{:.6f}".format)
    if name in INTEGERS or (name.startswith("Runtime") and name[-1] not in "edst"):
        return st.integers(1, 8192).map(str)
    return st.sampled_from(WORDS)


@st.composite
def rows(draw: st.DrawFn, names: list[str]) -> list[str]:
    """A sound row with up to three cells that are not, or some missing."""
    cells = [draw(sound_cell(name)) for name in names]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))):
        cells[draw(st.integers(0, len(names) - 1))] = draw(ANY)
    if draw(st.integers(0, 15)) == 0:
        cells = cells[: draw(st.integers(0, len(cells)))]
    return cells


@st.composite
def csv_texts(draw: st.DrawFn) -> bytes:
    """A CSV whose header is mostly sound and whose rows are mostly regular."""
    needed = draw(st.sampled_from([NEEDED, NEEDED, NEEDED, COMMUNICATION]))
    names = [*needed, *draw(st.lists(st.sampled_from(OPTIONAL), unique=True, max_size=12))]
    if draw(st.integers(0, 7)) == 0:
        names += draw(st.lists(st.one_of(TEXT, st.sampled_from([*names, "ep size", " EP Size "])),
                               min_size=1, max_size=3))  # fmt: skip
    names = draw(st.permutations(list(dict.fromkeys(names))))
    lines = [",".join(map(quoted, names))]
    for _ in range(draw(st.integers(0, 6))):
        lines.append(",".join(map(quoted, draw(rows(names)))))
        if draw(st.integers(0, 15)) == 0:
            lines.append(draw(st.text(st.sampled_from('a1,;"\r\n \t'), max_size=20)))
    end = draw(st.sampled_from(["\n", "\r\n", "\n", "\r"]))
    content = (draw(st.sampled_from(["", "", "\ufeff", "\ufeff\ufeff"])) + end.join(lines)).encode()
    if draw(st.booleans()):
        content += end.encode()
    return content


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@st.composite
def sample_csvs(draw: st.DrawFn) -> tuple[str, bytes]:
    """Some rows of a CSV of the shipped sample, with some cells, columns or names changed."""
    kernel, table = draw(st.sampled_from(SAMPLE))
    header, *body = (list(row) for row in table)
    chosen = draw(st.lists(st.sampled_from(body), max_size=8))
    changed = [list(row) for row in (header, *chosen)]
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3, 5, 8]))):
        row = changed[draw(st.integers(min(1, len(changed) - 1), len(changed) - 1))]
        place = draw(st.integers(0, len(row) - 1))
        row[place] = draw(st.one_of(ANY, st.sampled_from(body).map(itemgetter(place))))
    if draw(st.integers(0, 7)) == 0:
        left_out = draw(st.integers(0, len(header) - 1))
        changed = [row[:left_out] + row[left_out + 1 :] for row in changed]
    lines = [",".join(map(quoted, row)) for row in changed]
    return kernel, "\n".join([*lines, ""]).encode()


@st.composite
def broken_bytes(draw: st.DrawFn) -> tuple[str, bytes]:
    """A CSV with bytes cut out, put in or changed, or just any bytes."""
    kernel, sound = draw(FILES)
    content = bytearray(draw(st.sampled_from([sound, sound, draw(st.binary(max_size=200))])))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        new = st.one_of(st.sampled_from([b'"', b",", b"\n", b"\r", b"\0"]), st.binary(max_size=4))
        content[start : start + draw(st.integers(0, 5))] = draw(new)
    return kernel, bytes(content)


FILES = st.one_of(sample_csvs(), st.tuples(st.sampled_from(KERNELS), csv_texts()))
MANY = st.lists(
    st.integers(0, 9).flatmap(lambda kind: FILES if kind else broken_bytes()),
    min_size=20, max_size=60,
)  # fmt: skip


def check(files: list[tuple[str, bytes]]) -> dict[str, int]:
    """Ingest CSVs together and compare what is stored with their text; return the counts."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve() / "data"
        contents: dict[str, bytes] = {}
        mapping = (SAMPLE_FOLDER / "op_mapping.yaml").read_bytes()
        for kernel, content in files:
            number = 0
            while (path := root / "d" / "b" / f"v{number}" / f"{kernel}.csv").exists():
                number += 1
            path.parent.mkdir(parents=True, exist_ok=True)
            (path.parent / "op_mapping.yaml").write_bytes(mapping)
            path.write_bytes(content)
            contents[str(path)] = content
        database = Path(name) / "p.duckdb"
        summary = ingest(root, database)
        read_every_view(database)
        with sqlinterp.open(database, "d/b/v0") as opened:
            opened.lookup_many(CALLS)
        stored = check_stored(database, contents)
        return {"files": len(files), "stored": stored, "read": summary.total("rows_read")}


def test_any_csv() -> None:
    counts: Counter[str] = Counter()

    @fuzzing(3)
    @given(MANY)
    def count(files: list[tuple[str, bytes]]) -> None:
        counts.update(check(files))

    count()
    assert counts["files"] > 60
    assert counts["read"] > counts["stored"] > counts["read"] / 4 > 25, "few rows are drawn well"


@pytest.mark.long
@fuzzing(400, is_long=True)
@given(MANY)
def test_very_many_csvs(files: list[tuple[str, bytes]]) -> None:
    check(files)
