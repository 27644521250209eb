"""A small database whose report can be worked out by hand, one with hostile names, and browsers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from databases_for_tests import write_version
from report_support import (
    HEADER,
    HOSTILE_KERNEL,
    HOSTILE_OPERATOR,
    WHEN,
    matmul_row,
    vector_row,
)

import sqlinterp
from sqlinterp.reports import WrittenReport, write_report
from sqlinterp.resources import resource_folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions: matmul points with a conflict, a gap, a rejected row and a missing latency."""
    root = tmp_path_factory.mktemp("report")
    old = [HEADER, matmul_row(16, 128, 64, "11.5"), matmul_row(32, 128, 64, "21.25")]
    new = [
        HEADER,
        matmul_row(16, 128, 64, "23"),
        matmul_row(32, 128, 64, "40.125"),
        matmul_row(32, 128, 64, "50.15625"),
        matmul_row(8192, 128, 64, "777.75"),
        matmul_row(64, 128, 64, "-3"),
        matmul_row(128, 128, 64, "0"),
    ]
    operators = {"aten.mm.default": "MatMulV2", "aten.neg.default": "Neg"}
    write_version(root / "DEV/vllm/v1", {"MatMulV2.csv": old}, operators)
    lonely = [HEADER, vector_row(8, "1.5")]
    write_version(root / "DEV/vllm/v2", {"MatMulV2.csv": new, "Lonely.csv": lonely}, operators)
    return ingested(root)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names of a kernel and an operator that would be markup, script or a formula."""
    root = tmp_path_factory.mktemp("hostile")
    rows = [HEADER, *(matmul_row(m, 128, 64, f"{m}.5") for m in (16, 64))]
    operators = {HOSTILE_OPERATOR: "Gone", "aten.mm.default": HOSTILE_KERNEL}
    for version in ("v1", "v2"):
        write_version(root / "DEV/vllm" / version, {f"{HOSTILE_KERNEL}.csv": rows}, operators)
    return ingested(root)


def ingested(root: Path) -> Path:
    path = root / "report.duckdb"
    sqlinterp.ingest([root], path)
    return path


@pytest.fixture(scope="session")
def written(small: Path, tmp_path_factory: pytest.TempPathFactory) -> WrittenReport:
    """The report of the small database."""
    return write_report(small, tmp_path_factory.mktemp("out"), WHEN)


@pytest.fixture(scope="session")
def hostile_report(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> WrittenReport:
    """The report of the database with hostile names."""
    return write_report(hostile, tmp_path_factory.mktemp("out"), WHEN)


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file of the demonstration data that the package ships."""
    path = tmp_path_factory.mktemp("demonstration") / "profiling.duckdb"
    sqlinterp.ingest([resource_folder("databases")], path)
    return path


@pytest.fixture(scope="session")
def chromium() -> str:
    """The program of Chromium or Chrome."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("there is no chromium or google-chrome on the path")
