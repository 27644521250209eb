"""Fused MoE lookups without interpolation: equal operands at the right EP size."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, write_version
from moe_databases import ENTRY, W8A8, exact, moe_call, row

import sqlinterp


class TestExactRowsWithoutInterpolation:
    """The base lookup: equal operands at the right EP size, padding last."""

    def test_the_seven_projected_inputs_match(self, tmp_path: Path) -> None:
        answer = exact(tmp_path, [row(150, 10)], moe_call(150))
        found = (answer.source, answer.latency_us, answer.shape_match_rule, answer.confidence)
        assert found == ("MEASURED", 10, "projected_full_shape", 1.0)
        assert (answer.details["file"], answer.details["line"]) == ("DispatchFFNCombine.csv", 2)
        assert (answer.details["ep_size"], answer.details["ep_size_is_recorded"]) == (16, True)

    @pytest.mark.parametrize(("ep_size", "latency"), [(8, 1.0), (16, 2.0), (32, None)])
    def test_the_ep_size_selects_the_row(
        self, tmp_path: Path, ep_size: int, latency: float | None
    ) -> None:
        rows = [row(150, 1, 8), row(150, 2, 16)]
        answer = exact(tmp_path, rows, moe_call(150), ep_size=ep_size)
        assert answer.latency_us == latency
        assert (answer.miss_reason == "shape_mismatch") is (latency is None)

    def test_a_row_of_another_ep_size_does_not_hide_a_padded_one(self, tmp_path: Path) -> None:
        rows = [row(160, 1, 8), row(150, 2, 16)]
        answer = exact(tmp_path, rows, moe_call(160))
        assert (answer.latency_us, answer.shape_match_rule) == (2, "padding")
        assert answer.confidence == 0.9

    def test_an_equal_row_beats_a_padded_one_before_it(self, tmp_path: Path) -> None:
        answer = exact(tmp_path, [row(150, 3), row(160, 9)], moe_call(160))
        assert (answer.latency_us, answer.shape_match_rule) == (9, "projected_full_shape")

    def test_the_ep_size_must_be_known_where_it_is_recorded(self, tmp_path: Path) -> None:
        answer = exact(tmp_path, [row(150, 10)], moe_call(150), ep_size=None)
        assert answer.miss_reason == "ep_size_not_configured"

    @pytest.mark.parametrize("ep_size", [None, 16])
    def test_a_file_that_records_no_ep_size_serves_any(
        self, tmp_path: Path, ep_size: int | None
    ) -> None:
        rows = [row(150, 10, ep_size="").removesuffix(",")]
        answer = exact(tmp_path, rows, moe_call(150), header=MATMUL_HEADER, ep_size=ep_size)
        assert answer.latency_us == 10
        assert answer.details["ep_size_is_recorded"] is False

    def test_without_projection_the_leading_arguments_match(self, tmp_path: Path) -> None:
        entry = {"kernel_type": "DispatchFFNCombine", "query_mode": "moe_fused"}
        cut = {**entry, "tc_input_count": 1}
        op = moe_call(activation=(3, 50, 64))
        answer = exact(tmp_path / "a", [row(150, 10)], op, entry=cut)
        assert (answer.latency_us, answer.shape_match_rule) == (10, "flatten_3d")
        answer = exact(tmp_path / "b", [row(150, 10)], op, entry=entry)
        assert answer.miss_reason == "shape_mismatch"

    def test_half_precision_prefers_its_own_rows(self, tmp_path: Path) -> None:
        op = moe_call(150, dtype="float16")
        rows = [row(150, 10), row(150, 20, dtype="FLOAT16")]
        assert exact(tmp_path / "a", rows, op).latency_us == 20
        other = exact(tmp_path / "b", rows[:1], op)
        assert other.latency_us == 10 and "FLOAT16" in other.details["dtype_compatible"]

    @pytest.mark.parametrize(("aggregation", "latency"), [("mean", 5.0), ("first", 9.0)])
    def test_duplicates_are_one_answer_by_policy(
        self, tmp_path: Path, aggregation: str, latency: float
    ) -> None:
        rows = [row(150, 9), row(150, 1)]
        assert exact(tmp_path, rows, moe_call(150), aggregation=aggregation).latency_us == latency

    def test_embedded_parts_make_the_answer_partial(self, tmp_path: Path) -> None:
        entry = {
            **ENTRY,
            "embedded_compute": [{"kernel_type": "AddRmsNormBias"}, {"kernel_type": "Cast"}],
            "embedded_communication": {"kernel_type": "hcom_alltoall_"},
        }
        answer = exact(tmp_path, [row(150, 10)], moe_call(150), entry=entry)
        assert (answer.source, answer.latency_us, answer.confidence) == ("PARTIAL", 10, 0.5)
        assert answer.shape_match_rule == "projected_full_shape"
        assert answer.details["hit_kernels"] == ["DispatchFFNCombine"]
        assert answer.details["missed_kernels"] == ["AddRmsNormBias", "Cast", "hcom_alltoall_"]

    def test_an_absent_or_unusable_file_is_named(self, tmp_path: Path) -> None:
        for name, reason in (("Absent", "csv_not_found"), ("Bad", "csv_unavailable:Bad.csv")):
            entry = {**ENTRY, "kernel_type": name}
            pointer = {"Bad.csv": ["version https://git-lfs.github.com/spec/v1"]}
            write_version(tmp_path / name, pointer, {W8A8: entry})
            sqlinterp.ingest([tmp_path / name], tmp_path / f"{name}.duckdb")
            for disabled in (True, False):
                with sqlinterp.open(
                    tmp_path / f"{name}.duckdb", ep_size=16, disable_interpolation=disabled
                ) as opened:
                    assert opened.lookup(moe_call()).miss_reason == reason
