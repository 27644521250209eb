"""One database that the tests of the adapter read."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulator.stand_in import write_database


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database file of ``write_database``; nobody may change it."""
    return write_database(tmp_path_factory.mktemp("simulator"))
