"""Speed as ratios in one run: ``python -m pytest -m benchmark tests/benchmark -s``."""

from __future__ import annotations

import csv
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from benchmark.scale import median_seconds
from databases_for_tests import cursor_of, matmul_call
from simulator.stand_in import mm

import sqlinterp
from sqlinterp.demo import write_demo
from sqlinterp.simulator import SqlDataSource

pytestmark = pytest.mark.benchmark
VERSION = "vllm0.18.0_torch2.9.0_cann8.5"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration databases at full size, about 40,000 rows, and their database file."""
    folder = tmp_path_factory.mktemp("benchmark")
    write_demo(folder / "csv")
    sqlinterp.ingest([folder / "csv"], folder / "profiling.duckdb")
    return folder


def beside_trivial(database: Any, connection: Any, call: Any) -> tuple[Any, float, float]:
    """An answer, and the seconds of a ``SELECT 1`` just before it and of the lookup."""
    start = time.perf_counter()
    connection.execute("select 1").fetchall()
    between = time.perf_counter()
    answer = database.lookup(call)
    return answer, between - start, time.perf_counter() - between


def measured_calls(database: Any, count: int) -> list[dict[str, Any]]:
    """Distinct calls of ``aten.mm`` that were measured."""
    rows = (
        cursor_of(database)
        .execute(
            "select distinct operand_shapes from measurement where version_id ="
            " (select version_id from profile_version where version_key like '%' || $version)"
            " and kernel_type = 'MatMulV2' order by 1 limit $count",
            {"version": VERSION, "count": count},
        )
        .fetchall()
    )
    calls = []
    for (m, k), weight in (row[0] for row in rows):
        calls.append(matmul_call(m, k, weight[1] if weight[0] == k else weight[0]))
    return calls


def test_a_cold_exact_lookup_costs_a_few_trivial_statements(demo: Path) -> None:
    """Distinct measured targets, each held against a ``SELECT 1`` before it."""
    with sqlinterp.open(demo / "profiling.duckdb", VERSION) as database:
        calls = measured_calls(database, 400)
        connection = cursor_of(database)
        alone = median_seconds(lambda: connection.execute("select 1").fetchall(), 300)
        spent, trivial = [], []
        for call in calls:
            answer, floor, cold = beside_trivial(database, connection, call)
            trivial.append(floor)
            spent.append(cold)
            assert answer.source == "MEASURED"
    cold, floor = statistics.median(spent), statistics.median(trivial)
    print(
        f"\ncold exact lookup: {cold * 1e3:.2f} ms = {cold / floor:.1f} x SELECT 1 between lookups"
        f" ({floor * 1e3:.2f} ms), {cold / alone:.1f} x alone ({alone * 1e3:.2f} ms)"
    )
    assert cold <= 20 * floor


def test_a_cold_lookup_on_two_axes_costs_few_trivial_statements(demo: Path) -> None:
    """Distinct targets off the grid in M and K; each is held against a ``SELECT 1`` before it."""
    chosen = random.Random(5)
    cold: dict[int, list[float]] = {1: [], 2: [], 3: []}
    trivial = []
    with sqlinterp.open(demo / "profiling.duckdb", VERSION) as database:
        connection = cursor_of(database)
        alone = median_seconds(lambda: connection.execute("select 1").fetchall(), 300)
        for number in range(700):
            k = 1536 if number % 2 else chosen.randint(1600, 3000)
            call = matmul_call(chosen.randint(65, 4000), k, 2304)
            answer, before, spent = beside_trivial(database, connection, call)
            trivial.append(before)
            if answer.source == "INTERPOLATED":
                cold[answer.details["interpolation_dim"]].append(spent)
    floor = statistics.median(trivial)
    print(f"\nSELECT 1: {floor * 1e3:.2f} ms between lookups, {alone * 1e3:.2f} ms alone")
    for axes, seconds in cold.items():
        median = statistics.median(seconds)
        print(
            f"cold {axes}D lookup: {median * 1e3:.2f} ms = {median / floor:.1f} x SELECT 1 between"
            f" lookups, {median / alone:.1f} x alone"
        )
    assert min(map(len, cold.values())) >= 50
    assert max(statistics.median(cold[axes]) for axes in (1, 2)) <= 40 * floor


def test_a_remembered_answer_costs_a_fraction_of_a_trivial_statement(demo: Path) -> None:
    with SqlDataSource(demo / "profiling.duckdb", version=VERSION) as source:
        calls = [mm(64, 1536, 2304) for _ in range(1000)]
        assert source.lookup(calls[0]) is not None
        start = time.perf_counter()
        for one in calls:
            source.lookup(one)
        repeat = (time.perf_counter() - start) / len(calls)
    with sqlinterp.open(demo / "profiling.duckdb", VERSION) as database:
        connection = cursor_of(database)
        trivial = median_seconds(lambda: connection.execute("select 1").fetchall(), 300)
    print(f"\nmemoised repeat: {repeat * 1e6:.1f} us = {repeat / trivial:.3f} x SELECT 1")
    assert repeat <= 0.1 * trivial


def slots(cell: object) -> list[str]:
    """The non-empty slots of a cell."""
    return [slot.strip() for slot in str(cell).strip('"').split(";") if slot.strip()]


def scan_row_by_row(tables: list[pd.DataFrame], m: int, k: int, n: int) -> float | None:
    """A lookup without a database: every row of kernel and alternates is parsed and compared."""
    found = None
    for table in tables:
        for _, row in table.iterrows():
            shapes = [
                tuple(int(dim) for dim in slot.split(",")) for slot in slots(row["Input Shapes"])
            ]
            dtypes, formats = slots(row["Input Data Types"]), slots(row["Input Formats"])
            latency = pd.to_numeric(row["Average Duration(us)"], errors="coerce")
            if dtypes[:2] != ["DT_BF16", "DT_BF16"] or "FRACTAL_NZ" in formats or len(shapes) != 2:
                continue
            if shapes[0] == (m, k) and set(shapes[1]) == {k, n} and found is None:
                found = float(latency)
    return found


def test_a_batch_is_far_faster_than_scanning_rows(demo: Path) -> None:
    folder = next(demo.glob(f"csv/*/*/{VERSION}"))
    kernels = ("MatMulV2", "MatMulV3", "MatMulCommon")
    tables = [pd.read_csv(folder / f"{kernel}.csv") for kernel in kernels]
    chosen = random.Random(7)
    sizes = {(chosen.randint(1, 4096), k, n) for k, n in ((5120, 768), (512, 5120), (1536, 2304))
             for _ in range(9000)}  # fmt: skip
    targets = sorted(sizes)[:10_000]
    with sqlinterp.open(demo / "profiling.duckdb", VERSION) as database:
        start = time.perf_counter()
        answers = database.lookup_many([matmul_call(*target) for target in targets])
        batch = (time.perf_counter() - start) / len(targets)
    scan = median_seconds(lambda: scan_row_by_row(tables, *targets[0]), 3)
    answered = sum(answer.source is not None for answer in answers)
    rows = sum(map(len, tables))
    print(
        f"\nlookup_many of {len(targets)} distinct targets ({answered} answered):"
        f" {batch * 1e6:.0f} us a target; scanning {rows} rows: {scan * 1e3:.0f} ms;"
        f" ratio {scan / batch:.0f}"
    )
    assert len(targets) == 10_000
    assert answered > 0.5 * len(targets)
    assert scan >= 100 * batch


NARROW = (
    "OP State", "Accelerator Core", "Input Shapes", "Input Data Types", "Input Formats",
    "Output Shapes", "Output Data Types", "Output Formats", "Average Duration(us)", "EP Size",
)  # fmt: skip


def narrow_copy(wide: Path, folder: Path) -> Path:
    """The version directory with the nine columns of the minimal layout (and EP Size)."""
    folder.mkdir(parents=True)
    shutil.copy(wide / "op_mapping.yaml", folder)
    for path in wide.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as source:
            reader = csv.reader(source)
            header = [name.lstrip("\ufeff") for name in next(reader)]
            kept = [header.index(name) for name in NARROW if name in header]
            with (folder / path.name).open("w", newline="", encoding="utf-8") as target:
                writer = csv.writer(target)
                writer.writerow([header[place] for place in kept])
                writer.writerows([row[place] for place in kept] for row in reader)
    return folder


def rows_per_second(name: str, folder: Path, database: Path) -> float:
    start = time.perf_counter()
    rows = sqlinterp.ingest([folder], database).total("rows_read")
    speed = rows / (time.perf_counter() - start)
    print(f"\ningest of {name}: {rows} rows, {speed:.0f} rows/s")
    return speed


def test_ingest_speed(tmp_path: Path) -> None:
    write_demo(tmp_path / "wide", scale=10)
    wide = next(tmp_path.glob(f"wide/*/*/{VERSION}"))
    narrow = narrow_copy(wide, tmp_path / "narrow" / "backend" / "version")
    speed = rows_per_second("9 columns", narrow, tmp_path / "narrow.duckdb")
    rows_per_second("62 columns", tmp_path / "wide", tmp_path / "wide.duckdb")
    assert speed >= 50_000
