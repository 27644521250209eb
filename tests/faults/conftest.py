"""Fixtures of the fault tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults_support import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder whose database file does not exist yet, and a CSV to ingest."""
    found = Place(tmp_path / "place")
    found.folder.mkdir()
    found.write(1.0)
    return found
