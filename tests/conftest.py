"""Fixtures that several folders of tests use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sqlinterp import migrations, publishing
from sqlinterp.database import connect_writer

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test input beside the repository; tests skip where it is absent."""
    folder = REPOSITORY.parent / "shared"
    if not (folder / "conformance").is_dir():
        pytest.skip("the folder 'shared' with recorded answers is not beside the repository")
    return folder


@pytest.fixture(scope="session", autouse=True)
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let ingests into a new file start from a copy of an empty migrated one.

    A third of the time of a small ingest is the schema, which is the same each time. Tests of the
    migrations themselves make their files anew.
    """
    template = tmp_path_factory.mktemp("migrated") / "empty.duckdb"
    connection = connect_writer(template)
    migrations.migrate(connection)
    connection.close()

    def connect(path: Path, name: Path | None = None) -> duckdb.DuckDBPyConnection:
        if not path.exists():
            shutil.copyfile(template, path)
        return connect_writer(path, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "connect_writer", connect)
        yield template
