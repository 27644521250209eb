"""Fused MoE interpolation: the one axis, and when there is no answer on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from moe_databases import ENTRY, HEADER, TWO, ask, database, moe_call, row


class TestW8A8TokenInterpolation:
    """BF16 activation, INT8 weights: tokens are the one axis."""

    def test_tokens_are_interpolated_linearly(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, TWO, moe_call(150))
        found = (answer.source, answer.latency_us, answer.shape_match_rule)
        assert found == ("INTERPOLATED", 20, "interpolated_1d_linear")
        assert (answer.details["axes"], answer.details["boundary"]) == (
            ["tokens"], {"tokens": [100, 200]},
        )  # fmt: skip

    def test_a_measured_coordinate_is_measured_even_alone(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(150, 10)], moe_call(150))
        found = (answer.source, answer.latency_us, answer.details["method"])
        assert found == ("MEASURED", 10, "exact_coordinate")
        assert [p["line"] for p in answer.details["corner_points"]] == [2]

    @pytest.mark.parametrize("activation", [(150, 64), (1, 150, 64), (3, 50, 64), (2, 5, 15, 64)])
    def test_any_leading_dims_flatten_to_tokens(
        self, tmp_path: Path, activation: tuple[int, ...]
    ) -> None:
        answer = ask(tmp_path, TWO, moe_call(150, activation=activation))
        assert (answer.latency_us, answer.details["target"]) == (20, {"tokens": 150})

    def test_the_leading_dims_of_the_phase_2_example_are_576_tokens(self, tmp_path: Path) -> None:
        op = moe_call(activation=(2, 4, 72, 64), ids=(2, 4, 72, 8))
        answer = ask(tmp_path, [row(576, 7)], op)
        assert (answer.source, answer.details["target"]) == ("MEASURED", {"tokens": 576})

    def test_transposed_expert_weights_are_turned(self, tmp_path: Path) -> None:
        rows = [row(100, 10, gmm1="2,64,96"), row(200, 30, gmm1="2,64,96")]
        for gmm1, gmm2 in (((64, 96), (32, 64)), ((96, 64), (64, 32))):
            folder = tmp_path / f"{gmm1[0]}"
            assert ask(folder, rows, moe_call(150, gmm1=gmm1, gmm2=gmm2)).latency_us == 20

    def test_a_padded_row_is_not_borrowed(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [row(150, 10)], moe_call(160))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_one_latency_column_answers(self, tmp_path: Path) -> None:
        header = HEADER.replace("Average", "Profiling Average") + ",Average Duration(us)"
        rows = [
            f"{row(100, 100)},10",
            f"{row(200, 200)},",
            f"{row(300, 300)},30",
        ]
        answer = ask(tmp_path, rows, moe_call(200), header=header)
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 20)
        assert answer.details["latency_column"] == "Average Duration(us)"

    def test_half_precision_uses_bf16_rows_flagged_when_it_has_none(self, tmp_path: Path) -> None:
        op = moe_call(150, dtype="float16")
        answer = ask(tmp_path / "a", TWO, op)
        assert answer.latency_us == 20 and "FLOAT16" in answer.details["dtype_compatible"]
        own = [row(100, 1, dtype="FLOAT16"), row(200, 3, dtype="FLOAT16")]
        answer = ask(tmp_path / "b", [*TWO, *own], op)
        assert answer.latency_us == 2 and "dtype_compatible" not in answer.details

    def test_row_order_and_batches_change_nothing(self, tmp_path: Path) -> None:
        rows = [row(100, 10), row(100, 14), row(200, 30), row(120, 9, 8), row(180, 9, topk=4)]
        calls = [moe_call(tokens) for tokens in (100, 150, 200, 250)] + [moe_call(subtype="int4")]
        with database(tmp_path / "a", rows) as opened:
            answers = opened.lookup_many(calls)
            assert answers == [opened.lookup(op) for op in calls]
        with database(tmp_path / "b", rows[::-1]) as opened:
            mirrored = opened.lookup_many(calls)
        assert [a.latency_us for a in mirrored] == [a.latency_us for a in answers]
        assert [a.latency_us for a in answers] == [12, 21, 30, None, None]

    def test_embedded_parts_are_named_as_not_included(self, tmp_path: Path) -> None:
        entry = {**ENTRY, "embedded_communication": {"kernel_type": "hcom_alltoall_"}}
        answer = ask(tmp_path, TWO, moe_call(150), entry=entry)
        assert (answer.source, answer.latency_us) == ("INTERPOLATED", 20)
        assert answer.details["embedded_parts_not_included"] == ["hcom_alltoall_"]

    def test_an_entry_that_cuts_its_inputs_still_sees_all_seven(self, tmp_path: Path) -> None:
        entry = {**ENTRY, "tc_input_count": 1, "project_full_shape": False}
        answer = ask(tmp_path, TWO, moe_call(150), entry=entry)
        assert (answer.latency_us, answer.details["dropped_count"]) == (20, 0)


def test_policy_may_forbid_interpolation(tmp_path: Path) -> None:
    entry = {**ENTRY, "interpolation_policy": {"max_interpolation_dim": 0}}
    answer = ask(tmp_path, TWO, moe_call(150), entry=entry)
    assert answer.miss_reason == "interpolation_dim_disabled"


class TestWeightShapeAndLayoutIsolation:
    """The complete GMM1 and GMM2 shapes and the weight layout belong to the regime."""

    @pytest.mark.parametrize(
        "changes",
        [{"gmm1": (64, 96)}, {"gmm2": (48, 64)}, {"gmm1": (64, 96), "gmm2": (48, 64)}],
    )
    def test_other_weight_shapes_are_no_candidates(
        self, tmp_path: Path, changes: dict[str, Any]
    ) -> None:
        assert ask(tmp_path, TWO, moe_call(150, **changes)).miss_reason == "regime_key_unmatched"

    def test_rows_of_two_weight_shapes_are_never_pooled(self, tmp_path: Path) -> None:
        rows = [row(100, 10), row(200, 30, gmm1="2,64,96")]
        answer = ask(tmp_path, rows, moe_call(150))
        assert answer.miss_reason == "insufficient_filtered_candidates"
        assert [a["filtered_count"] for a in answer.details["attempts"]] == [1]

    def test_rows_of_two_weight_layouts_are_never_pooled(self, tmp_path: Path) -> None:
        fractal = "ND;FRACTAL_NZ;FRACTAL_NZ;ND;ND;ND;ND"
        rows = [row(100, 10), row(200, 30, formats=fractal)]
        answer = ask(tmp_path / "a", rows, moe_call(150))
        assert answer.miss_reason == "insufficient_filtered_candidates"
        rows = [row(100, 5, formats=fractal), row(200, 7, formats=fractal)]
        answer = ask(tmp_path / "b", rows, moe_call(150))
        assert answer.latency_us == 6
        assert answer.details["exact_fields"]["input_formats"] == fractal.split(";")

    def test_fractal_weights_are_restored(self, tmp_path: Path) -> None:
        changes = {
            "gmm1": "2,2,4,16,32",
            "gmm2": "2,1,4,16,32",
            "formats": "ND;FRACTAL_NZ;FRACTAL_NZ;ND;ND;ND;ND",
        }
        answer = ask(tmp_path, [row(t, t, **changes) for t in (100, 200)], moe_call(150))
        assert answer.latency_us == 150
        assert answer.details["exact_fields"]["gmm2_weight_shape"] == [2, 32, 64]

    def test_a_fractal_activation_is_another_regime(self, tmp_path: Path) -> None:
        formats = "FRACTAL_NZ;ND;ND;ND;ND;ND;ND"
        rows = [row(t, t, formats=formats) for t in (100, 200)]
        assert ask(tmp_path, rows, moe_call(150)).miss_reason == "regime_key_unmatched"


class TestDuplicateCoordinateProtection:
    """One coordinate, several latencies: merged only when the rows are alike in everything."""

    CONFLICT = (row(100, 10), row(150, 20), row(150, 25, output="150,8,64"), row(200, 30))

    @pytest.mark.parametrize("aggregation", ["mean", "median", "min", "first"])
    def test_rows_that_differ_in_a_recorded_field_are_a_miss(
        self, tmp_path: Path, aggregation: str
    ) -> None:
        answer = ask(tmp_path, self.CONFLICT, moe_call(150), aggregation=aggregation)
        assert (answer.source, answer.miss_reason) == (None, "duplicate_coordinate_conflict")

    def test_a_conflicting_neighbour_is_not_used(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, self.CONFLICT, moe_call(120))
        assert answer.miss_reason == "duplicate_coordinate_conflict"

    def test_other_coordinates_are_not_affected(self, tmp_path: Path) -> None:
        assert ask(tmp_path, self.CONFLICT, moe_call(100)).latency_us == 10

    def test_equal_latencies_are_no_conflict(self, tmp_path: Path) -> None:
        rows = [row(150, 20), row(150, 20, output="150,8,64")]
        assert ask(tmp_path, rows, moe_call(150)).latency_us == 20

    @pytest.mark.parametrize(("aggregation", "latency"), [("mean", 4.0), ("min", 1.0)])
    def test_rows_that_are_alike_are_merged_by_policy(
        self, tmp_path: Path, aggregation: str, latency: float
    ) -> None:
        rows = [row(150, 1), row(150, 7)]
        answer = ask(tmp_path, rows, moe_call(150), aggregation=aggregation)
        assert answer.latency_us == latency
        assert answer.details["corner_points"][0]["measurement_count"] == 2


class TestBoundaryAndCandidates:
    """No extrapolation, and no line through one point."""

    @pytest.mark.parametrize("tokens", [99, 201])
    def test_out_of_range_is_a_miss(self, tmp_path: Path, tokens: int) -> None:
        assert ask(tmp_path, TWO, moe_call(tokens)).miss_reason == "outside_axis_boundary"

    def test_one_candidate_is_not_enough(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, TWO[:1], moe_call(150))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize("latency", ["", "0", "nan", "inf", "-3"])
    def test_an_invalid_latency_is_no_candidate(self, tmp_path: Path, latency: str) -> None:
        answer = ask(tmp_path, [row(100, 10), row(200, latency)], moe_call(150))
        assert answer.miss_reason == "insufficient_filtered_candidates"
