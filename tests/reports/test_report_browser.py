"""The page in headless Chromium: no errors, tables sort, plots are there, nothing overflows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from report_support import WHEN

from sqlinterp.reports import WrittenReport, write_report


@pytest.fixture(scope="module")
def demonstration_report(
    demonstration: Path, tmp_path_factory: pytest.TempPathFactory
) -> WrittenReport:
    return write_report(demonstration, tmp_path_factory.mktemp("out"), WHEN)


def opened(chromium: str, page: Path, profile: Path, width: int) -> tuple[dict[str, str], str]:
    """Return what the page's self-check wrote to its root element, and the browser's log."""
    done = subprocess.run(
        [
            chromium, "--headless=new", "--disable-gpu", "--no-sandbox", "--no-first-run",
            f"--user-data-dir={profile}", f"--window-size={width},900", "--enable-logging=stderr",
            "--disable-dev-shm-usage", "--virtual-time-budget=3000", "--dump-dom",
            f"{page.as_uri()}#check",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    root = re.search(r"<html[^>]*>", done.stdout)
    assert root, done.stderr
    return dict(re.findall(r'data-(\w+)="([^"]*)"', root[0])), done.stderr


@pytest.mark.parametrize("width", [1280, 500])
def test_the_report_of_the_demonstration(
    chromium: str, demonstration_report: WrittenReport, tmp_path: Path, width: int
) -> None:
    page = demonstration_report.page
    found, log = opened(chromium, page, tmp_path, width)
    assert "CONSOLE" not in log, log
    headings = page.read_text(encoding="utf-8").count('aria-sort="none"><button')
    assert found["presses"] == str(2 * headings) and headings > 100
    assert found["problems"] == ""
    assert found["charts"] == str(demonstration_report.charts)
    assert demonstration_report.charts >= 20
    assert found["overflow"] == "0"


def test_hostile_names_run_nothing(
    chromium: str, hostile_report: WrittenReport, tmp_path: Path
) -> None:
    found, log = opened(chromium, hostile_report.page, tmp_path, 1280)
    assert "CONSOLE" not in log, log
    assert found["problems"] == "" and found["charts"] == str(hostile_report.charts)


def test_an_error_on_a_page_would_be_seen(
    chromium: str, hostile_report: WrittenReport, tmp_path: Path
) -> None:
    text = hostile_report.page.read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace("return direction * compare(a, b);", "return 0;").replace(
            "</footer>", "</footer><img src='https://example.invalid/x.png'>"
        ),
        encoding="utf-8",
    )
    found, log = opened(chromium, broken, tmp_path / "profile", 1280)
    assert "CONSOLE" in log
    assert "versions.0" in found["problems"]
