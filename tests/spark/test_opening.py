"""Opening an export, and what the driver answers from its files: none of this needs Spark."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, matmul_call, tensor
from spark.calls import portable_calls
from spark.conftest import VERSION

import sqlinterp
from sqlinterp.errors import DatabaseError, MigrationError, UsageError
from sqlinterp.export import read_manifest
from sqlinterp.export.manifest import NAME
from sqlinterp.lookup.catalog import Catalog
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.lookup.statements import Statements
from sqlinterp.spark import SparkProfilingDatabase
from sqlinterp.spark.driver import Driver

GROUP = {"ints": [0, 1]}
GRID = {"shape": [48, 8, 2], "tiers": [0, 1, 2]}


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Path:
    """An export that a test may change."""
    return Path(shutil.copytree(exported, tmp_path / "copy"))


def attention(tokens: int, seq: int) -> dict[str, Any]:
    lengths = {"shape": [tokens], "dtype": "int64", "values": [seq] * tokens}
    key = tensor(9, 2, 128)
    query = tensor(tokens, 4, 128)
    op = "tensor_cast.attention.default"
    return call(op, query, key, key, None, None, None, lengths)


def test_the_driver_answers_from_the_files_as_a_database_does(sample: Path, exported: Path) -> None:
    calls = [
        attention(4, 1024),
        call("tensor_cast.all_reduce.default", tensor(64, 5120), "sum", GROUP),
        {**call("tensor_cast.pair.default"), "children": [matmul_call(64, 1536, 2304)]},
        *portable_calls(sample, VERSION, most=1),
    ]
    with sqlinterp.open(sample, VERSION, comm_grid=GRID) as opened:
        expected, context = opened.lookup_many(calls), opened.context
    driver = Driver(exported, read_manifest(exported), VERSION)
    catalog = Catalog(driver.connection, driver.version_key)
    engine = Engine(Statements(driver.connection), catalog, context)
    answers = engine.lookup_many([read_invocation(one) for one in calls])
    driver.close()
    assert answers == expected
    assert {answer.source for answer in answers[1:]} >= {"MEASURED", "INTERPOLATED", None}


def test_only_the_version_is_there(exported: Path) -> None:
    driver = Driver(exported, read_manifest(exported), VERSION)
    found = driver.connection.execute("select distinct version_id from measurement").fetchall()
    assert {row[0] for row in found} == set(driver.version_ids) and len(found) == 2
    assert len(driver.versions) == 3
    driver.close()


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"version": "v9"}, "v9"),
        ({}, "version"),
        ({"version": VERSION, "aggregation": "mode"}, "aggregation 'mode' is unknown"),
        ({"version": VERSION, "speed": 1}, "unknown context field"),
        ({"version": VERSION, "policy": {"speed": 1}}, "policy.speed is unknown"),
        ({"version": VERSION, "comm_grid": 5}, "comm_grid"),
    ],
)
def test_bad_arguments_are_errors(exported: Path, context: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SparkProfilingDatabase(exported, **context)


def test_a_folder_without_manifest_is_no_export(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="is no export of sqlinterp"):
        SparkProfilingDatabase(tmp_path, VERSION)


def test_a_changed_manifest_is_noticed(copied: Path) -> None:
    text = (copied / NAME).read_text(encoding="utf-8")
    (copied / NAME).write_text(text.replace('"rows": 1,', '"rows": 2,', 1), encoding="utf-8")
    with pytest.raises(DatabaseError, match="the manifest was changed"):
        SparkProfilingDatabase(copied, VERSION)


def test_a_manifest_of_another_kind_is_refused(copied: Path) -> None:
    for text in ("[]", '{"format": "other"}', '{"format": "sqlinterp-export"}', "{", "5"):
        (copied / NAME).write_text(text, encoding="utf-8")
        with pytest.raises(DatabaseError):
            SparkProfilingDatabase(copied, VERSION)


@pytest.mark.parametrize("what", ["missing", "cut"])
def test_a_file_that_is_not_as_it_was_is_named(copied: Path, what: str) -> None:
    path = copied / read_manifest(copied).table("point").files[0].path
    if what == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DatabaseError, match=r"rows\.parquet"):
        SparkProfilingDatabase(copied, VERSION)


@pytest.mark.parametrize("field", ["definition_digest", "schema_version"])
def test_an_export_of_another_sqlinterp_is_refused(copied: Path, field: str) -> None:
    other = replace(read_manifest(copied), **{field: "x" if "digest" in field else 1})
    (copied / NAME).write_text(other.to_json(), encoding="utf-8")
    with pytest.raises(MigrationError, match="was made by another sqlinterp"):
        SparkProfilingDatabase(copied, VERSION)


def test_a_missing_package_is_named(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.errors", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"not installed.*pip install \"sqlinterp\[spark\]\""):
        SparkProfilingDatabase(exported, VERSION)


def test_importing_loads_no_spark() -> None:
    code = (
        "import sys, sqlinterp, sqlinterp.spark; print({'pyspark', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
