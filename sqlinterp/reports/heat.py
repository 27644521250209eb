"""Heat maps: how densely the axes of the regimes of a kernel are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlinterp.reports.data import Source
from sqlinterp.reports.drawing import INK, SERIES, Chart, Charts, canvas, power_label, svg_of
from sqlinterp.reports.labels import clipped

KERNELS = 12
REGIMES = 5
_MOST_NUMBERS = 30  # columns that have room for numbers
_MOST_COLUMNS = 9  # with a label of their own
Row = Mapping[str, Any]


def axis_density(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return one heat map for each of the kernels with the most points."""
    rows = source.records("heat_cells", kernels=KERNELS, regimes=REGIMES)
    if not rows:
        return Charts()
    charts = []
    hidden_regimes = 0
    for rank, cells in groupby(rows, key=lambda row: row["kernel_rank"]):
        kernel = list(cells)
        hidden_regimes += max(0, kernel[0]["regime_count"] - REGIMES)
        charts.append(_heat_map(f"heat{rank}", kernel, labels))
    drawn, known = len(charts), rows[0]["kernel_count"]
    note = f"Drawn are {drawn} of {known} kernels of the versions, those with the most points"
    if hidden_regimes:
        note += f", and at most {REGIMES} regimes of each ({hidden_regimes} regimes are left out)"
    return Charts(tuple(charts), f"{note}. The table has all; r12 is regime_id 12 there.")


def _heat_map(name: str, cells: Sequence[Row], labels: Mapping[str, str]) -> Chart:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

    lines = list(dict.fromkeys((row["regime_id"], row["axis_name"]) for row in cells))
    octaves = range(min(r["octave"] for r in cells), max(r["octave"] for r in cells) + 1)
    values = np.full((len(lines), len(octaves)), np.nan)
    for row in cells:
        place = lines.index((row["regime_id"], row["axis_name"]))
        values[place, row["octave"] - octaves[0]] = row["value_count"]
    faint, full = to_rgba(SERIES[0], 0.18), to_rgba(SERIES[0], 0.8)
    colours = LinearSegmentedColormap.from_list("density", [faint, full])
    caption = f"{cells[0]['kernel_type']}, {labels[cells[0]['version_key']]}"
    with canvas(0.6 + 0.26 * len(lines), name) as (figure, axes):
        axes.pcolormesh(
            np.ma.masked_invalid(values),
            cmap=colours,
            norm=LogNorm(1, max(2, float(np.nanmax(values)))),
        )
        for (line, column), value in np.ndenumerate(values):
            if value > 0 and len(octaves) <= _MOST_NUMBERS:
                text = f"{value:.0f}"
                axes.text(column + 0.5, line + 0.5, text, ha="center", va="center", fontsize=9)
        for line in range(1, len(lines)):
            if lines[line][0] != lines[line - 1][0]:
                axes.axhline(line, color=INK, linewidth=0.6, alpha=0.6)
        step = -(-len(octaves) // _MOST_COLUMNS)
        ticks = range(0, len(octaves), step)
        axes.set_xticks(list(ticks), [_octave_label(octaves[tick]) for tick in ticks], fontsize=10)
        names = [f"r{regime} {clipped(axis, 14)}" for regime, axis in lines]
        axes.set_yticks([line + 0.5 for line in range(len(lines))], names, fontsize=10)
        axes.set(ylim=(len(lines), 0))
        axes.set_xlabel("values from", fontsize=10)
        return Chart(caption, svg_of(figure, name, f"Axis density of {caption}"))


def _octave_label(octave: int) -> str:
    return "<1" if octave < 0 else power_label(2.0**octave)
