"""Views about noise, steps, drift and grids, and those over recorded fidelity runs, by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlinterp
from sqlinterp.fidelity import Options, Request, Run, Truth, run_fidelity
from sqlinterp.fidelity.calibration import calibrate
from sqlinterp.fidelity.recording import record_runs

OLD, NEW = "dev/fw/1", "dev/fw/2"
DECLARATION = """\
name: curve
version: 'dev/{framework}/{release}'
kernel: {column: kernel}
regime: [dtype]
axes: [{name: x}]
latency: {column: us, unit: us}
"""
# Measured twice at 16, a fall from 32 to 48, a step between 256 and 257.
STEPS = {16: (10, 11), 32: (20,), 48: (12,), 256: (60,), 257: (90,), 512: (100,)}
LATER = {16: (10.6,), 32: (22,), 48: (12,), 256: (66,), 1024: (200,)}
LINE = {x: 100 + x for x in range(32, 32 * 41, 32)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("views")
    (folder / "curve.yaml").write_text(DECLARATION)
    lines = ["framework,release,kernel,dtype,x,us"]
    for release, curve in (("1", STEPS), ("2", LATER)):
        lines += [f"fw,{release},steps,bf16,{x},{y}" for x, told in curve.items() for y in told]
    lines += [f"fw,1,line,bf16,{x},{y}" for x, y in LINE.items()]
    lines += [f"fw,2,line,bf16,{x},{y * 1.02}" for x, y in LINE.items()]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    sqlinterp.ingest_table(folder / "curve.yaml", [folder / "t.csv"], folder / "p.duckdb")
    return folder / "p.duckdb"


def held(path: Path, **more: Any) -> Run:
    truth = Truth(scheme=more.pop("scheme", "loo"), options=more.pop("options", Options()))
    told: dict[str, Any] = {"version": OLD, "small_us": 0.0, **more}
    return run_fidelity(Request(path, truth=truth, **told))


@pytest.fixture(scope="module")
def runs(path: Path) -> list[Run]:
    """Leave-one-out of both kernels, and of gaps of three under another policy."""
    made = [
        held(path),
        held(path, scheme="gap", options=Options(cells=3), kernels=("line",)),
        held(path, kernels=("line",), policy={"max_interpolation_dim": 0}),
    ]
    record_runs(path, made)
    record_runs(path, made[:1])  # a run that is there already is replaced
    return made


@pytest.fixture(scope="module")
def connection(path: Path, runs: list[Run]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database as any DuckDB client opens it."""
    with duckdb.connect(str(path), read_only=True) as opened:
        yield opened


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def test_regime_group(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select kernel_type, version_key, device, dtype, group_id"
                             " from regime_group order by all")  # fmt: skip
    assert [row[:4] for row in found] == [
        ("line", OLD, "dev", "bf16"), ("line", NEW, "dev", "bf16"),
        ("steps", OLD, "dev", "bf16"), ("steps", NEW, "dev", "bf16"),
    ]  # fmt: skip
    assert found[0][4] == found[1][4] != found[2][4] == found[3][4]


def test_noise_point(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select version_key, kernel_type, axis_values, n_raw, median_us,"
                             " spread from noise_point")  # fmt: skip
    assert found == [(OLD, "steps", [16.0], 2, 10.5, 1.1)]


def test_noise_group(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select kernel_type, n_repeat_points, spread_p50, spread_p90,"
                             " kernel_repeat_points, spread_floor, resolution_us from noise_group"
                             f" where version_key = '{OLD}'")  # fmt: skip
    assert found == [
        ("line", 0, None, None, 0, 1.0, 32.0 if min(LINE.values()) % 32 == 0 else None),
        ("steps", 1, 1.1, 1.1, 1, 1.0, None),  # one repeated point is no floor
    ]


def test_boundary_jump(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select version_key, kernel_type, axis, b, t_lo, t_hi, jump"
                             " from boundary_jump")  # fmt: skip
    assert found == [(OLD, "steps", "x", 256.0, 60.0, 90.0, 1.5)]


def test_monotonicity_break(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select version_key, kernel_type, axis, value, next_value,"
                             " latency_us, next_us, ratio from monotonicity_break")  # fmt: skip
    assert found == [
        (NEW, "steps", "x", 32.0, 48.0, 22.0, 12.0, pytest.approx(12 / 22)),
        (OLD, "steps", "x", 32.0, 48.0, 20.0, 12.0, 0.6),
    ]


