"""How close answers are to latencies that are known, under the lookup that users have."""

from __future__ import annotations

from sqlinterp.fidelity.request import Compare, Request
from sqlinterp.fidelity.run import Run, run_fidelity
from sqlinterp.fidelity.schemes import SCHEMES, Options
from sqlinterp.fidelity.truths import Truth

__all__ = ["SCHEMES", "Compare", "Options", "Request", "Run", "Truth", "run_fidelity"]
