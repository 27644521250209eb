"""The rule set beyond a range: every form, and every guard tripped by one change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sqlinterp.extrapolation import (
    REASONS,
    Edge,
    EdgePoint,
    Extrapolation,
    Refusal,
    Rule,
    extrapolate,
)
from sqlinterp.extrapolation.work import read_work

OCTAVE = (4096.0, 3072.0, 2048.0)


def edge(
    latency: Callable[[float], float], values: tuple[float, ...] = OCTAVE, **more: Any
) -> Edge:
    """The upper edge of M at K = 64 with latencies as a function of M."""
    points = tuple(EdgePoint(m, latency(m)) for m in values)
    return Edge("M", True, {"M": values[0], "K": 64.0}, points) if not more else Edge(**more)


def proportional(m: float) -> float:
    return m / 64


def outcome(rule: Rule, target: float, edges: Any = None, rest: float | None = None) -> Any:
    edges = edges or (edge(proportional),)
    return extrapolate(rule, {"M": target, "K": 64.0}, edges, rest)


def refused(found: Any) -> str:
    assert isinstance(found, Refusal), found
    assert found.reason in REASONS
    return found.reason


def given(found: Any) -> Extrapolation:
    assert isinstance(found, Extrapolation), found
    assert found.confidence < 0.60
    return found


class TestForms:
    def test_hold_rate_keeps_the_work_per_microsecond(self) -> None:
        found = given(outcome(Rule(), 8192))
        assert found.latency_us == 128
        facts = found.facts
        assert facts["edge_coords"] == {"M": 4096, "K": 64}
        assert (facts["ratio"], facts["second_form"], facts["agreement"]) == (2, "octave_secant", 1)
        assert facts["bounds"] == [64, 160]

    def test_hold_rate_uses_the_declared_work(self) -> None:
        works = (read_work("ceil(M / 4096)"), read_work("M * K"))
        found = given(outcome(Rule(works=works), 6144))
        assert (found.latency_us, found.facts["work"]) == (96, "M * K")  # whose rate is flat

    def test_octave_secant_takes_the_point_furthest_inside_the_octave(self) -> None:
        curve = edge(lambda m: 10 + m / 128, (4096, 4095, 2048))
        found = given(outcome(Rule(form="octave_secant"), 6144, (curve,)))
        assert found.latency_us == pytest.approx(10 + 48)
        assert found.places == (0, 2)

    def test_alpha_beta_fits_the_octave(self) -> None:
        found = given(outcome(Rule(form="alpha_beta"), 6144, (edge(lambda m: 8 + m / 64),)))
        assert found.latency_us == pytest.approx(8 + 96)
        assert found.facts["alpha_us"] == pytest.approx(8)
        assert found.places == (0, 1, 2)

    def test_clamp_low_holds_the_smallest_value(self) -> None:
        low = Edge("M", False, {"M": 64.0, "K": 64.0}, (EdgePoint(64, 5.0), EdgePoint(128, 5.2)))
        found = given(outcome(Rule(form="clamp_low"), 16, (low,)))
        assert (found.latency_us, found.facts["ratio"]) == (5.0, 4)

    def test_product_grows_with_the_work_on_both_axes(self) -> None:
        rule = Rule(form="product", works=(read_work("M * K"),), max_axes_out=2)
        corner = {"M": 4096.0, "K": 64.0}
        edges = (
            Edge("M", True, corner, tuple(EdgePoint(m, m * 64) for m in OCTAVE)),
            Edge("K", True, corner, tuple(EdgePoint(k, 4096 * k) for k in (64, 48, 32))),
        )
        found = given(extrapolate(rule, {"M": 5120.0, "K": 96.0}, edges))
        assert found.latency_us == 5120 * 96
        assert found.facts["axes_out"] == ["M", "K"]

    def test_split_launches_the_edge_and_the_rest(self) -> None:
        found = given(outcome(Rule(form="split"), 4096 + 1024, rest=16.5))
        assert found.latency_us == 64 + 16.5
        assert (found.facts["launches"], found.facts["remainder"]) == (1, 1024)

    @pytest.mark.parametrize(
        ("target", "confidence"), [(6144, 0.55), (8192, 0.50), (12288, 0.40), (16384, 0.30)]
    )
    def test_confidence_falls_with_the_ratio(self, target: float, confidence: float) -> None:
        assert given(outcome(Rule(max_ratio=4), target)).confidence == confidence

    def test_forms_that_differ_cost_confidence(self) -> None:
        curve = edge(lambda m: 4 + m / 64)  # hold_rate 102, secant 100 at 1.5; 1.5625 apart by 1.02
        assert given(outcome(Rule(), 6144, (curve,))).confidence == 0.55
        strict = Rule(agree=1.01)
        assert given(outcome(strict, 6144, (curve,))).confidence == 0.45


NOISY = replace(
    edge(proportional), points=(EdgePoint(4096, 64, 1.2), *edge(proportional).points[1:])
)
DROP = edge(lambda m: 64.0 if m == 4096 else 71.0)
PAIR = edge(lambda m: 40.0 if m < 4096 else 43.0, (4097, 4096, 2048))
LOWER = Edge("M", False, {"M": 64.0, "K": 64.0}, (EdgePoint(64, 5.0), EdgePoint(128, 5.2)))
STEEP = replace(LOWER, points=(EdgePoint(64, 5.0), EdgePoint(128, 5.3)))
JOINT = (edge(proportional), replace(edge(proportional), axis="K"))


class TestGuards:
    """Rule numbers are those of the fidelity specification, section 3.4."""

    def test_an_axis_that_the_rule_does_not_name(self) -> None:
        assert refused(outcome(Rule(axes=("K",)), 8192)) == "not_allowed"

    def test_work_over_an_axis_that_there_is_not(self) -> None:
        found = outcome(Rule(works=(read_work("M * N"),)), 8192)
        assert refused(found) == "not_allowed"
        assert found.facts["work_names_no_axis"] == ["N"]

    def test_clamp_low_says_nothing_above(self) -> None:
        assert refused(outcome(Rule(form="clamp_low"), 8192)) == "not_allowed"

    @pytest.mark.parametrize(
        "rule",
        [
            Rule(max_axes_out=2),
            Rule(form="product", works=(read_work("M * K"),)),  # one axis at most
            Rule(form="product", max_axes_out=2),  # no declared work
        ],
    )
    def test_two_axes_out(self, rule: Rule) -> None:  # rule 1
        assert refused(outcome(rule, 8192, JOINT)) == "joint_axes"

    def test_too_far_by_work(self) -> None:  # rule 2
        assert refused(outcome(Rule(), 16385)) == "ratio_guard"
        assert refused(outcome(Rule(hard_max_ratio=2), 8193)) == "ratio_guard"

    def test_work_that_does_not_grow(self) -> None:
        assert refused(outcome(Rule(works=(read_work("K"),)), 8192)) == "rate_not_flat"
        falls = Rule(form="octave_secant", works=(read_work("1 / M"),))
        assert refused(outcome(falls, 8192)) == "ratio_guard"

    def test_beyond_max_ratio_two_forms_have_to_agree(self) -> None:  # rule 2
        assert given(outcome(Rule(), 16384)).latency_us == 256
        apart = edge(lambda m: 6 + m / 64)  # within 7 % at the edge, 1.07 apart at four times
        strict = Rule(max_ratio=1.5, agree=1.02)
        assert refused(outcome(strict, 7000, (apart,))) == "forms_disagree"
        assert given(outcome(strict, 6000, (apart,))).confidence == 0.45

    def test_no_ratio_above_two_without_agreement(self) -> None:  # rule 8
        apart = edge(lambda m: 6 + m / 64)
        wide = Rule(max_ratio=4, agree=1.02)
        assert given(outcome(wide, 8192, (apart,))).confidence == 0.40
        assert refused(outcome(wide, 8200, (apart,))) == "forms_disagree"

    def test_an_answer_above_its_bound(self) -> None:  # rule 3
        convex = edge(lambda m: (m / 1024) ** 3)
        rule = Rule(form="octave_secant")
        found = outcome(rule, 8192, (convex,))
        assert refused(found) == "max_bound"
        assert found.facts["latency_us"] > found.facts["bounds"][1]

    def test_an_answer_below_the_edge(self) -> None:  # rule 3
        falling = edge(lambda m: 70 - m / 1024)
        assert refused(outcome(Rule(form="octave_secant"), 6144, (falling,))) == "max_bound"

    def test_repeated_measurements_that_differ(self) -> None:  # rule 4
        assert refused(outcome(Rule(), 8192, (NOISY,))) == "edge_noisy"
        assert given(outcome(Rule(noise_max=1.2), 8192, (NOISY,)))

    def test_a_latency_that_drops_towards_the_edge(self) -> None:  # rule 4
        assert refused(outcome(Rule(), 8192, (DROP,))) == "edge_noisy"

    def test_the_upper_half_of_a_tile_edge(self) -> None:  # rule 4
        rule = Rule(form="octave_secant")
        assert refused(outcome(rule, 6144, (PAIR,))) == "forms_disagree"
        apart = replace(PAIR, points=(EdgePoint(4098, 43.0), *PAIR.points[1:]))
        assert given(outcome(rule, 6144, (apart,)))

    def test_a_rate_that_is_not_flat(self) -> None:  # rule 5
        launch = edge(lambda m: 20 + m / 64)
        assert refused(outcome(Rule(), 6144, (launch,))) == "rate_not_flat"
        assert given(outcome(Rule(form="octave_secant"), 6144, (launch,))).latency_us == 116

    def test_too_few_points_in_the_top_octave(self) -> None:
        short = edge(proportional, (4096, 2048))
        assert refused(outcome(Rule(), 8192, (short,))) == "too_few_edge_points"
        assert given(outcome(Rule(min_top_octave_points=2), 8192, (short,)))

    def test_below_the_smallest_value(self) -> None:
        for form in ("hold_rate", "octave_secant", "alpha_beta", "split"):
            assert refused(outcome(Rule(form=form), 32, (LOWER,))) == "below_min"

    def test_far_below_the_smallest_value(self) -> None:
        assert refused(outcome(Rule(form="clamp_low"), 15, (LOWER,))) == "below_min"
        assert refused(outcome(Rule(form="clamp_low"), 0, (LOWER,))) == "below_min"

    def test_below_a_curve_that_is_not_flat(self) -> None:
        assert refused(outcome(Rule(form="clamp_low"), 32, (STEEP,))) == "below_min"

    def test_latencies_that_are_none_are_never_answers(self) -> None:
        for broken in (math.nan, math.inf):
            curve = replace(edge(proportional), points=(EdgePoint(4096, broken), *DROP.points[1:]))
            for form in ("hold_rate", "octave_secant", "alpha_beta", "split"):
                assert isinstance(outcome(Rule(form=form), 6144, (curve,)), Refusal)


REFUSED: dict[str, tuple[Rule, float, tuple[Edge, ...]]] = {
    "not_allowed": (Rule(axes=()), 8192, (edge(proportional),)),
    "joint_axes": (Rule(), 8192, JOINT),
    "below_min": (Rule(), 32, (LOWER,)),
    "too_few_edge_points": (Rule(min_top_octave_points=4), 8192, (edge(proportional),)),
    "edge_noisy": (Rule(), 8192, (NOISY,)),
    "ratio_guard": (Rule(), 20000, (edge(proportional),)),
    "rate_not_flat": (Rule(), 8192, (edge(lambda m: 20 + m / 64),)),
    "forms_disagree": (Rule(agree=1.0), 12288, (edge(lambda m: 3 + m / 64),)),
    "max_bound": (Rule(form="octave_secant"), 8192, (edge(lambda m: (m / 1024) ** 3),)),
}


def test_every_reason_has_a_case() -> None:
    assert tuple(REFUSED) == REASONS


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_is_reached(reason: str) -> None:
    rule, target, edges = REFUSED[reason]
    assert refused(outcome(rule, target, edges)) == reason
