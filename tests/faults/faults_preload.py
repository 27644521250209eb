"""Everything that a command needs, imported once by the process that others are forked from."""

from __future__ import annotations

import sqlinterp.analyst
import sqlinterp.cli.app
import sqlinterp.interpolation
import sqlinterp.simulator
import sqlinterp.upgrade

__all__ = ["sqlinterp"]
