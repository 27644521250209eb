"""Every recorded answer of the compute suites: ours agrees, differs by decision, or waits."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml
from conformance.harness import Case, run_scenario, scenarios

SUITES = ("exact_compute", "matmul_interpolation", "generic_axis", "dirty_data", "zero_cost")
WAITING = {
    "attention_special": "attention",
    "communication": "communication",
    "composite": "composites",
    "elementwise": "elementwise",
    "moe_fused": "fused MoE",
    "mtp_projection": "multi-token prediction projection",
}


@cache
def known_differences() -> dict[str, str]:
    """Case names whose answers differ on purpose, with the reason."""
    text = Path(__file__).with_name("known_differences.yaml").read_text(encoding="utf-8")
    return {name: reason for reason, names in yaml.safe_load(text).items() for name in names}


def verdict(case: Case) -> str:
    """What a case proves: agreed, marked in the recording, known difference, waiting, WRONG."""
    if case.dispatch in WAITING:
        return "waiting"
    if case.is_marked:
        return "marked" if stays_in_interval(case) else "WRONG"
    if case.name in known_differences():
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


@pytest.mark.parametrize("suite", SUITES)
def test_recorded_answers_are_reproduced(
    suite: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    wrong = []
    for number, scenario in enumerate(scenarios(shared / "conformance" / f"{suite}.jsonl")):
        for case in run_scenario(scenario, tmp_path / str(number)):
            found = verdict(case)
            counts[found] += 1
            if found == "waiting":
                waiting[f"{case.op['op']} ({WAITING[case.dispatch]})"] += 1
            elif found in ("WRONG", "STALE"):
                wrong.append(f"{found} {case.name}: recorded {case.expected}, ours {case.answer}")
    with capsys.disabled():
        print(f"\n{suite}: {dict(counts)}; waiting for {dict(waiting)}")
    assert not wrong, "\n".join(wrong[:10])
    assert counts["agreed"] > 0.5 * (sum(counts.values()) - counts["waiting"] - counts["marked"])


def test_every_known_difference_names_a_case_that_exists(shared: Path) -> None:
    names = set()
    for suite in SUITES:
        for scenario in scenarios(shared / "conformance" / f"{suite}.jsonl"):
            for number in range(len(scenario["queries"])):
                names |= {
                    f"{scenario['name']}#{number}:{kind}" for kind in ("exact", "interpolated")
                }
    assert set(known_differences()) <= names
