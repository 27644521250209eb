"""What every single axis says of a target: the consensus of them, and the error bar."""

from __future__ import annotations

import json
import math
import random
import statistics
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, matmul_call, tensor, write_version
from lookup.extrapolation_support import K, M, ask, opened, write

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.lookup.boxes import Box, Corner
from sqlinterp.lookup.placement import Placement
from sqlinterp.lookup.solver import Solver
from sqlinterp.lookup.weights import neighbour_weights
from sqlinterp.paths import Path as LookupPath
from sqlinterp.policy import effective_policy

CONSENSUS: dict[str, Any] = {"method": "bracket_consensus"}
N = (64, 128, 256)
HELD = (512, 128, 128)


def curved(m: int, k: int, n: int) -> float:
    return m**0.7 + 0.01 * k**1.6 + 0.001 * n**2


def rows_without_held(ks: tuple[int, ...] = K) -> list[tuple[int, int, int, float]]:
    rows = [(m, k, n, curved(m, k, n)) for m in M for k in ks for n in N]
    return [row for row in rows if row[:3] != HELD]


def axis_estimates() -> dict[str, float]:
    """The linear estimates of the point that is held out, along M and N; K has no two sides."""
    m, k, n = HELD
    return {
        "M": (curved(256, k, n) + curved(768, k, n)) / 2,
        "N": curved(m, k, 64) + (curved(m, k, 256) - curved(m, k, 64)) / 3,
    }


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid without one row, which M and N bracket."""
    return write(tmp_path_factory.mktemp("two"), rows_without_held())


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid without one row, which all three axes bracket."""
    return write(tmp_path_factory.mktemp("three"), rows_without_held((*K, 192)))


