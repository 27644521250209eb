"""How far to trust an estimated latency, as a person reads it: error bars, steps beyond a range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sqlinterp.cli.output import as_text, microseconds

Row = dict[str, Any]
Lines = list[tuple[str, str]]
_ABOVE = {
    "hold_rate": "the work per microsecond at the edge is held",
    "octave_secant": "on the line through the edge and the point about half as far",
    "alpha_beta": "on the least-squares line of the points down to half the edge",
    "product": "the work per microsecond at the corner is held",
    "split": "whole launches of the size of the edge, and one of what is left",
    "clamp_low": "the latency of the smallest value is held",
}


def estimate_rows(bar: Row) -> list[list[Any]]:
    """Return axis, bracket and latency of every estimate of an error bar."""
    return [
        [
            one["axis"] + (f" ({one['method']})" if "method" in one else ""),
            " ... ".join(as_text(end) for end in one["bracket"]),
            microseconds(one["latency_us"]),
        ]
        for one in bar["estimates"]
    ]


def bar_lines(bar: Row) -> Lines:
    """Return label and text of what an error bar says besides its estimates."""
    lines = []
    if bar["spread"] is not None:
        lines.append(("spread", f"the estimates differ by {bar['spread']:.1%}"))
    elif not bar["estimates"]:
        lines.append(("estimates", "no single axis has a neighbour on both sides"))
    else:
        lines.append(("spread", "unknown: there is one estimate"))
    widths = ", ".join(
        f"{axis}: {'from zero' if width is None else f'x {width:.3g}'}"
        for axis, width in bar["cell_width"].items()
    )
    lines.append(("cell width", widths))
    quantiles = bar.get("quantiles")
    if quantiles is None:
        lines.append(("hold-out", "no figures for such answers"))
    else:
        lines.append(("hold-out", f"90 % of such answers were within {_percent(quantiles['q90'])},"
                      f" half of them within {_percent(quantiles['q50'])}"
                      f" ({quantiles['n']} held-out points)"))  # fmt: skip
    return lines


def _percent(log_ratio: float) -> str:
    return f"{math.expm1(log_ratio):.1%}".replace("%", " %")


def extrapolation_lines(details: Row) -> Lines:
    """Return label and text of how an answer lies beyond what was measured."""
    found = details["extrapolation"]
    lines = []
    for axis in found["axes_out"]:
        value, edge = details["target"][axis], found["edge_coords"][axis]
        side = "above the largest" if value > edge else "below the smallest"
        lines.append((axis, f"{as_text(value)} lies {side} measured value {as_text(edge)}"))
    lines.append(("form", f"{found['form']}: {_ABOVE[found['form']]}"))
    lines.append(("edge", f"{microseconds(found['edge_latency_us'])} us at"
                  f" {_coordinates(found['edge_coords'].items())}"))  # fmt: skip
    work = f", work {found['work']}" if "work" in found else ""
    lines.append(("ratio", f"{found['ratio']:.3g} times the edge{work}"))
    if "second_form" in found:
        lines.append(("second form", f"{found['second_form']} gives"
                      f" {microseconds(found['second_latency_us'])} us, a factor of"
                      f" {found['agreement']:.3g}"))  # fmt: skip
    lines.append(("bounds", " ... ".join(microseconds(b) for b in found["bounds"]) + " us"))
    return lines


def refusal_lines(attempts: Iterable[Row]) -> Lines:
    """Return label and text of every extrapolation that was refused, with what decided."""
    lines = []
    for attempt in attempts:
        found = attempt.get("extrapolation")
        if found is not None:
            numbers = [
                f"{name} {found[name]:.4g}"
                for name in ("ratio", "rate_variation", "agreement", "flatness")
                if isinstance(found.get(name), float)
            ]
            text = ", ".join([f"{found['form']} refused: {attempt['status']}", *numbers])
            lines.append((f"beyond {' '.join(attempt['axes'])}", text))
    return lines


def _coordinates(items: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{axis} = {as_text(value)}" for axis, value in items)
