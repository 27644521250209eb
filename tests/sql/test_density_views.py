"""Measured axis values beside density rules: which is broken, where, and how much is missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from databases_for_tests import MATMUL_HEADER, write_version

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.density import load_rules

OLD, NEW, SHARED = "DEV/vllm/v9", "DEV/vllm/v10", "DEV/hccl/v1"
MISSING = "value, next_value, missing_count, broken_limits, missing_required"


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def matmuls(folder: Path, sizes: Iterable[int], kernel: str = "MatMulV2") -> Path:
    """A database of (m, 128) x (64, 128) with the given m."""
    rows = [f'"{m},128;64,128",DT_BF16;DT_BF16,ND;ND,"{m},64",DT_BF16,ND,{m + 1}.5' for m in sizes]
    files = {f"{kernel}.csv": [MATMUL_HEADER, *rows]}
    write_version(folder / "v", files, {"aten.mm.default": kernel})
    sqlinterp.ingest([folder / "v"], folder / "p.duckdb")
    return folder / "p.duckdb"


def with_rules(path: Path, *rules: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection to a database whose rules for M are these."""
    document = [{"name": f"rule {n}", "axis": "M", **rule} for n, rule in enumerate(rules, 1)]
    file = path.with_suffix(".yaml")
    file.write_text(yaml.safe_dump({"rules": document}), encoding="utf-8")
    connection = connect_writer(path)
    load_rules(connection, file)
    return connection


def test_axis_rule(small: duckdb.DuckDBPyConnection) -> None:
    query = """
        select path, kernel_type, axis_name, rule_name, range_from, range_to, max_gap, max_ratio,
            required_value
        from axis_rule where axis_name in ('seq', 'message_bytes')"""
    seq = ("attention_special", "FusedInferAttentionScore", "seq", "attention sequence length")
    shared = [("communication", f"hcom_{name}_", "message_bytes", "collective message size")
              for name in ("allReduce", "broadcast")]  # fmt: skip
    assert fetch(small, query) == [
        (*seq, 1, 64, None, 4, None),
        (*seq, 64, 131072, None, 2, None),
        (*seq, None, None, None, None, 1),
        (*seq, None, None, None, None, 131072),
        *((*about, *limit) for about in shared for limit in (
            (128, 2**29, None, 2, None), (*[None] * 4, 128), (*[None] * 4, 2**29))),
    ]  # fmt: skip
    rules = {row[0] for row in fetch(small, "select distinct rule_name from axis_rule")}
    assert {"matmul M", "matmul K", "matmul N"} < rules
    without = "select axis_name from coverage_axis where rule_name is null group by all order by 1"
    assert fetch(small, without) == [("axis_0",), ("batch",), ("head_dim",), ("heads",)]


def test_the_rule_that_names_most_applies(tmp_path: Path) -> None:
    limits = {"limits": [{"from": 1, "max_gap": 7}]}
    path = matmuls(tmp_path, (4, 8))
    subjects: tuple[dict[str, Any], ...] = (
        {},
        {"paths": ["matmul"]},
        {"kernels": ["Other", "MatMulV2"]},
        {"kernels": ["MatMulV2"], "paths": ["matmul"]},
    )
    for count in range(1, 5):
        rules = [{**subject, **limits} for subject in subjects[:count]]
        with with_rules(path, *reversed(rules)) as connection:
            expected = [("M", "rule 1")]  # the last one that was added
            query = "select distinct axis_name, rule_name from axis_rule"
            assert fetch(connection, query) == expected