class TestConsensus:
    def test_two_estimates_are_averaged(self, two: Path) -> None:
        answer = ask(two, HELD, **CONSENSUS)
        assert answer.latency_us == pytest.approx(statistics.mean(axis_estimates().values()))
        assert answer.shape_match_rule == "interpolated_1d_bracket_consensus"
        details = answer.details
        assert (details["method"], details["interpolation_dim"]) == ("bracket_consensus", 1)
        assert details["axes"] == ["M", "N"]
        assert details["boundary"] == {"M": [256, 768], "N": [64, 256]}
        assert len(details["corner_points"]) == 4
        assert answer.confidence == 0.675  # as along N alone, whose cell is four times as wide

    def test_three_estimates_have_a_median(self, three: Path) -> None:
        m, _, n = HELD
        along_k = (curved(m, 64, n) + curved(m, 192, n)) / 2
        estimates = [*axis_estimates().values(), along_k]
        answer = ask(three, HELD, **CONSENSUS)
        assert answer.latency_us == pytest.approx(statistics.median(estimates))
        assert answer.details["axes"] == ["M", "K", "N"]
        assert len(answer.details["corner_points"]) == 6

    def test_one_estimate_is_the_line(self, two: Path) -> None:
        target = (300, 64, 64)
        answer, default = ask(two, target, **CONSENSUS), ask(two, target)
        assert answer.latency_us == default.latency_us
        assert answer.shape_match_rule == "interpolated_1d_linear"

    @pytest.mark.parametrize("target", [(300, 64, 100), (300, 100, 100)])
    def test_more_axes_are_as_before(self, two: Path, target: Any) -> None:
        answer, default = ask(two, target, **CONSENSUS), ask(two, target)
        assert answer.latency_us == default.latency_us
        assert "griddata_linear" in str(answer.shape_match_rule)

    def test_a_measured_point_is_measured(self, two: Path) -> None:
        assert ask(two, (256, 64, 64), **CONSENSUS).source == "MEASURED"

    def test_axes_that_the_policy_does_not_allow_have_no_say(self, two: Path) -> None:
        answer = ask(two, HELD, **CONSENSUS, axes=["N", "K"])
        assert answer.latency_us == pytest.approx(axis_estimates()["N"])
        assert [one["axis"] for one in answer.details["error_bar"]["estimates"]] == ["N"]

    def test_the_mapping_may_name_it(self, two: Path, tmp_path: Path) -> None:
        policy = {"kernel_overrides": {"MatMulV2": CONSENSUS}}
        file = write(tmp_path, rows_without_held(), interpolation_policy=policy)
        assert ask(file, HELD).latency_us == ask(two, HELD, **CONSENSUS).latency_us

    def test_weights_are_those_of_the_middle(self, two: Path, three: Path) -> None:
        for file in (two, three):
            answer = ask(file, HELD, **CONSENSUS)
            weights = neighbour_weights(answer)
            values = [point["latency_us"] for point in answer.details["corner_points"]]
            total = math.fsum(w * us for w, us in zip(weights, values, strict=True))
            assert total == pytest.approx(answer.latency_us)
            assert math.fsum(weights) == pytest.approx(1)

    def test_batches_and_the_order_of_rows_change_nothing(
        self, three: Path, tmp_path: Path
    ) -> None:
        chosen = random.Random(3)
        rows = rows_without_held((*K, 192))
        chosen.shuffle(rows)
        targets = [HELD, *((chosen.choice(M), chosen.choice((64, 100, 192)), chosen.choice(N))
                           for _ in range(12))]  # fmt: skip
        calls = [matmul_call(*target) for target in targets]
        other = write(tmp_path, rows)
        with opened(three, **CONSENSUS) as one, opened(other, **CONSENSUS) as two_:
            loop = [one.lookup(op).to_dict() for op in calls]
            assert [answer.to_dict() for answer in one.lookup_many(calls)] == loop
            shuffled = [answer.to_dict() for answer in two_.lookup_many(calls)]
        assert [a["latency_us"] for a in shuffled] == [a["latency_us"] for a in loop]

    def test_other_paths_have_it_too(self, tmp_path: Path) -> None:
        cells = ((16, 64, 10.0), (64, 64, 30.0), (32, 32, 1.0), (32, 128, 60.0))
        lines = [f'"{m},{n}",DT_BF16,ND,"{m},{n}",DT_BF16,ND,{us}' for m, n, us in cells]
        write_version(
            tmp_path / "d" / "b" / "v",
            {"Neg.csv": [MATMUL_HEADER, *lines]},
            {"aten.neg.default": {"kernel_type": "Neg", "query_mode": "elementwise"}},
        )
        sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
        op = call("aten.neg.default", tensor(32, 64), outputs=[tensor(32, 64)])
        with sqlinterp.open(tmp_path / "p.duckdb", policy=CONSENSUS) as database:
            answer = database.lookup(op)
        along = {one["axis"]: one["latency_us"] for one in answer.details["error_bar"]["estimates"]}
        assert set(along) == {"axis_0", "axis_1"}
        assert answer.latency_us == pytest.approx(statistics.mean(along.values()))

    @pytest.mark.parametrize(("is_conflicting", "latency"), [(False, 40), (True, 20)])
    def test_points_that_contradict_themselves_have_no_say(
        self, is_conflicting: bool, latency: float
    ) -> None:
        path = LookupPath("any", ("a", "b"), 2, refuses_conflicts=True)
        target = Placement(1, 1, (2.0, 2.0, 0.0, 0.0), True, 4, (0,), 0, {})
        boxes = []
        for axis, ends in ((0, (10.0, 30.0)), (1, (40.0, 80.0))):
            sides = [
                tuple(x if a == axis else v for a, v in enumerate(target.axes)) for x in (1.0, 3.0)
            ]
            box = Box(1, (axis,), "column", 0, sides[0], sides[1], 2, 2)
            box.corners += [
                Corner(side, us, 1, 1, is_conflicting and axis == 1)
                for side, us in zip(sides, ends, strict=True)
            ]
            boxes.append(box)
        search = Solver(path, effective_policy(CONSENSUS)).search((target,))
        next(search)
        with pytest.raises(StopIteration) as found:
            search.send(boxes)
        assert found.value.value.latency_us == latency


