"""What every page of ours has: one document that loads nothing, tiles, charts, style and script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files as package_files
from string import Template

from sqlinterp.reports.drawing import Charts

Tile = tuple[str, str, bool]
Part = tuple[str, str, str]


def framed(title: str, told: str, footer: str, tiles: Iterable[Tile], parts: Sequence[Part]) -> str:
    """Return a whole page.

    Parameters
    ----------
    title, told : str
        Heading, and the sentence below it, as text.
    footer : str
        Last paragraph, as HTML.
    tiles : iterable of tuple
        Figure, what it counts, and whether it is bad, as text.
    parts : sequence of tuple
        Anchor, heading and HTML of each section.
    """
    return Template(_packaged("page_template.html")).substitute(
        title=escape(title),
        told=escape(told),
        footer=footer,
        css=_packaged("page.css").strip(),
        script=_packaged("page.js").strip(),
        tiles="\n".join(map(_tile, tiles)),
        links="\n".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name, _ in parts),
        sections="\n".join(
            f'<section id="{anchor}">\n<h2>{escape(name)}</h2>\n{body}\n</section>'
            for anchor, name, body in parts
        ),
    )


def _packaged(name: str) -> str:
    return package_files("sqlinterp.reports").joinpath(name).read_text(encoding="utf-8")


def _tile(tile: Tile) -> str:
    figure, name, is_bad = tile
    kind = ' class="bad"' if is_bad else ""
    return f"<li{kind}><b>{escape(figure)}</b><span>{escape(name)}</span></li>"


def charts_html(drawn: Charts) -> str:
    """Return charts with their captions and what is said of them all; empty when there are none."""
    if not drawn.charts:
        return ""
    kind = "charts single" if len(drawn.charts) == 1 else "charts"
    figures = "\n".join(
        f"<figure><figcaption>{escape(chart.caption)}</figcaption>\n{chart.svg}</figure>"
        for chart in drawn.charts
    )
    note = f'\n<p class="meta">{escape(drawn.note)}</p>' if drawn.note else ""
    return f'<div class="{kind}">\n{figures}\n</div>{note}'
