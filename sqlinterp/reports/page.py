"""The page: header, sections with charts and tables, and the packaged style and script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files as package_files
from string import Template

from sqlinterp.reports.cells import number, table_html
from sqlinterp.reports.data import Result
from sqlinterp.reports.drawing import Charts
from sqlinterp.reports.sections import SECTIONS, Section
from sqlinterp.version import __version__


def page_html(
    database: str,
    when: str,
    tables: Mapping[str, Result],
    charts: Mapping[str, Charts],
    labels: Mapping[str, str],
) -> str:
    """Return the whole page.

    Parameters
    ----------
    database : str
        Name of the database file.
    when : str
        When the report was made, as it is to be shown.
    tables, charts : mapping
        By name as in :mod:`sqlinterp.reports.sections`.
    labels : mapping
        Short names of version keys.
    """
    sections = (_section(section, tables, charts, labels) for section in SECTIONS)
    links = (f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in SECTIONS)
    return Template(_packaged("page_template.html")).substitute(
        database=escape(database),
        when=escape(when),
        version=__version__,
        css=_packaged("page.css").strip(),
        script=_packaged("page.js").strip(),
        tiles="\n".join(_tiles(tables)),
        links="\n".join(links),
        sections="\n".join(sections),
    )


def _packaged(name: str) -> str:
    return package_files("sqlinterp.reports").joinpath(name).read_text(encoding="utf-8")


def _section(
    section: Section,
    tables: Mapping[str, Result],
    charts: Mapping[str, Charts],
    labels: Mapping[str, str],
) -> str:
    parts = [
        f'<section id="{section.anchor}">',
        f"<h2>{escape(section.title)}</h2>",
        f"<p>{escape(section.intro)}</p>",
    ]
    if section.figures:
        parts.append(_charts(charts[section.figures]))
    parts += [table_html(table, tables[table.name], labels) for table in section.tables]
    return "\n".join([*parts, "</section>"])


def _charts(drawn: Charts) -> str:
    if not drawn.charts:
        return '<p class="empty">There is nothing to draw.</p>'
    kind = "charts single" if len(drawn.charts) == 1 else "charts"
    figures = "\n".join(
        f"<figure><figcaption>{escape(chart.caption)}</figcaption>\n{chart.svg}</figure>"
        for chart in drawn.charts
    )
    note = f'\n<p class="meta">{escape(drawn.note)}</p>' if drawn.note else ""
    return f'<div class="{kind}">\n{figures}\n</div>{note}'


def _tiles(tables: Mapping[str, Result]) -> Sequence[str]:
    versions, health = tables["versions"], tables["file_health"]
    sums = {
        name: sum(row[place] for row in versions.rows)
        for place, name in enumerate(versions.columns)
        if name != "version_key"
    }
    unclean = sum(not row[health.columns.index("is_clean")] for row in health.rows)
    figures = (
        ("versions and shared folders", versions.total, False),
        ("CSV files", health.total, False),
        ("of them not clean", unclean, unclean > 0),
        ("rows stored", sums["rows_stored"], False),
        ("rows rejected", sums["rows_rejected"], sums["rows_rejected"] > 0),
        ("rows without latency", sums["rows_without_latency"], False),
        ("conflicting duplicates", tables["conflicts"].total, False),
    )
    return [
        f"<li{' class=' + chr(34) + 'bad' + chr(34) if is_bad else ''}><b>{number(value)}</b>"
        f"<span>{escape(name)}</span></li>"
        for name, value, is_bad in figures
    ]
