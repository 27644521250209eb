"""Lookups beyond the measured range: off by default, guarded where a kernel opts in."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import call, matmul_call
from lookup.attention_support import KERNEL, attention_call, ingested, row, shaped
from lookup.extrapolation_support import ask, grid, opened, work, write

import sqlinterp
from sqlinterp.database import connect_writer
from sqlinterp.errors import UsageError

ON: dict[str, Any] = {"allow": True}


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Latency in proportion to M * K * N."""
    return write(tmp_path_factory.mktemp("linear"), grid())


def refused(answer: Any) -> str:
    assert answer.source is None and answer.latency_us is None
    assert answer.details["attempts"][-1]["extrapolation"]
    reasons = [a["status"] for a in answer.details["attempts"] if "extrapolation" in a]
    assert answer.miss_reason in reasons
    return str(answer.miss_reason)


class TestOff:
    TARGETS = ((2000, 64, 32), (2000, 96, 40), (128, 64, 32), (2000, 300, 32), (300, 64, 40))

    @pytest.mark.parametrize("rule", [None, {"allow": False}, {"form": "hold_rate"}])
    def test_what_lies_beyond_is_a_miss_of_the_interpolation(self, linear: Path, rule: Any) -> None:
        for target in self.TARGETS[:4]:
            answer = ask(linear, target, rule)
            assert answer.miss_reason == "outside_axis_boundary"
            assert answer.source is answer.latency_us is answer.confidence is None
            assert all("extrapolation" not in a for a in answer.details["attempts"])
            assert len(answer.details["attempts"]) == 7

    def test_answers_and_statements_are_those_of_a_database_that_knows_no_rule(
        self, linear: Path
    ) -> None:
        with sqlinterp.open(linear) as plain, opened(linear, ON, "MatMulV3") as other:
            for target in self.TARGETS:
                expected, _, steps = plain.trace(matmul_call(*target))
                answer, _, more = other.trace(matmul_call(*target))
                assert answer.to_dict() == expected.to_dict()
                assert [step.steps for step in more] == [step.steps for step in steps]
                assert not any("edge" in name for step in steps for name in step.steps)

    def test_the_policy_of_phase_2_has_the_hash_that_it_had(self, linear: Path) -> None:
        answer = ask(linear, (300, 64, 40))
        assert answer.details["policy_hash"] == (
            "8703078e0e29f53018fd76aed1a8fd849ee664e5b5961aba7b701cfd2b441203"
        )

    def test_a_rule_that_is_not_of_a_kernel_has_no_effect(self, tmp_path: Path) -> None:
        policy = {"extrapolation": ON, "allow_extrapolation": True}
        file = write(tmp_path, grid(), interpolation_policy=policy)
        assert ask(file, (2000, 64, 32)).miss_reason == "outside_axis_boundary"

    def test_exact_only_is_exact_only(self, linear: Path) -> None:
        policy = {"kernel_overrides": {"MatMulV2": {"extrapolation": ON}}}
        with sqlinterp.open(linear, policy=policy, disable_interpolation=True) as database:
            assert database.lookup(matmul_call(2000, 64, 32)).miss_reason == "shape_mismatch"

    def test_a_kernel_without_interpolation_has_no_extrapolation(self, linear: Path) -> None:
        answer = ask(linear, (2000, 64, 32), ON, max_interpolation_dim=0)
        assert answer.miss_reason == "interpolation_dim_disabled"


