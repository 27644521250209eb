"""Figures of runs as rows of tables, for the page and for CSV files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from sqlinterp.fidelity.documents import Row
from sqlinterp.fidelity.markdown import title_of


def group_rows(documents: Sequence[Row]) -> list[Row]:
    """Return the worst regimes of runs as rows of a table."""
    return [
        {
            "run": title_of(document), "kernel": row["kernel"], "group_id": row["group_id"],
            "regime": json.dumps(row["regime"]), "answered": row["stats"]["n_answered"],
            "median": row["stats"]["med"], "within": row["stats"]["n_within"],
            "within_rate": row["stats"]["within_rate"], "worst": row["stats"]["worst"],
            "verdict": row["verdict"],
        }
        for document in documents
        for row in document["groups"]
    ]  # fmt: skip


def compared_rows(documents: Sequence[Row]) -> list[Row]:
    """Return both sides of comparisons as rows of a table."""
    return [
        {
            "run": title_of(document), "region": row["region"],
            "answered": row["base"]["n_answered"], "within_rate": row["base"]["within_rate"],
            "median": row["base"]["med"], "other_answered": row["cmp"]["n_answered"],
            "other_within_rate": row["cmp"]["within_rate"], "other_median": row["cmp"]["med"],
            "nearer": row["n_better"], "further": row["n_worse"],
        }
        for document in documents
        for row in document.get("compare", {}).get("regions", ())
    ]  # fmt: skip


def table_csv(rows: Sequence[Row]) -> str:
    """Return rows of equal columns as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
