"""Regimes of fused MoE kernels: what never mixes, and which rows and calls have no place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, tensor, write_version
from moe_databases import (
    ENTRY,
    HEADER,
    OPERATORS,
    TWO,
    WEIGHTS,
    ask,
    database,
    moe_call,
    row,
)

import sqlinterp


class TestTopkEpAndLocalExpertIsolation:
    """Fields that are never axes."""

    @pytest.mark.parametrize(
        ("changes", "asked"),
        [
            ({"topk": 4}, {}),
            ({"ep_size": 32}, {}),
            ({"gmm1": "4,64,64", "gmm2": "4,32,64"}, {}),
            ({"activation": "200,128"}, {}),
            ({"dtype": "FLOAT"}, {}),
        ],
    )
    def test_a_row_of_another_regime_is_no_neighbour(
        self, tmp_path: Path, changes: dict[str, Any], asked: dict[str, Any]
    ) -> None:
        answer = ask(tmp_path, [row(100, 10), row(200, 30, **changes)], moe_call(150, **asked))
        assert answer.miss_reason == "insufficient_filtered_candidates"

    @pytest.mark.parametrize(
        "changes",
        [
            {"topk": 4},
            {"experts": 4},
            {"activation": (150, 32), "gmm1": (32, 64), "gmm2": (32, 32)},
            {"dtype": "float32"},
        ],
    )
    def test_a_target_of_another_regime_has_no_candidates(
        self, tmp_path: Path, changes: dict[str, Any]
    ) -> None:
        answer = ask(tmp_path, TWO, moe_call(150, **changes))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_the_ep_size_of_the_context_selects_the_regime(self, tmp_path: Path) -> None:
        rows = [*TWO, row(100, 1, 8), row(200, 3, 8)]
        assert ask(tmp_path / "a", rows, moe_call(150), ep_size=8).latency_us == 2
        assert ask(tmp_path / "b", rows, moe_call(150), ep_size=16).latency_us == 20
        answer = ask(tmp_path / "c", rows, moe_call(150), ep_size=64)
        assert answer.miss_reason == "regime_key_unmatched"


class TestEpSizeRejection:
    """Every candidate needs a positive EP size, and so does the target."""

    def test_a_missing_column_rejects_every_row(self, tmp_path: Path) -> None:
        rows = [line.rpartition(",")[0] for line in TWO]
        answer = ask(tmp_path, rows, moe_call(150), header=MATMUL_HEADER)
        assert answer.miss_reason == "regime_key_unmatched"
        assert answer.details["rejected_rows"] == {"ep_size_missing": 2}

    @pytest.mark.parametrize(
        ("ep_size", "rejected"),
        [("", {"ep_size_missing": 1}), ("0", {"ep_size_invalid": 1}),
         ("-16", {"ep_size_invalid": 1}), ("16.5", {}), ("many", {})],
    )  # fmt: skip
    def test_a_blank_or_invalid_size_rejects_the_row(
        self, tmp_path: Path, ep_size: str, rejected: dict[str, int]
    ) -> None:
        answer = ask(tmp_path, [row(100, 10), row(200, 30, ep_size)], moe_call(150))
        assert answer.miss_reason == "insufficient_filtered_candidates"
        assert answer.details["rejected_rows"] == rejected

    @pytest.mark.parametrize("header", [HEADER, MATMUL_HEADER])
    def test_the_context_must_know_its_size(self, tmp_path: Path, header: str) -> None:
        rows = TWO if header == HEADER else [line.rpartition(",")[0] for line in TWO]
        answer = ask(tmp_path, rows, moe_call(150), header=header, ep_size=None)
        assert answer.miss_reason == "ep_size_not_configured"

    def test_a_size_of_zero_is_no_size(self, tmp_path: Path) -> None:
        rows = [*TWO, row(150, 9, 0)]
        answer = ask(tmp_path, rows, moe_call(150), ep_size=0)
        assert answer.miss_reason == "ep_size_invalid"


class TestSubtypeIsolation:
    """Plain, W8A8, INT4, FP8 and MXFP4 never answer for each other."""

    @pytest.mark.parametrize("measured", WEIGHTS)
    def test_only_the_measured_subtype_is_answered(self, tmp_path: Path, measured: str) -> None:
        weight = WEIGHTS[measured][1]
        rows = [row(100, 10, weight=weight), row(200, 30, weight=weight)]
        with database(tmp_path, rows) as opened:
            answers = {name: opened.lookup(moe_call(150, name)) for name in OPERATORS}
        assert {name for name, answer in answers.items() if answer.source} == {measured}
        assert answers[measured].details["exact_fields"]["quant_subtype"] == measured
        reasons = {a.miss_reason for name, a in answers.items() if name != measured}
        assert reasons == {"regime_key_unmatched"}

    @pytest.mark.parametrize("subtype", ["plain", "int4", "fp8", "mxfp4"])
    @pytest.mark.parametrize("weight", ["int8", "uint8"])
    def test_packed_weights_do_not_borrow_w8a8_rows(
        self, tmp_path: Path, subtype: str, weight: str
    ) -> None:
        answer = ask(tmp_path, TWO, moe_call(150, subtype, weight=weight))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_the_operator_alone_is_not_enough(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, TWO, moe_call(150, "w8a8", weight="bfloat16"))
        assert answer.miss_reason == "regime_key_unmatched"

    def test_a_miss_for_want_of_data_is_stable(self, tmp_path: Path) -> None:
        with database(tmp_path, TWO) as opened:
            for subtype in ("plain", "int4", "fp8", "mxfp4"):
                first, second = (opened.lookup(moe_call(150, subtype)) for _ in range(2))
                assert first == second
                assert (first.source, first.miss_reason) == (None, "regime_key_unmatched")


class TestTargetConstruction:
    """Calls that do not carry what the regime needs."""

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"activation": (64,)}, "moe_fused_target_unextractable:activation"),
            ({"activation": ()}, "moe_fused_target_unextractable:activation"),
            ({"ids": ()}, "moe_fused_target_unextractable:expert_ids"),
            ({"experts": 0}, "moe_fused_target_unextractable:gmm1_weights"),
            ({"gmm1": (2, 64, 64)}, "moe_fused_target_unextractable:gmm1_weights"),
            ({"gmm1": (32, 32)}, "moe_fused_target_unextractable:gmm1_weights"),
            ({"gmm2": (32, 32)}, "moe_fused_target_unextractable:gmm2_weights"),
            ({"weight": "complex99"}, "dtype_unmapped:args[2]:complex99"),
            ({"ids": (150,)}, "topk_unextractable"),
            ({"ids": (149, 8)}, "topk_unextractable"),
            ({"ids": (150, 0)}, "topk_unextractable"),
            ({"activation": (0, 64), "ids": (0, 8)}, "token_axis_unextractable"),
        ],
    )
    def test_the_missing_part_is_named(
        self, tmp_path: Path, changes: dict[str, Any], reason: str
    ) -> None:
        assert ask(tmp_path, TWO, moe_call(150, **changes)).miss_reason == reason

    @pytest.mark.parametrize(("kept", "part"), [(2, "gmm1"), (5, "gmm2"), (0, "activation")])
    def test_too_few_arguments_are_a_miss(self, tmp_path: Path, kept: int, part: str) -> None:
        op = moe_call(150)
        answer = ask(tmp_path, TWO, {**op, "args": op["args"][:kept]})
        assert str(answer.miss_reason).startswith(f"moe_fused_target_unextractable:{part}")

    def test_experts_of_different_shapes_are_a_miss(self, tmp_path: Path) -> None:
        op = moe_call(150)
        op["args"][2] = [tensor(64, 64, dtype="int8"), tensor(64, 96, dtype="int8")]
        answer = ask(tmp_path, TWO, op)
        assert answer.miss_reason == "moe_fused_target_unextractable:gmm1_weights"

    def test_another_number_of_experts_in_gmm2_is_a_miss(self, tmp_path: Path) -> None:
        op = moe_call(150)
        op["args"][7] = op["args"][7] * 2
        answer = ask(tmp_path, TWO, op)
        assert answer.miss_reason == "moe_fused_target_unextractable:gmm2_weights"

    def test_an_operator_of_unknown_subtype_is_a_miss(self, tmp_path: Path) -> None:
        files = {"DispatchFFNCombine.csv": [HEADER, *TWO]}
        write_version(tmp_path / "v", files, {"x.moe.default": ENTRY})
        sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
        with sqlinterp.open(tmp_path / "p.duckdb", ep_size=16) as opened:
            answer = opened.lookup(moe_call(150, op="x.moe.default"))
        assert answer.miss_reason == "moe_fused_target_unextractable:operator"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shapes": "200,64;2,64,64", "dtypes": "DT_BF16;INT8"},
         "moe_physical_signature_incomplete"),
        ({"shapes": "200,64;;2,64,64;2,32,64;200,8;128;128;200,8",
          "dtypes": "DT_BF16;DT_UNDEFINED;INT8;INT8;INT32;INT64;INT64;FLOAT"},
         "moe_physical_signature_incomplete"),
        ({"gmm1": "64,64"}, "moe_weight_shapes_unextractable"),
        ({"gmm2": "2,2,32,64"}, "moe_weight_shapes_unextractable"),
        ({"weight": "UINT8"}, "moe_subtype_unknown"),
        ({"dtypes": "DT_BF16;INT8;DT_BF16;INT32;INT64;INT64;FLOAT"}, "moe_subtype_unknown"),
        ({"activation": "64"}, "token_axis_unextractable"),
        ({"ids": "200"}, "topk_unextractable"),
        ({"ids": "100,8"}, "topk_unextractable"),
        ({"dtypes": "DT_BF16;INT8;INT8;INT64;INT64;INT64;FLOAT"}, "topk_unextractable"),
        ({"dtypes": "DT_BF16;INT8;INT8;INT32;INT64;INT64;"}, "input_dtypes_missing"),
    ],
)  # fmt: skip
def test_a_row_without_a_place_says_why(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    answer = ask(tmp_path, [row(100, 10), row(200, 30, **changes)], moe_call(150))
    assert answer.miss_reason == "insufficient_filtered_candidates"
    assert answer.details["rejected_rows"] == {reason: 1}


class TestDetails:
    """What an answer tells besides its number."""

    def test_a_success_says_where_the_number_came_from(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [*TWO, row(200, 30, "")], moe_call(150))
        details = answer.details
        assert answer.kernel_type == "DispatchFFNCombine"
        assert details["exact_fields"] == {
            "kernel_type": "DispatchFFNCombine",
            "quant_subtype": "w8a8",
            "activation_format": "ND",
            "input_dtypes": ["DT_BF16", "INT8", "INT8", "INT32", "INT64", "INT64", "FLOAT"],
            "gmm1_weight_shape": [2, 64, 64],
            "gmm2_weight_shape": [2, 32, 64],
            "local_experts": 2,
            "hidden": 64,
            "topk": 8,
            "ep_size": 16,
            "input_formats": ["ND"] * 7,
            "output_dtypes": ["DT_BF16"],
        }
        assert [(p["tokens"], p["line"]) for p in details["corner_points"]] == [(100, 2), (200, 3)]
        assert (details["ep_size"], details["quant_subtype"]) == (16, "w8a8")
        assert (details["raw_count"], details["dropped_count"]) == (2, 1)
        assert len(details["policy_hash"]) == 64

    def test_a_regime_mismatch_shows_the_target(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, TWO, moe_call(150, topk=4))
        (attempt,) = answer.details["attempts"]
        assert attempt["kernel_type"] == "DispatchFFNCombine"
        assert (attempt["target"], attempt["regime"]["topk"]) == ({"tokens": 150}, 4)
        assert answer.details["rejected_rows"] == {}

    def test_a_geometry_miss_counts_its_candidates(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, [*TWO, row(150, 1, 0)], moe_call(300))
        (attempt,) = answer.details["attempts"]
        assert (attempt["axes"], attempt["status"]) == (["tokens"], "outside_axis_boundary")
        assert (attempt["filtered_count"], attempt["aggregated_count"]) == (2, 2)
        assert answer.details["rejected_rows"] == {"ep_size_invalid": 1}
