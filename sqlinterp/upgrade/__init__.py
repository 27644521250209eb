"""Version directories of old CSV layouts into current ones, by named steps that can be undone."""

from sqlinterp.upgrade.report import FileReport, UpgradeReport, VersionReport
from sqlinterp.upgrade.restore import undo
from sqlinterp.upgrade.run import upgrade
from sqlinterp.upgrade.steps import STEPS, Step

__all__ = ["STEPS", "FileReport", "Step", "UpgradeReport", "VersionReport", "undo", "upgrade"]
