"""Runs as one page that loads nothing: tiles, charts and sortable tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from sqlinterp.fidelity.charts import (
    cell_chart,
    charts_of,
    compared_chart,
    region_chart,
    truth_chart,
)
from sqlinterp.fidelity.documents import Row
from sqlinterp.fidelity.markdown import axes_text, percent, title_of, within
from sqlinterp.fidelity.run import Run
from sqlinterp.fidelity.tables import compared_rows, group_rows
from sqlinterp.fidelity.verdicts import FAIL
from sqlinterp.reports.cells import number, table_html
from sqlinterp.reports.data import Result
from sqlinterp.reports.drawing import check_matplotlib
from sqlinterp.reports.frame import Tile, charts_html, framed
from sqlinterp.reports.sections import Table
from sqlinterp.version import __version__

_WORST = 50
_FOOTER = (
    "Ratio is answer over truth: below 1 the answer is too fast. Misses and missing truths "
    "are counted and never scored. Where a point was held out, the cell that answers is about "
    "twice as wide as between measured points, so that errors of a smooth law are overstated. "
    "Every table is beside this page as a CSV file with all of its rows."
)


def page_of(runs: Sequence[Run], documents: Sequence[Row]) -> str:
    """Return the page of runs of one version.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    check_matplotlib()
    sections = {
        "Regions": _regions(runs, documents),
        "Width of the cell": charts_html(charts_of("cell", runs, documents, cell_chart)),
        "Size of the truth": charts_html(charts_of("truth", runs, documents, truth_chart)),
        "Comparison": _compared(runs, documents),
        "Why regions fail": _failures(documents),
        "Regimes": _groups(documents),
        "Worst answers": _worst(documents),
    }
    told = {title: body for title, body in sections.items() if body}
    version = documents[0]["version"] if documents else "nothing"
    titles = "; ".join(title_of(document) for document in documents)
    return framed(
        f"Fidelity of {version}",
        f"{titles}. Written by sqlinterp {__version__}.",
        _FOOTER,
        _tiles(documents),
        [(_anchor(title), title, body) for title, body in told.items()],
    )


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _tiles(documents: Sequence[Row]) -> list[Tile]:
    failing = sum(row["verdict"] == FAIL for d in documents for row in d["regions"])
    tiles: list[Tile] = []
    for document in documents:
        name, total = title_of(document), document["all"]
        tiles += [
            (within(total), f"{name}: within the bar", False),
            (percent(total["mape"]), f"{name}: mean error", False),
            (number(total["n_answered"]), f"{name}: answered of {total['n_truth']}", False),
        ]
    tiles.append((number(failing), "regions that fail", failing > 0))
    return tiles


def _table(name: str, title: str, columns: Sequence[str], rows: list[Row], total: int) -> str:
    body = [tuple(row.get(column) for column in columns) for row in rows]
    return table_html(Table(name, title), Result(tuple(columns), body, total), {})


def _regions(runs: Sequence[Run], documents: Sequence[Row]) -> str:
    columns = ("run", "kernel", "region", "probes", "truths", "answered", "median", "p10", "p90",
               "within", "within_rate", "in_noise", "worst", "worst_at", "verdict")  # fmt: skip
    rows = [
        {
            "run": title_of(document), "kernel": row["kernel"], "region": row["region"],
            "probes": row["stats"]["n_probe"], "truths": row["stats"]["n_truth"],
            "answered": row["stats"]["n_answered"], "median": row["stats"]["med"],
            "p10": row["stats"]["p10"], "p90": row["stats"]["p90"],
            "within": row["stats"]["n_within"], "within_rate": row["stats"]["within_rate"],
            "in_noise": row["stats"]["n_within_noise"], "worst": row["stats"]["worst"],
            "worst_at": axes_text(row["stats"]["worst_input"]), "verdict": row["verdict"],
        }
        for document in documents
        for row in document["regions"]
    ]  # fmt: skip
    table = _table("regions", "Figures by kernel and region", columns, rows, len(rows))
    return charts_html(charts_of("region", runs, documents, region_chart)) + "\n" + table


def _compared(runs: Sequence[Run], documents: Sequence[Row]) -> str:
    columns = ("run", "region", "answered", "within_rate", "median", "other_answered",
               "other_within_rate", "other_median", "nearer", "further")  # fmt: skip
    rows = compared_rows(documents)
    if not rows:
        return ""
    table = _table("compared", "Both sides on the same probes", columns, rows, len(rows))
    return charts_html(charts_of("compared", runs, documents, compared_chart)) + "\n" + table


def _failures(documents: Sequence[Row]) -> str:
    lines = [
        f"<li><b>{escape(title_of(document))}, {escape(row['kernel'])} {escape(row['region'])}:"
        f" {escape(row['failure_class'])}</b>. {escape('; '.join(row['remediation']))}</li>"
        for document in documents
        for row in document["regions"]
        if row["failure_class"]
    ]
    return "<ul>\n" + "\n".join(lines) + "\n</ul>" if lines else ""


def _groups(documents: Sequence[Row]) -> str:
    columns = ("run", "kernel", "group_id", "regime", "answered", "median", "within",
               "within_rate", "worst", "verdict")  # fmt: skip
    rows = group_rows(documents)
    return _table("groups", "Figures by regime, worst first", columns, rows, len(rows))


def _worst(documents: Sequence[Row]) -> str:
    columns = ("run", "kernel", "region", "target", "truth_us", "pred_us", "ratio", "source",
               "method", "cell_ratio", "noise_floor", "failure_hint")  # fmt: skip
    known = [
        {**probe, "run": title_of(document), "target": axes_text(probe["target"])}
        for document in documents
        for probe in document["probes"]
    ]
    scored = [probe for probe in known if probe["ratio"] is not None]
    title = f"The {min(_WORST, len(scored))} worst answers of all probes"
    return _table("probes", title, columns, sorted(scored, key=_goodness)[:_WORST], len(known))


def _goodness(probe: Row) -> float:
    ratio = probe["ratio"]
    return -abs(math.log(ratio)) if ratio > 0 else -math.inf