def test_grid_ceiling(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select kernel_type, axis_value_counts, n_points, n_hull, n_feasible,"
                             " missing_cells, is_rectangular, over_ceiling from grid_ceiling"
                             f" where version_key = '{OLD}'")  # fmt: skip
    assert found == [
        ("line", [40], 40, 40, 40, 0, True, False),
        ("steps", [6], 6, 6, 6, 0, True, False),
    ]


def test_version_drift(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select kernel, v_a, v_b, n_shared, n_identical, n, med, within_rate,"
                             " is_truth from version_drift")  # fmt: skip
    up, down = pytest.approx(1.02), pytest.approx(1 / 1.02)
    # 48 is identical, 1 of 4: more than 5 %, so it was copied and does not count
    assert found == [
        ("line", OLD, NEW, 40, 0, 40, up, 1.0, True),
        ("line", NEW, OLD, 40, 0, 40, down, 1.0, True),
        ("steps", OLD, NEW, 4, 1, 3, pytest.approx(1.1), 1.0, False),
        ("steps", NEW, OLD, 4, 1, 3, pytest.approx(1 / 1.1), 1.0, False),
    ]


def test_fidelity_screen(connection: duckdb.DuckDBPyConnection) -> None:
    found = rows(connection, "select region, axis, value, lower, upper, truth_us, pred_us,"
                             " cell_ratio, within_bar from fidelity_screen where kernel_type ="
                             f" 'steps' and version_key = '{OLD}'")  # fmt: skip
    fifth = 20 + 16 / 224 * 40
    assert found == [
        ("edge", "x", 16.0, None, 32.0, 10.5, None, None, None),
        ("axis0", "x", 32.0, 16.0, 48.0, 20.0, 11.25, 3.0, False),
        ("axis0", "x", 48.0, 32.0, 256.0, 12.0, pytest.approx(fifth), 8.0, False),
        ("boundary", "x", 256.0, 48.0, 257.0, 60.0, pytest.approx(12 + 208 / 209 * 78),
         257 / 48, False),
        ("boundary", "x", 257.0, 256.0, 512.0, 90.0, pytest.approx(60 + 40 / 256), 2.0, False),
        ("edge", "x", 512.0, 257.0, None, 100.0, None, None, None),
    ]  # fmt: skip
    engines = rows(connection, "select distinct engine from fidelity_screen")
    assert engines == [("screen",)]


