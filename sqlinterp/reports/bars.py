"""Stacked bars: what something is made of, one bar for each version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlinterp.reports.cells import number
from sqlinterp.reports.data import Source
from sqlinterp.reports.drawing import INK, SERIES, Chart, Charts, canvas, svg_of
from sqlinterp.reports.labels import clipped

_MOST = 16
_LONGEST_LABEL = 28  # characters of the labels of a legend in two columns
_BLUE, _AMBER, _GREEN, _PINK, _VIOLET, _GREY = SERIES
_KINDS = {
    "microbenchmark and profiling": "both_count",
    "microbenchmark only": "microbench_only_count",
    "profiling only": "profiling_only_count",
    "other latency": "other_count",
    "rejected": "rows_rejected",
    "without latency": "rows_without_latency",
}
_COLOURS = {
    "microbenchmark and profiling": _GREEN,
    "microbenchmark only": _BLUE,
    "profiling only": _VIOLET,
    "other latency": _GREY,
    "rejected": _PINK,
    "without latency": _AMBER,
    "every kernel has data": _GREEN,
    "some have": _AMBER,
    "none has": _PINK,
    "names no kernel": _GREY,
}
Row = Mapping[str, Any]


def rows_by_kind(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return the rows of each version by the latencies that they have, and those without any."""
    bars = {
        labels[row["version_key"]]: {kind: row[column] for kind, column in _KINDS.items()}
        for row in source.records("row_kinds")
    }
    return _stacked("rows", "Rows read, by what they hold [count]", list(_KINDS), bars)


def mapping_coverage(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return operators of each version by how many of their kernels have data."""
    kinds = ["every kernel has data", "some have", "none has", "names no kernel"]
    bars: dict[str, dict[str, int]] = {}
    for row in source.records("mapping_coverage"):
        bar = bars.setdefault(labels[row["version_key"]], dict.fromkeys(kinds, 0))
        counts = (
            row["with_every_csv_count"],
            row["with_csv_count"] - row["with_every_csv_count"],
            row["with_kernel_count"] - row["with_csv_count"],
            row["operator_count"] - row["with_kernel_count"],
        )
        for kind, count in zip(kinds, counts, strict=True):
            bar[kind] += count
    return _stacked("mapping", "Operators of the mapping, by their data [count]", kinds, bars)


def latency_sources(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return rows of each version by the column and the meaning of their latency."""
    bars: dict[str, dict[str, int]] = {}
    kinds: list[str] = []
    for row in source.records("latency_sources"):
        kind = f"{row['latency_column']}: {row['quantity'].replace('_', ' ')}"
        if kind not in kinds:
            kinds.append(kind)
        bar = bars.setdefault(labels[row["version_key"]], {})
        bar[kind] = bar.get(kind, 0) + row["row_count"]
    return _stacked("latency", "Measurements, by the column of their latency [count]", kinds, bars)


def _stacked(
    name: str, caption: str, kinds: Sequence[str], bars: Mapping[str, Mapping[str, int]]
) -> Charts:
    """Draw one bar for each entry, in shares of itself, with the counts beside it."""
    shown = dict(list(bars.items())[:_MOST])
    if not any(sum(bar.values()) for bar in shown.values()):
        return Charts()
    used = [kind for kind in kinds if any(bar.get(kind) for bar in shown.values())]
    colours = {
        kind: _COLOURS.get(kind, SERIES[place % len(SERIES)]) for place, kind in enumerate(kinds)
    }
    columns = 2 if max(map(len, used)) <= _LONGEST_LABEL else 1
    height = 0.55 + 0.6 * len(shown) + 0.26 * -(-len(used) // columns)
    with canvas(height, name) as (figure, axes):
        for place, bar in enumerate(shown.values()):
            total, left = sum(bar.values()), 0.0
            for kind in used:
                share = 100 * bar.get(kind, 0) / total if total else 0
                axes.barh(place, share, left=left, height=0.42, color=colours[kind])
                left += share
            counts = " + ".join(number(bar[kind]) for kind in used if bar.get(kind))
            label = f"{list(shown)[place]}: {counts or 0}"
            axes.text(0, place - 0.3, clipped(label, 62), ha="left", va="bottom", fontsize=10)
        axes.set(xlim=(0, 100), ylim=(len(shown) - 0.6, -0.75), yticks=[])
        axes.set_xlabel("share of the version [%]")
        axes.spines["left"].set_visible(False)
        handles = [axes.barh(0, 0, color=colours[kind], label=kind) for kind in used]
        figure.legend(
            handles=handles, loc="outside lower left", ncols=columns, labelcolor=INK, fontsize=10
        )
        svg = svg_of(figure, name, caption)
    left_out = len(bars) - len(shown)
    note = f"The bars of {left_out} more versions are left out." if left_out else ""
    return Charts((Chart(caption, svg),), note)
