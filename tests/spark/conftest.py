"""The shipped sample as a database file and as an export."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlinterp
from sqlinterp.export import export_parquet
from sqlinterp.resources import resource_folder

VERSION = "vllm0.18.0_torch2.9.0_cann8.5"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database file of the sample."""
    file = tmp_path_factory.mktemp("sample") / "profiling.duckdb"
    sqlinterp.ingest([resource_folder("databases") / "SYNTHETIC_NPU"], file)
    return file


@pytest.fixture(scope="session")
def exported(sample: Path) -> Path:
    """Its export."""
    folder = sample.parent / "export"
    export_parquet(sample, folder)
    return folder
