"""How cost grows with points and with targets: ``python tests/benchmark/scale.py [--largest 7]``.

Everything here is synthetic: one kernel of batched matrix multiplication whose every batch size is
a regime of 2,000 points, with a made-up latency; with ``--one-regime`` all points are in one. Each
database size is measured in a process of its own, whose peak memory counts; ratios to ``SELECT 1``
on the same connection are printed too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from databases_for_tests import MATMUL_HEADER, call, cursor_of, tensor, write_version  # noqa: E402

import sqlinterp  # noqa: E402
from sqlinterp.database import connect_writer  # noqa: E402
from sqlinterp.ingestion.derive import rebuild  # noqa: E402
from sqlinterp.lookup.invocation import read_invocation  # noqa: E402
from sqlinterp.relational.canonical import text  # noqa: E402

POINTS_PER_REGIME = 2_000
LARGEST_BATCH = 100_000
_COPY = """
insert into measurement by name
select * exclude (h, m, k, n, place, latency) replace (
    row_id + 1 + place as row_id, place + 1 as row_number, place + 2 as line_number,
    row_id + 1 + place as signature_id, latency as latency_us, latency as raw_latency_us,
    latency as average_us,
    [[h, m, k], [h, k, n]] as input_shapes, [[h, m, k], [h, k, n]] as operand_shapes,
    [[h, m, n]] as output_shapes
)
from (
    select one.*, h, m, k, n,
        ((((h - 1) * $rows + m // 64 - 1) * $side + k // 128 - 1) * $side + n // 256) as place,
        5 + h * m * k * n / 1e9 as latency
    from measurement as one, range(2, $regimes + 2) as hs(h),
        (select unnest(range(64, 64 * $rows + 1, 64)) as m),
        (select unnest(range(128, 128 * $side + 1, 128)) as k),
        (select unnest(range(256, 256 * $side + 1, 256)) as n)
)
"""


@dataclass(frozen=True)
class Grid:
    """Regimes of one size: ``rows`` values of M, ``side`` values each of K and N."""

    regimes: int
    rows: int
    side: int

    @classmethod
    def of(cls, points: int, per_regime: int) -> Grid:
        """Return the grid with about so many points."""
        side = round((per_regime / 2) ** (1 / 3))
        return cls(max(points // per_regime, 1), round(per_regime / side**2), side)

    @property
    def points(self) -> int:
        """Points of all regimes."""
        return self.regimes * self.rows * self.side**2

    def shape(self, place: int) -> tuple[int, int, int, int]:
        """Return h, M, K and N of a place in the order of the file, M off its greatest values."""
        rest, n = divmod(place, self.side)
        rest, k = divmod(rest, self.side)
        h, m = divmod(rest, self.rows)
        return h + 2, 64 * min(m + 1, self.rows - 1), 128 * (k + 1), 256 * (n + 1)


def build(grid: Grid, folder: Path) -> Path:
    """Write a database of the points; its single CSV row is the pattern of all others."""
    row = '"1,64,128;1,128,256",DT_BF16;DT_BF16,ND;ND,"1,64,256",DT_BF16,ND,5.0'
    files = {"BatchMatMulV2.csv": [MATMUL_HEADER, row]}
    write_version(folder / "v", files, {"aten.bmm.default": "BatchMatMulV2"})
    database = folder / "scale.duckdb"
    sqlinterp.ingest([folder / "v"], database)
    connection = connect_writer(database)
    connection.execute(_COPY, asdict(grid))
    rebuild(connection)
    connection.execute("checkpoint")
    connection.close()
    return database


def bmm(h: int, m: int, k: int, n: int) -> dict[str, Any]:
    """A call of the kernel."""
    return call("aten.bmm.default", tensor(h, m, k), tensor(h, k, n), outputs=[tensor(h, m, n)])


def shapes(count: int, grid: Grid, off_grid: int) -> list[tuple[int, int, int, int]]:
    """Distinct shapes spread over the regimes, on the grid or beside it along M."""
    step = grid.points / count
    found = []
    for number in range(count):
        h, m, k, n = grid.shape(int(number * step))
        found.append((h, m + off_grid * (1 + number % 62), k, n))
    return found


def median_seconds(run: Callable[[], Any], times: int) -> float:
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(database: Path, grid: Grid, targets: list[int]) -> dict[str, Any]:
    """Measure one database in this process."""
    with sqlinterp.open(database) as opened:
        connection = cursor_of(opened)
        found: dict[str, Any] = {"points": grid.points}
        found["select_1"] = median_seconds(lambda: connection.execute("select 1").fetchall(), 300)
        for name, off in (("exact", 0), ("line", 1)):
            calls = iter([bmm(*shape) for shape in shapes(210, grid, off)])
            found[f"cold_{name}"] = median_seconds(
                lambda calls=calls: opened.lookup(next(calls)), 200
            )
        found["peak_lookups_mib"] = peak_mib()
        counts = [count for count in targets if count <= grid.points // 2]
        ends = [end_to_end(opened, count, grid) for count in counts]
        found["peak_batches_mib"] = peak_mib()
        for setting in ("set threads = 2", "reset memory_limit"):
            connection.execute(setting)  # what a user of the canonical queries has
        found["batch"] = [
            {"targets": count, **end, **relations(connection, count, grid)}
            for count, end in zip(counts, ends, strict=True)
        ]
    found["peak_mib"] = peak_mib()
    return found


def peak_mib() -> float:
    """Most memory that this process has had so far, whatever the one before it had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def end_to_end(opened: Any, count: int, grid: Grid) -> dict[str, float]:
    """Seconds a target from invocation objects, and from JSON dictionaries, to answers."""
    if count > LARGEST_BATCH:
        return {}
    found = {}
    for name, off, source in (("exact", 0, "MEASURED"), ("line", 1, "INTERPOLATED")):
        calls = [bmm(*shape) for shape in shapes(count, grid, off)]
        found[f"dictionaries_{name}"] = looked_up(opened, calls, source)
        found[f"invocations_{name}"] = looked_up(opened, list(map(read_invocation, calls)), source)
    return found


def looked_up(opened: Any, calls: list[Any], source: str) -> float:
    """Seconds a target from invocations to answers, which are gone afterwards."""
    start = time.perf_counter()
    answers = opened.lookup_many(calls)
    seconds = (time.perf_counter() - start) / len(calls)
    assert all(answer.source == source for answer in answers)
    return seconds


def relations(connection: Any, count: int, grid: Grid) -> dict[str, float]:
    """Seconds a target from relation to relation."""
    exact, line = (
        relation(connection, made(connection, count, grid), query, count)
        for made, query in ((exact_targets, "exact_answers"), (placed_targets, "axis_answers"))
    )
    return {"relation_exact": exact, "relation_line": line}


def relation(connection: Any, name: str, query: Any, count: int) -> float:
    """Seconds a target of a canonical query over the temporary table of a name."""
    statement = f"create or replace temp table found as {text(query)}"
    start = time.perf_counter()
    connection.execute(statement, {"aggregation": "mean"})
    seconds = (time.perf_counter() - start) / count
    answered = connection.execute("select count(distinct target_id) from found").fetchone()[0]
    assert answered == count, (name, query, answered, count)
    return seconds


def load_shapes(connection: Any, found: list[tuple[int, int, int, int]]) -> None:
    h, m, k, n = (list(axis) for axis in zip(*found, strict=True))
    connection.execute(
        "create or replace temp table wanted as"
        " select unnest(range(len($h::bigint[]))) as target_id,"
        " unnest($h::bigint[]) as h, unnest($m::bigint[]) as m, unnest($k::bigint[]) as k,"
        " unnest($n::bigint[]) as n",
        {"h": h, "m": m, "k": k, "n": n},
    )


def exact_targets(connection: Any, count: int, grid: Grid) -> str:
    """Make the relation of targets by key."""
    load_shapes(connection, shapes(count, grid, 0))
    connection.execute(
        "create or replace temp table target_key as select target_id, 0 as position, file_id,"
        " [[h, m, k], [h, k, n]]::varchar || '|DT_BF16;DT_BF16' as match_key,"
        " 'identity' as rule, 0 as quality, 0 as distance, false as is_unique"
        " from wanted, (select file_id from source_file)"
    )
    return "target_key"


def placed_targets(connection: Any, count: int, grid: Grid) -> str:
    """Make the relation of targets by place, each between two measured M."""
    load_shapes(connection, shapes(count, grid, 1))
    connection.execute(
        "create or replace temp table target_place as select target_id as place_id, target_id,"
        " 0 as position, 0 as distance, regime_id, m::double as axis_1, k::double as axis_2,"
        " n::double as axis_3, 0.0::double as axis_4, true as varies_1, true as varies_2,"
        " true as varies_3, false as varies_4, false as refuses_conflicts, false as is_consensus"
        " from wanted join (select distinct regime_id, (output_shapes[1][1]) as h"
        " from point join measurement on row_id = first_row_id) using (h)"
    )
    return "target_place"


def exponent(pairs: list[tuple[float, float]]) -> float:
    """Slope of cost over size, both logarithmic."""
    import numpy as np

    sizes, costs = np.log(np.array(pairs)).T
    return float(np.polyfit(sizes, costs, 1)[0])


def growth(results: list[dict[str, Any]]) -> dict[str, float]:
    """Exponents: of the cold lookup with points, of each batch with targets at the most points."""
    found = {
        f"{name} with points": exponent([(r["points"], r[name]) for r in results])
        for name in ("cold_exact", "cold_line")
    }
    last = results[-1]["batch"]
    for name in ("relation_exact", "relation_line", "invocations_exact", "invocations_line"):
        pairs = [(b["targets"], b[name] * b["targets"]) for b in last if name in b]
        if len(pairs) > 1:
            found[f"{name} with targets"] = exponent(pairs)
    return found


def show(results: list[dict[str, Any]]) -> None:
    """Print the tables."""
    ratio = f"{'x SELECT 1':>11}"
    peaks = f"{'MiB: lookups':>13} {'lookup_many':>11} {'relations':>9}"
    print(f"{'points':>11} {'exact':>9} {ratio} {'1D':>9} {ratio} {peaks}")
    for r in results:
        floor = r["select_1"]
        print(
            f"{r['points']:>11,} {r['cold_exact'] * 1e3:>6.2f} ms {r['cold_exact'] / floor:>11.1f}"
            f" {r['cold_line'] * 1e3:>6.2f} ms {r['cold_line'] / floor:>11.1f}"
            f" {r['peak_lookups_mib']:>13.0f} {r['peak_batches_mib']:>11.0f}"
            f" {r['peak_mib']:>9.0f}"
        )
    for name, label in (("cold_exact", "exact"), ("cold_line", "1D")):
        times = results[-1][name] / results[0][name]
        print(f"a cold {label} lookup costs {times:.2f} times as much at the most points")
    print(
        f"\n{'points':>11} {'targets':>10} {'us a target: exact':>19} {'1D':>8}"
        f" {'end to end: exact':>18} {'1D':>6} {'dictionaries: exact':>20} {'1D':>6}"
    )
    for r in results:
        for b in r["batch"]:
            exact, line, exact_text, line_text = (
                f"{b[name] * 1e6:.0f}" if name in b else "-"
                for name in ("invocations_exact", "invocations_line",
                             "dictionaries_exact", "dictionaries_line")
            )  # fmt: skip
            print(
                f"{r['points']:>11,} {b['targets']:>10,} {b['relation_exact'] * 1e6:>19.2f}"
                f" {b['relation_line'] * 1e6:>8.2f} {exact:>18} {line:>6}"
                f" {exact_text:>20} {line_text:>6}"
            )
    print("\ngrowth exponents (1 = proportional)")
    for name, value in growth(results).items():
        print(f"  {name:<34} {value:+.2f}")


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Draw cost over size, for points and for targets."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "scale"
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, label in (("cold_exact", "exact"), ("cold_line", "1D")):
        left.plot(
            [r["points"] for r in results], [r[name] * 1e3 for r in results], "o-", label=label
        )
    left.set(
        xscale="log", yscale="log", xlabel="points", ylabel="ms a cold lookup", ylim=(0.5, 100)
    )
    last = results[-1]["batch"]
    for name, label in (
        ("relation_exact", "exact, relation to relation"),
        ("relation_line", "1D, relation to relation"),
        ("invocations_exact", "exact, invocations to answers"),
        ("invocations_line", "1D, invocations to answers"),
    ):
        rows = [b for b in last if name in b]
        right.plot([b["targets"] for b in rows], [b[name] * 1e6 for b in rows], "o-", label=label)
    right.set(xscale="log", yscale="log", xlabel=f"targets ({results[-1]['points']:,} points)",
              ylabel="us a target")  # fmt: skip
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Build, measure and draw every size up to the largest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=7, help="exponent of the most points")
    parser.add_argument("--one-regime", action="store_true", help="all points in one regime")
    parser.add_argument("--plot", type=Path, help="draw into this file")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    targets = [10**power for power in range(3, 7)]
    if arguments.measure:
        database, *size = arguments.measure
        print(json.dumps(measure(Path(database), Grid(*map(int, size)), targets)))
        return
    results = []
    for power in range(4, arguments.largest + 1):
        grid = Grid.of(10**power, 10**power if arguments.one_regime else POINTS_PER_REGIME)
        with tempfile.TemporaryDirectory() as folder:
            size = map(str, asdict(grid).values())
            command = [sys.executable, __file__, "--measure", str(build(grid, Path(folder))), *size]
            results.append(json.loads(subprocess.check_output(command)))
    show(results)
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
