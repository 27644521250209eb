"""With extrapolation on, on random tables: only misses change, guards hold, batches agree."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from databases_for_tests import matmul_call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from property.test_lookup_properties import open_table, tables

import sqlinterp

FORMS = ("hold_rate", "octave_secant", "alpha_beta", "split")
TARGETS = [
    (m, k, n) for m in (1, 20, 200, 512, 700) for k in (32, 64, 300, 1500) for n in (32, 100, 1000)
]


@st.composite
def rules(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Generous rules, so that latencies without any order pass the guards now and then."""
    generous = {
        "allow": True, "agree": 10, "min_top_octave_points": 2, "noise_max": 100,
        "max_ratio": 4, "hard_max_ratio": 16, "work": draw(st.sampled_from(["M*K*N", "M+K+N"])),
    }  # fmt: skip
    product = {**generous, "form": "product", "max_axes_out": 3, "work": "M * K * N"}
    return [{**generous, "form": draw(st.sampled_from(FORMS))}, product,
            {"allow": True, "form": "clamp_low"}]  # fmt: skip


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=tables(), rule=rules())
def test_only_misses_change_and_batches_agree(
    rows: dict[str, list[str]], rule: list[dict[str, Any]]
) -> None:
    policy = {"kernel_overrides": {"MatMulV2": {"extrapolation": rule}}}
    calls = [matmul_call(*target) for target in TARGETS]
    with tempfile.TemporaryDirectory() as folder, open_table(rows, Path(folder)) as plain:
        off = plain.lookup_many(calls)
        with sqlinterp.open(Path(folder) / "p.duckdb", policy=policy) as database:
            on = database.lookup_many(calls)
            loop = [database.lookup(op).to_dict() for op in calls[::11]]
    assert [answer.to_dict() for answer in on[::11]] == loop
    for before, after in zip(off, on, strict=True):
        if before.source is not None:
            kept = (after.source, after.latency_us, after.confidence, after.shape_match_rule)
            assert kept == (
                before.source, before.latency_us, before.confidence, before.shape_match_rule,
            )  # fmt: skip
        elif after.source is not None:
            check(after)


def check(answer: Any) -> None:
    assert answer.source == "EXTRAPOLATED" and answer.confidence < 0.60
    low, high = answer.details["extrapolation"]["bounds"]
    assert 0 < low <= answer.latency_us <= high
    out = answer.details["extrapolation"]["axes_out"]
    edge, target = answer.details["extrapolation"]["edge_coords"], answer.details["target"]
    assert {axis for axis in target if edge[axis] != target[axis]} == set(out)
