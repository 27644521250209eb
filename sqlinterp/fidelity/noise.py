"""How far repeated measurements of a group lie apart: what no answer can be blamed for.

Source: fidelity specification, section 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlinterp.fidelity.grid import Group, Row
from sqlinterp.fidelity.source import Measured


@dataclass(frozen=True)
class Noise:
    """Noise of one regime; without a row of ``noise_group`` there is none."""

    spread_floor: float = 1.0
    resolution_us: float | None = None

    def floor(self, truth_us: float | None) -> float:
        """Return the factor up to which a ratio is noise at a truth [us]."""
        if truth_us is None or truth_us <= 0 or self.resolution_us is None:
            return self.spread_floor
        return max(self.spread_floor, 1 + self.resolution_us / (2 * truth_us))


class NoiseFloors:
    """Noise of the regimes of a version, read once."""

    def __init__(self, measured: Measured, version_key: str) -> None:
        self._rows = {
            row["regime_id"]: row for row in measured.run("noise", version_key=version_key)
        }

    def of(self, group: Group) -> Noise:
        """Return the noise of a group."""
        row = self._rows.get(group.regime.regime_id)
        return Noise() if row is None else Noise(row["spread_floor"], row["resolution_us"])

    def record(self, groups: list[Group]) -> Row:
        """Return the noise of groups as responses hold it: that of the noisiest one."""
        ids = [group.regime.regime_id for group in groups]
        rows = [self._rows[regime_id] for regime_id in ids if regime_id in self._rows]
        return {
            "n_repeat_points": sum(row["n_repeat_points"] for row in rows),
            "spread_p50": _largest(rows, "spread_p50"),
            "spread_p90": _largest(rows, "spread_p90"),
            "resolution_us": _largest(rows, "resolution_us"),
        }


def _largest(rows: list[Row], name: str) -> Any:
    return max((row[name] for row in rows if row[name] is not None), default=None)
