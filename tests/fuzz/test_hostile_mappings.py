"""Mappings that want more than to be read: tags, bombs, paths, and texts that are none."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version

import sqlinterp
from sqlinterp.ingestion.mapping import canonical_json, read_mapping

ROW = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,5.0'
BOMB = "\n".join(
    ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
)
MAPS = "\n".join(
    ["a0: &a0 {x: 1, y: 2}"] + [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}" for n in range(1, 40)]
)
REFUSED = [
    ("operator_mappings: !!python/object/apply:os.system ['touch PWNED']", "no valid YAML"),
    ("operator_mappings: !!python/object:os.Environ {}", "no valid YAML"),
    ("operator_mappings: !!python/name:os.system", "no valid YAML"),
    ("operator_mappings: !!python/module:os", "no valid YAML"),
    ("!!python/object/new:os.system [touch PWNED]", "no valid YAML"),
    ("a: !<tag:yaml.org,2002:python/object/apply:os.system> [touch PWNED]", "no valid YAML"),
    ("a: !mine 1", "no valid YAML"),
    ("a: !!binary aGVsbG8=", "'binary' is no plain value"),
    ("a: !!set {x, y}", "'set' is no plain value"),
    ("a: !!omap [x: 1]", "'omap' is no plain value"),
    (BOMB, "aliases stand for more than"),
    (MAPS, "aliases stand for more than"),
    ("a: &a [*a]", "contains itself"),
    ("a: &a {b: *a}", "contains itself"),
    ("<<: {x: 1}", "no valid YAML"),
    ("a: *b", "no valid YAML"),
    ("[" * 5000, "nested too deeply"),
    ("{a: " * 5000, "nested too deeply"),
    ("- " * 5000 + "x", "nested too deeply"),
    ("a: .nan", "no finite number"),
    ("a: -.inf", "no finite number"),
    ("a: 1.0e+400", "no finite number"),
    ("a: " + "9" * 5000, "no valid YAML"),
    ('a: "\\0"', "no character"),
    ('a: "\\uD800"', "no character"),
    ('"\\uDFFF": 1', "no character"),
    ("? {a: 1}\n: 1", "no valid YAML"),
    ("a: 1\n---\nb: 2", "no valid YAML"),
    ("%YAML 9.9\n---\na: 1", "no valid YAML"),
    ("a: \x07", "no valid YAML"),
    ("#" * (5 << 20), "is longer than 4 MiB"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A version directory with one good CSV."""
    files = {"MatMulV2.csv": [MATMUL_HEADER, ROW]}
    return write_version(
        tmp_path / "data" / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"}
    )


@pytest.mark.parametrize(("document", "words"), REFUSED, ids=range(len(REFUSED)))
def test_a_document_is_refused_at_once(
    document: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "op_mapping.yaml"
    path.write_text(document, encoding="utf-8", errors="surrogatepass")
    begin = time.monotonic()
    mapping = read_mapping(path)
    assert time.monotonic() - begin < 20
    assert [(severity, key) for severity, key, _ in mapping.problems] == [("error", "")]
    text = mapping.problems[0][2]
    assert words in text and len(text) < 500
    assert mapping.entries == [] and not (tmp_path / "PWNED").exists()


def test_all_refused_documents_leave_the_csvs_usable(folder: Path) -> None:
    root = folder.parents[2]
    for number, (document, _) in enumerate(REFUSED):
        version = write_version(root / "d" / "bad" / f"v{number}",
                                {"MatMulV2.csv": [MATMUL_HEADER, ROW]}, {})  # fmt: skip
        (version / "op_mapping.yaml").write_bytes(document.encode("utf-8", "surrogatepass"))
    summary = sqlinterp.ingest([root], root.parent / "p.duckdb")
    assert summary.total("rows_stored") == len(REFUSED) + 1
    assert summary.total("errors") == len(REFUSED)
    with sqlinterp.open(root.parent / "p.duckdb", "d/b/v") as database:
        assert database.lookup(matmul_call(8, 16, 32)).latency_us == 5
    with sqlinterp.open(root.parent / "p.duckdb", "d/bad/v0") as database:
        assert database.lookup(matmul_call(8, 16, 32)).miss_reason == "unmapped"


KERNELS: list[Any] = [
    "../x", "../../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "..", ".", "", " ", "x\n", "\n",
    "x.csv/../y", "~root", "-rf", "a\tb", "a b", "x" * 252, "x" * 10_000, "\u2044etc",
    "a'; drop", 1, 1.5, True, [], ["MatMulV2"], {}, {"a": 1}, [["x"]],
]  # fmt: skip


def test_a_kernel_is_the_stem_of_a_file_in_this_folder(folder: Path) -> None:
    entries: dict[str, Any] = {"aten.mm.default": {"kernel_type": "MatMulV2"}}
    for number, name in enumerate(KERNELS):
        entries |= {
            f"{number}.kernel_type": {"kernel_type": name},
            f"{number}.alternate_kernel_types": {
                "kernel_type": "MatMulV2", "alternate_kernel_types": [name],
            },
            f"{number}.sub_kernels": {"composite": True, "sub_kernels": [name]},
        }  # fmt: skip
    write_version(folder, {}, entries)
    mapping = read_mapping(folder / "op_mapping.yaml")
    assert [entry.operator for entry in mapping.entries] == ["aten.mm.default"]
    assert len(mapping.problems) == 3 * len(KERNELS)
    for _, where, text in mapping.problems:
        assert where.rpartition(".")[2] in text and len(text) < 400
    database = folder.parents[3] / "p.duckdb"
    summary = sqlinterp.ingest([folder.parents[2]], database)
    assert summary.total("errors") == 3 * len(KERNELS)
    with sqlinterp.open(database) as opened:
        assert opened.lookup(matmul_call(8, 16, 32)).latency_us == 5
        assert opened.lookup({"op": "0.kernel_type"}).miss_reason == "unmapped"


@pytest.mark.parametrize("count", ["0", "-1", "2147483648", "9" * 40, "1.0", "true", "x", "[1]"])
def test_a_number_of_operands_is_a_small_positive_integer(count: str, tmp_path: Path) -> None:
    path = tmp_path / "op_mapping.yaml"
    path.write_text(f"operator_mappings:\n  a: {{kernel_type: K, tc_input_count: {count}}}\n")
    mapping = read_mapping(path)
    assert mapping.entries == [] and "tc_input_count is" in mapping.problems[0][2]


def test_keys_of_one_text_are_one_key(tmp_path: Path) -> None:
    path = tmp_path / "op_mapping.yaml"
    for document in ('1: a\n"1": b\n', "operator_mappings:\n  x: {1: 2, '1': 3}\n"):
        path.write_text(document)
        assert "the key '1' repeats" in read_mapping(path).problems[0][2]


def test_dates_and_the_like_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "op_mapping.yaml"
    path.write_text("made: 2026-01-02\nat: 2026-01-02T03:04:05Z\nbad: 2026-99-99\nb: 0x1F\n")
    mapping = read_mapping(path)
    assert mapping.problems == []
    assert json.loads(canonical_json(mapping.metadata)) == {
        "at": "2026-01-02T03:04:05Z", "b": 31, "bad": "2026-99-99", "made": "2026-01-02",
    }  # fmt: skip


def test_an_alias_may_be_used_as_it_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "op_mapping.yaml"
    path.write_text("operator_mappings:\n  a: &one {kernel_type: K}\n  b: *one\n  c: *one\n")
    mapping = read_mapping(path)
    assert [entry.operator for entry in mapping.entries] == ["a", "b", "c"]
