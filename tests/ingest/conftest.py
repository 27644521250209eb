"""Fixtures of the ingest tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from csv_folders import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A version directory with one good CSV."""
    return Folder(tmp_path)
