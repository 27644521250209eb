"""The H200 GEMM table of aiconfigurator, held out and worked out by other means."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest
from fidelity_support import region

import sqlinterp
from sqlinterp.fidelity import Options, Request, Run, Truth, run_fidelity

SLICE = "m <= 1025 and n <= 4096 and k <= 4096"


@pytest.fixture(scope="module")
def parquet(shared: Path) -> Path:
    path = shared / "data/aiconfigurator/h200_sxm/gemm_vllm_0.19.0.parquet"
    if not path.is_file():
        pytest.skip("the GEMM table is not in the folder 'shared'")
    return path


@pytest.fixture(scope="module")
def database(parquet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All 35,742 points of bfloat16, and no others."""
    folder = tmp_path_factory.mktemp("gemm")
    table = folder / "gemm.parquet"
    duckdb.sql(
        f"copy (from '{parquet}' where gemm_dtype = 'bfloat16') to '{table}' (format parquet)"
    )
    sqlinterp.ingest_table("aiconfigurator_gemm", [table], folder / "p.duckdb")
    return folder / "p.duckdb"


def held(database: Path, scheme: str, **more: object) -> Run:
    """A run with a seed."""
    truth = Truth(scheme=scheme, options=Options(salt="7"))
    return run_fidelity(Request(database, truth=truth, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def plane(database: Path) -> Run:
    return held(database, "plane", max_probes=1000)


@pytest.fixture(scope="module")
def cross(database: Path) -> Run:
    return held(database, "cross", max_probes=200)


def grid(parquet: Path) -> tuple[list[np.ndarray], dict[tuple[float, ...], float]]:
    """Axis values and latencies [us] by (m, n, k), read without this package."""
    rows = duckdb.sql(
        f"select m, n, k, latency from '{parquet}' where gemm_dtype = 'bfloat16'"
    ).fetchall()
    latencies = {tuple(map(float, row[:3])): row[3] * 1000 for row in rows}
    axes = [np.array(sorted({at[i] for at in latencies})) for i in range(3)]
    return axes, latencies


def is_paired(values: np.ndarray, value: float) -> bool:
    """Whether a value is one of b and b + 1, far from the others."""
    for low, high in pairwise(values):
        if high - low == 1 and low >= 16 and value in (low, high):
            place = int(np.flatnonzero(values == low)[0])
            before = low - values[place - 1] if place else np.inf
            after = values[place + 2] - high if place + 2 < len(values) else np.inf
            if min(before, after) >= 8:
                return True
    return False


def test_probes_of_the_whole_table(plane: Run, cross: Run) -> None:
    for found, count in ((plane, 1000), (cross, 200)):
        assert len(found.groups[0].points) == 35742
        assert len(found.results) == count and found.is_sampled
    assert {f.name for f in plane.figures.regions} >= {"axis0", "axis1", "axis2", "boundary"}
    assert {r.dims for r in region(cross, "diag")} == {3}


def test_the_figures_of_single_axes_are_those_of_numpy(plane: Run, parquet: Path) -> None:
    """Linear between the two neighbours on the axis, everything else worked out anew."""
    axes, latencies = grid(parquet)
    checked = 0
    for axis in range(3):
        own = region(plane, f"axis{axis}")
        ratios = []
        for result in own:
            at = tuple(result.probe.coordinate[:3])
            assert latencies[at] >= 10 and not is_paired(axes[axis], at[axis])
            line = np.array(
                [x for x in axes[axis] if (*at[:axis], x, *at[axis + 1 :]) in latencies]
            )
            kept = line[line != at[axis]]
            known = np.array([latencies[*at[:axis], x, *at[axis + 1 :]] for x in kept])
            expected = np.interp(at[axis], kept, known)
            if result.dims == 1:
                assert result.pred_us == pytest.approx(float(expected), rel=1e-12)
                ratios.append(expected / latencies[at])
                checked += 1
        (figure,) = [f for f in plane.figures.regions if f.name == f"axis{axis}"]
        if len(ratios) == figure.statistics.n_answered:
            assert figure.statistics.med == pytest.approx(float(np.median(ratios)), rel=1e-12)
            inside = np.abs(np.log(ratios)) <= np.log(1.15)
            assert figure.statistics.n_within == int(inside.sum())
            worst = ratios[int(np.argmax(np.abs(np.log(ratios))))]
            assert figure.statistics.worst == pytest.approx(float(worst), rel=1e-12)
    assert checked > 400


def test_boundary_probes_are_those_of_the_tile_edges(plane: Run, parquet: Path) -> None:
    axes, latencies = grid(parquet)
    steps = region(plane, "boundary")
    assert len(steps) > 200
    for result in steps:
        at = tuple(result.probe.coordinate[:3])
        axis = result.probe.axis
        assert axis is not None and is_paired(axes[axis], at[axis])
        values = set(axes[axis].tolist())
        low = at[axis] if at[axis] + 1 in values and is_paired(axes[axis], at[axis] + 1) else None
        low = at[axis] - 1 if low is None else low
        pair = [(*at[:axis], x, *at[axis + 1 :]) for x in (low, low + 1)]
        if all(place in latencies for place in pair):
            assert result.jump == pytest.approx(latencies[pair[1]] / latencies[pair[0]])
        if result.dims == 1:
            name = result.answer.details["axes"][0]
            assert not set(result.answer.details["boundary"][name]) & {low, low + 1}


def test_the_whole_diagonal_is_as_good_as_was_measured_elsewhere(cross: Run) -> None:
    """Three-dimensional Delaunay on this table: 5.1 % median error, 89.7 % within 15 %."""
    inner = [r for r in cross.results if r.is_answered]
    errors = sorted(abs((r.ratio or 0) - 1) for r in inner)
    within = sum(r.is_within for r in inner) / len(inner)
    assert errors[len(errors) // 2] == pytest.approx(0.055, abs=0.02)
    assert within == pytest.approx(0.88, abs=0.07)
