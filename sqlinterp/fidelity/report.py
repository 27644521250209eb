"""The files of a report: the same runs as JSON, Markdown, CSV and one page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlinterp.fidelity.documents import probe_record, run_document
from sqlinterp.fidelity.markdown import markdown_of
from sqlinterp.fidelity.run import Run
from sqlinterp.fidelity.statistics import FIGURES
from sqlinterp.fidelity.tables import compared_rows, group_rows, table_csv

JSON, MARKDOWN, PAGE = "fidelity.json", "fidelity.md", "fidelity.html"
PROBES, REGIONS, GROUPS, COMPARED = "probes.csv", "regions.csv", "groups.csv", "compared.csv"
_MOST_IN_JSON = 5000  # probes
Row = dict[str, Any]


def write_report(runs: Sequence[Run], folder: Path, has_page: bool = True) -> list[Path]:
    """Write the files of runs into a folder, made if need be, and return their paths.

    Parameters
    ----------
    has_page : bool
        Whether to draw the page, which needs matplotlib.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    documents = [run_document(run) for run in runs]
    texts = {
        JSON: _json(documents),
        MARKDOWN: markdown_of(documents),
        PROBES: _probes(runs),
        REGIONS: _regions(documents),
        GROUPS: table_csv(group_rows(documents)),
    }
    compared = compared_rows(documents)
    if compared:
        texts[COMPARED] = table_csv(compared)
    if has_page:
        from sqlinterp.fidelity.page import page_of

        texts[PAGE] = page_of(runs, documents)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]


def _json(documents: Sequence[Row]) -> str:
    """Return the runs; those with very many probes have them in ``probes.csv`` only."""
    told = []
    for document in documents:
        is_long = len(document["probes"]) > _MOST_IN_JSON
        told.append({**document, "probes": None} if is_long else document)
    text = json.dumps({"runs": told}, indent=1, ensure_ascii=False, allow_nan=False)
    return text + "\n"


def _probes(runs: Sequence[Run]) -> str:
    """Return the probes as a table; the axes of all kernels share the columns x0 to x3."""
    text = io.StringIO()
    axes = [f"x{i}{end}" for i in range(4) for end in ("_name", "")]
    records = [(run, probe_record(result)) for run in runs for result in run.results]
    names = list(dict.fromkeys(name for _, record in records for name in record))
    at = names.index("target") if names else 0
    columns = ["run_id", "version", *names[:at], *axes, *names[at + 1 :]]
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for run, record in records:
        row = {name: value for name, value in record.items() if name != "target"}
        for i, (axis, value) in enumerate(record["target"].items()):
            row[f"x{i}_name"], row[f"x{i}"] = axis, value
        writer.writerow({"run_id": run.run_id, "version": run.version_key, **row})
    return text.getvalue()


def _regions(documents: Sequence[Row]) -> str:
    text = io.StringIO()
    columns = ["run_id", "version", "truth", "scheme", "kernel", "region", *FIGURES, "worst_input",
               "jump", "verdict", "failure_class"]  # fmt: skip
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    for document in documents:
        truth = document["request"]["truth"]
        total = {"kernel": "ALL", "region": "ALL", "stats": document["all"], "verdict": ""}
        for figure in [total, *document["kernels"], *document["regions"]]:
            stats = {**figure["stats"]}
            stats["worst_input"] = json.dumps(stats["worst_input"]) if stats["worst_input"] else ""
            writer.writerow(
                {
                    "run_id": document["run_id"], "version": document["version"],
                    "truth": truth["kind"], "scheme": truth.get("scheme", ""),
                    "kernel": figure["kernel"], "region": figure["region"], **stats,
                    "jump": figure.get("jump", ""), "verdict": figure["verdict"],
                    "failure_class": figure.get("failure_class") or "",
                }
            )  # fmt: skip
    return text.getvalue()
