"""The hold-out report as a person reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

_WORST, _SHOWN = 20, 200
_NUMBER = "---:"

Row = dict[str, Any]

_MEANINGS = {
    "loo": "every point left alone",
    "plane": "all points that share one value of an axis left together",
    "thin": "every second value of an axis left, all at once",
}
_REASONS = {
    "path_without_calls": "calls of this path are not rebuilt yet",
    "single_coordinate": "the regime has one coordinate only: nothing would be left to answer from",
    "axis_absent": "the path does not have the axis",
    "axis_constant": "the axis has one value only",
    "no_operator": "the mapping has no operator that is looked up there",
    "not_answered_by_its_own_point": "with the point in place, other rows answer the rebuilt call",
}


def markdown_of(document: Row) -> str:
    """Return the document as Markdown."""
    parts = [
        _head(document),
        _section("By kernel and region", _figures(document["kernels"], False)),
        _section("By regime", _figures(document["regimes"], True)),
        _section("Regimes", _regimes(document["regime_fields"])),
        _section("Unanswered, by reason", _misses(document["miss_reasons"])),
        _section("Not asked for", _skipped(document["skipped"])),
        _samples(document["samples"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(document: Row) -> str:
    request, total = document["request"], document["all"]
    how = _MEANINGS.get(request["split"], request["split"])
    along = f", along {request['axis']}" if request["axis"] else ""
    drawn = ""
    if document["possible_samples"] > request["limit"]:
        drawn = (
            f" Of {document['possible_samples']} possible samples, at most {request['limit']}"
            f" of each kernel and path were drawn (seed {request['seed']})."
        )
    lines = [
        "# Hold-out report",
        "",
        f"Version `{document['version']}`, split `{request['split']}`: {how}{along}. Each sample is"
        " a measured point that was taken out of a copy of the database, with all its repetitions"
        " and latency columns, and then asked for through the usual lookup (aggregation"
        f" {request['aggregation']}).{drawn}",
        "",
        f"- {total['n']} samples: {total['answered']} answered, {total['unanswered']} not answered,"
        f" {total['on_grid']} answered by another measurement of the same coordinate (not scored)",
        f"- median error {percent(total['median_relative_error'])}, median ratio"
        f" {number(total['median_ratio'])}",
        f"- within ±15 % (ratio from 1/{document['bar']} to {document['bar']}): {within(total)}",
        f"- worst ratio {number(total['worst_ratio'])}{_at(total['worst_target'])}",
        f"- {sum(row['points'] for row in document['skipped'])} points were not asked for"
        ", see below",
        "",
        "Ratio is answer over removed latency: below 1 the answer is too fast. Region `edge` are"
        " points at the end of an axis; only extrapolation could answer most of them. Where a point"
        " left, the cell that answers is about twice as wide as between measured points, so that"
        " errors of a smooth law are overstated (`cell_ratio` in the JSON and CSV).",
    ]
    return "\n".join(lines)


def _at(target: Row | None) -> str:
    return f" at {axes_text(target)}" if target else ""


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _figures(groups: Iterable[Row], has_regime: bool) -> str:
    columns = ["kernel", "path", *(["regime"] if has_regime else []), "region"]
    numbers = [
        "n",
        "answered",
        "on grid",
        "median error",
        "median ratio",
        "within ±15 %",
        "worst ratio",
    ]
    body = []
    for group in groups:
        regime = [f"r{group['regime_id']}"] if has_regime else []
        body.append([
            group["kernel_type"], group["path"], *regime, region_text(group), group["n"],
            group["answered"], group["on_grid"], percent(group["median_relative_error"]),
            number(group["median_ratio"]), within(group), number(group["worst_ratio"]),
        ])  # fmt: skip
    return table([*columns, *numbers, "worst at"], [[*row, axes_text(group["worst_target"])]
                 for row, group in zip(body, groups, strict=True)], numbers)  # fmt: skip


def _regimes(regimes: Iterable[Row]) -> str:
    return "\n".join(
        f"- r{regime['regime_id']}: {regime['kernel_type']}, {regime['path']}, formats"
        f" {regime['input_formats'] or 'not recorded'}, `{json.dumps(regime['fields'])}`"
        for regime in regimes
    )


def _misses(reasons: dict[str, int]) -> str:
    return table(["reason", "samples"], reasons.items(), ["samples"]) if reasons else ""


def _skipped(skipped: Iterable[Row]) -> str:
    body = [
        [
            row["kernel_type"],
            row["path"],
            row["reason"],
            row["points"],
            _REASONS.get(row["reason"], ""),
        ]
        for row in skipped
    ]
    columns = ["kernel", "path", "reason", "points", "meaning"]
    return table(columns, body, ["points"]) if body else ""


def _samples(samples: Sequence[Row]) -> str:
    scored = [s for s in samples if s["outcome"] == "answered"]
    worst = sorted(scored, key=_badness, reverse=True)[:_WORST]
    parts = []
    if len(samples) > len(worst) and worst:
        parts.append(_section(f"The {len(worst)} worst answers", _sample_table(worst)))
    title = "Samples"
    if len(samples) > _SHOWN:
        title = f"The first {_SHOWN} of {len(samples)} samples (holdout.csv has all)"
    if samples:
        parts.append(_section(title, _sample_table(samples[:_SHOWN])))
    return "\n\n".join(parts)


def _badness(sample: Row) -> float:
    return abs(math.log(sample["ratio"])) if sample["ratio"] > 0 else math.inf


def _sample_table(samples: Iterable[Row]) -> str:
    numbers = ["removed us", "answer us", "abs. error us", "rel. error", "confidence", "candidates"]
    columns = ["kernel", "regime", "region", "target", *numbers[:4], "source",
               "confidence", "method", "candidates", "reason"]  # fmt: skip
    body = [
        [
            s["kernel_type"], f"r{s['regime_id']}", s["region"], axes_text(s["target"]),
            number(s["removed_us"]), number(s["answer_us"]), number(s["absolute_error_us"]),
            percent(s["relative_error"]), s["source"] or "miss", number(s["confidence"], 2),
            s["shape_match_rule"] or "", number(s["candidate_count"], 0),
            s["miss_reason"] or ("measured elsewhere" if s["outcome"] == "on_grid" else ""),
        ]
        for s in samples
    ]  # fmt: skip
    return table(columns, body, numbers)


def table(columns: Sequence[str], body: Iterable[Iterable[Any]], numbers: Iterable[str]) -> str:
    """Return a Markdown table; columns named in ``numbers`` are aligned to the right."""
    right = set(numbers)
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join(_NUMBER if column in right else "---" for column in columns) + "|",
    ]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in body
    ]
    return "\n".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with some decimals, ``-`` for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """Return a ratio as per cent, ``-`` for none."""
    return "-" if value is None else f"{100 * value:.2f} %"


def within(figures: Row) -> str:
    """Return how many answers are within the bar, of how many."""
    if not figures["answered"]:
        return "-"
    return f"{figures['n_within']}/{figures['answered']} ({100 * figures['within_rate']:.0f} %)"


def region_text(group: Row) -> str:
    """Return a region with the name of its axis, as ``axis0 (M)``."""
    return f"{group['region']} ({group['axis']})" if group["axis"] else str(group["region"])


def axes_text(target: Row | None) -> str:
    """Return a coordinate as ``M=64 K=1536``.

    Examples
    --------
    >>> axes_text({"M": 64.0, "K": 1536.0})
    'M=64 K=1536'
    """
    return " ".join(f"{name}={value:.15g}" for name, value in (target or {}).items())
