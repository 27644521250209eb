"""Runs recorded scenarios: writes their files, ingests them, asks every query both ways."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlinterp
from sqlinterp.errors import SqlinterpError
from sqlinterp.model import Answer, QueryContext

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Case:
    """One recorded answer and ours."""

    scenario: str
    number: int
    op: dict[str, Any]
    kind: str
    expected: dict[str, Any]
    notes: list[dict[str, Any]]
    answer: Answer | None
    dispatch: str
    in_batch: Answer | None = None

    @property
    def name(self) -> str:
        return f"{self.scenario}#{self.number}:{self.kind}"

    def marks(self) -> list[dict[str, Any]]:
        """Notes that speak of this answer."""
        return [n for n in self.notes if n.get("result", self.kind) == self.kind]

    @property
    def is_marked(self) -> bool:
        return bool(self.marks()) or "raises" in self.expected

    def is_same_in_batch(self) -> bool:
        """Whether a batch of all operators of the scenario gives the answer of a lone lookup."""
        answers = [a and json.dumps(a.to_dict()) for a in (self.answer, self.in_batch)]
        return answers[0] == answers[1]

    def agrees(self) -> bool:
        """Whether source, latency, kernel, rule (measured) and reason (exact miss) agree."""
        answer, expected = self.answer, self.expected
        if answer is None:
            return False
        if expected.get("source") != answer.source:
            return False
        if answer.source is None:
            return self.kind != "exact" or answer.miss_reason == expected.get("miss_reason")
        if not math.isclose(
            answer.latency_us or 0, expected["latency_us"], rel_tol=TOLERANCE, abs_tol=1e-12
        ):
            return False
        if answer.source == "MEASURED" and expected.get("rule") != answer.shape_match_rule:
            return False
        return expected.get("kernel_type") in (None, answer.kernel_type)


def scenarios(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def run_suite(path: Path, folder: Path) -> Iterator[Case]:
    """Ingest the files of all scenarios as versions of one database and answer their queries.

    Every query is asked exactly only and with interpolation.
    """
    written = [
        (scenario, _write(scenario, folder / f"device{number}"))
        for number, scenario in enumerate(scenarios(path))
    ]
    database = folder / "profiling.duckdb"
    sqlinterp.ingest([version for _, version in written], database)
    for scenario, version in written:
        yield from _cases(scenario, database, "/".join(version.parts[-3:]))


def _write(scenario: dict[str, Any], device: Path) -> Path:
    """Write the files of a scenario; return its version directory."""
    version = device / "backend" / "version"
    version.mkdir(parents=True)
    for name, text in scenario["files"].items():
        target = (version / name).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
    return version


def _cases(scenario: dict[str, Any], database: Path, version: str) -> Iterator[Case]:
    context = _context(scenario["context"])
    with sqlinterp.open(database, version, aggregation="reference", **context) as opened:
        for kind, disabled in (("exact", True), ("interpolated", False)):
            asking = replace(opened.context, disable_interpolation=disabled)
            alone = []
            for number, query in enumerate(scenario["queries"]):
                try:
                    answer = opened.lookup_many([query["op"]], asking)[0]
                except SqlinterpError:
                    answer = None
                plan_dispatch = opened.dispatch_of(query["op"])
                alone.append(
                    Case(scenario["name"], number, query["op"], kind, query["expected"][kind],
                         query["notes"] or [], answer, plan_dispatch)
                )  # fmt: skip
            yield from _asked_together(opened, alone, asking)


def _asked_together(
    opened: sqlinterp.ProfilingDatabase, cases: list[Case], asking: QueryContext
) -> list[Case]:
    """Ask the operators that have an answer again, in one batch."""
    answered = [case for case in cases if case.answer is not None]
    answers = iter(opened.lookup_many([case.op for case in answered], asking))
    return [c if c.answer is None else replace(c, in_batch=next(answers)) for c in cases]


def _context(recorded: dict[str, Any]) -> dict[str, Any]:
    grid = recorded.get("comm_grid")
    return {
        "ep_size": recorded.get("ep_size"),
        "tp_size": recorded.get("tp_size"),
        "sequence_parallel": bool(recorded.get("sequence_parallel")),
        "comm_grid": None if grid is None else (tuple(grid["shape"]), tuple(grid["tiers"])),
    }
