"""The coverage report of a database: one HTML page that needs no network, and its tables as CSV."""

from __future__ import annotations

from sqlinterp.reports.build import WrittenReport, write_report

__all__ = ["WrittenReport", "write_report"]
