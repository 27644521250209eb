"""Charts of runs: ratios by region, ratios by width of the cell, answers against truths."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlinterp.fidelity.documents import Row
from sqlinterp.fidelity.markdown import title_of
from sqlinterp.fidelity.results import Result
from sqlinterp.fidelity.run import Run
from sqlinterp.fidelity.statistics import is_finite_ratio
from sqlinterp.reports.drawing import INK, SERIES, Chart, Charts, canvas, power_label, svg_of
from sqlinterp.reports.labels import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS, LINES = 1500, 18
_BLUE, _AMBER, _GREEN, _PINK, _VIOLET, _GREY = SERIES
_VERDICTS = {"pass": _GREEN, "fail": _PINK, "insufficient": _GREY, "not_evaluable": _AMBER}


def region_chart(name: str, document: Row) -> Chart | None:
    """Return medians of the ratios of each region, with the span from 10th to 90th percentile."""
    rows = [row for row in document["regions"] if is_finite_ratio(row["stats"]["med"])][:LINES]
    if not rows:
        return None
    bar = 1 + document["request"]["bar"]
    caption = f"{title_of(document)}: answer over truth, median and 10 to 90 %"
    with canvas(0.75 + 0.27 * len(rows), name) as (figure, axes):
        ends = [row["stats"][end] for row in rows for end in ("p10", "p90")]
        _ratio_axis(axes, "x", [end for end in ends if is_finite_ratio(end)], bar)
        for line, row in enumerate(rows):
            stats, colour = row["stats"], _VERDICTS[row["verdict"]]
            span = [max(stats["p10"], 1e-9), stats["p90"]]
            axes.plot(span, (line, line), color=_GREY, linewidth=2.4, solid_capstyle="round")
            axes.plot(stats["med"], line, marker="o", markersize=5, color=colour)
        names = [f"{clipped(row['kernel'], 18)} {row['region']}" for row in rows]
        axes.set_yticks(range(len(rows)), names, fontsize=10)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("answer over truth")
        return Chart(caption, svg_of(figure, name, caption))


def cell_chart(name: str, run: Run, document: Row) -> Chart | None:
    """Return one dot for each answer: its ratio over the width of its cell."""
    results = [
        r for r in run.results if r.is_answered and r.cell_ratio and is_finite_ratio(r.ratio)
    ]
    if not results:
        return None
    caption = f"{title_of(document)}: answer over truth by the width of the cell"
    return _dots(name, caption, _drawn(results), (_width, _ratio), run.request.bar)


def truth_chart(name: str, run: Run, document: Row) -> Chart | None:
    """Return one dot for each answer: its ratio over its truth."""
    results = [r for r in run.results if r.is_answered and is_finite_ratio(r.ratio)]
    if not results:
        return None
    caption = f"{title_of(document)}: answer over truth by the truth"
    return _dots(name, caption, _drawn(results), (_truth, _ratio), run.request.bar)


def compared_chart(name: str, run: Run, document: Row) -> Chart | None:
    """Return one dot for each probe that both sides answered: one ratio over the other."""
    results = [
        r
        for r in run.results
        if r.other is not None and is_finite_ratio(r.ratio) and is_finite_ratio(r.compared().ratio)
    ]
    if not results:
        return None
    caption = f"{title_of(document)}: answer over truth of both sides"
    return _dots(name, caption, _drawn(results), (_ratio, _other_ratio), run.request.bar)


def charts_of(
    prefix: str, runs: Sequence[Run], documents: Sequence[Row], draw: Callable[..., Chart | None]
) -> Charts:
    """Return one chart for each run that has something to draw."""
    drawn = [
        draw(f"{prefix}{place}", *_told(draw, run, document))
        for place, (run, document) in enumerate(zip(runs, documents, strict=True))
    ]
    charts = tuple(chart for chart in drawn if chart is not None)
    is_cut = draw is not region_chart and any(len(run.results) > DOTS for run in runs)
    note = f"Of each run at most {DOTS} dots are drawn, evenly spread." if is_cut else ""
    if draw is region_chart:
        note = "Medians are green where the region passes, red where it fails, else grey."
    return Charts(charts, note)


def _told(draw: Callable[..., Chart | None], run: Run, document: Row) -> tuple[Any, ...]:
    return (document,) if draw is region_chart else (run, document)


def _drawn(results: Sequence[Result]) -> Sequence[Result]:
    step = -(-len(results) // DOTS)
    return results[::step]


def _width(result: Result) -> float:
    return result.cell_ratio or 1.0


def _ratio(result: Result) -> float:
    return result.ratio or 1.0


def _truth(result: Result) -> float:
    return result.probe.truth_us or 1.0


def _other_ratio(result: Result) -> float:
    return result.compared().ratio or 1.0


_LABELS: dict[Callable[[Result], float], str] = {
    _width: "upper over lower end of the cell",
    _ratio: "answer over truth",
    _truth: "truth [us]",
    _other_ratio: "other answer over truth",
}


def _dots(
    name: str,
    caption: str,
    results: Sequence[Result],
    places: tuple[Callable[[Result], float], Callable[[Result], float]],
    bar: float,
) -> Chart:
    across, up = places
    regions = sorted({result.region for result in results})
    with canvas(3.3, name) as (figure, axes):
        for which, place in (("x", across), ("y", up)):
            values = [place(result) for result in results]
            if place in (_ratio, _other_ratio):
                _ratio_axis(axes, which, values, 1 + bar)
            else:
                _size_axis(axes, values)
        for number, region in enumerate(regions):
            own = [result for result in results if result.region == region]
            axes.scatter(
                [across(result) for result in own],
                [up(result) for result in own],
                s=9,
                color=SERIES[number % len(SERIES)],
                alpha=0.6,
                linewidths=0,
                label=region,
            )
        axes.set_xlabel(_LABELS[across])
        axes.set_ylabel(_LABELS[up])
        figure.legend(loc="outside lower left", ncols=3, labelcolor=INK, fontsize=9)
        return Chart(caption, svg_of(figure, name, caption))


def _ratio_axis(axes: Axes, which: str, values: Sequence[float], bar: float) -> None:
    """Make an axis logarithmic around 1, with the bar as lines."""
    reach = max([bar**1.5, *(max(value, 1 / value) for value in values)]) * 1.05
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=2)
    (axes.set_xlim if which == "x" else axes.set_ylim)(1 / reach, reach)
    ticks = [t for t in _ratio_ticks(reach, bar) if 1 / reach <= t <= reach]
    axis.set_ticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axis.set_ticks([], minor=True)
    line = axes.axvline if which == "x" else axes.axhline
    line(1, color=INK, linewidth=0.7, alpha=0.6)
    for end in (1 / bar, bar):
        line(end, color=_AMBER, linewidth=0.8, linestyle=(0, (4, 3)))


def _ratio_ticks(reach: float, bar: float) -> list[float]:
    if reach < 2:
        return [1 / bar, 1.0, bar]
    stride = max(1, math.ceil(math.log2(reach) / 3))
    return [2.0 ** (stride * step) for step in range(-3, 4)]


def _size_axis(axes: Axes, values: Sequence[float]) -> None:
    smallest, largest = min(values), max(values)
    pad = max(1.1, (largest / smallest) ** 0.05)
    axes.set_xscale("log", base=2)
    axes.set_xlim(smallest / pad, largest * pad)
    low, high = math.floor(math.log2(smallest)), math.ceil(math.log2(largest))
    stride = max(1, -(-(high - low) // 6))
    ticks = [2.0**step for step in range(low, high + 1, stride)]
    shown = [tick for tick in ticks if smallest / pad <= tick <= largest * pad] or [smallest]
    axes.xaxis.set_ticks(shown, [power_label(tick) for tick in shown])
    axes.xaxis.set_ticks([], minor=True)
