"""One open database shared by threads gives every thread its own answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from databases_for_tests import MATMUL_HEADER, matmul_call, write_version

import sqlinterp


def test_threads_share_one_database(tmp_path: Path) -> None:
    rows = [
        f'"{m},64;64,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m}.25' for m in range(1, 400, 3)
    ]
    write_version(tmp_path / "v", {"K.csv": [MATMUL_HEADER, *rows]}, {"aten.mm.default": "K"})
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [matmul_call(m, 64, 32) for m in range(1, 398, 3)]
    with sqlinterp.open(tmp_path / "p.duckdb") as database, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(database.lookup, calls))
    assert [answer.latency_us for answer in answers] == [m + 0.25 for m in range(1, 398, 3)]
