"""Fidelity runs as a person reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

_WORST, _SHOWN = 20, 200
_NUMBER = "---:"

Row = dict[str, Any]

SCHEME_MEANINGS = {
    "loo": "every point left alone",
    "plane": "all points that share one value of an axis left together",
    "cross": "all points that share the value of any axis with the point left with it",
    "thin": "all but every so many-th value of each axis left at once",
    "tail": "all points above the largest value over a factor left",
    "head": "all points below the smallest value times a factor left",
    "gap": "neighbouring inner values of an axis left together",
    "kfold": "every point left with the others of its part",
}
REASONS = {
    "path_without_calls": "calls of this path are not rebuilt",
    "single_coordinate": "the regime has one coordinate only: nothing would be left to answer from",
    "axis_absent": "the path does not have the axis",
    "axis_constant": "the axis has one value only",
    "too_few_values": "too few values would be left on every axis",
    "group_not_in_truth": "the other version has not measured the regime",
}


def markdown_of(documents: Sequence[Row]) -> str:
    """Return runs as Markdown, one below the other."""
    parts = ["# Fidelity report", _legend()]
    parts += [_run(document, len(documents) > 1) for document in documents]
    return "\n\n".join(parts) + "\n"


def _legend() -> str:
    return (
        "Ratio is answer over truth: below 1 the answer is too fast. An answer is within the bar"
        " when the ratio or its inverse is at most 1 + bar. Misses and missing truths are counted"
        " and never scored. `edge` are points at the end of an axis, which only extrapolation"
        " could answer; `boundary` are both sides of a step that the axis samples; `small` are"
        " truths below the limit, whatever else they are; `unanswered` repeats the misses of the"
        " other regions. Where a point left, the cell that answers is about twice as wide as"
        " between measured points, so that errors of a smooth law are overstated: compare runs"
        " by `cell_ratio` too."
    )


def _run(document: Row, is_one_of_many: bool) -> str:
    depth = "###" if is_one_of_many else "##"
    heading = f"## {title_of(document)}\n\n" if is_one_of_many else ""
    sections = [
        ("Regions", _regions(document["regions"])),
        ("Comparison", _compared(document.get("compare", {}).get("regions", ()))),
        ("Drift of the other version", _drift(document.get("drift", ()))),
        ("Why regions fail", _failures(document["regions"])),
        ("Regimes, worst first", _groups(document["groups"])),
        ("Unanswered, by reason", _misses(document["miss_reasons"])),
        ("Not asked for", _skipped(document["skipped"])),
    ]
    parts = [heading + _head(document)]
    parts += [f"{depth} {title}\n\n{body}" for title, body in sections if body]
    parts += _probes(document.get("probes", ()), depth)
    return "\n\n".join(parts)


def title_of(document: Row) -> str:
    """Return what a run is in a few words."""
    truth = document["request"]["truth"]
    if truth["kind"] == "holdout":
        return f"Hold-out {truth['scheme']}"
    return f"Truth from {truth['kind']} {document['truth_ref']}"


def _head(document: Row) -> str:
    request, total = document["request"], document["all"]
    truth = request["truth"]
    how = SCHEME_MEANINGS.get(truth.get("scheme"), f"truth from {document['truth_ref']}")
    lines = [
        f"Version `{document['version']}`, {title_of(document).lower()}: {how}. Answers come from"
        f" the usual lookup (aggregation {request['aggregation']}, policy"
        f" `{document['policy_hash'][:12]}`), run `{document['run_id']}`.",
        "",
        f"- {total['n_probe']} probes of {document['n_groups']} regimes: {total['n_truth']} with a"
        f" truth, {total['n_answered']} of them answered",
        f"- median ratio {number(total['med'])}, mean absolute error {percent(total['mape'])}",
        f"- within ±{100 * request['bar']:g} % (ratio from 1/{1 + request['bar']:g} to"
        f" {1 + request['bar']:g}): {within(total)}",
        f"- worst ratio {number(total['worst'])}{_at(total['worst_input'])}",
        f"- noise: {_noise(document['noise'])}",
    ]
    if document["sampled"]:
        lines.append(
            f"- of {document['possible_probes']} possible probes at most {request['max_probes']}"
            " of each regime were drawn, regions in proportion"
        )
    left = sum(row["points"] for row in document["skipped"])
    if left:
        lines.append(f"- {left} points were not asked for, see below")
    return "\n".join(lines)


def _noise(noise: Row) -> str:
    if not noise.get("n_repeat_points"):
        return "no point was measured repeatedly"
    return (
        f"{noise['n_repeat_points']} points measured repeatedly, largest over smallest up to"
        f" {number(noise['spread_p90'])} for 90 % of them"
    )


def _at(target: Row | None) -> str:
    return f" at {axes_text(target)}" if target else ""


def _regions(regions: Iterable[Row]) -> str:
    numbers = [
        "probes",
        "truths",
        "answered",
        "median",
        "p10",
        "p90",
        "within",
        "in noise",
        "worst",
    ]
    body = [
        [
            row["kernel"], row["region"], row["stats"]["n_probe"], row["stats"]["n_truth"],
            row["stats"]["n_answered"], number(row["stats"]["med"]), number(row["stats"]["p10"]),
            number(row["stats"]["p90"]), within(row["stats"]), row["stats"]["n_within_noise"],
            number(row["stats"]["worst"]), axes_text(row["stats"]["worst_input"]), row["verdict"],
        ]
        for row in regions
    ]  # fmt: skip
    columns = ["kernel", "region", *numbers, "worst at", "verdict"]
    return table(columns, body, numbers) if body else ""


def _failures(regions: Iterable[Row]) -> str:
    return "\n".join(
        f"- {row['kernel']} `{row['region']}`: {row['failure_class']}"
        + (f", median step {row['jump']:.3f}" if row.get("jump") else "")
        + "".join(f"; {remedy}" for remedy in row["remediation"])
        for row in regions
        if row["failure_class"]
    )


def _groups(groups: Iterable[Row]) -> str:
    numbers = ["answered", "median", "within", "worst"]
    body = [
        [
            row["kernel"], f"`{row['group_id']}`", f"`{json.dumps(row['regime'])}`",
            row["stats"]["n_answered"], number(row["stats"]["med"]), within(row["stats"]),
            number(row["stats"]["worst"]), row["verdict"],
        ]
        for row in groups
    ]  # fmt: skip
    return table(["kernel", "group", "regime", *numbers, "verdict"], body, numbers) if body else ""


def _compared(regions: Sequence[Row]) -> str:
    numbers = ["median", "within", "other median", "other within", "nearer", "further"]
    body = [
        [
            row["region"], number(row["base"]["med"]), within(row["base"]),
            number(row["cmp"]["med"]), within(row["cmp"]), row["n_better"], row["n_worse"],
        ]
        for row in regions
    ]  # fmt: skip
    return table(["region", *numbers], body, numbers) if body else ""


def _drift(drifts: Sequence[Row]) -> str:
    numbers = ["shared", "identical", "median", "within"]
    body = [
        [
            row["kernel"], row["dtype"], row["n_shared"], row["n_identical"],
            number(row["median"]), percent(row["within_rate"]),
            "truth" if row["pass"] else "not evaluable",
        ]
        for row in drifts
    ]  # fmt: skip
    return table(["kernel", "dtype", *numbers, "gate"], body, numbers) if body else ""


def _misses(reasons: dict[str, int]) -> str:
    return table(["reason", "probes"], reasons.items(), ["probes"]) if reasons else ""


def _skipped(skipped: Iterable[Row]) -> str:
    body = [
        [row["kernel"], row["path"], row["reason"], row["points"], REASONS.get(row["reason"], "")]
        for row in skipped
    ]
    columns = ["kernel", "path", "reason", "points", "meaning"]
    return table(columns, body, ["points"]) if body else ""


def _probes(probes: Sequence[Row], depth: str) -> list[str]:
    scored = [probe for probe in probes if probe["ratio"] is not None]
    worst = sorted(scored, key=_badness, reverse=True)[:_WORST]
    parts = []
    if len(probes) > len(worst) and worst:
        parts.append(f"{depth} The {len(worst)} worst answers\n\n{_probe_table(worst)}")
    title = "Probes"
    if len(probes) > _SHOWN:
        title = f"The first {_SHOWN} of {len(probes)} probes (probes.csv has all)"
    if probes:
        parts.append(f"{depth} {title}\n\n{_probe_table(probes[:_SHOWN])}")
    return parts


def _badness(probe: Row) -> float:
    return abs(math.log(probe["ratio"])) if probe["ratio"] > 0 else math.inf


def _probe_table(probes: Iterable[Row]) -> str:
    numbers = ["truth us", "answer us", "abs. error us", "rel. error", "confidence", "candidates",
               "cell"]  # fmt: skip
    columns = ["kernel", "region", "target", *numbers[:4], "source", "confidence", "method",
               "candidates", "cell", "reason"]  # fmt: skip
    body = [
        [
            p["kernel"], p["region"], axes_text(p["target"]), number(p["truth_us"]),
            number(p["pred_us"]), number(p["absolute_error_us"]), percent(p["relative_error"]),
            p["source"], number(p["confidence"], 2), p["shape_match_rule"] or "",
            number(p["n_candidates"], 0), number(p["cell_ratio"], 2), p["reason"] or "",
        ]
        for p in probes
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
    """Return a fraction as per cent, ``-`` for none."""
    return "-" if value is None else f"{100 * value:.2f} %"


def within(figures: Row) -> str:
    """Return how many answers are within the bar, of how many."""
    if not figures["n_answered"]:
        return "-"
    rate = 100 * figures["within_rate"]
    return f"{figures['n_within']}/{figures['n_answered']} ({rate:.0f} %)"


def axes_text(target: Row | None) -> str:
    """Return a coordinate as ``M=64 K=1536``.

    Examples
    --------
    >>> axes_text({"M": 64.0, "K": 1536.0})
    'M=64 K=1536'
    """
    return " ".join(f"{name}={value:.15g}" for name, value in (target or {}).items())
