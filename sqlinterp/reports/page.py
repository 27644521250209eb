"""The page of the report: its sections with charts and tables."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from sqlinterp.reports.cells import number, table_html
from sqlinterp.reports.data import Result
from sqlinterp.reports.drawing import Charts
from sqlinterp.reports.frame import Tile, charts_html, framed
from sqlinterp.reports.sections import SECTIONS, Section
from sqlinterp.version import __version__

_NOTHING_DRAWN = '<p class="empty">There is nothing to draw.</p>'
_FOOTER = (
    "Every table is beside this page as a CSV file with all of its rows. A table is sorted by "
    "its headings; rows without a value stay at the end. A kernel that is looked up in "
    "several ways has its points once for each."
)


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
    return framed(
        f"Coverage of {database}",
        f"Written {when} by sqlinterp {__version__}.",
        _FOOTER,
        _tiles(tables),
        [(s.anchor, s.title, _section(s, tables, charts, labels)) for s in SECTIONS],
    )


def _section(
    section: Section,
    tables: Mapping[str, Result],
    charts: Mapping[str, Charts],
    labels: Mapping[str, str],
) -> str:
    parts = [f"<p>{escape(section.intro)}</p>"]
    if section.figures:
        parts.append(charts_html(charts[section.figures]) or _NOTHING_DRAWN)
    parts += [table_html(table, tables[table.name], labels) for table in section.tables]
    return "\n".join(parts)


def _tiles(tables: Mapping[str, Result]) -> list[Tile]:
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
    return [(number(value), name, is_bad) for name, value, is_bad in figures]
