"""The demonstration databases, written once per test session."""

from __future__ import annotations

import pytest

from sqlinterp.demo import DemoSummary, write_demo, write_sample


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> DemoSummary:
    return write_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> DemoSummary:
    return write_sample(tmp_path_factory.mktemp("sample"))