class TestOneAxis:
    def test_beyond_a_line(self, linear: Path) -> None:
        answer = ask(linear, (1536, 64, 32), ON)
        assert (answer.source, answer.latency_us) == ("EXTRAPOLATED", work(1536, 64, 32))
        assert answer.confidence == answer.details["confidence"] == 0.55
        assert answer.shape_match_rule == "extrapolated_1d_hold_rate"
        details = answer.details
        assert (details["method"], details["axes"]) == ("hold_rate", ["M"])
        assert details["boundary"] == {} and "error_bar" not in details
        assert details["fallback_from"] == "interpolation_miss"
        assert [point["M"] for point in details["corner_points"]] == [1024]
        facts = details["extrapolation"]
        assert facts["edge_coords"] == {"M": 1024, "K": 64, "N": 32}
        assert (facts["ratio"], facts["second_form"], facts["agreement"]) == (
            1.5, "octave_secant", 1,
        )  # fmt: skip
        assert facts["bounds"] == [work(1024, 64, 32), 1.5 * 1.25 * work(1024, 64, 32)]

    def test_no_calibration_lifts_it_to_an_interpolation(self, tmp_path: Path) -> None:
        file = write(tmp_path, grid())
        connection = connect_writer(file)
        buckets = '{"matmul": [[0.0, 1.0, 0.97, 100]]}'
        connection.execute(
            "insert into interpolation_policy (version_id, scope, subject, policy_json)"
            " select version_id, 'confidence', 'MatMulV2', $buckets from profile_version",
            {"buckets": buckets},
        )
        connection.close()
        assert ask(file, (1536, 64, 32), ON).confidence == 0.59
        assert ask(file, (300, 64, 64), ON).confidence == 0.97

    def test_beyond_planes_when_the_other_axes_are_off_the_grid(self, linear: Path) -> None:
        answer = ask(linear, (1536, 64, 48), ON)
        assert answer.latency_us == pytest.approx(work(1536, 64, 48), rel=1e-12)
        assert answer.details["extrapolation"]["edge_coords"] == {"M": 1024, "K": 64, "N": 48}
        assert [p["N"] for p in answer.details["corner_points"]] == [32, 64]
        inside = ask(linear, (1536, 100, 48), ON)
        edge = ask(linear, (1024, 100, 48))
        assert inside.latency_us == pytest.approx(1.5 * (edge.latency_us or 0), rel=1e-12)

    def test_a_plane_that_lacks_the_target_is_no_edge(self, tmp_path: Path) -> None:
        rows = [row for row in grid() if row[:3] != (1024, 64, 64)]
        rule = {"allow": True, "min_top_octave_points": 2, "axes": ["M"]}
        answer = ask(write(tmp_path, rows), (1280, 64, 60), rule)
        assert answer.details["extrapolation"]["edge_coords"]["M"] == 1024  # between 32 and 128
        rows = [row for row in grid() if row[:2] != (1024, 64)]
        answer = ask(write(tmp_path / "b", rows), (1280, 64, 60), rule)
        assert answer.details["extrapolation"]["edge_coords"]["M"] == 768

    def test_beyond_a_line_that_ends_before_the_regime_does(self, tmp_path: Path) -> None:
        rows = [row for row in grid() if row[:3] != (1024, 64, 32)]
        rows += [(2048, 128, 128, work(2048, 128, 128))]
        rule = {"allow": True, "axes": ["M"], "min_top_octave_points": 2}
        answer = ask(write(tmp_path, rows), (1024, 64, 32), rule)
        assert answer.latency_us == pytest.approx(work(1024, 64, 32))
        assert answer.details["extrapolation"]["edge_coords"]["M"] == 768

    def test_clamp_low(self, tmp_path: Path) -> None:
        file = write(tmp_path, grid(lambda m, k, n: 5 + max(m - 512, 0) / 64))
        rules = [{"allow": True, "form": "octave_secant"}, {"allow": True, "form": "clamp_low"}]
        answer = ask(file, (64, 64, 32), rules)
        assert (answer.latency_us, answer.confidence) == (5, 0.30)
        assert answer.shape_match_rule == "extrapolated_1d_clamp_low"
        assert ask(file, (64, 100, 48), rules).latency_us == pytest.approx(5)
        assert refused(ask(file, (63, 64, 32), rules)) == "below_min"

    def test_split_adds_the_launch_of_the_rest(self, linear: Path) -> None:
        rule = {"allow": True, "form": "split"}
        answer = ask(linear, (1024 + 300, 64, 32), rule)
        assert answer.latency_us == pytest.approx(work(1024, 64, 32) + work(300, 64, 32))
        assert [p["M"] for p in answer.details["corner_points"]] == [256, 512, 1024]
        assert refused(ask(linear, (1024 + 100, 64, 32), rule)) == "below_min"
        twice = ask(linear, (2048, 64, 32), rule)
        assert twice.latency_us == 2 * work(1024, 64, 32)

    def test_alpha_beta_and_octave_secant(self, tmp_path: Path) -> None:
        file = write(tmp_path, grid(lambda m, k, n: 3 + m / 64))
        for form in ("alpha_beta", "octave_secant"):
            answer = ask(file, (1536, 64, 32), {"allow": True, "form": form})
            assert answer.latency_us == pytest.approx(27)
            assert answer.shape_match_rule == f"extrapolated_1d_{form}"


PRODUCT: dict[str, Any] = {
    "allow": True, "form": "product", "work": "M * K * N", "max_axes_out": 2,
    "min_top_octave_points": 2,
}  # fmt: skip


