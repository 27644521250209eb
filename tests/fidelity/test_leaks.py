"""Whatever tells the removed latency leaves with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version
from fidelity_support import (
    KS,
    MS,
    at,
    curved,
    grid_lines,
    matmul_database,
    matmul_line,
    ratios,
    region,
    run,
)

import sqlinterp
from sqlinterp.errors import DatabaseError
from sqlinterp.fidelity import Run
from sqlinterp.fidelity.bench import opened_copy
from sqlinterp.fidelity.predicting import Predictor
from sqlinterp.fidelity.probes import Probe
from sqlinterp.fidelity.schemes import Holdout
from sqlinterp.fidelity.source import Measured
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.model import QueryContext

INNER = {"M": 128.0, "K": 1024.0, "N": 768.0}


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every coordinate once, in one column and one format."""
    return matmul_database(tmp_path_factory.mktemp("grid"), grid_lines(curved))


@pytest.fixture(scope="module")
def doubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every coordinate twice, one of them three times."""
    again = [matmul_line(m, k, 768, curved(m, k, 768)) for m in MS for k in KS]
    once_more = matmul_line(128, 1024, 768, curved(128, 1024, 768))
    lines = [*grid_lines(curved), *again, once_more]
    return matmul_database(tmp_path_factory.mktemp("doubled"), lines)


def test_every_hold_out_counts_what_is_left(grid: Path) -> None:
    call = read_invocation(matmul_call(100, 1024, 768))
    with (
        Measured(grid, None) as measured,
        opened_copy(grid, measured.version_key, QueryContext()) as bench,
    ):
        [(regime, m, k)] = bench._connection.execute(
            "select regime_id, axis_1, axis_2 from point order by all limit 1"
        ).fetchall()
        counts = [
            bench.lookup_without([(regime, at) for at in held], [call])[0].details["raw_count"]
            for held in ([(m, k, 768.0, 0.0)], [], [(m, k, 768.0, 0.0)])
        ]
    assert counts[1] - counts[0] == 1
    assert counts[2] == counts[0]


@pytest.mark.parametrize("scheme", ["loo", "plane", "cross", "thin", "kfold"])
def test_duplicates_of_a_coordinate_leave_with_it(grid: Path, doubled: Path, scheme: str) -> None:
    found = run(doubled, scheme, max_probes=None)
    expected = ratios(run(grid, scheme, max_probes=None).results)
    assert [ratio is None for ratio in ratios(found.results)] == [r is None for r in expected]
    assert answered(ratios(found.results)) == pytest.approx(answered(expected), rel=1e-12)


def answered(told: list[float | None]) -> list[float]:
    return [ratio for ratio in told if ratio is not None]


def planted_column(law: str) -> list[str]:
    """A grid measured in two columns; the second one knows the first one's point (128, 1024)."""
    header = MATMUL_HEADER + ",Profiling Average Duration(us)"
    lines = [f"{line}," for line in grid_lines(curved)[1:]]
    return [header, *lines, matmul_line(128, 1024, 768, f",{law}")]


def test_an_alternate_latency_column_does_not_help(grid: Path, tmp_path: Path) -> None:
    truth = curved(128, 1024, 768)
    path = matmul_database(tmp_path / "b", planted_column(repr(truth)))
    with sqlinterp.open(path) as database:  # it is there, and would answer
        assert len(database.sql("select distinct latency_column from point").fetchall()) == 2
    for scheme in ("loo", "plane", "cross"):
        found = at_inner(run(path, scheme, max_probes=None))
        assert found == at_inner(run(grid, scheme, max_probes=None))
        assert all(ratio != 1.0 for ratio in found)


def at_inner(found: Run) -> list[float | None]:
    return [r.ratio for r in found.results if r.probe.target == INNER and r.region != "axis1"]


def add_rows(dtypes: dict[str, float], sizes: tuple[int, ...]) -> list[str]:
    """An elementwise kernel in dtypes whose latency is in proportion to their bytes."""
    rows = [
        f'"{n},32;{n},32",{d};{d},ND;ND,"{n},32",{d},ND,{b * (8 + n * n / 65536)}'
        for d, b in dtypes.items()
        for n in sizes
    ]
    return [MATMUL_HEADER, *rows]


@pytest.mark.parametrize("is_by_operator", [False, True])
def test_a_dtype_that_scales_by_its_bytes_does_not_help(
    tmp_path: Path, is_by_operator: bool
) -> None:
    sizes = (64, 128, 192, 256)
    entry = {"kernel_type": "Add", "query_mode": "elementwise"}
    told = {}
    for name, dtypes in {"one": {"DT_BF16": 1.0}, "two": {"DT_BF16": 1.0, "FLOAT": 2.0}}.items():
        write_version(tmp_path / name, {"Add.csv": add_rows(dtypes, sizes)},
                      {"aten.add.Tensor": entry})  # fmt: skip
        path = tmp_path / f"{name}.duckdb"
        sqlinterp.ingest([tmp_path / name], path)
        found = run(path, is_by_operator=is_by_operator, kernels=("Add",))
        mine = [r for r in found.results if "BF16" in r.probe.group.dtype]
        told[name] = {r.probe.target["axis_0"]: r.ratio for r in mine if r.region != "on_grid"}
    scored = {x: ratio for x, ratio in told["two"].items() if ratio is not None}
    assert all(told["one"][x] == pytest.approx(ratio) for x, ratio in scored.items())
    assert all(ratio != 1.0 for ratio in scored.values())
    assert scored or is_by_operator  # the operator is answered by the other dtype: not scored


def test_another_format_of_a_coordinate_leaves_with_it_for_operators(
    grid: Path, tmp_path: Path
) -> None:
    lines = grid_lines(curved)
    extra = matmul_line(128, 1024, 768, curved(128, 1024, 768), "ND;NC1HWC0")
    path = matmul_database(tmp_path / "b", [*lines, extra])
    found = run(path, is_by_operator=True, max_probes=None)
    told = answered([r.ratio for r in found.results if r.probe.target == INNER])
    assert told == [at(run(grid), **INNER).ratio] and told != [1.0]


def test_a_leak_is_an_error_and_no_figure(grid: Path) -> None:
    """A hold-out that says to hold something else than it hides is found out."""
    with Measured(grid, None) as measured:
        (group,) = measured.groups(measured.regimes(), "mean")

        class Lying(Holdout):
            def holds(self, coordinate: tuple[float, ...]) -> bool:
                return coordinate[0] == 128.0

        probe = Probe(group, (128.0, 1024.0, 768.0, 0.0), "axis0", 0, Lying("lie"))
        with pytest.raises(DatabaseError, match="leaked"):
            Predictor(measured, QueryContext()).answers([probe])


def test_hold_outs_of_one_statement_do_not_mix(grid: Path) -> None:
    """Each point is asked alone and all are asked together: the same answers."""
    together = run(grid, "plane", max_probes=None).results
    with Measured(grid, None) as measured:
        predictor = Predictor(measured, QueryContext())
        alone = [predictor.answers([result.probe])[0] for result in together]
    assert [a.latency_us for a in alone] == [r.pred_us for r in together]


def test_asking_by_operator_and_by_coordinate_agree(grid: Path) -> None:
    for scheme in ("loo", "cross", "thin"):
        by_point = run(grid, scheme, max_probes=None)
        by_call = run(grid, scheme, max_probes=None, is_by_operator=True)
        assert ratios(by_point.results) == ratios(by_call.results)
        assert [r.source for r in by_point.results] == [r.source for r in by_call.results]
        assert region(by_call, "on_grid") == []
