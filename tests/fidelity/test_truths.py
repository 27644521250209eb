"""Truth from another version, from a table and from a program, and what is asked against it."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fidelity_support import at, curve_database, ratios, region, run, targets

import sqlinterp
from sqlinterp.errors import SourceError, SqlinterpError, UsageError
from sqlinterp.fidelity import Truth
from sqlinterp.fidelity.command import TruthError
from sqlinterp.fidelity.generated import generated_coordinates, middle_of
from sqlinterp.fidelity.source import Measured

SIZES = [float(x) for x in range(64, 64 * 41, 64)]
GRID = {x: 10 + x / 64 for x in SIZES}
BETWEEN = {x + 32: 10 + (x + 32) / 64 for x in SIZES[:-1]}


def other(factor: float = 1.0, **changes: float) -> dict[float, float | None]:
    """A second version: a little noise on shared points, and the points in between."""
    wobble = {x: y * factor * (1.01 if i % 2 else 0.99) for i, (x, y) in enumerate(GRID.items())}
    return {**wobble, **{x: y * factor for x, y in BETWEEN.items()}}


def version_truth(folder: Path, second: Mapping[float, float | None], **more: Any) -> Any:
    database = curve_database(folder, {"1": dict(GRID), "2": dict(second)})
    truth = Truth("version", version="2", **more)
    return run(database, version="1", truth=truth, max_probes=None)


def test_a_version_that_agrees_is_the_truth_between_the_points(tmp_path: Path) -> None:
    found = version_truth(tmp_path, other())
    assert found.truth_quality == "truth"
    (drift,) = found.drifts.values()
    assert (drift.n_shared, drift.n, drift.within_rate) == (40, 40, 1.0)
    assert drift.median == pytest.approx(1.0)
    inside = region(found, "axis0")
    assert targets(inside) == [{"x": x} for x in BETWEEN]
    assert ratios(inside) == [1.0] * len(BETWEEN)
    on_grid = region(found, "on_grid")
    assert {r.source for r in on_grid} == {"MEASURED"} and len(on_grid) == 40
    assert {f.name: f.verdict for f in found.figures.regions} == {
        "axis0": "pass",
        "on_grid": "pass",
    }


def test_a_version_that_drifts_is_no_truth_unless_the_drift_is_divided_out(tmp_path: Path) -> None:
    found = version_truth(tmp_path / "a", other(1.1))
    assert found.truth_quality == "drift"
    (drift,) = found.drifts.values()
    assert not drift.is_truth and drift.median == pytest.approx(1.1)
    assert {f.verdict for f in found.figures.regions} == {"not_evaluable"}
    assert {f.failure_class for f in found.figures.regions} == {"not_evaluable"}
    assert not found.is_failed
    divided = version_truth(tmp_path / "b", other(1.1), is_normalized=True)
    assert divided.truth_quality == "truth"
    assert ratios(region(divided, "axis0")) == pytest.approx([1.0] * len(BETWEEN))
    assert [r.probe.drift for r in divided.results] == pytest.approx([1.1] * len(divided.results))


def test_only_groups_that_pass_the_gate_are_judged(tmp_path: Path) -> None:
    """Another kernel of the same versions drifts by half."""
    database = curve_database(tmp_path, {"1": dict(GRID), "2": other()}, lonely=dict(GRID))
    table = tmp_path / "curves.csv"
    more = [f"fw,2,lonely,bf16,{x},{y * 1.5}" for x, y in GRID.items()]
    table.write_text(table.read_text() + "\n".join(more) + "\n")
    sqlinterp.ingest_table(tmp_path / "curve.yaml", [table], database)
    found = run(database, version="1", truth=Truth("version", version="2"), max_probes=None)
    assert found.truth_quality == "mixed"
    verdicts = {(f.kernel_type, f.name): f.verdict for f in found.figures.regions}
    assert verdicts["copy", "on_grid"] == "pass"
    assert verdicts["lonely", "on_grid"] == "not_evaluable"
    assert found.figures.total.verdict == "pass"  # of what could be judged


def test_the_gate_needs_thirty_shared_points(tmp_path: Path) -> None:
    told = other()
    few = {x: y for i, (x, y) in enumerate(told.items()) if i < 29 or x not in GRID}
    assert version_truth(tmp_path, few).truth_quality == "drift"


def test_the_gate_needs_nine_of_ten_within_fifteen_per_cent(tmp_path: Path) -> None:
    told = other()
    for x in SIZES[::8]:  # 5 of 40
        told[x] = (told[x] or 0) * 1.3
    (drift,) = version_truth(tmp_path, told).drifts.values()
    assert drift.within_rate == 35 / 40 and not drift.is_truth
    assert drift.median == pytest.approx(1.0, abs=0.02)


def test_copied_latencies_are_no_truth(tmp_path: Path) -> None:
    told = other()
    copied = SIZES[:6]  # more than 5 % of 40
    for x in copied:
        told[x] = GRID[x]
    found = version_truth(tmp_path, told)
    (drift,) = found.drifts.values()
    assert drift.has_copies and (drift.n_identical, drift.n) == (6, 34)
    blank = [r for r in found.results if not r.has_truth]
    assert targets(blank) == [{"x": x} for x in copied]
    assert found.figures.total.statistics.n_truth == len(found.results) - 6


def test_a_regime_that_the_other_version_lacks_is_told(tmp_path: Path) -> None:
    database = curve_database(
        tmp_path, {"1": dict(GRID), "2": other()}, lonely={1.0: 1.0, 2.0: 2.0}
    )
    found = run(database, version="1", truth=Truth("version", version="2"))
    assert found.skipped == {("lonely", "declared:x", "group_not_in_truth"): 2}
    with pytest.raises(UsageError, match="unknown"):
        run(database, version="1", truth=Truth("version", version="3"))


def test_generated_points_without_a_truth_are_counted_and_not_scored(tmp_path: Path) -> None:
    """Geometric middles are not those of the other version, but for few."""
    found = version_truth(tmp_path, other())
    assert found.figures.total.statistics.n_probe == len(GRID) + len(BETWEEN)
    database = tmp_path / "p.duckdb"
    made = run(database, version="1", truth=Truth("version", version="2"), is_generated=True)
    known = [r for r in made.results if r.has_truth]
    assert 0 < len(known) < len(made.results)
    assert all(r.ratio is None and not r.is_failing for r in made.results if not r.has_truth)
    statistics = made.figures.total.statistics
    assert (statistics.n_truth, statistics.n_probe) == (len(known), len(made.results))


# ---- tables


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return curve_database(tmp_path_factory.mktemp("single"), {"1": dict(GRID)})


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_table_of_other_names_and_units_is_the_truth(single: Path, tmp_path: Path) -> None:
    rows = "size,ms,dtype\n96,0.0115,bf16\n96,0.0117,bf16\n96,0.0116,bf16\n160,0.0250,bf16\n"
    rows += "224,,bf16\n288,-1,bf16\n352,0.001,fp8\n64,0.011,bf16\n5120,1,bf16\nx,1,bf16\n"
    path = table(tmp_path / "t.csv", rows)
    truth = Truth("table", path=path, column_map={"x": "size", "time_ms": "ms"})
    found = run(single, truth=truth)
    assert at(found, x=96.0).probe.truth_us == pytest.approx(11.6)  # median of three
    assert at(found, x=96.0).ratio == pytest.approx(11.5 / 11.6)
    assert at(found, x=160.0).ratio == pytest.approx(12.5 / 25)
    assert at(found, x=64.0).region == "on_grid" and at(found, x=64.0).source == "MEASURED"
    assert at(found, x=5120.0).region == "extrap0_x2" and at(found, x=5120.0).pred_us is None
    for x in (224.0, 288.0):  # no latency, and one that cannot be
        assert at(found, x=x).ratio is None and not at(found, x=x).has_truth
    assert {"x": 352.0} not in targets(found.results)  # another dtype
    statistics = found.figures.total.statistics
    assert (statistics.n_probe, statistics.n_truth, statistics.n_answered) == (6, 4, 3)
    assert statistics.n_within == 2 and statistics.worst == pytest.approx(0.5)


def test_a_parquet_table_is_read_as_well(single: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql("select 96 as x, 11.5 as latency_us").write_parquet(str(path))
    assert ratios(run(single, truth=Truth("table", path=path)).results) == [1.0]


def test_a_table_that_cannot_be_the_truth_is_refused(single: Path, tmp_path: Path) -> None:
    good = table(tmp_path / "t.csv", "x,time_us\n96,11\n")
    cases: list[tuple[Truth, type[SqlinterpError], str]] = [
        (Truth("table", path=tmp_path / "absent.csv"), UsageError, "no such table"),
        (Truth("table", path=good, column_map={"x": "y"}), UsageError, "no column 'y'"),
        (Truth("table", path=table(tmp_path / "u.csv", "x,us\n1,1\n")), UsageError, "latency"),
        (
            Truth("table", path=table(tmp_path / "w.csv", "x,time_us,time_ms\n1,1,1\n")),
            UsageError,
            "time_us, time_ms",
        ),
        (Truth("table", path=table(tmp_path / "z.csv", "y,time_us\n1,1\n")), UsageError, "axis"),
        (
            Truth("table", path=table(tmp_path / "k.csv", "kernel,x,time_us\nother,1,1\n")),
            SourceError,
            "no row belongs",
        ),
        (Truth("table", path=table(tmp_path / "e.csv", "")), SourceError, "empty"),
    ]
    for truth, error, message in cases:
        with pytest.raises(error, match=message):
            run(single, truth=truth)


def test_given_probes_replace_those_of_the_table(single: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "x,time_us\n96,11.5\n160,12.5\n64,11\n")
    given = [({"x": 96.0}, "small_decode"), ({"x": 100.0}, "query_slice"), ({"x": 64.0}, "tail")]
    found = run(single, truth=Truth("table", path=path), probes=given)
    assert [(r.region, r.has_truth) for r in found.results] == [
        ("small_decode", True),
        ("query_slice", False),
        ("on_grid", True),
    ]
    with pytest.raises(UsageError, match="expected the axes x"):
        run(single, truth=Truth("table", path=path), probes=[({"y": 1.0}, "a")])


def test_given_probes_of_a_hold_out_are_measured_points(single: Path) -> None:
    found = run(single, "plane", probes=[({"x": 128.0}, "mine"), ({"x": 129.0}, "mine")])
    assert [(r.probe.target, r.region, r.ratio) for r in found.results] == [
        ({"x": 128.0}, "mine", 1.0)
    ]


# ---- generated probes


def test_middles_are_geometric_whole_and_inside() -> None:
    assert middle_of(64, 256, True) == 128
    assert middle_of(1, 2, True) is None and middle_of(1, 3, True) == 2
    assert middle_of(0, 9, True) == 4 and middle_of(0, 2, True) == 1
    assert middle_of(2, 5, True) == 3 and middle_of(0.25, 1.0, False) == 0.5


def test_generated_points_lie_in_cells_across_them_and_beyond(tmp_path: Path) -> None:
    sizes = [0.0, 1.0, 2.0, 8.0, 64.0, 256.0, 257.0, 512.0, 513.0]
    database = curve_database(tmp_path, {"1": {x: 5 + x for x in sizes}})
    with Measured(database, None) as measured:
        (group,) = measured.groups(measured.regimes(), "mean")
        made = [(c[0], name) for c, name, _ in generated_coordinates(group)]
    assert made == [
        (4.0, "axis0"), (23.0, "axis0"), (128.0, "axis0"), (363.0, "axis0"),
        (255.0, "boundary"), (258.0, "boundary"), (511.0, "boundary"), (514.0, "boundary"),
        (770.0, "extrap0_x1.5"), (1026.0, "extrap0_x2"),
    ]  # fmt: skip


def test_generated_points_of_several_axes(tmp_path: Path) -> None:
    from fidelity_support import grid_lines, linear, matmul_database

    path = matmul_database(tmp_path, grid_lines(linear, ((64, 256, 1024), (512, 2048), (768,))))
    with Measured(path, None) as measured:
        (group,) = measured.groups(measured.regimes(), "mean")
        made = {(name, c[:3]) for c, name, _ in generated_coordinates(group)}
    assert {(n, c) for n, c in made if n.startswith(("axis", "diag"))} == {
        ("axis0", (128.0, 2048.0, 768.0)),
        ("axis0", (512.0, 2048.0, 768.0)),
        ("axis1", (256.0, 1024.0, 768.0)),
        ("diag", (128.0, 1024.0, 768.0)),
    }
    assert ("extrap_joint", (2048.0, 4096.0, 768.0)) in made
    assert ("under0_x2", (32.0, 2048.0, 768.0)) in made
    assert not {c for _, c in made} & set(group.by_coordinate)


# ---- a program


def program(path: Path, body: str) -> tuple[str, ...]:
    """A truth command with a body that sees ``request``."""
    path.write_text(f"import json, sys, time\nrequest = json.load(sys.stdin)\n{body}\n")
    return sys.executable, str(path)


GOOD = """
results = [{"input": p, "time_us": 10 + p["x"] / 64} for p in request["points"]]
print("measuring", file=sys.stderr)
print(json.dumps({"results": results}))
"""


def test_a_program_is_asked_in_batches_and_believed(single: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    body = f"open({str(log)!r}, 'a').write(json.dumps(request) + chr(10))\n{GOOD}"
    truth = Truth("command", argv=program(tmp_path / "p.py", body), batch=16)
    found = run(single, truth=truth)
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    points = [point for request in asked for point in request["points"]]
    assert [len(request["points"]) for request in asked[:-1]] == [16] * (len(asked) - 1)
    assert points == targets(found.results) and {r["kind"] for r in asked} == {"copy"}
    assert asked[0]["config"] == {"dtype": "bf16"}
    inside = region(found, "axis0")
    assert len(inside) == 39 and ratios(inside) == pytest.approx([1.0] * 39)
    assert all(r.pred_us is None for r in region(found, "extrap0_x2"))


def test_what_the_program_does_not_know_is_not_scored(single: Path, tmp_path: Path) -> None:
    body = GOOD.replace('10 + p["x"] / 64', 'None if p["x"] < 1000 else 10 + p["x"] / 64')
    found = run(single, truth=Truth("command", argv=program(tmp_path / "p.py", body)))
    statistics = found.figures.total.statistics
    unknown = [r for r in found.results if r.probe.target["x"] < 1000]
    assert unknown and statistics.n_truth == len(found.results) - len(unknown)
    assert statistics.worst == pytest.approx(1.0) and all(r.ratio is None for r in unknown)


ECHO = '[{"input": p, "time_us": 1.0} for p in request["points"]]'
BAD = {
    "ended with exit code 3": "print('no device', file=sys.stderr); sys.exit(3)",
    "no single JSON document": f"print('warming up'); print(json.dumps({{'results': {ECHO}}}))",
    "results for": f"print(json.dumps({{'results': {ECHO}[1:]}}))",
    "does not repeat its input": f"r = {ECHO}; r[0]['input'] = {{'x': 1.0}};"
    " print(json.dumps({'results': r}))",
    "a list 'results'": "print('[]')",
    "has time_us 0": f"r = {ECHO}; r[0]['time_us'] = 0; print(json.dumps({{'results': r}}))",
    'has time_us "fast"': f"r = {ECHO}; r[0]['time_us'] = 'fast';"
    " print(json.dumps({'results': r}))",
    "NaN is no JSON": f"r = {ECHO}; r[0]['time_us'] = float('nan');"
    " print(json.dumps({'results': r}))",
    "has no 'time_us'": f"r = {ECHO}; del r[0]['time_us']; print(json.dumps({{'results': r}}))",
}


@pytest.mark.parametrize("message", BAD)
def test_a_program_that_misbehaves_is_an_error(single: Path, tmp_path: Path, message: str) -> None:
    truth = Truth("command", argv=program(tmp_path / "p.py", BAD[message]))
    told = "no single JSON document" if message.startswith("NaN") else message
    with pytest.raises(TruthError, match=told) as caught:
        run(single, truth=truth)
    assert caught.value.exit_code == 4 and caught.value.code == "truth_failed"


def test_a_program_that_takes_too_long_is_ended_with_its_children(
    single: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    body = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "print('still measuring', file=sys.stderr, flush=True); time.sleep(60)"
    )
    truth = Truth("command", argv=program(tmp_path / "p.py", body), timeout_s=1.5)
    started = time.monotonic()
    with pytest.raises(TruthError, match=r"longer than 1.5 s.*still measuring"):
        run(single, truth=truth)
    assert time.monotonic() - started < 30
    child = int(mark.read_text())
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _is_alive(child):
        time.sleep(0.05)
    assert not _is_alive(child)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z" if os.path.exists("/proc") else False


def test_a_message_has_the_last_two_kilobytes_of_stderr(single: Path, tmp_path: Path) -> None:
    body = "print('a' * 5000 + 'the end', file=sys.stderr); sys.exit(1)"
    with pytest.raises(TruthError) as caught:
        run(single, truth=Truth("command", argv=program(tmp_path / "p.py", body)))
    text = str(caught.value)
    assert "the end" in text and 2000 < text.count("a") < 2100


def test_a_program_that_is_not_there_is_a_bad_request(single: Path, tmp_path: Path) -> None:
    for argv in ((str(tmp_path / "absent"),), (str(tmp_path),), ()):
        with pytest.raises(UsageError) as caught:
            run(single, truth=Truth("command", argv=argv))
        assert caught.value.exit_code == 2


def test_no_shell_sees_the_words(single: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    argv = (*program(tmp_path / "p.py", GOOD), f"; touch {canary}", f"$(touch {canary})")
    found = run(single, truth=Truth("command", argv=argv))
    assert found.results and not canary.exists()
    assert math.isclose(found.figures.total.statistics.med or 0, 1.0)