def test_the_screen_says_what_the_lookup_says_on_one_axis(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """The window query and the production lookup agree where there is one axis only."""
    query = """
        select count(*), count(*) filter (abs(s.pred_us / p.pred_us - 1) > 1e-12)
        from fidelity_screen as s join fidelity_probe as p on p.group_id = s.group_id
            and p.version_key = s.version_key and p.x0 = s.value and p.scheme = 'loo'
            and p.pred_us is not null"""
    assert rows(connection, query) == [(38 + 4, 0)]


def test_fidelity_run(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select run_id, version_key, truth_kind, truth_ref, scheme, bar,"
                             " engine, truth_quality, is_stored_policy"
                             " from fidelity_run")  # fmt: skip
    told = ("holdout", None), (0.15, "lookup", "truth")
    assert sorted(found) == sorted([
        (runs[0].run_id, OLD, *told[0], "loo", *told[1], True),
        (runs[1].run_id, OLD, *told[0], "gap", *told[1], True),
        (runs[2].run_id, OLD, *told[0], "loo", *told[1], False),
    ])  # fmt: skip
    assert len({run.run_id for run in runs}) == 3


def test_fidelity_probe(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select x0, x0_name, x1, region, truth_us, pred_us, ratio, abs_err_us,"
                             " rel_err, log_ratio, answered, source, within_bar, cell_ratio, jump"
                             f" from fidelity_probe where run_id = '{runs[0].run_id}'"
                             " and kernel_type = 'steps'")  # fmt: skip
    ratio = 11.25 / 20
    assert found[1] == (
        32.0, "x", None, "axis0", 20.0, 11.25, ratio, 8.75, pytest.approx(1 - ratio),
        pytest.approx(math.log(ratio)), True, "INTERPOLATED", False, 3.0, None,
    )  # fmt: skip
    assert found[0][3:6] == ("edge", 10.5, None) and found[0][10:13] == (False, "MISS", None)
    assert [row[3] for row in found] == ["edge", "axis0", "axis0", "boundary", "boundary", "edge"]
    assert [row[14] for row in found[3:5]] == [1.5, 1.5]
    whole = rows(connection, f"select count(*) from fidelity_probe where run_id ="
                             f" '{runs[0].run_id}'")  # fmt: skip
    assert whole == [(len(runs[0].results),)]


def test_the_regions_are_those_of_the_run_and_of_its_probes(
    connection: duckdb.DuckDBPyConnection, runs: list[Run]
) -> None:
    told = {
        (f.kernel_type, f.name): f
        for f in [runs[0].figures.total, *runs[0].figures.kernels, *runs[0].figures.regions]
    }
    query = f"""
        select kernel_type, region, n_probe, n_answered, n_within, med, worst, verdict,
            failure_class
        from fidelity_region where run_id = '{runs[0].run_id}'"""
    found = rows(connection, query)
    assert {row[:2] for row in found} == set(told)
    for kernel, name, *figures in found:
        own, statistics = told[kernel, name], told[kernel, name].statistics
        assert figures == [statistics.n_probe, statistics.n_answered, statistics.n_within,
                           statistics.med, statistics.worst, own.verdict,
                           own.failure_class]  # fmt: skip
    again = rows(
        connection,
        f"""
        select kernel_type, region, count(*), count(ratio), count(*) filter (within_bar),
            median(ratio), any_value(verdict)
        from fidelity_probe join (select run_id, kernel_type, region, verdict from fidelity_region)
            using (run_id, kernel_type, region)
        where run_id = '{runs[0].run_id}' group by kernel_type, region""",
    )
    for kernel, name, count, answered, within, med, verdict in again:
        statistics = told[kernel, name].statistics
        assert (count, answered, within) == (
            statistics.n_probe, statistics.n_answered, statistics.n_within,
        )  # fmt: skip
        assert med == statistics.med and verdict == told[kernel, name].verdict
    assert rows(connection, "select n_probe, n_answered, within_rate, verdict from fidelity_region"
                f" where run_id = '{runs[0].run_id}' and kernel_type = 'line'"
                " and region = 'axis0'") == [(38, 38, 1.0, "pass")]  # fmt: skip


def test_fidelity_group(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select kernel_type, regime_json, n_answered, n_within, verdict"
                             f" from fidelity_group where run_id = '{runs[0].run_id}'")  # fmt: skip
    assert found == [
        ("steps", '{"dtype":"bf16"}', 4, 0, "insufficient"),
        ("line", '{"dtype":"bf16"}', 38, 38, "pass"),
    ]


def test_fidelity_worst(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select place, region, x0, ratio from fidelity_worst where run_id ="
                             f" '{runs[0].run_id}' and kernel_type = 'steps'")  # fmt: skip
    assert [row[:3] for row in found] == [
        (1, "axis0", 48.0), (2, "axis0", 32.0), (1, "boundary", 257.0), (2, "boundary", 256.0),
    ]  # fmt: skip
    most = rows(connection, "select max(place) from fidelity_worst where kernel_type = 'line'")
    assert most == [(20,)]


def test_fidelity_by_cell(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select region, cell_ratio_to, n_answered, n_within, within_rate"
                             f" from fidelity_by_cell where run_id = '{runs[0].run_id}'"
                             " and kernel_type = 'line'")  # fmt: skip
    widths = [(x + 32) / (x - 32) for x in LINE if 32 < x < 1280]
    ends = [1.1, 1.25, 1.5, 2.0, 4.0, math.inf]
    counts = [
        sum(low < width <= high for width in widths)
        for low, high in zip([0.0, *ends], ends, strict=False)
    ]
    assert found == [
        ("axis0", end, count, count, 1.0) for end, count in zip(ends, counts, strict=True) if count
    ]


def test_fidelity_calibration(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> None:
    found = rows(connection, "select kernel_type, confidence_from, confidence_to, n_answered,"
                             " n_within, within_rate, calibrated, run_ids"
                             " from fidelity_calibration")  # fmt: skip
    labels: dict[tuple[str, float], list[bool]] = {}
    for run in runs[:2]:  # the third run had another policy
        for result in run.results:
            if result.is_answered and result.answer.confidence is not None:
                low = math.floor(result.answer.confidence * 20) / 20
                key = (result.probe.group.kernel_type, low)
                labels.setdefault(key, []).append(result.is_within)
    assert [row[:2] for row in found] == sorted(labels)
    for kernel, low, high, answered, within, rate, calibrated, _ in found:
        own = labels[kernel, low]
        assert high == pytest.approx(low + 0.05)
        assert (answered, within, rate) == (len(own), sum(own), sum(own) / len(own))
        assert calibrated == pytest.approx((sum(own) + 1) / (len(own) + 2))
    assert {run_id for row in found for run_id in row[7]} == {run.run_id for run in runs[:2]}


def test_fidelity_compare(path: Path, runs: list[Run], tmp_path: Path) -> None:
    """The same probes again, under a bar that hardly anything is within."""
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    strict = held(copy, bar=0.001)
    record_runs(copy, [strict])
    with duckdb.connect(str(copy), read_only=True) as opened:
        found = rows(opened, "select kernel_type, region, n, base_within_rate, cmp_within_rate,"
                             " delta_within, n_better, n_worse from fidelity_compare where"
                             f" base_run_id = '{runs[0].run_id}'"
                             f" and cmp_run_id = '{strict.run_id}'")  # fmt: skip
    assert found == [
        ("line", "axis0", 38, 1.0, 1.0, 0.0, 0, 0),
        ("steps", "axis0", 2, 0.0, 0.0, 0.0, 0, 0),
        ("steps", "boundary", 2, 0.0, 0.0, 0.0, 0, 0),
    ]


def test_calibrated_confidence_is_told_and_decides_nothing(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    with sqlinterp.open(copy, version=OLD) as opened:
        before = opened.lookup_points("line", {}, [{"x": 40.0}, {"x": 64.0}, {"x": 9999.0}])
    told = calibrate(copy, kernels=("line",))
    assert {row["kernel_type"] for row in told.labels} == {"line"}
    with sqlinterp.open(copy, version=OLD) as opened:
        after = opened.lookup_points("line", {}, [{"x": 40.0}, {"x": 64.0}, {"x": 9999.0}])
    assert [a.latency_us for a in after] == [b.latency_us for b in before]
    assert [a.source for a in after] == ["INTERPOLATED", "MEASURED", None]
    assert (after[1].confidence, after[2].confidence) == (1.0, None)
    label = before[0].confidence
    (bucket,) = [row for row in told.labels
                 if row["confidence_from"] <= label < row["confidence_to"]]  # fmt: skip
    assert after[0].confidence == bucket["calibrated"] != label
    assert after[0].details["confidence_before_calibration"] == label
    assert after[0].details["policy_hash"] == before[0].details["policy_hash"]
    again = held(copy, kernels=("line",))
    assert label not in {r.answer.confidence for r in again.results}
    record_runs(copy, [again])  # what is recorded is the label before calibration
    with duckdb.connect(str(copy), read_only=True) as opened:
        labels = rows(opened, "select distinct confidence from fidelity_probe where run_id ="
                              f" '{again.run_id}' and confidence is not null")  # fmt: skip
    assert bucket["calibrated"] not in {row[0] for row in labels}
    calibrate(copy, kernels=("line",), least=10_000)  # nothing is enough: all is taken back
    with sqlinterp.open(copy, version=OLD) as opened:
        (last,) = opened.lookup_points("line", {}, [{"x": 40.0}])
    assert last.confidence == label


def test_error_quantiles_by_hand(path: Path, runs: list[Run], tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(path.read_bytes())
    told = calibrate(copy, least=20)
    errors: dict[tuple[str, float], list[float]] = {}
    ends = [1.0, 1.1, 1.25, 1.5, 2.0, 4.0, math.inf]
    for run in runs[:2]:
        for result in run.results:
            if result.is_answered and result.cell_ratio is not None:
                low = max(end for end in ends if end <= result.cell_ratio)
                key = (result.probe.group.kernel_type, low)
                errors.setdefault(key, []).append(abs(result.log_ratio or 0.0))
    enough = {key: own for key, own in errors.items() if len(own) >= 20}
    assert {(r["kernel_type"], r["width_low"]) for r in told.quantiles} == set(enough)
    for row in told.quantiles:
        own = enough[row["kernel_type"], row["width_low"]]
        assert row["n"] == len(own) and row["spread_low"] is None  # one axis: one estimate
        ordered = sorted(own)
        assert ordered[0] <= row["q50"] <= row["q90"] <= row["q95"] <= ordered[-1]
    with sqlinterp.open(copy, version=OLD) as opened:
        (answer,) = opened.lookup_points("line", {}, [{"x": 300.0}])
    assert answer.details["error_bar"]["cell_width"]["x"] == pytest.approx(320 / 288)
    assert answer.details["error_bar"]["quantiles"]["n"] == len(enough["line", 1.1])
