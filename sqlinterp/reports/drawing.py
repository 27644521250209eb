"""Charts as SVG that is part of the page: its text and colours follow the light or dark theme."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from sqlinterp.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#010203"  # stands for the text colour of the page
SERIES = ("#3b82f6", "#f59e0b", "#10b981", "#ec4899", "#8b5cf6", "#94a3b8")
WIDTH = 4.8  # inches
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 11,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Chart:
    """A caption and the SVG below it; ``is_wide`` charts get a line of their own."""

    caption: str
    svg: str
    is_wide: bool = False


@dataclass(frozen=True)
class Charts:
    """The charts of a section, and a sentence about what they leave out."""

    charts: tuple[Chart, ...] = ()
    note: str = ""


def check_matplotlib() -> None:
    """Make sure that charts can be drawn.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "the report draws with matplotlib, which is not installed",
            todo='Install it with: pip install "sqlinterp[report]"',
        ) from error


@contextmanager
def canvas(height: float, name: str) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure with one set of axes in the style of the page; ``name`` makes its ids."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The browser has other fonts than the one that text is measured with here.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        axes.tick_params(length=2.5, width=0.6)
        axes.set_axisbelow(True)
        yield figure, axes


def svg_of(figure: Figure, name: str, description: str) -> str:
    """Return a figure as an ``<svg>`` element without addresses, whose ids start with ``name``."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    whole = buffer.getvalue()
    svg = whole[whole.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)  # the page has it
    svg = svg.replace(INK, "currentColor")
    return _rewritten_tags(svg, name, description).strip()


def _rewritten_tags(svg: str, name: str, description: str) -> str:
    """Change attributes in tags only: labels come from a database and stay as they are."""

    def rewrite(match: re.Match[str]) -> str:
        tag = match[0]
        tag = re.sub(r'\bid="', f'id="{name}-', tag)
        tag = re.sub(r'(xlink:)?href="#', f'href="#{name}-', tag)
        tag = tag.replace("url(#", f"url(#{name}-")
        tag = re.sub(r"font-family: [^;\"]*; ", "", tag)  # the page says which
        if tag.startswith("<svg"):
            tag = re.sub(r'\s(width|height|version|xmlns(:\w+)?)="[^"]*"', "", tag)
            tag = tag.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)
        return tag

    return re.sub(r"<[a-zA-Z][^>]*>", rewrite, svg)


def power_label(value: float) -> str:
    """Return a size with k or M for powers of 1024.

    Examples
    --------
    >>> power_label(512), power_label(4096), power_label(2**21)
    ('512', '4k', '2M')
    """
    for unit, size in (("G", 2**30), ("M", 2**20), ("k", 2**10)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
