"""Synthetic demonstration databases: nothing that this package writes was measured."""

from __future__ import annotations

from sqlinterp.demo.build import DemoFile, DemoSummary, write_demo, write_sample

__all__ = ["DemoFile", "DemoSummary", "write_demo", "write_sample"]
