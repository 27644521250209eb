"""Makes the report of a database file: reads the views, draws, and writes page and CSV files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlinterp.database import connect_reader
from sqlinterp.migrations import check_current
from sqlinterp.reports.bars import latency_sources, mapping_coverage, rows_by_kind
from sqlinterp.reports.data import Result, Source
from sqlinterp.reports.drawing import check_matplotlib
from sqlinterp.reports.heat import axis_density
from sqlinterp.reports.labels import version_labels
from sqlinterp.reports.page import page_html
from sqlinterp.reports.scatter import density_gaps, mkn_points, version_drift
from sqlinterp.reports.sections import SECTIONS

PAGE = "report.html"
_DRAW = {
    "rows_by_kind": rows_by_kind,
    "mapping_coverage": mapping_coverage,
    "axis_density": axis_density,
    "mkn_points": mkn_points,
    "density_gaps": density_gaps,
    "version_drift": version_drift,
    "latency_sources": latency_sources,
}


@dataclass(frozen=True)
class WrittenReport:
    """Where a report is.

    Attributes
    ----------
    page : Path
        The HTML file.
    tables : dict of str to int
        CSV files beside it by name, with their rows [count].
    charts : int
        Charts on the page [count].
    """

    page: Path
    tables: dict[str, int]
    charts: int


def write_report(
    database: Path, folder: Path, when: str, advance: Callable[[str], None] = lambda _: None
) -> WrittenReport:
    """Write ``report.html`` and one CSV file for each of its tables into a folder.

    Everything but the line with ``when`` depends on the database only. Files of the same name are
    replaced; when something fails, the folder is left as it was.

    Parameters
    ----------
    database : Path
        Database file, opened read-only.
    folder : Path
        Made if need be.
    when : str
        When the report is made, as the page shows it.
    advance : callable, optional
        Told the name of every section before it is made.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    DatabaseError
        If the database cannot be read.
    """
    check_matplotlib()
    connection = connect_reader(database)
    try:
        check_current(connection, database)
        with tempfile.TemporaryDirectory() as made:
            report = _make(Source(connection, database), Path(made), when, advance)
            folder.mkdir(parents=True, exist_ok=True)
            for file in sorted(Path(made).iterdir()):
                shutil.copyfile(file, folder / file.name)
    finally:
        connection.close()
    return WrittenReport(folder / PAGE, report.tables, report.charts)


def _make(source: Source, folder: Path, when: str, advance: Callable[[str], None]) -> WrittenReport:
    labels = version_labels(row["version_key"] for row in source.records("versions"))
    tables: dict[str, Result] = {}
    charts = {}
    for section in SECTIONS:
        advance(section.title)
        for table in section.tables:
            file = folder / f"{table.name}.csv"
            tables[table.name] = source.table(table.name, table.limit, file)
        if section.figures:
            charts[section.figures] = _DRAW[section.figures](source, labels)
    page = folder / PAGE
    html = page_html(source.path.name, when, tables, charts, labels)
    page.write_text(html, encoding="utf-8", newline="\n")
    counts = {f"{name}.csv": result.total for name, result in tables.items()}
    return WrittenReport(page, counts, sum(len(found.charts) for found in charts.values()))
