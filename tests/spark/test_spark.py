"""Spark over an export gives the answers of DuckDB over the database file."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, matmul_call, tensor
from spark.calls import portable_calls
from spark.conftest import VERSION

import sqlinterp
from sqlinterp.database import connect_reader
from sqlinterp.errors import UsageError
from sqlinterp.relational.canonical import TARGET_PLACE
from sqlinterp.spark import SparkProfilingDatabase

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
}
TOLERANCE = 1e-12
GRID = {"shape": [48, 8, 2], "tiers": [0, 1, 2]}
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark with two cores on this machine."""
    sql = pytest.importorskip("pyspark.sql", reason="the extra sqlinterp[spark] is not installed")
    pytest.importorskip("pyarrow", reason="the extra sqlinterp[spark] is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").appName("tests")
        folder = str(tmp_path_factory.mktemp("spark"))
        for name, value in {**SETTINGS, "spark.sql.warehouse.dir": folder}.items():
            builder = builder.config(name, value)
        started = builder.getOrCreate()
        started.sparkContext.setLogLevel("ERROR")
        yield started
        started.stop()


@pytest.fixture(scope="module")
def on_spark(session: Any, exported: Path) -> Iterator[SparkProfilingDatabase]:
    """The sample on Spark."""
    with SparkProfilingDatabase(exported, VERSION, session, comm_grid=GRID) as opened:
        yield opened


def calls(sample: Path) -> list[dict[str, Any]]:
    """Calls that are answered in every way, and some that are not."""
    sizes = [(m, k, n) for m in (64, 100, 192, 9000) for k in (1536, 2000) for n in (2304, 2000)]
    reduce = call("tensor_cast.all_reduce.default", tensor(64, 5120), "sum", {"ints": [0, 1]})
    children = [matmul_call(100, 2000, 2304), matmul_call(64, 1536, 2304)]
    return [
        *(matmul_call(*size) for size in sizes),
        matmul_call(100, 1536, 2304, "float16"),
        *portable_calls(sample, VERSION, most=1),
        reduce,
        {**call("tensor_cast.pair.default"), "children": children},
        call("aten.sin.default", tensor(16)),
        call("aten.view.default", tensor(16, 5120)),
    ]


def test_the_answers_are_those_of_duckdb(on_spark: SparkProfilingDatabase, sample: Path) -> None:
    asked = calls(sample)
    with sqlinterp.open(sample, VERSION, comm_grid=GRID) as opened:
        expected = opened.lookup_many(asked)
    answers = on_spark.lookup_many(asked)
    differences = []
    for one, mine, theirs in zip(asked, answers, expected, strict=True):
        same = (mine.source, mine.miss_reason) == (theirs.source, theirs.miss_reason)
        close = math.isclose(mine.latency_us or 0, theirs.latency_us or 0, rel_tol=TOLERANCE)
        if not (same and close):
            differences.append((one, mine, theirs))
        assert mine.shape_match_rule == theirs.shape_match_rule
        assert mine.kernel_type == theirs.kernel_type
        assert mine.confidence == theirs.confidence
    assert not differences
    rules = Counter((answer.shape_match_rule or "").split("+")[-1] for answer in answers)
    ways = (
        "identity", "transpose", "padding", "exact_coordinate", "interpolated_1d_linear",
        "interpolated_2d_griddata_linear", "interpolated_3d_griddata_linear",
    )  # fmt: skip
    assert all(rules[way] for way in ways), rules
    assert len({answer.miss_reason for answer in answers}) > 4
    places = Counter(answer.details.get("answered_on") for answer in answers)
    assert places["spark"] > 100 and places["driver"] >= 1


def test_relations_stay_on_the_cluster(
    on_spark: SparkProfilingDatabase, session: Any, sample: Path
) -> None:
    with connect_reader(sample) as connection:
        found = connection.execute(
            "select p.regime_id, p.axis_1, p.axis_2, p.axis_3, p.axis_4, p.latency_mean_us"
            " from point as p join regime as r using (regime_id) join profile_version as v"
            " using (version_id) where v.version_key like $version and r.path = 'matmul'"
            " order by all limit 3",
            {"version": f"%{VERSION}"},
        ).fetchall()
    places = [
        (number, number, 0, 0, *row[:5], True, True, True, False, False, False)
        for number, row in enumerate(found)
    ]
    columns = ", ".join(
        f"{name} {kind}".replace("VARCHAR", "STRING") for name, kind in TARGET_PLACE.items()
    )
    frame = session.createDataFrame(places, columns)
    answers = {row["target_id"]: row for row in on_spark.axis_answers(frame).collect()}
    assert [answers[n]["latency_us"] for n in range(3)] == [row[5] for row in found]
    assert {answers[n]["method"] for n in range(3)} == {"exact_coordinate"}


def comparable(value: Any) -> Any:
    """A value as both engines give it."""
    if isinstance(value, dict):
        return tuple(comparable(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return tuple(comparable(one) for one in value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return float(f"{value:.12g}") if isinstance(value, float) else value


def test_every_view_is_that_of_duckdb(on_spark: SparkProfilingDatabase, sample: Path) -> None:
    connection = connect_reader(sample)
    different = {}
    for name in on_spark.views():
        frame = on_spark.view(name)
        found = [comparable(row) for row in frame.toArrow().to_pylist()]
        columns = ", ".join(frame.columns)
        rows = connection.execute(f"select {columns} from {name}").fetchall()
        if sorted(found, key=str) != sorted(map(comparable, rows), key=str):
            different[name] = (found[:1], rows[:1])
    connection.close()
    assert not different
    assert {"kernel_coverage", "coverage_axis"} <= set(on_spark.views())


def test_views_can_be_made_for_the_session(on_spark: SparkProfilingDatabase, session: Any) -> None:
    assert "kernel_coverage" in on_spark.create_views()
    query = "select count(*) from kernel_coverage where version_key like '%vllm0.18%'"
    assert session.sql(query).collect()[0][0] > 40
    with pytest.raises(UsageError, match="view 'noise_group' is not available on Spark"):
        on_spark.view("noise_group")


def test_answers_can_be_a_data_frame(on_spark: SparkProfilingDatabase) -> None:
    frame = on_spark.answers([call("aten.sin.default", tensor(16)), call("aten.view.default")])
    found = [(row["number"], row["source"], row["miss_reason"]) for row in frame.collect()]
    assert sorted(found) == [(0, None, "unmapped"), (1, "MEASURED", None)]


def test_a_malformed_invocation_is_named(on_spark: SparkProfilingDatabase) -> None:
    with pytest.raises(UsageError, match="invocation 2"):
        on_spark.lookup_many([call("aten.sin.default"), {"op": 5}])
