"""Policies compared on measured tables: ``python tests/benchmark/policies.py [--write]``.

Points of aiconfigurator's H200 tables are taken away in ways that leave one axis, two or three to
interpolate, and asked for under each policy by the lookup that users have. ``--write`` puts the
tables into ``tests/benchmark/README.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import sqlinterp  # noqa: E402
from sqlinterp.database import connect_reader, define_macros, load_aliases  # noqa: E402
from sqlinterp.lookup.catalog import Catalog  # noqa: E402
from sqlinterp.lookup.engine import Engine  # noqa: E402
from sqlinterp.lookup.levels import ignore_levels  # noqa: E402
from sqlinterp.lookup.points import kernel_regimes, point_plans  # noqa: E402
from sqlinterp.lookup.regimes import Regime  # noqa: E402
from sqlinterp.lookup.statements import Statements  # noqa: E402
from sqlinterp.model import Answer, QueryContext  # noqa: E402
from sqlinterp.policy import run_policy  # noqa: E402

TABLES = ROOT.parent / "shared" / "data" / "aiconfigurator" / "h200_sxm"
DECLARATIONS = ROOT / "databases" / "declarations"
README = Path(__file__).with_name("README.md")
START, END = "<!-- policies: start -->", "<!-- policies: end -->"
POLICIES = ("griddata_linear", "multilinear", "bracket_consensus")
SAMPLE = 1000
WITHIN = 0.15
_SAME = "axis_{0} = getvariable('held').x_{0}[target + 1]"
_FAR = "axis_1 > getvariable('held').x_1[target + 1] / {0}"
# What leaves the table for a target, by the coordinate of the target.
PROTOCOLS = {
    "one row": " and ".join(map(_SAME.format, (1, 2, 3))),
    "its curve along axis 1": " and ".join(map(_SAME.format, (2, 3))),
    "levels of axes 2, 3": " or ".join(map(_SAME.format, (2, 3))),
    "levels of all axes": " or ".join(map(_SAME.format, (1, 2, 3))),
}
SPREADS = (0.0, 0.05, 0.2, 0.5, float("inf"))
# Above 8,192 the tables double: their top octaves hold two points.
RULES: dict[str, dict[str, Any]] = {
    "hold_rate": {"allow": True},
    "hold_rate, 2 points": {"allow": True, "min_top_octave_points": 2},
    "octave_secant, 2 points": {
        "allow": True, "form": "octave_secant", "min_top_octave_points": 2,
    },
}  # fmt: skip

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Probe:
    """A measured point that is taken away and asked for."""

    regime: Regime
    at: Point
    truth_us: float


class Table:
    """The interior points of one measured table, and lookups that do not see some of them."""

    def __init__(self, database: Path, version: str, kernel: str, field: str | None) -> None:
        self.connection = connect_reader(database)
        define_macros(self.connection)
        load_aliases(self.connection)
        ignore_levels(self.connection)
        self._catalog = Catalog(self.connection, version)
        regimes = kernel_regimes(self._engine({}).services, kernel)
        self.kernel = kernel
        self.parts: dict[str, list[Regime]] = defaultdict(list)
        for regime in regimes:
            self.parts[str(regime.fields[field]) if field else "all"].append(regime)

    def _engine(self, policy: dict[str, Any]) -> Engine:
        context = QueryContext(policy=run_policy(policy))
        return Engine(Statements(self.connection), self._catalog, context)

    def points(self, regime: Regime) -> dict[Point, float]:
        """Latency [us] of every point of a regime."""
        found = self.connection.execute(
            "select axis_1, axis_2, axis_3, latency_mean_us from point where regime_id = $id",
            {"id": regime.regime_id},
        ).fetchall()
        return {(row[0], row[1], row[2]): row[3] for row in found}

    def probes(self, regimes: Iterable[Regime]) -> list[Probe]:
        """A sample of points whose neighbours on all sides were measured, the same every time."""
        every = [
            Probe(regime, at, latency)
            for regime in regimes
            for at, latency in interior(self.points(regime))
        ]
        every.sort(key=lambda probe: drawn(probe.regime.regime_id, probe.at))
        return every[:SAMPLE]

    def answers(
        self, probes: Sequence[Probe], leaving: str, policy: dict[str, Any]
    ) -> list[Answer]:
        """Ask for probes without the points that leave the table for each of them."""
        held = {f"x_{axis + 1}": [p.at[axis] for p in probes] for axis in range(3)}
        self.connection.execute("set variable held = $held", {"held": held})
        self.connection.execute(
            "create or replace temp macro is_kept(target, axis_1, axis_2, axis_3, axis_4) as"
            f" not ({leaving})"
        )
        engine = self._engine(policy)
        plans = {}
        for number, probe in enumerate(probes):
            made = point_plans(engine.services, self.kernel, [probe.regime], [probe.at])
            plans[number] = made[0]
        answers = engine.answer_plans(plans)
        return [answers[number] for number in range(len(probes))]


def interior(points: dict[Point, float]) -> Iterator[tuple[Point, float]]:
    """Points with all 26 neighbours on the grid of the levels."""
    levels = [sorted({at[axis] for at in points}) for axis in range(3)]
    places = [{value: place for place, value in enumerate(own)} for own in levels]
    for at, latency in sorted(points.items()):
        place = [places[axis][at[axis]] for axis in range(3)]
        if any(not 0 < p < len(levels[axis]) - 1 for axis, p in enumerate(place)):
            continue
        around = product(*(levels[axis][p - 1 : p + 2] for axis, p in enumerate(place)))
        if all(neighbour in points for neighbour in around):
            yield at, latency


def drawn(regime_id: int, at: Point) -> str:
    """Order of the sample: that of a digest, so that it is the same for the same data."""
    return hashlib.md5(repr((regime_id, at)).encode(), usedforsecurity=False).hexdigest()


def errors(probes: Sequence[Probe], answers: Sequence[Answer]) -> np.ndarray:
    """Relative errors of the answered probes."""
    return np.array(
        [
            abs(answer.latency_us / probe.truth_us - 1)
            for probe, answer in zip(probes, answers, strict=True)
            if answer.latency_us is not None
        ]
    )


def cell(found: np.ndarray) -> str:
    """Median / p90 / p99 of relative errors in percent / percent of them within 15 %."""
    if not len(found):
        return "-"
    middle, high, far = (100 * float(q) for q in np.quantile(found, (0.5, 0.9, 0.99)))
    return f"{middle:.1f} / {high:.1f} / {far:.0f} / {100 * np.mean(found <= WITHIN):.1f}"


def databases(folder: Path) -> Iterator[tuple[str, Table]]:
    """Ingest the tables as their declarations say, and open each of them."""
    gemm, attention = (
        DECLARATIONS / f"aiconfigurator_{name}.yaml" for name in ("gemm", "context_attention")
    )
    for file, declaration, kernel, field in (
        ("gemm_vllm_0.24.0", gemm, "gemm", "gemm_dtype"),
        ("gemm_vllm_0.19.0", gemm, "gemm", "gemm_dtype"),
        ("context_attention_vllm_0.24.0", attention, "context_attention", None),
    ):
        database = folder / f"{file}.duckdb"
        sqlinterp.ingest_table(declaration, [TABLES / f"{file}.parquet"], database)
        with sqlinterp.open(database) as opened:
            version = opened.version_key
        yield file, Table(database, version, kernel, field)


def policy_rows(
    name: str, table: Table, spreads: dict[int, list[tuple[float, float]]]
) -> Iterator[str]:
    """One row per part of a table and protocol; spreads collect errors of points without a row."""
    for part, regimes in table.parts.items():
        probes = table.probes(regimes)
        if not probes:
            continue
        for protocol, leaving in PROTOCOLS.items():
            cells, answered = [], 0
            for policy in POLICIES:
                answers = table.answers(probes, leaving, {"method": policy})
                found = errors(probes, answers)
                cells.append(cell(found))
                answered = len(found)
                if protocol == "one row" and policy != "multilinear":
                    _collect(spreads[POLICIES.index(policy)], probes, answers)
            label = f"{name} {part}" if part != "all" else name
            yield f"| {label} | {protocol} | {answered} of {len(probes)} | {' | '.join(cells)} |"


def _collect(
    into: list[tuple[float, float]], probes: Sequence[Probe], answers: Sequence[Answer]
) -> None:
    for probe, answer in zip(probes, answers, strict=True):
        spread = (answer.details.get("error_bar") or {}).get("spread")
        if spread is not None and answer.latency_us is not None:
            into.append((spread, abs(answer.latency_us / probe.truth_us - 1)))


def spread_rows(spreads: dict[int, list[tuple[float, float]]]) -> Iterator[str]:
    """One row per bucket of the spread between the estimates along single axes."""
    for low, high in pairwise(SPREADS):
        cells, count, total = [], 0, 0
        for place in (0, 2):
            own = spreads[place]
            inside = np.array([error for spread, error in own if low <= spread < high])
            cells.append(cell(inside))
            count, total = len(inside), len(own)
        label = f"from {low:.0%}" if high == float("inf") else f"{low:.0%} to {high:.0%}"
        yield f"| {label} | {100 * count / max(total, 1):.0f} % | {' | '.join(cells)} |"


def extrapolation_rows(name: str, table: Table) -> Iterator[str]:
    """One row per part: the largest values of axis 1, from the curves cut at shares of them."""
    for part, regimes in table.parts.items():
        for factor in (2, 4):
            probes = []
            for regime in regimes:
                points = table.points(regime)
                top = max(at[0] for at in points)
                probes += [Probe(regime, at, us) for at, us in points.items() if at[0] == top]
            probes = sorted(probes, key=lambda p: drawn(p.regime.regime_id, p.at))[: SAMPLE // 4]
            cells = []
            for rule in RULES.values():
                policy = {"kernel_overrides": {table.kernel: {"extrapolation": rule}}}
                answers = table.answers(probes, _FAR.format(factor), policy)
                found = errors(probes, answers)
                cells.append(f"{cell(found)} | {100 * len(found) / len(probes):.0f} %")
            label = f"{name} {part}" if part != "all" else name
            yield f"| {label} | {factor} x | {len(probes)} | {' | '.join(cells)} |"


def report() -> str:
    """The three tables as Markdown."""
    spreads: dict[int, list[tuple[float, float]]] = {0: [], 2: []}
    policies, beyond = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, table in databases(Path(folder)):
            policies += list(policy_rows(name, table, spreads))
            beyond += list(extrapolation_rows(name, table))
            table.connection.close()
    text = [
        "Cells: median / p90 / p99 of the relative error in % / % of answers within 15 %.\n",
        f"| table | what is missing | answered | {' | '.join(POLICIES)} |",
        "|---|---|---|---|---|---|",
        *policies,
        "\nOne row missing, all tables, by the spread of the estimates along single axes:\n",
        "| spread | answers | griddata_linear | bracket_consensus |",
        "|---|---|---|---|",
        *spread_rows(spreads),
        "\nBeyond the range: the largest value of axis 1, from curves cut below it:\n",
        f"| table | beyond | probes | {' | answered | '.join(RULES)} | answered |",
        "|---|---|---|---|---|---|---|---|---|",
        *beyond,
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    """Print the tables, or write them into the README beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    write = parser.parse_args().write
    if not TABLES.is_dir():
        parser.exit(
            1, "the folder 'shared' with the measured tables is not beside the repository\n"
        )
    text = report()
    if not write:
        sys.stdout.write(text)
        return
    before, rest = README.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    README.write_text(f"{before}{START}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