class TestJointAxes:
    def test_two_axes_with_the_form_product(self, linear: Path) -> None:
        answer = ask(linear, (1280, 144, 32), PRODUCT)
        assert answer.latency_us == pytest.approx(work(1280, 144, 32))
        assert answer.shape_match_rule == "extrapolated_2d_product"
        assert answer.details["axes"] == ["M", "K"]
        beside = ask(linear, (1280, 144, 40), PRODUCT)
        assert beside.latency_us == pytest.approx(work(1280, 144, 40))

    def test_three_axes_are_too_many(self, linear: Path) -> None:
        assert refused(ask(linear, (1280, 144, 160), PRODUCT)) == "joint_axes"

    def test_a_corner_that_was_not_measured(self, tmp_path: Path) -> None:
        rows = [row for row in grid() if row[:2] != (1024, 128)]
        answer = ask(write(tmp_path, rows), (1280, 144, 32), PRODUCT)
        assert refused(answer) == "too_few_edge_points"

    def test_one_axis_at_a_time_by_default(self, linear: Path) -> None:
        answer = ask(linear, (1280, 144, 32), ON)
        assert refused(answer) == "joint_axes"
        assert answer.details["attempts"][-1]["axes"] == ["M", "K"]


class TestRefusals:
    """Every reason, seen in the details of the miss."""

    @pytest.mark.parametrize(
        ("target", "rule", "reason"),
        [
            ((1536, 64, 32), {"allow": True, "axes": ["K", "N"]}, "not_allowed"),
            ((1536, 64, 32), {"allow": True, "work": "tokens"}, "not_allowed"),
            ((1536, 64, 32), {"allow": True, "form": "clamp_low"}, "not_allowed"),
            ((1280, 144, 32), ON, "joint_axes"),
            ((128, 64, 32), ON, "below_min"),
            ((512, 144, 32), ON, "too_few_edge_points"),
            ((1536, 64, 32), {"allow": True, "min_top_octave_points": 4}, "too_few_edge_points"),
            ((4097, 64, 32), ON, "ratio_guard"),
            ((9000, 70, 32), ON, "ratio_guard"),
            ((1536, 64, 32), {"allow": True, "work": "K"}, "rate_not_flat"),
        ],
    )
    def test_on_a_sound_grid(self, linear: Path, target: Any, rule: Any, reason: str) -> None:
        assert refused(ask(linear, target, rule)) == reason

    def test_edge_noisy(self, tmp_path: Path) -> None:
        twice = [*grid(), (1024, 64, 32, 1.2 * work(1024, 64, 32))]
        file = write(tmp_path, twice)
        assert refused(ask(file, (1536, 64, 32), ON)) == "edge_noisy"
        assert refused(ask(file, (1536, 64, 48), ON)) == "edge_noisy"  # a corner of the plane
        assert ask(file, (1536, 64, 128), ON).source == "EXTRAPOLATED"

    def test_edge_noisy_where_the_latency_drops(self, tmp_path: Path) -> None:
        falls = grid(lambda m, k, n: 10 if m < 1024 else 8)
        assert refused(ask(write(tmp_path, falls), (1536, 64, 32), ON)) == "edge_noisy"

    def test_forms_disagree(self, tmp_path: Path) -> None:
        file = write(tmp_path, grid(lambda m, k, n: 1.5 + m / 64))
        rule = {"allow": True, "agree": 1.05}
        assert ask(file, (1536, 64, 32), rule).confidence == 0.55
        assert refused(ask(file, (3072, 64, 32), rule)) == "forms_disagree"

    def test_max_bound(self, tmp_path: Path) -> None:
        file = write(tmp_path, grid(lambda m, k, n: (m / 256) ** 3))
        rule = {"allow": True, "form": "octave_secant"}
        answer = ask(file, (2048, 64, 32), rule)
        assert refused(answer) == "max_bound"
        assert answer.details["attempts"][-1]["extrapolation"]["latency_us"] > 160


