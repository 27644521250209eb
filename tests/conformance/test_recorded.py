"""Every recorded answer: ours agrees, differs by decision, or is marked in the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml
from conformance.harness import Case, run_suite, scenarios

from sqlinterp.lookup.routes import ROUTES

SUITES = (
    "attention",
    "attention_interpolation",
    "communication",
    "compute_scale",
    "dirty_data",
    "elementwise",
    "elementwise_interpolation",
    "exact_compute",
    "generic_axis",
    "matmul_interpolation",
    "moe_fused",
    "quantized_matmul",
    "scatter_nd_update_mla",
    "static_composite",
    "zero_cost",
)
_NEEDS_NO_ROUTE = (
    "unmapped",
    "zero_cost",
    "accepted_miss",
    "query_mode_unknown",
    "compute_subcategory_unknown",
)


@cache
def known_differences(suite: str) -> dict[str, str]:
    """Case names of a suite whose answers differ on purpose, with the reason."""
    path = Path(__file__).with_name("known_differences") / f"{suite}.yaml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = yaml.safe_load(text) or {}
    return {name: reason for reason, names in found.items() for name in names}


def is_waiting(case: Case) -> bool:
    """Whether the path of a case is not built yet."""
    return case.dispatch not in ROUTES and case.dispatch not in _NEEDS_NO_ROUTE


def verdict(suite: str, case: Case) -> str:
    """What a case proves: agreed, marked in the recording, known difference, waiting, WRONG."""
    if is_waiting(case):
        return "waiting"
    if case.is_marked:
        if stays_in_interval(case):
            return "marked"
        return "known" if case.name in known_differences(suite) else "WRONG"
    if case.name in known_differences(suite):
        return "STALE" if case.agrees() else "known"
    return "agreed" if case.agrees() else "WRONG"


def stays_in_interval(case: Case) -> bool:
    """Whether an answer that depends on row order in the recording lies in its recorded range."""
    marks = case.marks()
    intervals = [
        m.get("cell_interval") or m.get("interval") for m in marks if m.get("order_dependent")
    ]
    if len(intervals) != len(marks) or not intervals or intervals[0] is None:
        return True  # another mark applies, or the recording gives no range
    if case.answer is None or case.answer.latency_us is None:
        return case.expected.get("source") is None or "sources" in marks[0]
    low, high = intervals[0]
    return bool(low * (1 - 1e-9) <= case.answer.latency_us <= high * (1 + 1e-9))


def table(suite: str, counts: Counter[tuple[str, str]], waiting: Counter[str]) -> str:
    """The counts of one suite as lines, exact and interpolated answers apart."""
    lines = [suite]
    for kind in ("exact", "interpolated"):
        own = {word: count for (of, word), count in counts.items() if of == kind}
        total = sum(own.values())
        words = ("agreed", "known", "marked", "waiting", "WRONG", "STALE")
        parts = [f"{word} {own[word]}" for word in words if own.get(word)]
        lines.append(f"  {kind:<13} {total:>5} asked: {', '.join(parts)}")
    if waiting:
        lines.append(f"  waiting for {dict(waiting)}")
    return "\n".join(lines)


@pytest.mark.parametrize("suite", SUITES)
def test_recorded_answers_are_reproduced(
    suite: str, shared: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    waiting: Counter[str] = Counter()
    wrong = []
    for case in run_suite(shared / "conformance" / f"{suite}.jsonl", tmp_path):
        found = verdict(suite, case)
        counts[case.kind, found] += 1
        if found == "waiting":
            waiting[case.dispatch] += 1
        elif found in ("WRONG", "STALE"):
            wrong.append(f"{found} {case.name}: recorded {case.expected}, ours {case.answer}")
        if not case.is_same_in_batch():
            wrong.append(f"{case.name}: alone {case.answer}, in a batch {case.in_batch}")
    record_property("recorded answers", table(suite, counts, waiting))
    assert not wrong, f"{len(wrong)} answers differ\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize("suite", SUITES)
def test_every_known_difference_names_a_case_that_exists(suite: str, shared: Path) -> None:
    names = set()
    for scenario in scenarios(shared / "conformance" / f"{suite}.jsonl"):
        for number in range(len(scenario["queries"])):
            names |= {f"{scenario['name']}#{number}:{kind}" for kind in ("exact", "interpolated")}
    assert set(known_differences(suite)) <= names
