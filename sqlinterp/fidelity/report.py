"""The hold-out report as JSON, CSV and Markdown: the same samples and figures in each."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlinterp.fidelity.markdown import markdown_of
from sqlinterp.fidelity.run import Report
from sqlinterp.fidelity.sample import BAR
from sqlinterp.fidelity.statistics import (
    Key,
    Statistics,
    by_kernel,
    by_regime,
    grouped,
    miss_reasons,
    statistics_of,
)

FILES = ("holdout.json", "holdout.md", "holdout.csv")


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write the three files of a report into a folder, made if need be, and return their paths."""
    document = document_of(report)
    texts = (
        json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        markdown_of(document),
        _csv(document["samples"]),
    )
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in FILES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    return paths


def document_of(report: Report) -> dict[str, Any]:
    """Return the whole report as JSON holds it: nothing in it depends on when or where it ran."""
    samples = report.samples
    request = asdict(report.request)
    del request["database"]
    families = {s.question.point.regime_id: s.question.family for s in samples}
    return {
        "version": report.version_key,
        "request": request,
        "bar": BAR,
        "possible_samples": report.possible,
        "all": statistics_of(samples).record(),
        "kernels": [_group(*item) for item in grouped(samples, by_kernel).items()],
        "regimes": [_group(*item) for item in grouped(samples, by_regime).items()],
        "regime_fields": [
            {
                "regime_id": regime_id,
                "kernel_type": family.kernel_type,
                "path": family.path,
                "input_formats": family.formats[regime_id],
                "fields": json.loads(family.regime_key),
            }
            for regime_id, family in families.items()
        ],
        "miss_reasons": miss_reasons(samples),
        "skipped": [
            {"kernel_type": kernel, "path": path, "reason": reason, "points": count}
            for (kernel, path, reason), count in sorted(report.skipped.items())
        ],
        "samples": [sample.record() for sample in samples],
    }


def _group(key: Key, statistics: Statistics) -> dict[str, Any]:
    place = dict(zip(("kernel_type", "path", "regime_id", "axis", "region"), key, strict=True))
    return {**place, **statistics.record()}


def _csv(samples: list[dict[str, Any]]) -> str:
    """Return the samples as a table; the axes of all paths share the columns axis_1 to axis_4."""
    text = io.StringIO()
    names = [name for name in (samples[0] if samples else {}) if name != "target"]
    axes = [f"axis_{i}{end}" for i in (1, 2, 3, 4) for end in ("_name", "")]
    writer = csv.DictWriter(text, [*names[:6], *axes, *names[6:]], lineterminator="\n")
    writer.writeheader()
    for sample in samples:
        row = {name: sample[name] for name in names}
        for i, (axis, value) in enumerate(sample["target"].items(), start=1):
            row[f"axis_{i}_name"], row[f"axis_{i}"] = axis, value
        writer.writerow(row)
    return text.getvalue()
