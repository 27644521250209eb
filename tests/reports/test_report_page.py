"""The page: its sections, numbers, escaping, and that it needs nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from databases_for_tests import write_version
from report_support import HEADER, HOSTILE_KERNEL, HOSTILE_OPERATOR, WHEN, matmul_row

import sqlinterp
from sqlinterp.density.apply import use_rules
from sqlinterp.reports import WrittenReport, write_report
from sqlinterp.reports.cells import number
from sqlinterp.reports.drawing import SERIES
from sqlinterp.reports.sections import SECTIONS

PINK = SERIES[3]
VOID = {"meta", "link", "br", "img", "input", "wbr"}


class Reader(HTMLParser):
    """Collects tags, attributes and texts of a page, and checks that tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def page(written: WrittenReport) -> str:
    return written.page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile_page(hostile_report: WrittenReport) -> str:
    return hostile_report.page.read_text(encoding="utf-8")


def table_rows(page: str, name: str) -> list[list[str]]:
    """The texts of the body cells of a table."""
    body = re.search(rf'<table data-table="{name}">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert body, name
    rows = re.findall(r"<tr>(.*?)</tr>", body[1])
    return [re.findall(r"<td[^>]*>(?:<div[^>]*>)?(.*?)(?:</div>)?</td>", row) for row in rows]


def test_every_section_and_table_is_there_in_order(page: str) -> None:
    assert re.findall(r'<section id="(\w+)">', page) == [s.anchor for s in SECTIONS]
    assert [
        tag["href"] for name, tag in Reader(page).tags if name == "a" and "download" not in tag
    ] == [f"#{section.anchor}" for section in SECTIONS]
    for section in SECTIONS:
        for table in section.tables:
            assert f'<h3 id="t-{table.name}">' in page
            assert f'href="{table.name}.csv"' in page


def test_the_numbers_of_the_small_database(page: str) -> None:
    assert table_rows(page, "versions") == [
        ["vllm/v1", "1", "0", "2", "2", "0", "0", "0"],
        ["vllm/v2", "2", "0", "7", "5", "1", "1", "0"],
    ]
    assert table_rows(page, "rejected_rows")[0][:5] == [
        "vllm/v2", "MatMulV2.csv", "Average Duration(us)", "latency_negative", "1",
    ]  # fmt: skip
    assert ["vllm/v2", "kernel", "Lonely", "Lonely.csv", "loaded", "1"] in table_rows(
        page, "data_without_mapping"
    )
    without = table_rows(page, "mapped_without_data")
    assert [row[:4] for row in without] == [
        [f"vllm/{v}", "aten.neg.default", "compute", "Neg"] for v in ("v1", "v2")
    ]
    assert table_rows(page, "mkn_summary")[0] == [
        "vllm/v2", "MatMulV2", "3", "3", "16", "8,192", "1", "128", "128", "1", "64", "64",
    ]  # fmt: skip


def test_the_gap_the_drift_and_the_conflict_of_the_small_database(page: str) -> None:
    gap = table_rows(page, "axis_gaps")[0]
    assert gap[0:2] == ["vllm/v2", "MatMulV2"]
    assert gap[3:10] == ["M", "32", "8,192", "256", "8,160", "matmul M", "max_gap"]
    broken = table_rows(page, "density_gaps")
    # 40 to 128 in steps of 8 and 16, 192, 256, 512, 768, 1024, 2048, 4096; then 20, 24, 28
    assert [[row[0], *row[3:11]] for row in broken[:3]] == [
        ["vllm/v2", "M", "inside", "32", "8,192", "15", "256", "matmul M", "max_gap"],
        ["vllm/v1", "M", "inside", "16", "32", "3", "2", "matmul M", "max_gap"],
        ["vllm/v2", "M", "inside", "16", "32", "3", "2", "matmul M", "max_gap"],
    ]
    assert broken[3][4:8] == ["above", "32", "", "18"] and broken[3][11] == "32768"
    drift = table_rows(page, "drift_by_kernel")
    low, high = 23 / 11.5, (40.125 + 50.15625) / 2 / 21.25
    assert [row[:7] for row in drift] == [
        ["vllm/v1", "vllm/v2", "MatMulV2", "2", number((low + high) / 2), "2", number(high)]
    ]
    conflict = table_rows(page, "conflicts")
    assert len(conflict) == 1
    assert conflict[0][3:7] == ["3, 4", "1.25", "40.125", "50.156"]
    assert conflict[0][7:9] == ["2", "(32, 128) (64, 128)"] and conflict[0][-1] == "no"


def test_the_latency_columns_of_the_small_database(page: str) -> None:
    found = {(row[0], row[1], row[4]) for row in table_rows(page, "latency_sources")}
    assert found == {
        ("vllm/v1", "Average Duration(us)", "2"),
        ("vllm/v2", "Average Duration(us)", "5"),
    }


def chart(page: str, name: str) -> str:
    """The drawing whose ids start with a name."""
    found = re.search(rf'<svg(?:(?!</svg>).)*?id="{name}-.*?</svg>', page, re.DOTALL)
    assert found, name
    return found[0]


def test_rows_are_drawn_by_what_they_hold(page: str, demonstration: Path, tmp_path: Path) -> None:
    texts = Reader(chart(page, "rows")).texts
    assert {"vllm/v1: 2", "vllm/v2: 5 + 1 + 1"} <= set(texts)
    assert {"other latency", "rejected", "without latency"} <= set(texts)
    whole = write_report(demonstration, tmp_path, WHEN).page.read_text(encoding="utf-8")
    texts = Reader(chart(whole, "rows")).texts
    kinds = {"microbenchmark and profiling", "microbenchmark only", "profiling only"}
    assert kinds <= set(texts)


def test_broken_rules_are_marked_in_the_heat_maps(page: str) -> None:
    assert chart(page, "heat1").count(PINK) == 2  # 16 to 32 and 32 to 8192
    assert {"+15", "+3"} <= set(Reader(chart(page, "gaps")).texts)


def test_without_rules_no_gap_is_broken_and_the_widest_are_listed(
    small: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copyfile(small, tmp_path / "copy.duckdb"))
    (tmp_path / "none.yaml").write_text("rules: []\n", encoding="utf-8")
    use_rules(copy, tmp_path / "none.yaml")
    page = write_report(copy, tmp_path / "out", WHEN).page.read_text(encoding="utf-8")
    assert PINK not in chart(page, "heat1")
    gaps = page.split('<section id="gaps">')[1].split("</section>")[0]
    assert "There is nothing to draw" in gaps and "<svg" not in gaps
    assert 'data-table="density_gaps"' not in gaps
    assert table_rows(page, "axis_gaps")[0][4:10] == ["32", "8,192", "256", "8,160", "", ""]


def test_collectives_have_a_heat_map_by_devices_and_tier(tmp_path: Path) -> None:
    header = "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps"
    rows = [f"{size},{n},B,{tier},9,1" for n, tier in ((2, 0), (4, "")) for size in (128, 1024)]
    write_version(tmp_path / "D/hccl/v1", {"hcom_allReduce_.csv": [header, *rows]}, {})
    sqlinterp.ingest([tmp_path / "D/hccl/v1"], tmp_path / "p.duckdb")
    written = write_report(tmp_path / "p.duckdb", tmp_path / "out", WHEN)
    drawn = chart(written.page.read_text(encoding="utf-8"), "heat1")
    assert {"n2 t0 bytes", "n4 bytes"} <= set(Reader(drawn).texts)
    assert drawn.count(PINK) == 2  # 256 and 512 are missing in both


def test_an_empty_table_says_so(page: str) -> None:
    empty = page.split('id="t-source_gaps"')[1].split("</section>")[0]
    assert "Nothing to show" in empty and "<table" not in empty


def test_it_says_when_it_was_written(page: str) -> None:
    assert page.count(WHEN) == 1


def test_every_section_with_figures_has_plots(page: str, written: WrittenReport) -> None:
    assert page.count("<figure>") == page.count("<svg") == written.charts
    for section in SECTIONS:
        part = page.split(f'<section id="{section.anchor}">')[1].split("</section>")[0]
        assert ("<svg" in part) == bool(section.figures), section.anchor


def test_what_is_left_out_is_told(demonstration: Path, tmp_path: Path) -> None:
    page = write_report(demonstration, tmp_path, WHEN).page.read_text(encoding="utf-8")
    assert re.search(r"Drawn are 14 of \d+ kernels", page)  # two of them are collectives
    shown, total, rest = re.search(
        r"The first (\d+) of ([\d,]+) rows; ([\d,]+) more", page
    ).groups()  # type: ignore[union-attr]
    assert int(shown) == 50 == int(total.replace(",", "")) - int(rest.replace(",", ""))
    for name in re.findall(r'data-table="(\w+)"', page):
        assert len(table_rows(page, name)) <= 50 or name in ("versions",)


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    assert "http:" not in page and "https:" not in page and "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    for name, attributes in Reader(page).tags:
        assert "src" not in attributes, name
        target = attributes.get("href") or attributes.get("xlink:href") or "#"
        assert re.match(r"#|data:,$|\w+\.csv$", target), target
    assert "default-src 'none'" in page


def test_a_kernel_with_very_many_points_is_thinned(tmp_path: Path) -> None:
    rows = [matmul_row(m, 128, n, "5") for m in range(1, 42) for n in range(1, 41)]
    files = {"MatMulV2.csv": [HEADER, *rows]}
    write_version(tmp_path / "DEV/vllm/v1", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest([tmp_path], tmp_path / "many.duckdb")
    written = write_report(tmp_path / "many.duckdb", tmp_path / "out", WHEN)
    page = written.page.read_text(encoding="utf-8")
    assert "1,640 points, one dot in 2 drawn" in page


def test_ids_are_unique(page: str) -> None:
    ids = [attributes["id"] for _, attributes in Reader(page).tags if "id" in attributes]
    assert len(ids) == len(set(ids)) > 20
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', page)
    assert set(used) <= set(ids)


def test_hostile_names_are_text(hostile_page: str) -> None:
    reader = Reader(hostile_page)
    names = [name for name, _ in reader.tags]
    assert names.count("script") == 1 and "img" not in names
    for name, attributes in reader.tags:
        assert not [key for key in attributes if key.startswith("on")], name
    texts = "\n".join(reader.texts)
    assert HOSTILE_OPERATOR in texts
    assert "<!--" not in hostile_page
    issues = table_rows(hostile_page, "ingest_issues")
    assert [row[2] for row in issues] == ["error", "error"] and "kernel_type is" in issues[0][6]
    charts = re.findall(r"<svg.*?</svg>", hostile_page, re.DOTALL)
    drawn = "\n".join(text for chart in charts for text in Reader(chart).texts)
    assert HOSTILE_KERNEL in texts and f"{HOSTILE_KERNEL} (2)" in drawn


def test_the_same_database_gives_the_same_files(small: Path, tmp_path: Path) -> None:
    first = write_report(small, tmp_path / "a", WHEN)
    second = write_report(small, tmp_path / "b", WHEN)
    assert first.tables == second.tables
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert len(names) == len(first.tables) + 1
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    later = write_report(small, tmp_path / "c", "another day").page.read_text(encoding="utf-8")
    assert later.replace("another day", WHEN) == first.page.read_text(encoding="utf-8")
