"""The demonstration databases: documented layout, row counts, deterministic bytes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from sqlinterp.demo import DemoSummary, write_demo
from sqlinterp.demo.columns import COMM6, CURRENT62, LEGACY36, MINIMAL9, header_of
from sqlinterp.demo.sheet import layout_of
from sqlinterp.demo.tables import kernels
from sqlinterp.demo.versions import VERSIONS, Version
from sqlinterp.errors import UsageError

CHECKED_IN = Path(__file__).resolve().parents[2] / "databases"
CURRENT = VERSIONS[-1]
BOM = b"\xef\xbb\xbf"
ENRICHED = ("FusedInferAttentionScore", "SparseFlashAttention", "LightningIndexer")
BY_NAME = {kernel.name: kernel for kernel in kernels()}

Row = dict[str, str]


@cache
def read(path: Path) -> tuple[list[str], list[Row]]:
    reader = csv.reader(io.StringIO(path.read_bytes().decode().lstrip("\ufeff"), newline=""))
    header = next(reader)
    return header, [dict(zip(header, row, strict=True)) for row in reader]


def rows_of(summary: DemoSummary, kernel: str, version: Version = CURRENT) -> list[Row]:
    return read(summary.directory / version.path / f"{kernel}.csv")[1]


def kernel_files(summary: DemoSummary) -> list[tuple[Version, str, Path]]:
    return [
        (version, path.stem, path)
        for version in VERSIONS
        for path in sorted((summary.directory / version.path).glob("*.csv"))
    ]


def latency(row: Row) -> float:
    names = ("Average Duration(us)", "Profiling Average Duration(us)")
    return next((float(row[n]) for n in names if row.get(n) and float(row[n]) > 0), 0.0)


def tree(directory: Path) -> dict[str, bytes]:
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_headers_have_the_documented_bytes() -> None:
    sizes = {
        name: len(",".join(columns)) + 2
        for name, columns in (("36", LEGACY36), ("62", CURRENT62), ("9", MINIMAL9), ("6", COMM6))
    }
    assert sizes == {"36": 808, "62": 1816, "9": 139, "6": 75}
    assert (len(LEGACY36), len(CURRENT62), len(MINIMAL9), len(COMM6)) == (36, 62, 9, 6)


def test_every_file_has_its_header_and_line_ends(full: DemoSummary) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for version, name, path in kernel_files(full):
        layout = layout_of(BY_NAME[name], version)
        assert read(path)[0] == list(header_of(name, layout))
        content = path.read_bytes()
        assert content.count(b"\n") == content.count(b"\r\n") == len(read(path)[1]) + 1
        seen[version.name, layout] += 1
    assert seen["0.13", "legacy36"] + seen["0.15", "legacy36"] == 71 + 69
    assert (seen["0.18", "minimal9"], sum(n for k, n in seen.items() if k[0] == "0.18")) == (3, 108)


def test_byte_order_marks(full: DemoSummary) -> None:
    marks = Counter()
    for version, name, path in kernel_files(full):
        content = path.read_bytes()
        count = next(n for n in range(9) if not content[3 * n :].startswith(BOM))
        assert count == (0 if version is not CURRENT else 3 if name == "Cast" else 1)
        marks[count] += 1
    assert marks[3] == 1


def test_row_counts_follow_the_table(full: DemoSummary) -> None:
    total = Counter()
    for version, name, path in kernel_files(full):
        rows = len(read(path)[1])
        wanted = BY_NAME[name].rows[version.name]
        assert abs(rows - wanted) <= max(2, 0.02 * wanted), (version.name, name, rows, wanted)
        total[version.name] += rows
    assert 38_000 <= total["0.18"] <= 39_000
    assert {path for _, _, path in kernel_files(full)} >= {
        full.directory / version.path / f"{kernel.name}.csv"
        for version in VERSIONS
        for kernel in kernels()
        if version.name in kernel.rows
    }


@pytest.mark.parametrize("scale", [0.001, 0.2, 2.0])
def test_other_scales_are_proportional_without_copies(tmp_path: Path, scale: float) -> None:
    summary = write_demo(tmp_path, scale)
    for version, name, path in kernel_files(summary):
        kernel, rows = BY_NAME[name], read(path)[1]
        wanted = kernel.rows[version.name] * scale
        box = 48 if any(form.domain == "box" for form in kernel.forms) else 0
        assert len(rows) <= max(kernel.least + 1, 1.03 * wanted + 2) + box
        assert len(rows) >= max(min(kernel.rows[version.name], 4), 0.95 * wanted - 2), name
        assert repeated(version, name, rows) <= 0.002 * len(rows) + 1


def repeated(version: Version, name: str, rows: list[Row]) -> int:
    base = header_of(name, "minimal9")[2:8]
    extra = header_of(name, "current62")[62:] if version is CURRENT else ()
    return len(rows) - len({tuple(row[column] for column in (*base, *extra)) for row in rows})


def test_numbers_are_numbers(full: DemoSummary) -> None:
    number = re.compile(r"\d+\.\d{6}|0|")
    for version, _, path in kernel_files(full):
        header, rows = read(path)
        numeric = [c for c in header if c.endswith(("(us)", "ratio", "cycles", "rate", "(%)"))]
        for row in rows:
            for column in numeric:
                assert number.fullmatch(row[column]), (path.name, column, row[column])
                if column.endswith("ratio") and row[column]:
                    assert 0 <= float(row[column]) <= 1
            assert row["OP State"] in ("dynamic", "static", "")
        assert rows and version


def test_row_kinds_and_defects(full: DemoSummary) -> None:
    kinds, blank, doubles, rows_seen = Counter(), 0, 0, 0
    for version, name, path in kernel_files(full):
        rows = read(path)[1]
        rows_seen += len(rows)
        blank += sum(not row["OP State"] for row in rows)
        doubles += repeated(version, name, rows)
        if version is CURRENT and BY_NAME[name].kind != "minimal":
            kinds.update(row_kind(row) for row in rows)
    assert set(kinds) == {"micro", "profile", "both", "none"}
    assert 350 <= kinds["both"] <= 550 and 312 <= kinds["profile"] <= 800
    assert 0.005 <= kinds["none"] / kinds.total() <= 0.015
    assert 0.004 <= blank / rows_seen <= 0.008
    assert 0.0005 <= doubles / rows_seen <= 0.0015
    profiled = [k.name for k in kernels() if k.kind == "profiling" and "0.18" in k.rows]
    assert sum(len(rows_of(full, name)) for name in profiled) in range(312, 316)


def row_kind(row: Row) -> str:
    micro = [v for c, v in row.items() if c.startswith(("MicroBench", "Average"))]
    profile = [v for c, v in row.items() if c.startswith("Profiling")]
    assert (len(micro), len(profile)) == (26, 28)
    if float(row["Profiling Average Duration(us)"]) == 0:
        assert set(profile) == {"0"}
        measured = float(row["Average Duration(us)"]) > 0
        assert measured or set(micro) == {"0"}
        return "micro" if measured else "none"
    if not row["Average Duration(us)"]:
        assert set(micro) == {""}
        return "profile"
    share = float(row["Average Duration(us)"]) / float(row["Profiling Average Duration(us)"])
    assert 0.25 <= share <= 1.000001
    return "both"


def test_duplicates_differ_in_latency(full: DemoSummary) -> None:
    for version, name, path in kernel_files(full):
        rows = read(path)[1]
        by_shape: dict[tuple[str, ...], list[float]] = {}
        for row in rows:
            extra = [v for c, v in row.items() if c.startswith(("Runtime", "EP"))]
            key = (row["Input Shapes"], row["Input Data Types"], row["Input Formats"], *extra)
            by_shape.setdefault((*key, row["Output Shapes"]), []).append(latency(row))
        if name in ENRICHED and version is CURRENT:
            assert len(by_shape) == len(rows), name
        assert all(len(set(group)) == len(group) for group in by_shape.values())


def test_collectives(full: DemoSummary) -> None:
    folder = full.directory / "SYNTHETIC_NPU/hccl/v8.5"
    paths = sorted(folder.glob("hcom_*_.csv"))
    assert len(paths) == 6
    for path in paths:
        header, rows = read(path)
        assert header == list(COMM6)
        assert Counter((row["num_devices"], row["topology_tier"]) for row in rows[:92]) == {
            ("16", "1"): 23,
            ("8", "1"): 23,
            ("4", "1"): 23,
            ("2", "2"): 23,
        }
        assert {row["topology_tier"] for row in rows[92:]} == {"0"}
        sizes = [int(row["message_bytes"]) for row in rows[:23]]
        assert sizes == [128 * 2**power for power in range(23)]
        for row in rows:
            duration, speed = float(row["Duration(us)"]), float(row["bandwidth_gbps"])
            assert duration > 10
            assert speed == pytest.approx(int(row["message_bytes"]) / duration / 1e3, abs=0.02)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
def test_mappings(full: DemoSummary, version: Version) -> None:
    folder = full.directory / version.path
    mapping = yaml.safe_load((folder / "op_mapping.yaml").read_text(encoding="utf-8"))
    assert mapping["device"] == "SYNTHETIC_NPU"
    assert version.folder.startswith(f"vllm{mapping['version']}_torch{mapping['pytorch_version']}")
    assert (folder / mapping["communication_data_ref"]).resolve().is_dir()
    present = {path.stem for path in folder.glob("*.csv")}
    found, named = 0, 0
    for name, entry in mapping["operator_mappings"].items():
        kind = entry.keys() & {"zero_cost", "kernel_type", "sub_kernels", "decomposer"}
        assert kind, name
        assert ("sub_kernels" not in entry and "decomposer" not in entry) or entry["composite"]
        kernel = entry.get("kernel_type")
        named += kernel is not None
        found += kernel in present or str(kernel).startswith("hcom_")
    assert found / named > 0.7
    for policy in ("interpolation_policy", "latency_policy", "query_selection_policy"):
        assert (policy in mapping) == (policy.startswith("inter") or version is CURRENT)
        for kernel in mapping.get(policy, {}).get("kernel_overrides", {}):
            assert kernel in BY_NAME
    top = mapping["interpolation_policy"]["kernel_overrides"]["MatMulV2"]
    assert top == {"max_interpolation_dim": 3 if version is CURRENT else 1}


def test_mapping_of_the_current_version(full: DemoSummary) -> None:
    text = (full.directory / CURRENT.path / "op_mapping.yaml").read_text(encoding="utf-8")
    operators = yaml.safe_load(text)["operator_mappings"]
    assert "# Real mappings set max_interpolation_dim 1" in text
    assert operators["aten.mm.default"] == {
        "kernel_type": "MatMulV2",
        "alternate_kernel_types": ["MatMulV3", "MatMulCommon"],
    }
    quant = operators["tensor_cast.static_quant_linear.default"]
    assert (quant["kernel_type"], quant["tc_input_count"]) == ("QuantBatchMatmulV3", 2)
    assert quant["expected_input_formats"] == ["ND", "FRACTAL_NZ"]
    assert operators["aten.add.Tensor"]["query_mode"] == "elementwise"


def test_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    lines: list[str] = []
    write_demo(tmp_path / "a", 0.02, progress=lines.append)
    write_demo(tmp_path / "b", 0.05)
    write_demo(tmp_path / "b", 0.02)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert sum(line.endswith("rows") for line in lines) == 71 + 69 + 108 + 6
    write_demo(tmp_path / "c", 0.02, seed=7)
    one, other = (read(tmp_path / name / CURRENT.path / "RmsNorm.csv")[1] for name in ("a", "c"))
    assert {row["Input Shapes"] for row in one} == {row["Input Shapes"] for row in other}
    assert [latency(row) for row in one] != [latency(row) for row in other]


def test_readme_says_that_nothing_was_measured(full: DemoSummary) -> None:
    text = (full.directory / "SYNTHETIC_NPU/README.md").read_text(encoding="utf-8")
    assert "nothing in this folder was measured" in text
    assert "sqlinterp demo DIR --scale 1" in text and "{" not in text
    assert all("SYNTHETIC" in file.path for file in full.files)


def test_summary_counts_what_is_on_disk(sample: DemoSummary) -> None:
    content = tree(sample.directory)
    assert {file.path: file.size_bytes for file in sample.files} == {
        path: len(data) for path, data in content.items()
    }
    rows = sum(len(read(sample.directory / path)[1]) for path in content if path.endswith("csv"))
    assert rows == sample.rows and 250_000 <= sample.size_bytes <= 450_000


def test_the_sample_in_the_repository_is_up_to_date(sample: DemoSummary) -> None:
    assert tree(CHECKED_IN / "SYNTHETIC_NPU") == tree(sample.directory / "SYNTHETIC_NPU")


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 101.0])
def test_a_wrong_scale_is_refused(tmp_path: Path, scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        write_demo(tmp_path, scale)
    assert not any(tmp_path.iterdir())


def test_a_foreign_folder_is_not_touched(tmp_path: Path) -> None:
    own = tmp_path / "SYNTHETIC_NPU" / "vllm_ascend" / CURRENT.folder / "Add.csv"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not written by this command"):
        write_demo(tmp_path, 0.001)
    assert own.read_text(encoding="utf-8") == "mine"
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        write_demo(tmp_path / "file", 0.001)
