"""Arguments of the public functions: numbers of other libraries are numbers, all else is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version

import sqlinterp
from sqlinterp.errors import SqlinterpError
from sqlinterp.model import QueryContext
from sqlinterp.session import ProfilingDatabase
from sqlinterp.simulator import SqlDataSource

ROW = '"64,128;128,256",DT_BF16;DT_BF16,ND;ND,"64,256",DT_BF16,ND,7.5'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arguments")
    files = {"MatMulV2.csv": [MATMUL_HEADER, ROW]}
    write_version(path / "v", files, {"aten.mm.default": "MatMulV2"})
    sqlinterp.ingest(path / "v", path / "p.duckdb")
    return path


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[ProfilingDatabase]:
    with sqlinterp.open(folder / "p.duckdb") as database:
        yield database


@pytest.mark.parametrize(
    ("given", "context"),
    [
        ({"ep_size": np.int64(16), "tp_size": np.uint8(2)}, QueryContext(16, 2)),
        ({"sequence_parallel": np.bool_(True)}, QueryContext(sequence_parallel=True)),
        ({"disable_interpolation": 1}, QueryContext(disable_interpolation=True)),
        ({"comm_grid": ([4, 2], np.arange(2))}, QueryContext(comm_grid=((4, 2), (0, 1)))),
        (
            {"comm_grid": {"shape": np.array([4, 2]), "tiers": [0]}},
            QueryContext(comm_grid=((4, 2), (0,))),
        ),
    ],
)
def test_numbers_of_numpy_are_numbers(
    folder: Path, given: dict[str, Any], context: QueryContext
) -> None:
    with sqlinterp.open(str(folder / "p.duckdb").encode(), **given) as database:  # type: ignore[arg-type]
        assert repr(database.context) == repr(context)
        assert database.lookup(matmul_call(64, 128, 256)).latency_us == 7.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ep_size": "16"}, "ep_size is '16'"),
        ({"ep_size": True}, "ep_size is True"),
        ({"tp_size": 1.5}, "tp_size is 1.5"),
        ({"sequence_parallel": "yes"}, "sequence_parallel is 'yes'"),
        ({"disable_interpolation": "0"}, "disable_interpolation is '0'"),
        ({"disable_interpolation": None}, "disable_interpolation is None"),
        ({"comm_grid": 5}, "comm_grid is no device grid"),
        ({"comm_grid": "4x2"}, "comm_grid is no device grid"),
        ({"comm_grid": {"shape": [4, 2]}}, "comm_grid is no device grid"),
        ({"comm_grid": ([4, 0.5], [0, 1])}, "comm_grid is no device grid"),
        ({"comm_grid": ([4, -2], [0, 1])}, "comm_grid is .* sizes and tiers from 0 on"),
        ({"aggregation": None}, "aggregation 'None' is unknown"),
        ({"aggregation": ["mean"]}, "aggregation .* is unknown"),
        ({"policy": 5}, "policy is 5"),
        ({"policy": '{"axis_transform": "sqrt"}'}, "policy is .* fields of interpolation_policy"),
        ({"colour": "red"}, "unknown context field"),
        ({"version": 5}, "version 5 is no text"),
        ({"database": 5}, "the database is 5"),
    ],
)
def test_a_context_without_sense_is_refused(
    folder: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(SqlinterpError, match=message):
        sqlinterp.open(**{"database": folder / "p.duckdb", **given})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"disable_interpolation": "no"}, "disable_interpolation is 'no'"),
        ({"decompose": 5}, "decompose is 5"),
        ({"analytic_us": 5}, "analytic_us is 5"),
        ({"memo_size": "many"}, "memo_size is 'many'"),
        ({"mode": "allowlist", "allowlist": 5}, "allowlist is 5"),
        ({"policy": [1]}, r"policy is \[1\]"),
    ],
)
def test_an_option_without_sense_is_refused(
    folder: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(SqlinterpError, match=message):
        SqlDataSource(folder / "p.duckdb", **given)


def test_sizes_of_a_parallel_configuration_may_be_numpy_s(folder: Path) -> None:
    told = SimpleNamespace(expert_parallel_size=np.int64(4), tensor_parallel_size=np.int32(2))
    with SqlDataSource(folder / "p.duckdb", parallel_config=told) as source:
        context = source._snapshots.current().database.context
    assert (context.ep_size, context.tp_size) == (4, 2)


@pytest.mark.parametrize("given", [None, 5, "[]", {}, matmul_call(64, 128, 256)])
def test_what_is_no_list_is_no_batch(opened: ProfilingDatabase, folder: Path, given: Any) -> None:
    with SqlDataSource(folder / "p.duckdb") as source:
        for ask in (opened.lookup_many, source.lookup_many, source.prefetch):
            with pytest.raises(SqlinterpError, match=r"invocations is .*expected a list"):
                ask(given)


@pytest.mark.parametrize("query", [None, 5, b"select 1", ["select 1"]])
def test_what_is_no_text_is_no_query(opened: ProfilingDatabase, query: Any) -> None:
    with pytest.raises(SqlinterpError, match=r"the query is .*expected SQL as text"):
        opened.sql(query)


@pytest.mark.parametrize("make", [str, Path, lambda path: str(path).encode(), lambda path: [path]])
def test_one_folder_may_be_given_without_a_list(folder: Path, tmp_path: Path, make: Any) -> None:
    summary = sqlinterp.ingest(make(folder / "v"), tmp_path / "p.duckdb")
    assert summary.total("rows_stored") == 1


@pytest.mark.parametrize(
    ("folders", "database", "message"),
    [
        (None, "p.duckdb", "a folder is None"),
        ([5], "p.duckdb", "a folder is 5"),
        ([""], "p.duckdb", "a folder is ''"),
        ([], "p.duckdb", "no folder was given"),
        (["v"], None, "the database is None"),
        (["v"], "", "the database is ''"),
    ],
)
def test_what_is_no_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: Any, database: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SqlinterpError, match=message):
        sqlinterp.ingest(folders, database)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("declaration", "tables", "message"),
    [(5, ["t.csv"], "the declaration is 5"), ("d.yaml", 5, "a table is 5")],
)
def test_a_table_without_a_path_is_refused(
    tmp_path: Path, declaration: Any, tables: Any, message: str
) -> None:
    with pytest.raises(SqlinterpError, match=message):
        sqlinterp.ingest_table(declaration, tables, tmp_path / "p.duckdb")
