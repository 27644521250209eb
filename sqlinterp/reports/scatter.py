"""Dots and spans on logarithmic axes: measured M, K and N, gaps of axes, drift of versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import log
from typing import TYPE_CHECKING, Any

from sqlinterp.reports.cells import number
from sqlinterp.reports.data import Source
from sqlinterp.reports.drawing import INK, SERIES, Chart, Charts, canvas, power_label, svg_of
from sqlinterp.reports.labels import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KERNELS = 6
DOTS = 1500
GAPS = 20
PAIRS = 4
LINES = 14
_SHADES = 40
# Every colour is told apart from white and from black.
_SCALE = ("#0ea5e9", "#8b5cf6", "#ec4899", "#f97316")
Row = Mapping[str, Any]


def mkn_points(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return M against N, coloured by K, for the kernels with the most points."""
    rows = source.records("mkn_points", kernels=KERNELS)
    if not rows:
        return Charts()
    charts = [
        _mkn_chart(f"mkn{rank}", list(points), labels)
        for rank, points in groupby(rows, key=lambda row: row["kernel_rank"])
    ]
    known = rows[0]["kernel_count"]
    note = f"Drawn are {len(charts)} of {known} kernels of the versions with these axes."
    return Charts(tuple(charts), note)


def _mkn_chart(name: str, points: Sequence[Row], labels: Mapping[str, str]) -> Chart:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    first = points[0]
    caption = (
        f"{first['kernel_type']}, {labels[first['version_key']]}: {number(len(points))} points"
    )
    places = _places(points)
    if len(places) > DOTS:
        step = -(-len(places) // DOTS)
        caption += f", one dot in {step} drawn"
        places = dict(list(places.items())[::step])
    depths = [k for found in places.values() for k in found]
    colours = LinearSegmentedColormap.from_list("depth", list(_SCALE), _SHADES)
    with canvas(3.5, name) as (figure, axes):
        _log_axis(axes, "x", [place[0] for place in places])
        _log_axis(axes, "y", [place[1] for place in places])
        axes.grid(color=INK, alpha=0.12, linewidth=0.5)
        dots = axes.scatter(
            [place[0] for place in places],
            [place[1] for place in places],
            s=[9 + 4 * len(found) for found in places.values()],
            c=[sorted(found)[len(found) // 2] for found in places.values()],
            cmap=colours,
            norm=LogNorm(min(depths), max(max(depths), min(depths) * 2)),
            alpha=0.85,
            linewidths=0,
        )
        axes.set_xlabel("M")
        axes.set_ylabel("N")
        bar = figure.colorbar(dots, label="K (median)", aspect=30)
        bar.outline.set_visible(False)
        if bar.solids is not None:
            bar.solids.set(rasterized=False, edgecolor="face")
        bar.minorticks_off()
        ticks = _powers(min(depths), max(depths))
        bar.set_ticks(ticks, labels=[power_label(tick) for tick in ticks])
        return Chart(caption, svg_of(figure, name, f"Measured M, N and K of {caption}"))


def _places(points: Sequence[Row]) -> dict[tuple[float, float], list[float]]:
    """Return the values of K at each M and N; 0 has no place on a logarithmic axis."""
    places: dict[tuple[float, float], list[float]] = {}
    for row in points:
        places.setdefault((max(row["m"], 0.5), max(row["n"], 0.5)), []).append(max(row["k"], 0.5))
    return places


def density_gaps(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return the stretches inside of axes that break a density rule, worst first, as spans."""
    found = [
        row
        for row in source.records("density_gaps", most=GAPS + 1)
        if row["place"] == "inside" and row["value"] > 0
    ]
    rows = found[:GAPS]
    if not rows:
        return Charts()
    caption = "The worst gaps between measured values, and how many values are missing there"
    with canvas(0.6 + 0.27 * len(rows), "gaps") as (figure, axes):
        _log_axis(axes, "x", [row[end] for row in rows for end in ("value", "next_value")], 4)
        for line, row in enumerate(rows):
            ends = (row["value"], row["next_value"])
            axes.plot(ends, (line, line), color=SERIES[3], linewidth=1.6, marker="o", markersize=4)
            middle = (ends[0] * ends[1]) ** 0.5
            missing = f"+{number(row['missing_count'])}"
            axes.text(middle, line - 0.08, missing, ha="center", va="bottom", fontsize=9)
        names = [
            f"{clipped(row['kernel_type'], 20)} {_regime(row)}{clipped(row['axis_name'], 12)}"
            for row in rows
        ]
        _lines(axes, names)
        axes.set_xlabel("value")
        chart = Chart(caption, svg_of(figure, "gaps", caption))
    note = f"Drawn are the {GAPS} worst; the table has more." if len(found) > GAPS else ""
    return Charts((chart,), note)


def _regime(row: Row) -> str:
    return "" if row["regime_id"] is None else f"r{row['regime_id']} "


def version_drift(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return the kernels whose latency changed most, for the pairs with the most signatures."""
    pairs: dict[tuple[str, str], list[Row]] = {}
    for row in source.records("drift_by_kernel"):
        pairs.setdefault((row["old_version_key"], row["new_version_key"]), []).append(row)
    ranked = sorted(pairs.items(), key=lambda item: (-sum(_signatures(item[1])), item[0]))
    charts = [
        _drift_chart(f"drift{place}", rows[:LINES], f"{labels[old]} → {labels[new]}")
        for place, ((old, new), rows) in enumerate(ranked[:PAIRS], start=1)
    ]
    note = (
        f"Drawn are at most {LINES} kernels of a pair of versions, by largest median change. A"
        " hollow dot compares different quantities: a mean with a minimum."
    )
    if len(ranked) > PAIRS:
        note += f" {len(ranked) - PAIRS} pairs with fewer signatures are left out."
    return Charts(tuple(charts), note)


def _signatures(rows: Sequence[Row]) -> list[int]:
    return [row["signature_count"] for row in rows]


def _drift_chart(name: str, rows: Sequence[Row], caption: str) -> Chart:
    with canvas(0.7 + 0.27 * len(rows), name) as (figure, axes):
        ends = [row[end] for row in rows for end in ("smallest_ratio", "largest_ratio")]
        reach = max(1.25, max(max(end, 1 / end) for end in ends) * 1.15)
        axes.set_xscale("log", base=2)
        axes.set_xlim(1 / reach, reach)
        steps = _ratio_ticks(reach)
        axes.set_xticks(steps, [f"{step:.3g}" for step in steps])
        axes.axvline(1, color=INK, linewidth=0.7, alpha=0.6)
        for line, row in enumerate(rows):
            span = (row["smallest_ratio"], row["largest_ratio"])
            axes.plot(span, (line, line), color=SERIES[5], linewidth=2.2, solid_capstyle="round")
            colour = SERIES[3] if row["median_ratio"] > 1 else SERIES[2]
            face = colour if row["like_for_like_count"] == row["signature_count"] else "none"
            axes.plot(
                row["median_ratio"], line, marker="o", markersize=5, color=colour,
                markerfacecolor=face, markeredgewidth=1.4,
            )  # fmt: skip
        _lines(axes, [f"{clipped(r['kernel_type'], 24)} ({r['signature_count']})" for r in rows])
        axes.set_xlabel("new latency over old")
        return Chart(caption, svg_of(figure, name, f"Latency changes {caption}"))


def _ratio_ticks(reach: float) -> list[float]:
    if reach < 2:
        return [step for step in (0.6, 0.8, 1, 1.25, 1.6) if 1 / reach <= step <= reach]
    stride = -(-int(log(reach, 2)) // 3)
    return [2.0 ** (stride * step) for step in range(-3, 4) if abs(stride * step) <= log(reach, 2)]


def _lines(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=10)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.5)


def _powers(smallest: float, largest: float, most: int = 7) -> list[float]:
    """Return at most ``most`` powers of two within a range, or its smallest value."""
    low, high = log(smallest, 2), log(largest, 2)
    inside = [step for step in range(int(low) - 1, int(high) + 2) if low <= step <= high]
    stride = -(-len(inside) // most) or 1
    return [2.0**step for step in inside[::stride]] or [smallest]


def _log_axis(axes: Axes, which: str, values: Sequence[float], most: int = 7) -> None:
    smallest, largest = min(values), max(values)
    ticks = _powers(smallest, largest, most)
    pad = max(1.15, (largest / smallest) ** 0.04)
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=2)
    axis.set_ticks(ticks, [power_label(tick) for tick in ticks])
    axis.set_ticks([], minor=True)
    (axes.set_xlim if which == "x" else axes.set_ylim)(smallest / pad, largest * pad)
