"""Heat maps: how densely the axes of the regimes of a kernel are measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import log2
from typing import TYPE_CHECKING, Any

from sqlinterp.reports.data import Source
from sqlinterp.reports.drawing import INK, SERIES, Chart, Charts, canvas, power_label, svg_of
from sqlinterp.reports.labels import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KERNELS = 12
COLLECTIVES = 2
REGIMES = 5
_MOST_NUMBERS = 30  # columns that have room for numbers
_MOST_COLUMNS = 9  # with a label of their own
Row = Mapping[str, Any]


def axis_density(source: Source, labels: Mapping[str, str]) -> Charts:
    """Return one heat map for each of the kernels with the most points."""
    rows = source.records("heat_cells", kernels=KERNELS, collectives=COLLECTIVES, regimes=REGIMES)
    if not rows:
        return Charts()
    marks: dict[tuple[Any, ...], list[Row]] = {}
    for row in source.records("gap_marks"):
        marks.setdefault(_line(row), []).append(row)
    charts: list[Chart] = []
    hidden_regimes = 0
    for _, cells in groupby(rows, key=lambda row: (row["is_collective"], row["kernel_rank"])):
        kernel = list(cells)
        hidden_regimes += max(0, kernel[0]["regime_count"] - REGIMES)
        charts.append(_heat_map(f"heat{len(charts) + 1}", kernel, labels, marks))
    drawn, known = len(charts), rows[0]["kernel_count"]
    note = f"Drawn are {drawn} of {known} kernels of the versions, those with the most points"
    if hidden_regimes:
        note += f", and at most {REGIMES} regimes of each ({hidden_regimes} regimes are left out)"
    note += ". The table has all; r12 is regime_id 12 there, n16 t1 are 16 devices in tier 1."
    return Charts(tuple(charts), note)


def _line(row: Row) -> tuple[Any, ...]:
    """Return what tells the lines of all heat maps apart."""
    names = ("version_key", "kernel_type", "regime_id", "regime_key", "axis_name")
    return tuple(row[name] for name in names)


def _heat_map(
    name: str,
    cells: Sequence[Row],
    labels: Mapping[str, str],
    marks: Mapping[tuple[Any, ...], Sequence[Row]],
) -> Chart:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

    lines = list(dict.fromkeys(_line(row) for row in cells))
    octaves = range(min(r["octave"] for r in cells), max(r["octave"] for r in cells) + 1)
    values = np.full((len(lines), len(octaves)), np.nan)
    for row in cells:
        values[lines.index(_line(row)), row["octave"] - octaves[0]] = row["value_count"]
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
            if lines[line][:4] != lines[line - 1][:4]:
                axes.axhline(line, color=INK, linewidth=0.6, alpha=0.6)
        for place, line_key in enumerate(lines):
            _mark(axes, place, marks.get(line_key, ()), octaves[0])
        _label(axes, lines, octaves)
        return Chart(caption, svg_of(figure, name, f"Axis density of {caption}"))


def _mark(axes: Axes, line: int, gaps: Iterable[Row], first_octave: int) -> None:
    """Underline the stretches of a line that break a density rule."""
    for gap in gaps:
        ends = [log2(max(gap[end], 0.5)) - first_octave for end in ("value", "next_value")]
        axes.plot(ends, (line + 0.93, line + 0.93), color=SERIES[3], linewidth=2.2)


def _label(axes: Axes, lines: Sequence[tuple[Any, ...]], octaves: range) -> None:
    step = -(-len(octaves) // _MOST_COLUMNS)
    ticks = range(0, len(octaves), step)
    axes.set_xticks(list(ticks), [_octave_label(octaves[tick]) for tick in ticks], fontsize=10)
    names = [f"{_regime_label(line)} {_axis_label(line[4])}" for line in lines]
    axes.set_yticks([line + 0.5 for line in range(len(lines))], names, fontsize=10)
    axes.set(xlim=(0, len(octaves)), ylim=(len(lines), 0))
    axes.set_xlabel("values from", fontsize=10)


def _regime_label(line: tuple[Any, ...]) -> str:
    """Return a short name of a regime: its number, or devices and tier of a collective."""
    if line[2] is not None:
        return f"r{line[2]}"
    fields = json.loads(line[3])
    tier = fields["topology_tier"]
    return f"n{fields['num_devices']}" + ("" if tier is None else f" t{tier}")


def _axis_label(axis: str) -> str:
    return "bytes" if axis == "message_bytes" else clipped(axis, 14)


def _octave_label(octave: int) -> str:
    return "<1" if octave < 0 else power_label(2.0**octave)
