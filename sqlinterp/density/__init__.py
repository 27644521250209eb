"""Density rules: how far apart the measured values of an axis may lie, as data that views read."""

from __future__ import annotations

from sqlinterp.density.table import default_text, load_default, load_rules

__all__ = ["default_text", "load_default", "load_rules"]