class TestErrorBar:
    def test_it_lists_every_axis_and_how_far_they_lie_apart(self, two: Path) -> None:
        answer, along = ask(two, HELD), axis_estimates()
        bar = answer.details["error_bar"]
        assert [(one["axis"], one["bracket"]) for one in bar["estimates"]] == [
            ("M", [256, 768]), ("N", [64, 256]),
        ]  # fmt: skip
        for one in bar["estimates"]:
            assert one["latency_us"] == pytest.approx(along[one["axis"]])
        assert bar["spread"] == pytest.approx(max(along.values()) / min(along.values()) - 1)
        assert bar["cell_width"] == {"M": 3}
        assert "quantiles" not in bar
        assert answer.latency_us == pytest.approx(along["M"])  # the first axis decides, as before

    def test_one_estimate_has_no_spread(self, two: Path) -> None:
        bar = ask(two, (300, 64, 64)).details["error_bar"]
        assert [one["axis"] for one in bar["estimates"]] == ["M"]
        assert (bar["spread"], bar["cell_width"]) == (None, {"M": 2})

    def test_several_axes_together_have_no_estimates(self, two: Path) -> None:
        bar = ask(two, (300, 64, 100)).details["error_bar"]
        assert (bar["estimates"], bar["spread"]) == ([], None)
        assert bar["cell_width"] == {"M": 2, "N": 2}

    def test_measured_and_missing_answers_have_none(self, two: Path) -> None:
        for target in ((256, 64, 64), (9000, 64, 64)):
            assert "error_bar" not in ask(two, target).details

    def test_it_asks_the_database_nothing(self, two: Path) -> None:
        with sqlinterp.open(two) as database:
            _, _, steps = database.trace(matmul_call(*HELD))
        names = [step.steps[-1] for step in steps]
        assert names.count("lookup.octant") == 1 and names[-1] == "lookup.box_corner"

    def test_a_cell_from_zero_is_written_as_json(self, tmp_path: Path) -> None:
        rows = [(0, 64, 32, 1.0), (16, 64, 32, 2.0)]
        answer = ask(write(tmp_path, rows), (8, 64, 32))
        bar = json.loads(answer.to_json())["details"]["error_bar"]
        assert bar["cell_width"] == {"M": None}

    def test_collectives_compare_the_fit_with_the_bracket(self, tmp_path: Path) -> None:
        rows = [f"{size},2,0,bf16,{us}" for size, us in ((1024, 4), (2048, 5), (4096, 9))]
        write_version(
            tmp_path / "d" / "b" / "v",
            {"hcom_allReduce_.csv": ["message_bytes,num_devices,topology_tier,dtype,"
                                     "Average Duration(us)", *rows]},
            {"tensor_cast.all_reduce.default": {"kernel_type": "hcom_allReduce_",
                                                "category": "communication"}},
        )  # fmt: skip
        sqlinterp.ingest([tmp_path / "d"], tmp_path / "p.duckdb")
        op = call("tensor_cast.all_reduce.default", tensor(24, 64), "sum", {"ints": [0, 1]})
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            answer = database.lookup(op)
        bar = answer.details["error_bar"]
        assert answer.source == "INTERPOLATED"
        assert {one["method"] for one in bar["estimates"]} == {"alpha_beta", "bracket_linear"}
        assert (bar["estimates"][1]["latency_us"], bar["cell_width"]) == (7, {"message_bytes": 2})
        assert bar["spread"] == pytest.approx(
            max(one["latency_us"] for one in bar["estimates"])
            / min(one["latency_us"] for one in bar["estimates"]) - 1
        )  # fmt: skip


QUANTILES = (  # spread_low, spread_high, width_low, width_high, n, q50, q90, q95
    (None, None, 1.0, 4.0, 30, 0.01, 0.02, 0.03),
    (0.0, 0.02, 1.0, math.inf, 40, 0.04, 0.05, 0.06),
    (0.02, math.inf, 1.0, 3.0, 50, 0.07, 0.08, 0.09),
    (0.02, math.inf, 3.0, math.inf, 60, 0.10, 0.11, 0.12),
)


class TestQuantiles:
    @pytest.fixture(scope="class")
    @classmethod
    def calibrated(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A file that holds figures of hold-out runs for one kernel."""
        rows = [*rows_without_held(), (0, 64, 64, 1.0)]
        file = write(tmp_path_factory.mktemp("calibrated"), rows)
        connection = connect_writer(file)
        (version,) = connection.execute("select max(version_id) from profile_version").fetchone()
        for figures in QUANTILES:
            values = [version, "MatMulV2", "matmul", *figures]
            connection.execute(
                "insert into error_quantile (version_id, kernel_type, path, spread_low,"
                " spread_high, width_low, width_high, n, q50, q90, q95)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        connection.close()
        return file

    @pytest.mark.parametrize(
        ("target", "n"),
        [
            (HELD, 60),  # two estimates, three times as wide
            ((300, 64, 64), 30),  # one estimate
            ((300, 64, 100), 30),  # none
        ],
    )
    def test_spread_and_width_choose_the_figures(
        self, calibrated: Path, target: Any, n: int
    ) -> None:
        (expected,) = (figures for figures in QUANTILES if figures[4] == n)
        quantiles = ask(calibrated, target).details["error_bar"]["quantiles"]
        assert quantiles == dict(zip(("n", "q50", "q90", "q95"), expected[4:], strict=True))

    def test_a_width_that_no_run_saw_has_no_figures(self, calibrated: Path) -> None:
        bar = ask(calibrated, (8, 64, 64)).details["error_bar"]
        assert "quantiles" not in bar and bar["cell_width"] == {"M": None}

    def test_figures_change_nothing_else_and_ask_nothing(self, calibrated: Path) -> None:
        with sqlinterp.open(calibrated) as database:
            answer, _, steps = database.trace(matmul_call(*HELD))
        assert answer.latency_us == pytest.approx(axis_estimates()["M"])
        assert not any("quantile" in name for step in steps for name in step.steps)
