"""How close answers are to measurements that were held out, under the lookup that users have."""

from __future__ import annotations

from sqlinterp.fidelity.report import write_report
from sqlinterp.fidelity.run import Report, Request, hold_out
from sqlinterp.fidelity.splits import SPLITS

__all__ = ["SPLITS", "Report", "Request", "hold_out", "write_report"]
