"""Mapping shapes of phase 2 on the generic compute path, and selectors that nobody knows.

Concat, Gather, Cast and LayerNorm need no path of their own: kernel, alternates and
``tc_input_count`` of the mapping say everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

CAT, EMBEDDING, CAST = "aten.cat.default", "aten.embedding.default", "aten.to.dtype"
LAYER_NORM = "aten.native_layer_norm.default"
OUTPUT_NUMEL = {"generic_compute": {"axis": "output_numel"}}
GATHER: dict[str, Any] = {
    "kernel_type": "GatherV2",
    "alternate_kernel_types": ["GatherV3", "GatherV2AiCore"],
    "tc_input_count": 2,
}
CASTS = ("Cast", "TensorMove", "CastAiCore", "TensorMoveAiCore")
NORM: dict[str, Any] = {
    "kernel_type": "LayerNormV3",
    "alternate_kernel_types": ["LayerNormV3WithImplMode"],
    "tc_input_count": 3,
}


def row(
    inputs: str, output: str, latency: object, dtypes: str | None = None, result: str = "DT_BF16"
) -> str:
    count = inputs.count(";") + 1
    dtypes = dtypes or ";".join(["DT_BF16"] * count)
    return f'"{inputs}",{dtypes},{";".join(["ND"] * count)},"{output}",{result},ND,{latency}'


def ask(
    folder: Path,
    files: Mapping[str, list[str]],
    op: dict[str, Any],
    entry: Any,
    policies: Mapping[str, Any] | None = None,
    **context: Any,
) -> Answer:
    """Ingest the rows of each kernel and answer one invocation."""
    tables = {f"{kernel}.csv": [MATMUL_HEADER, *rows] for kernel, rows in files.items()}
    extra = {"interpolation_policy": {"kernel_overrides": dict(policies or {})}}
    write_version(folder / "v", tables, {op["op"]: entry}, extra)
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        return database.lookup(op)


class TestConcat:
    ROWS = tuple(row(f"{n},64;{n},32", f"{n},96", n) for n in (10, 30))

    @staticmethod
    def concatenate(n: int, op: str = CAT) -> dict[str, Any]:
        return call(op, [tensor(n, 64), tensor(n, 32)], 1, outputs=[tensor(n, 96)])

    @pytest.mark.parametrize("op", [CAT, "tensor_cast.cat.default"])
    def test_rows_of_the_version_answer(self, tmp_path: Path, op: str) -> None:
        files = {"ConcatD": list(self.ROWS)}
        exact = ask(tmp_path / "a", files, self.concatenate(10, op), "ConcatD")
        assert (exact.source, exact.latency_us) == ("MEASURED", 10)
        between = ask(tmp_path / "b", files, self.concatenate(15, op), "ConcatD")
        assert (between.source, between.latency_us) == ("INTERPOLATED", 15)
        assert between.details["axes"] == ["axis_0"]

    def test_the_policy_may_choose_the_output_size(self, tmp_path: Path) -> None:
        op = call(CAT, [tensor(12, 64), tensor(8, 64)], 0, outputs=[tensor(20, 64)])
        rows = [row(f"{n},64;{m},64", f"{n + m},64", n + m) for n, m in ((5, 5), (20, 10))]
        policies = {"ConcatD": OUTPUT_NUMEL}
        answer = ask(tmp_path, {"ConcatD": rows}, op, "ConcatD", policies)
        assert (answer.latency_us, answer.details["axes"]) == (20, ["output_numel"])

    def test_a_version_without_the_file_is_a_stable_miss(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, {"Other": list(self.ROWS)}, self.concatenate(15), "ConcatD")
        assert (answer.source, answer.miss_reason) == (None, "csv_not_found")
        assert answer.details["kernels"] == ["ConcatD"]

    def test_a_version_that_declares_it_free_stays_free(self, tmp_path: Path) -> None:
        op = self.concatenate(15)
        answer = ask(tmp_path, {"ConcatD": list(self.ROWS)}, op, {"zero_cost": True})
        assert (answer.latency_us, answer.shape_match_rule) == (0.0, "zero_cost")


class TestGather:
    """Embeddings grow with what they write; alternates inherit the axis of the primary."""

    POLICIES: Mapping[str, Any] = {"GatherV2": OUTPUT_NUMEL}

    @staticmethod
    def rows(scale: float, *tokens: int) -> list[str]:
        return [row(f"1000,64;{n};1", f"{n},64", scale * n, "DT_BF16;INT64;INT64") for n in tokens]

    @staticmethod
    def embed(*indices: int) -> dict[str, Any]:
        inputs = (tensor(1000, 64), tensor(*indices, dtype="int64"))
        return call(EMBEDDING, *inputs, outputs=[tensor(*indices, 64)])

    @pytest.mark.parametrize(
        ("files", "kernel", "latency"),
        [
            ({"GatherV2": 1, "GatherV3": 2, "GatherV2AiCore": 3}, "GatherV2", 15),
            ({"GatherV3": 2, "GatherV2AiCore": 3}, "GatherV3", 30),
            ({"GatherV2AiCore": 3}, "GatherV2AiCore", 45),
        ],
    )
    def test_alternates_in_order_along_the_output(
        self, tmp_path: Path, files: dict[str, int], kernel: str, latency: float
    ) -> None:
        tables = {name: self.rows(scale, 10, 30) for name, scale in files.items()}
        answer = ask(tmp_path, tables, self.embed(15), GATHER, self.POLICIES)
        assert (answer.kernel_type, answer.latency_us) == (kernel, latency)
        assert answer.details["axes"] == ["output_numel"]
        assert answer.details["target"] == {"output_numel": 15 * 64}

    def test_an_alternate_answers_where_the_primary_has_no_neighbours(self, tmp_path: Path) -> None:
        tables = {"GatherV2": self.rows(1, 20, 30), "GatherV3": self.rows(2, 10, 30)}
        answer = ask(tmp_path, tables, self.embed(15), GATHER, self.POLICIES)
        assert (answer.kernel_type, answer.latency_us) == ("GatherV3", 30)

    def test_without_the_policy_the_table_would_be_the_axis(self, tmp_path: Path) -> None:
        tables = {"GatherV2": self.rows(1, 10, 30)}
        answer = ask(tmp_path, tables, self.embed(15), GATHER)
        assert answer.miss_reason == "regime_key_unmatched"

    def test_no_kernel_of_the_version_is_a_stable_miss(self, tmp_path: Path) -> None:
        answer = ask(tmp_path, {"Other": self.rows(1, 10, 30)}, self.embed(15), GATHER)
        assert answer.miss_reason == "csv_not_found"
        assert answer.details["kernels"] == ["GatherV2", "GatherV3", "GatherV2AiCore"]


class TestCast:
    @pytest.mark.parametrize("first", range(len(CASTS)))
    def test_alternates_in_order(self, tmp_path: Path, first: int) -> None:
        present = CASTS[first:]
        rows = {
            kernel: [row(f"{n},64", f"{n},64", n * (CASTS.index(kernel) + 1)) for n in (10, 30)]
            for kernel in reversed(present)
        }
        entry = {"kernel_type": CASTS[0], "alternate_kernel_types": list(CASTS[1:])}
        op = call(CAST, tensor(15, 64), outputs=[tensor(15, 64)])
        answer = ask(tmp_path, rows, op, entry)
        assert (answer.kernel_type, answer.latency_us) == (present[0], 15 * (first + 1))
        assert answer.details["axes"] == ["axis_0"]

    def test_casts_to_other_dtypes_are_never_mixed(self, tmp_path: Path) -> None:
        rows = [row("10,64", "10,64", 1, result="FLOAT"), row("30,64", "30,64", 3, result="INT8")]
        op = call(CAST, tensor(15, 64), outputs=[tensor(15, 64, dtype="float")])
        answer = ask(tmp_path, {"Cast": rows}, op, "Cast")
        assert answer.miss_reason == "insufficient_filtered_candidates"

    def test_a_cast_to_float16_prefers_its_own_rows(self, tmp_path: Path) -> None:
        own = [row(f"{n},64", f"{n},64", 7, "FLOAT", "FLOAT16") for n in (10, 30)]
        near = [row(f"{n},64", f"{n},64", n, "FLOAT") for n in (10, 30)]
        op = call(CAST, tensor(15, 64, dtype="float"), outputs=[tensor(15, 64, dtype="float16")])
        answer = ask(tmp_path / "a", {"Cast": own + near}, op, "Cast")
        assert answer.latency_us == 7 and "dtype_compatible" not in answer.details
        answer = ask(tmp_path / "b", {"Cast": near}, op, "Cast")
        assert answer.latency_us == 15 and "FLOAT16" in answer.details["dtype_compatible"]


class TestLayerNorm:
    ROWS = tuple(row(f"{n},64;64;64", f"{n},64", n) for n in (10, 30))

    @staticmethod
    def normalise(n: int, epsilon: Any = 1e-5) -> dict[str, Any]:
        weights = (tensor(64), tensor(64))
        return call(LAYER_NORM, tensor(n, 64), {"ints": [64]}, *weights, epsilon,
                    outputs=[tensor(n, 64)])  # fmt: skip

    def test_shape_and_epsilon_take_no_part(self, tmp_path: Path) -> None:
        files = {"LayerNormV3": list(self.ROWS)}
        exact = ask(tmp_path / "a", files, self.normalise(10), NORM)
        assert (exact.source, exact.latency_us) == ("MEASURED", 10)
        between = ask(tmp_path / "b", files, self.normalise(15), NORM)
        assert (between.source, between.latency_us) == ("INTERPOLATED", 15)
        assert between.details["axes"] == ["axis_0"]
        assert between.details["exact_fields"]["input_count"] == 3

    @pytest.mark.parametrize(
        ("count", "latency"), [(3, 15), (None, None)], ids=["cut to three", "all inputs"]
    )
    def test_tensors_beyond_the_third_need_the_cut(
        self, tmp_path: Path, count: int | None, latency: float | None
    ) -> None:
        op = self.normalise(15, tensor(1, dtype="float"))
        entry = {**NORM, "tc_input_count": count}
        answer = ask(tmp_path, {"LayerNormV3": list(self.ROWS)}, op, entry)
        assert answer.latency_us == latency

    def test_rows_are_cut_too(self, tmp_path: Path) -> None:
        rows = [row(f"{n},64;64;64;{extra}", f"{n},64", n) for n, extra in ((10, 1), (30, 2))]
        answer = ask(tmp_path, {"LayerNormV3": rows}, self.normalise(15), NORM)
        assert answer.latency_us == 15

    def test_the_alternate_answers_when_the_primary_has_no_file(self, tmp_path: Path) -> None:
        files = {"LayerNormV3WithImplMode": list(self.ROWS)}
        answer = ask(tmp_path, files, self.normalise(15), NORM)
        assert (answer.kernel_type, answer.latency_us) == ("LayerNormV3WithImplMode", 15)


@pytest.mark.parametrize("disable_interpolation", [False, True])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"compute_subcategory": "scale_matrix"}, "compute_subcategory_unknown"),
        ({"compute_subcategory": "Compute_Scale"}, "compute_subcategory_unknown"),
        ({"query_mode": "telepathy"}, "query_mode_unknown"),
        ({"query_mode": "telepathy", "compute_subcategory": "compute_scale"},
         "query_mode_unknown"),
    ],
)  # fmt: skip
def test_an_unknown_selector_fails_closed(
    tmp_path: Path, fields: dict[str, str], reason: str, disable_interpolation: bool
) -> None:
    rows = [row(f"{n},64", f"{n},64", n) for n in (10, 15, 30)]
    op = call("x.op.default", tensor(15, 64), outputs=[tensor(15, 64)])
    for name, entry in (("known", {}), ("unknown", fields)):
        entry = {"kernel_type": "K", **entry}
        answer = ask(tmp_path / name, {"K": rows}, op, entry,
                     disable_interpolation=disable_interpolation)  # fmt: skip
        expected = (15, None) if name == "known" else (None, reason)
        assert (answer.latency_us, answer.miss_reason) == expected