class TestOrder:
    def test_interpolation_by_an_alternate_beats_extrapolation(self, tmp_path: Path) -> None:
        wide = [(m, 64, 32, 7.0) for m in (1024, 2048)]
        file = write(tmp_path, grid(), wide)
        answer = ask(file, (1536, 64, 32), ON)
        assert (answer.source, answer.kernel_type) == ("INTERPOLATED", "MatMulV3")

    def test_kernels_are_tried_in_the_order_of_the_mapping(self, tmp_path: Path) -> None:
        narrow = [(m, 64, 32, m / 100) for m in (256, 384, 512)]
        file = write(tmp_path, grid(), narrow)
        answer = ask(file, (1024 + 512, 64, 32), ON)
        assert (answer.source, answer.kernel_type) == ("EXTRAPOLATED", "MatMulV2")
        answer = ask(file, (1024 + 512, 64, 32), ON, kernel="MatMulV3")
        assert answer.kernel_type == "MatMulV3"

    def test_rules_of_the_mapping_are_those_of_a_run(self, linear: Path, tmp_path: Path) -> None:
        policy = {"kernel_overrides": {"MatMulV2": {"extrapolation": ON}}}
        file = write(tmp_path, grid(), interpolation_policy=policy)
        assert ask(file, (1536, 64, 32)).to_dict() == ask(linear, (1536, 64, 32), ON).to_dict()
        assert ask(file, (1536, 64, 32), {"allow": False}).source is None

    def test_a_policy_that_makes_no_sense_is_refused(self, linear: Path) -> None:
        with pytest.raises(UsageError, match="form is 'cubic'"):
            ask(linear, (1536, 64, 32), {"allow": True, "form": "cubic"})

    def test_batches_and_the_order_of_rows_change_nothing(
        self, linear: Path, tmp_path: Path
    ) -> None:
        rule = [{"allow": True, "form": "octave_secant", "work": "M*K*N"},
                {"allow": True, "form": "product", "work": "M * K * N", "max_axes_out": 3,
                 "min_top_octave_points": 2}]  # fmt: skip
        chosen = random.Random(5)
        targets = [
            (chosen.choice((100, 300, 1024, 1300, 2500, 5000)),
             chosen.choice((64, 90, 128, 150, 300)), chosen.choice((16, 32, 50, 140, 200)))
            for _ in range(24)
        ]  # fmt: skip
        calls = [matmul_call(*target) for target in targets]
        rows = grid()
        chosen.shuffle(rows)
        with opened(linear, rule) as one, opened(write(tmp_path, rows), rule) as other:
            loop = [one.lookup(op).to_dict() for op in calls]
            assert [answer.to_dict() for answer in one.lookup_many(calls)] == loop
            backwards = one.lookup_many(calls[::-1])[::-1]
            assert [answer.to_dict() for answer in backwards] == loop
            shuffled = [answer.to_dict() for answer in other.lookup_many(calls)]
        assert [a["latency_us"] for a in shuffled] == [a["latency_us"] for a in loop]
        assert {answer["source"] for answer in loop} >= {"INTERPOLATED", "EXTRAPOLATED", None}
        assert sum(answer["source"] == "EXTRAPOLATED" for answer in loop) >= 2


class TestComposites:
    def test_a_sum_is_as_weak_as_its_weakest_part(self, linear: Path) -> None:
        pair = {**call("tensor_cast.pair.default"),
                "children": [matmul_call(1024, 64, 32), matmul_call(1536, 64, 32)]}  # fmt: skip
        with opened(linear, ON) as database:
            answer = database.lookup(pair)
        assert answer.source == "EXTRAPOLATED"
        assert answer.latency_us == work(1024, 64, 32) + work(1536, 64, 32)
        assert answer.shape_match_rule == "extrapolated_composite"
        assert answer.confidence is not None and answer.confidence < 0.60


class TestAttention:
    """Longer sequences than any measured one, with as many tokens; else with more in a block."""

    RULE = (("allow", True), ("form", "octave_secant"))

    def ask(self, file: Path, seq: int) -> Any:
        policy = {"kernel_overrides": {KERNEL: {"extrapolation": dict(self.RULE)}}}
        with sqlinterp.open(file, policy=policy) as database:
            return database.lookup(attention_call(lengths=(seq,) * 16))

    def test_beyond_the_longest_sequence(self, tmp_path: Path) -> None:
        file = ingested(tmp_path, [row(10 + seq / 64, seq) for seq in (1024, 1536, 2048)])
        answer = self.ask(file, 3072)
        assert (answer.source, answer.latency_us) == ("EXTRAPOLATED", 58)
        assert answer.details["extrapolation"]["edge_coords"]["seq"] == 2048
        assert answer.details["exact_miss_reason"] and answer.confidence < 0.60
        refused_ = self.ask(file, 30_000)
        assert refused(refused_) == "ratio_guard"
        with sqlinterp.open(file) as database:
            assert database.lookup(attention_call(lengths=(3072,) * 16)).source is None

    def test_padded_tokens_between_sequences_beat_more_sequences(self, tmp_path: Path) -> None:
        rows = [row(10 + seq / 64, seq) for seq in (1024, 1536, 2048)]
        rows += [shaped(99, seq, (10, 8, 128)) for seq in (2048, 4096)]
        answer = self.ask(ingested(tmp_path, rows), 3072)
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 99)
