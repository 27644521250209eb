"""Tables given by name that are no files, or whose names look like patterns."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

import sqlinterp
from sqlinterp.errors import SourceError

DECLARATION = "synthetic_gemm"


@pytest.mark.parametrize("kind", ["named pipe", "device", "folder"])
def test_what_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    if kind == "named pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(SourceError, match=f"it is a {kind}, no file"):
        sqlinterp.ingest_table(DECLARATION, [path], tmp_path / "p.duckdb")
    assert not (tmp_path / "p.duckdb").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_name_that_looks_like_a_pattern_is_a_name(suffix: str, tmp_path: Path) -> None:
    for number, name in enumerate(("t*", "t1", "t?", "[t]", "t")):
        rows = f"select 'bf16' as dtype, 1 as m, 64 as k, {number + 1} as ms"
        target = str(tmp_path / f"{name}.{suffix}").replace("'", "''")
        duckdb.connect().execute(f"copy ({rows}) to '{target}' (format {suffix})")
    for number, name in enumerate(("t*", "t1", "t?", "[t]", "t")):
        database = tmp_path / f"{number}.duckdb"
        table = tmp_path / f"{name}.{suffix}"
        assert sqlinterp.ingest_table(DECLARATION, [table], database).total("rows_stored") == 1
        with sqlinterp.open(database) as opened:
            (answer,) = opened.lookup_points("gemm", {}, [{"m": 1, "k": 64}])
        assert answer.latency_us == 1000 * (number + 1)
