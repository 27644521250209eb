"""Fixtures that several folders of tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test input beside the repository; tests skip where it is absent."""
    folder = REPOSITORY.parent / "shared"
    if not (folder / "conformance").is_dir():
        pytest.skip("the folder 'shared' with recorded answers is not beside the repository")
    return folder
