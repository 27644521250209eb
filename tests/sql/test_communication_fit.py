"""The view of the lines that collectives are fitted to, beside what lookups make of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, tensor, write_version

import sqlinterp
from sqlinterp.session import ProfilingDatabase

HEADER = "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps"
OP = "tensor_cast.all_reduce.default"
ENTRY = {"category": "communication", "kernel_type": "hcom_allReduce_"}
ROWS = [
    "1000,2,B,0,10,1", "2000,2,B,0,30,1", "4000,2,B,0,31,1",
    "1000,2,B,1,5,1",
    "1000,4,B,,20,1", "2000,4,B,,10,1", "2000,4,B,,10,1",
]  # fmt: skip


def opened(folder: Path, rows: Iterable[str], header: str = HEADER) -> ProfilingDatabase:
    write_version(folder / "v", {"hcom_allReduce_.csv": [header, *rows]}, {OP: ENTRY})
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return sqlinterp.open(folder / "p.duckdb", comm_grid=((4, 2), (0, 1)))


def fits(database: ProfilingDatabase) -> list[dict[str, Any]]:
    result = database.sql("select * from communication_fit")
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@pytest.fixture(scope="module")
def rows_fits(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The view over ``ROWS``."""
    with opened(tmp_path_factory.mktemp("fit"), ROWS) as database:
        return fits(database)


def test_one_row_per_group_size_and_tier(rows_fits: list[dict[str, Any]]) -> None:
    first, alone, untiered = rows_fits
    places = [(f["num_devices"], f["topology_tier"]) for f in (first, alone, untiered)]
    assert places == [(2, 0), (2, 1), (4, None)]
    assert first["kernel_type"] == "hcom_allReduce_"
    assert first["latency_column"] == "Duration(us)"
    assert (first["row_count"], first["size_count"]) == (3, 3)
    assert (first["min_bytes"], first["max_bytes"]) == (1000, 4000)
    # mean 7000/3 bytes, 71/3 us; sums of products 85000/3 and 14000000/3
    beta = 85 / 14000
    assert first["beta_us_per_byte"] == pytest.approx(beta, rel=1e-12)
    assert first["alpha_us"] == pytest.approx(71 / 3 - beta * 7000 / 3, rel=1e-12)
    assert first["implied_bandwidth_gbps"] == pytest.approx(1 / beta / 1000, rel=1e-12)
    assert first["r2"] == pytest.approx(beta * (85000 / 3) / (842 / 3), rel=1e-12)
    worst = abs(first["alpha_us"] + beta * 1000 - 10) / 10
    assert first["largest_relative_residual"] == pytest.approx(worst, rel=1e-12)


def test_one_size_makes_no_line(rows_fits: list[dict[str, Any]]) -> None:
    alone = rows_fits[1]
    empty = ("alpha_us", "beta_us_per_byte", "implied_bandwidth_gbps", "r2")
    assert [alone[name] for name in (*empty, "largest_relative_residual")] == [None] * 5
    assert (alone["row_count"], alone["size_count"]) == (1, 1)


def test_a_falling_line_implies_no_bandwidth_and_repeated_rows_count(
    rows_fits: list[dict[str, Any]],
) -> None:
    falling = rows_fits[2]
    assert falling["beta_us_per_byte"] == pytest.approx(-0.01, rel=1e-12)
    assert falling["implied_bandwidth_gbps"] is None
    assert falling["largest_relative_residual"] == pytest.approx(0, abs=1e-12)
    assert (falling["row_count"], falling["size_count"]) == (3, 2)


def test_latency_columns_have_lines_of_their_own(tmp_path: Path) -> None:
    header = "message_bytes,num_devices,topology_tier,Average Duration(us),Duration(us)"
    rows = ["1000,2,0,10,", "2000,2,0,20,", "1500,2,0,,900", "8000,2,0,,5000"]
    with opened(tmp_path, rows, header) as database:
        found = {f["latency_column"]: f["beta_us_per_byte"] for f in fits(database)}
    assert found == {
        "Average Duration(us)": pytest.approx(0.01, rel=1e-12),
        "Duration(us)": pytest.approx(4100 / 6500, rel=1e-12),
    }


def test_lookups_use_the_line_of_the_view_to_the_last_bit_whatever_the_order_of_rows(
    tmp_path: Path,
) -> None:
    chance = random.Random(5)
    sizes = [chance.randrange(1, 10**9) for _ in range(300)]
    rows = [f"{s},2,B,1,{9 + s * 7.3e-6 + chance.random()},1" for s in sizes]
    op = call(OP, tensor(5 * 10**8, dtype="int8"), {"ints": [0, 1]})
    keys, found = ("alpha_us", "beta_us_per_byte", "r2"), []
    for number in range(3):
        with opened(tmp_path / str(number), rows) as database:
            details = database.lookup(op).details
            line = fits(database)[0]
        assert [line[key] for key in keys] == [details[key] for key in keys]
        found.append({**line, "version_key": ""})
        chance.shuffle(rows)
    assert found[0] == found[1] == found[2]