def test_coverage_axis_compares_with_the_shipped_rules(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select axis_name, value, rule_name, max_gap, max_ratio, largest_next_value,
            missing_required, broken_limits
        from coverage_axis where kernel_type = 'MatMulV2' and version_key = '{NEW}'"""
    rule = "matmul M"
    assert fetch(small, query) == [
        ("M", 16, rule, 4, None, 20, [1], ["max_gap", "required"]),  # 1 lies below the smallest
        ("M", 32, rule, 8, None, 40, [], ["max_gap"]),
        ("M", 64, rule, 16, None, 80, [], ["max_gap"]),
        ("M", 256, rule, 256, None, 512, [32768], ["required"]),
        ("K", 128, "matmul K", 128, None, 256, [], []),
        ("N", 64, "matmul N", 128, None, 256, [], []),  # counted from 128, where the rule begins
    ]


def test_coverage_axis_has_the_message_sizes_of_collectives(
    small: duckdb.DuckDBPyConnection,
) -> None:
    query = f"""
        select kernel_type, regime_id, regime_key, axis_name, value, point_count,
            measurement_count, value_count
        from coverage_axis where version_key = '{SHARED}'"""
    key = '{{"num_devices":{},"topology_tier":0}}'.format
    assert fetch(small, query) == [
        ("hcom_allReduce_", None, key(2), "message_bytes", 1024, 1, 2, 1),
        ("hcom_allReduce_", None, key(4), "message_bytes", 1024, 1, 1, 1),
        ("hcom_broadcast_", None, key(2), "message_bytes", 64, 1, 1, 1),
    ]


def test_density_gap(small: duckdb.DuckDBPyConnection) -> None:
    query = f"""
        select place, {MISSING}, gap, ratio, max_gap, value_count
        from density_gap where kernel_type = 'MatMulV2' and version_key = '{NEW}'"""
    gap, required = ["max_gap"], ["required"]
    assert fetch(small, query) == [
        # 80, 96, 112, 128, 192
        ("inside", 64, 256, 5, gap, [], 192, 4, 16, 4),
        # 20, 24, 28 and 40, 48, 56
        ("inside", 16, 32, 3, gap, [], 16, 2, 4, 4),
        ("inside", 32, 64, 3, gap, [], 32, 2, 8, 4),
        # 1 to 8, 10, 12, 14
        ("below", None, 16, 11, required, [1], None, 16, None, 4),
        # 512, 768, 1024, 2048, 4096, 8192, 16384, 32768
        ("above", 256, None, 8, required, [32768], None, 128, None, 4),
    ]
    query = f"select kernel_type, gap_rank from density_gap where version_key = '{NEW}'"
    ranks = fetch(small, query)
    assert [rank for _, rank in ranks] == list(range(1, len(ranks) + 1))
    assert [kernel for kernel, _ in ranks[:3]] == ["MatMulV2"] * 3  # stretches inside come first
    query = f"""
        select regime_key[16:16], place, {MISSING} from density_gap
        where kernel_type = 'hcom_allReduce_'"""
    assert fetch(small, query) == [  # powers of two from 128 to 2**29
        (devices, place, *ends)
        for place, *ends in (
            ("above", 1024, None, 19, required, [2**29]),
            ("below", None, 1024, 3, required, [128]),
        )
        for devices in "24"
    ]


@pytest.mark.parametrize(
    ("sizes", "rule", "expected"),
    [
        # Both limits hold: 2 + 6 and 2 * 2, so 4 is the most; 3 steps of it, 4, 8, 10.
        ((2, 10), {"limits": [{"from": 1, "max_gap": 6, "max_ratio": 2}]},
         [("inside", 2, 10, 2, ["max_gap", "max_ratio"], [])]),
        # Exactly at the limits.
        ((2, 4, 8), {"limits": [{"from": 1, "max_gap": 4, "max_ratio": 2}]}, []),
        # The limit of the range where the gap begins, up to its end and not with it.
        ((9, 12), {"limits": [{"from": 1, "to": 10, "max_gap": 2}, {"from": 10, "max_gap": 9}]},
         [("inside", 9, 12, 1, ["max_gap"], [])]),
        ((10, 19), {"limits": [{"from": 1, "to": 10, "max_gap": 2}, {"from": 10, "max_gap": 9}]},
         []),
        # From below a range: up to one step after its begin.
        ((2, 8), {"limits": [{"from": 4, "to": 8, "max_ratio": 2}]}, []),
        # What reaches out of the range on either side: 4 and 8 would close it.
        ((2, 16), {"limits": [{"from": 4, "to": 8, "max_ratio": 2}]},
         [("inside", 2, 16, 2, ["max_ratio"], [])]),
        # Between two ranges the next one counts, above the last one nothing does: 10, 13, 16.
        ((6, 18, 99), {"limits": [{"from": 1, "to": 5, "max_gap": 1},
                                  {"from": 10, "to": 18, "max_gap": 3}]},
         [("inside", 6, 18, 3, ["max_gap"], [])]),
        ((5, 16), {"limits": [{"from": 4, "to": 8, "max_ratio": 2}]},
         [("inside", 5, 16, 1, ["max_ratio"], [])]),
        # Required values without a limit; 3 lies inside, 9 and 12 above.
        ((1, 5), {"required": [12, 1, 3, 9]},
         [("inside", 1, 5, 1, ["required"], [3]), ("above", 5, None, 2, ["required"], [9, 12])]),
        # From the largest value to the required one in steps of the limit: 8, 12, 16.
        ((4,), {"limits": [{"from": 1, "max_gap": 4}], "required": [16]},
         [("above", 4, None, 3, ["required"], [16])]),
        # 1, 2, 4 and then the measured 8.
        ((8,), {"limits": [{"from": 1, "max_ratio": 2}], "required": [1]},
         [("below", None, 8, 3, ["required"], [1])]),
        # A fraction of a step is a step: 2, 3, 4.5, 6.75 and then 8.
        ((2, 8), {"limits": [{"from": 1, "max_ratio": 1.5}]},
         [("inside", 2, 8, 3, ["max_ratio"], [])]),
        # So small a step that the number of values has no end.
        ((2, 800), {"limits": [{"from": 1, "max_gap": 1e-300}]},
         [("inside", 2, 800, 10**15, ["max_gap"], [])]),
        # No rule for this kernel.
        ((2, 800), {"limits": [{"from": 1, "max_gap": 1}], "kernels": ["Other"]}, []),
    ],
)  # fmt: skip
def test_density_gap_under_a_rule(
    tmp_path: Path, sizes: tuple[int, ...], rule: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    with with_rules(matmuls(tmp_path, sizes), rule) as connection:
        assert fetch(connection, f"select place, {MISSING} from density_gap") == expected


def test_an_axis_value_of_0_has_no_ratio(tmp_path: Path) -> None:
    header = "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps"
    rows = [f"{size},2,B,0,{size + 1},1" for size in (0, 4, 64)]
    write_version(tmp_path / "v", {"hcom_allReduce_.csv": [header, *rows]}, {})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    limits = [{"from": 0, "to": 4, "max_gap": 3}, {"from": 4, "max_ratio": 4}]
    rule = {"axis": "message_bytes", "limits": limits}
    with with_rules(tmp_path / "p.duckdb", rule) as connection:
        assert fetch(connection, f"select ratio, {MISSING} from density_gap") == [
            (16, 4, 64, 1, ["max_ratio"], []),
            (None, 0, 4, 1, ["max_gap"], []),
        ]


def test_other_rules_need_no_new_ingest(tmp_path: Path) -> None:
    path = matmuls(tmp_path, (1, 4))
    found = []
    for gap in (1, 2, 3):
        with with_rules(path, {"limits": [{"from": 1, "max_gap": gap}]}) as connection:
            found.append(fetch(connection, "select missing_count from density_gap"))
    assert found == [[(2,)], [(1,)], []]
