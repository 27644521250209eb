"""How far an interpolated latency may be off: what other axes say, how wide the cell is, hold-out.

Nothing here asks the database: the brackets of all axes came with those that gave the answer, and
the hold-out quantiles are read when a version is opened.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlinterp.lookup.boxes import Box
from sqlinterp.lookup.placement import Solution
from sqlinterp.paths import Path

Row = dict[str, Any]


@dataclass(frozen=True)
class Quantile:
    """Errors of held-out answers of one kernel on one path, for one spread and width.

    Attributes
    ----------
    spread_low, spread_high : float or None
        Bucket of the spread between the estimates [fraction]; None without two of them.
    width_low, width_high : float
        Bucket of the ratio of the ends of the cell along its widest axis.
    n : int
        Held-out answers in the bucket [count].
    q50, q90, q95 : float
        Quantiles of ``|ln(answer / truth)|``.

    Notes
    -----
    Source: table ``error_quantile``.
    """

    spread_low: float | None
    spread_high: float | None
    width_low: float
    width_high: float
    n: int
    q50: float
    q90: float
    q95: float

    def holds(self, spread: float | None, width: float) -> bool:
        """Whether an answer with this spread and width belongs to the bucket."""
        return _is_within(width, self.width_low, self.width_high) and (
            spread is self.spread_low is None
            or _is_within(spread, self.spread_low, self.spread_high)
        )


Quantiles = Mapping[tuple[str, str], tuple[Quantile, ...]]


def read_quantiles(rows: Iterable[Row]) -> Quantiles:
    """Return the rows of the table ``error_quantile`` by kernel and path."""
    found: dict[tuple[str, str], list[Quantile]] = defaultdict(list)
    for row in rows:
        fields = {name: row[name] for name in Quantile.__dataclass_fields__}
        found[row["kernel_type"], row["path"]].append(Quantile(**fields))
    return {key: tuple(own) for key, own in found.items()}


def error_bar(solution: Solution, path: Path, kernel: str, quantiles: Quantiles) -> Row:
    """Return what the details of an interpolated answer say of its error.

    Returns
    -------
    dict
        ``estimates``: latency [us] and bracket by every single axis with two neighbours, the
        answer's own included; ``spread`` of them, largest over smallest less 1, None with fewer
        than two; ``cell_width``: upper over lower end by axis, None from zero; and ``quantiles``
        of the error of such answers in hold-out runs, ``|ln(answer / truth)|``, if there are any.
    """
    names, box, spread = path.axes, solution.box, None
    if solution.estimates:
        values = [estimate.latency_us for estimate in solution.estimates]
        spread = max(values) / min(values) - 1
        estimates = [_estimate(names, e.box, e.latency_us) for e in solution.estimates]
    else:
        is_single = len(box.group) == 1
        estimates = [_estimate(names, box, solution.latency_us)] if is_single else []
    widths = {names[axis]: path.width(axis, *box.bounds(axis)) for axis in box.group}
    details: Row = {
        "estimates": estimates,
        "spread": spread,
        "cell_width": {
            name: None if width == math.inf else width for name, width in widths.items()
        },
    }
    if quantiles:
        details |= _quantiles(quantiles.get((kernel, path.name), ()), spread, max(widths.values()))
    return details


def line_bar(axis: str, bracket: list[float], latencies: Mapping[str, float]) -> Row:
    """Return the error bar of an answer between two sizes, by one method or several.

    Parameters
    ----------
    axis : str
        What varies.
    bracket : list of float
        The two measured values around the target.
    latencies : mapping
        Latency [us] by method, a single one included.
    """
    low, high = bracket
    values = list(latencies.values())
    spread = max(values) / min(values) - 1 if len(values) > 1 and min(values) > 0 else None
    return {
        "estimates": [
            {"axis": axis, "latency_us": latency, "bracket": bracket, "method": method}
            for method, latency in latencies.items()
        ],
        "spread": spread,
        "cell_width": {axis: high / low if low > 0 else None},
    }


def _estimate(names: tuple[str, ...], box: Box, latency_us: float) -> Row:
    axis = box.group[0]
    bracket = [box.lower[axis], box.upper[axis]]
    return {"axis": names[axis], "latency_us": latency_us, "bracket": bracket}


def _quantiles(known: Iterable[Quantile], spread: float | None, width: float) -> Row:
    for quantile in known:
        if quantile.holds(spread, width):
            found = {"n": quantile.n, "q50": quantile.q50, "q90": quantile.q90, "q95": quantile.q95}
            return {"quantiles": found}
    return {}


def _is_within(value: float | None, low: float | None, high: float | None) -> bool:
    if value is None or low is None or high is None:
        return False
    return low <= value < high or value == high == math.inf
