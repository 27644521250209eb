"""Two files of the real layout: every row is accounted for."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from csv_folders import Folder

NAMES = ("FusedInferAttentionScore", "TransposeBatchMatMul")


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_a_real_file_is_accounted_for(folder: Folder, shared: Path, name: str) -> None:
    source = shared / "data" / "msmodeling" / f"{name}.csv"
    with source.open(encoding="utf-8-sig", newline="") as file:
        expected = len(list(csv.DictReader(file)))
    shutil.copy(source, folder.path)
    folder.ingest()
    query = "select status, rows_read, rows_rejected from source_file where kernel_type = $name"
    assert expected > 0
    assert folder.rows(query, {"name": name}) == [("loaded", expected, 0)]
