"""Rules as a policy writes them: off unless allowed, checked field by field."""

from __future__ import annotations

from typing import Any

import pytest

from sqlinterp.errors import UsageError
from sqlinterp.extrapolation import Rule, extrapolation_rules, rule_problems
from sqlinterp.policy import effective_policy, policy_problems, run_policy


def rules(block: Any) -> tuple[Rule, ...]:
    return extrapolation_rules({"extrapolation": block})


class TestReading:
    def test_nothing_is_allowed_by_default(self) -> None:
        assert extrapolation_rules(None, {}, {"method": "multilinear"}) == ()
        assert rules({"form": "hold_rate"}) == ()
        assert rules({"allow": False}) == ()
        assert effective_policy().extrapolation == ()

    def test_defaults_are_those_of_the_rule_set(self) -> None:
        assert rules({"allow": True}) == (Rule(),)
        rule = Rule()
        assert (rule.form, rule.max_ratio, rule.hard_max_ratio, rule.agree) == (
            "hold_rate", 2.0, 4.0, 1.10,
        )  # fmt: skip
        assert (rule.min_top_octave_points, rule.max_axes_out, rule.noise_max) == (3, 1, 1.15)

    def test_every_field_is_read(self) -> None:
        told = {
            "allow": True, "axes": ["M"], "form": "alpha_beta", "work": ["M * K", "M"],
            "max_ratio": 1.5, "hard_max_ratio": 3, "agree": 1.2, "min_top_octave_points": 4,
            "max_axes_out": 2, "noise_max": 1.3,
        }  # fmt: skip
        (rule,) = rules(told)
        assert [work.text for work in rule.works] == ["M * K", "M"]
        assert (rule.axes, rule.form, rule.max_ratio, rule.hard_max_ratio) == (
            ("M",), "alpha_beta", 1.5, 3,
        )  # fmt: skip
        assert (rule.agree, rule.min_top_octave_points, rule.max_axes_out, rule.noise_max) == (
            1.2, 4, 2, 1.3,
        )  # fmt: skip

    def test_several_rules_keep_their_order(self) -> None:
        found = rules([{"allow": True, "form": "split"}, {"allow": True, "form": "clamp_low"}])
        assert [rule.form for rule in found] == ["split", "clamp_low"]

    def test_the_switch_of_phase_1_allows_the_default_rule(self) -> None:
        assert extrapolation_rules({"allow_extrapolation": True}) == (Rule(),)
        both = {"allow_extrapolation": False, "extrapolation": {"allow": True}}
        assert extrapolation_rules(both) == ()

    def test_a_later_layer_wins(self) -> None:
        on, off = {"extrapolation": {"allow": True}}, {"extrapolation": {"allow": False}}
        assert extrapolation_rules(on, off) == ()
        assert extrapolation_rules(off, on) == (Rule(),)

    def test_only_layers_of_a_kernel_opt_in(self) -> None:
        on = {"extrapolation": {"allow": True}, "allow_extrapolation": True}
        assert effective_policy(on).extrapolation == ()
        assert effective_policy(on, opting_in=(on,)).extrapolation == (Rule(),)

    def test_switching_on_changes_the_hash_and_staying_off_does_not(self) -> None:
        on = {"extrapolation": {"allow": True}}
        assert effective_policy(on).sha256 != effective_policy().sha256
        assert effective_policy({}, None, opting_in=(None,)).sha256 == effective_policy().sha256


BAD: list[Any] = [
    {"allow": "yes"},
    {"form": "cubic"},
    {"axes": "M"},
    {"axes": [1]},
    {"work": 3},
    {"work": []},
    {"work": "M **"},
    {"work": ["M", "drop table"]},
    {"max_ratio": 0.5},
    {"max_ratio": True},
    {"max_ratio": float("nan")},
    {"hard_max_ratio": 17},
    {"max_ratio": 3, "hard_max_ratio": 2},
    {"agree": 0},
    {"min_top_octave_points": 1},
    {"min_top_octave_points": 2.5},
    {"max_axes_out": 0},
    {"noise_max": "1.15"},
    {"form": "product"},
    {"colour": "red"},
    {1: 2},
    "always",
    [1],
    3,
]


class TestProblems:
    @pytest.mark.parametrize("block", BAD)
    def test_what_makes_no_sense_is_told_and_stays_off(self, block: Any) -> None:
        told = {"allow": True, **block} if isinstance(block, dict) else block
        assert rule_problems("here", {"extrapolation": told}, True)
        assert rules(told) == ()

    def test_a_sound_block_has_no_problem(self) -> None:
        told = {"extrapolation": {"allow": True, "form": "product", "work": "M * K", "axes": ["M"]}}
        assert policy_problems("here", told) == []

    def test_a_block_that_is_not_of_a_kernel_is_told_to_have_no_effect(self) -> None:
        told = {"extrapolation": {"allow": True}}
        (problem,) = policy_problems("interpolation_policy", told, is_kernel=False)
        assert "kernel_overrides" in problem


class TestPolicyOfARun:
    def test_it_is_canonical(self) -> None:
        assert run_policy({"method": "multilinear", "axes": ["M"]}) == (
            '{"axes":["M"],"method":"multilinear"}'
        )

    @pytest.mark.parametrize(
        "told",
        [
            {"method": "cubic"},
            {"methods": "multilinear"},
            {"extrapolation": {"allow": True}},
            {"kernel_overrides": ["MatMulV2"]},
            {"kernel_overrides": {"MatMulV2": True}},
            {"kernel_overrides": {"MatMulV2": {"extrapolation": {"form": "cubic"}}}},
            {"kernel_overrides": {"MatMulV2": {"extrapolate": True}}},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, told: dict[str, Any]) -> None:
        with pytest.raises(UsageError):
            run_policy(told)
