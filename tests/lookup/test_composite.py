"""Static composites: one compute kernel of several plus the collectives of the entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp.model import Answer

MM = "tensor_cast.matmul_all_reduce.default"
COMM_HEADER = "message_bytes,num_devices,Duration(us)"
TIER_HEADER = "message_bytes,num_devices,topology_tier,Duration(us)"
REDUCE, SCATTER = "hcom_allReduce_", "hcom_reduceScatter_"
ENTRY = {"composite": True, "sub_kernels": ["MatMulV2", "MatMulV3", REDUCE]}
VARIANT = {
    "source_kernel_type": REDUCE,
    "kernel_type": SCATTER,
    "message_bytes_mode": "per_rank_output",
    "group_type": "tensor_parallel",
    "interpolation_method": "bracket_linear",
}


def row(shapes: str, latency: object, dtype: str = "DT_BF16") -> str:
    count = shapes.count(";") + 1
    dtypes, formats = ";".join([dtype] * count), ";".join(["ND"] * count)
    return f'"{shapes}",{dtypes},{formats},1,{dtype},ND,{latency}'


def fused(
    m: Sequence[int], k: int = 512, n: int = 256, bias: Any = None, **fields: Any
) -> dict[str, Any]:
    """A multiplication followed by a collective over a group."""
    dtype, group = fields.get("dtype", "bfloat16"), fields.get("group", [0, 1])
    matrices = tensor(*m, k, dtype=dtype), tensor(k, n, dtype=dtype)
    return call(MM, *matrices, bias, 0, {"ints": group})


def ask(
    folder: Path,
    files: Mapping[str, Sequence[str]],
    op: dict[str, Any],
    entry: Mapping[str, Any] = ENTRY,
    extra: Mapping[str, Any] | None = None,
    **context: Any,
) -> Answer:
    """Answer one invocation from files given by their rows; collectives have their own columns."""
    tables = {
        f"{name}.csv": [COMM_HEADER if name.startswith("hcom_") else MATMUL_HEADER, *lines]
        for name, lines in files.items()
    }
    write_version(folder / "v", tables, {op["op"]: entry}, extra)
    with sqlinterp.open(kept_database(folder / "v"), **context) as database:
        return database.lookup(op)


FILES = {"MatMulV2": [row("144,512;512,256", 20)], REDUCE: ["73728,2,9", "147456,2,11"]}


def test_compute_and_collective_are_summed(tmp_path: Path) -> None:
    answer = ask(tmp_path, FILES, fused([144]))
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 29, 0.9)
    assert (answer.kernel_type, answer.shape_match_rule) == ("MatMulV2", None)
    compute, reduce = answer.details["sub_kernels"]
    assert (compute["name"], compute["latency_us"], compute["line"]) == ("MatMulV2", 20, 2)
    assert (compute["shape_match_rule"], reduce["shape_match_rule"]) == ("identity", "comm")
    assert (reduce["name"], reduce["latency_us"]) == (REDUCE, 9)
    assert (reduce["file"], reduce["line"]) == (f"{REDUCE}.csv", 2)
    assert reduce["details"]["message_bytes"] == 144 * 256 * 2
    assert answer.details["communication_variant"] is None


def test_compute_kernels_are_alternatives_and_never_summed(tmp_path: Path) -> None:
    files = {"RmsNorm": [row("144,512;512", 3)], "DynamicQuant": [row("144,512", 100)]}
    entry = {"composite": True, "sub_kernels": ["RmsNorm", "DynamicQuant"]}
    op = call("x.norm_quant.default", tensor(144, 512), tensor(512))
    answer = ask(tmp_path / "a", files, op, entry)
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 3, 0.8)
    files = {"MatMulV2": [row("144,512;256,512", 20)], "MatMulV3": [row("144,512;512,256", 30)]}
    answer = ask(tmp_path / "b", {**FILES, **files}, fused([144]))
    assert (answer.kernel_type, answer.latency_us) == ("MatMulV3", 39)


def test_a_fitted_collective_makes_the_sum_interpolated(tmp_path: Path) -> None:
    files = {**FILES, REDUCE: ["65536,2,8", "81920,2,12"]}
    answer = ask(tmp_path, files, fused([144]))
    assert (answer.source, answer.latency_us, answer.confidence) == ("INTERPOLATED", 30, 0.9)
    assert "fallback_from" not in answer.details


def test_the_compute_part_is_never_interpolated(tmp_path: Path) -> None:
    files = {**FILES, "MatMulV2": [row(f"{m},512;512,256", m) for m in (100, 200)]}
    answer = ask(tmp_path, files, fused([144]))
    assert (answer.source, answer.miss_reason) == (None, "shape_mismatch")


def test_leading_dims_of_the_activation_count_as_tokens(tmp_path: Path) -> None:
    files = {**FILES, REDUCE: ["512,2,1", "73728,2,9"]}
    answer = ask(tmp_path, files, fused([1, 144]))
    assert (answer.source, answer.latency_us) == ("MEASURED", 29)


@pytest.mark.parametrize(
    ("dtype", "cell", "size"),
    [
        ("bfloat16", "DT_BF16", 2),
        ("float32", "FLOAT", 4),
        ("int8", "INT8", 2),
        ("uint8", "UINT8", 2),
    ],
)
def test_the_message_is_as_wide_as_the_result(
    tmp_path: Path, dtype: str, cell: str, size: int
) -> None:
    files = {
        "MatMulV2": [row("144,512;512,256", 20, cell)],
        REDUCE: [f"{144 * 256 * wide},2,{wide}" for wide in (1, 2, 4)],
    }
    answer = ask(tmp_path, files, fused([144], dtype=dtype))
    assert answer.latency_us == 20 + size


def test_a_bias_does_not_defeat_the_match(tmp_path: Path) -> None:
    op = fused([144], bias=tensor(256))
    answer = ask(tmp_path / "a", FILES, op)
    assert (answer.source, answer.latency_us) == ("MEASURED", 29)
    assert answer.details["sub_kernels"][0]["details"]["ignored"] == "bias"
    biased = {**FILES, "MatMulV3": [row("144,512;512,256;256", 24)]}
    answer = ask(tmp_path / "b", biased, op)
    assert (answer.kernel_type, answer.latency_us) == ("MatMulV3", 33)
    assert "ignored" not in answer.details["sub_kernels"][0]["details"]
    answer = ask(tmp_path / "c", FILES, fused([144], bias=tensor(128)))
    assert answer.miss_reason == "input_count_mismatch"


def test_only_the_first_operands_count_when_the_entry_says_so(tmp_path: Path) -> None:
    files = {**FILES, "MatMulV2": [row("144,512;256,512;256;256", 20, "INT8")]}
    op = fused([144], dtype="int8", bias=tensor(256, dtype="float32"))
    answer = ask(tmp_path, files, op, {**ENTRY, "tc_input_count": 2})
    assert (answer.source, answer.latency_us) == ("MEASURED", 29)
    assert answer.details["sub_kernels"][0]["shape_match_rule"] == "transpose"


@pytest.mark.parametrize(
    ("files", "op", "reason"),
    [
        ({**FILES, "MatMulV2": [row("9,512;512,256", 20)]}, fused([144]), "shape_mismatch"),
        (
            {**FILES, "MatMulV2": [row("144,512;512,256;2", 20)]},
            fused([144]),
            "input_count_mismatch",
        ),
        ({"MatMulV3": FILES["MatMulV2"], REDUCE: []}, fused([141]), "csv_not_found"),
        ({REDUCE: FILES[REDUCE]}, fused([144]), "csv_not_found"),
        ({"MatMulV2": FILES["MatMulV2"]}, fused([144]), "comm_sub_kernel_miss"),
        ({**FILES, REDUCE: ["1,2,3", "2,2,4"]}, fused([144]), "comm_sub_kernel_miss"),
        (FILES, fused([144], group=[]), "comm_sub_kernel_miss"),
        (FILES, fused([144], group=[0, 1, 2]), "comm_sub_kernel_miss"),
    ],
)
def test_misses(
    tmp_path: Path, files: Mapping[str, Sequence[str]], op: dict[str, Any], reason: str
) -> None:
    answer = ask(tmp_path, files, op)
    assert (answer.source, answer.latency_us, answer.miss_reason) == (None, None, reason)


def test_a_missing_collective_is_a_miss_that_says_what_was_found(tmp_path: Path) -> None:
    answer = ask(tmp_path, {**FILES, REDUCE: ["1,2,3"]}, fused([144]))
    compute, reduce = answer.details["sub_kernels"]
    assert (compute["source"], compute["latency_us"]) == ("MEASURED", 20)
    assert (reduce["source"], reduce["miss_reason"]) == (None, "shape_mismatch")


def test_an_unusable_collective_is_named(tmp_path: Path) -> None:
    write_version(
        tmp_path / "v",
        {
            "MatMulV2.csv": [MATMUL_HEADER, *FILES["MatMulV2"]],
            f"{REDUCE}.csv": ["version https://git-lfs.github.com/spec/v1"],
        },
        {MM: ENTRY},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        assert database.lookup(fused([144])).miss_reason == f"csv_unavailable:{REDUCE}.csv"


def test_an_ambiguous_compute_part_is_a_miss(tmp_path: Path) -> None:
    extra = {
        "query_selection_policy": {
            "kernel_overrides": {"MatMulV2": {"require_semantic_unique": True}}
        }
    }
    files = {**FILES, "MatMulV2": [row("144,512;512,256", 20), row("144,512;512,256", 21)]}
    answer = ask(tmp_path, files, fused([144]), extra=extra)
    assert answer.miss_reason == "ambiguous_semantic_match:MatMulV2"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"composite": True, "sub_kernels": []}, "no_sub_kernels"),
        ({"composite": True}, "no_sub_kernels"),
        ({"composite": True, "sub_kernels": [REDUCE]}, "no_sub_kernels"),
        ({"composite": True, "decomposer": True}, "decomposition_unavailable"),
        ({**ENTRY, "decomposer": True}, "decomposition_unavailable"),
    ],
)
def test_an_entry_must_name_its_kernels(
    tmp_path: Path, entry: Mapping[str, Any], reason: str
) -> None:
    assert ask(tmp_path, FILES, fused([144]), entry).miss_reason == reason


def test_the_tier_of_the_group_decides_which_rows_count(tmp_path: Path) -> None:
    write_version(
        tmp_path / "v",
        {
            "MatMulV2.csv": [MATMUL_HEADER, *FILES["MatMulV2"]],
            f"{REDUCE}.csv": [TIER_HEADER, "73728,2,0,40", "73728,2,1,9"],
        },
        {MM: ENTRY},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    with sqlinterp.open(tmp_path / "p.duckdb", comm_grid=((4, 2), (0, 1))) as database:
        near, far = fused([144], group=[0, 1]), fused([144], group=[0, 2])
        assert [answer.latency_us for answer in database.lookup_many([near, far])] == [29, 60]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answer = database.lookup(fused([144]))
        assert answer.miss_reason == "comm_sub_kernel_miss"
        assert answer.details["sub_kernels"][1]["miss_reason"] == "topology_tier_unknown"


VARIANT_FILES = {**FILES, SCATTER: ["36864,2,5", "73728,2,70", "147456,2,150"]}


def ask_variant(
    folder: Path, op: dict[str, Any] | None = None, tp_size: int | None = 2, **changes: Any
) -> Answer:
    """Answer under sequence parallelism, the variant's fields changed as given."""
    entry = {**ENTRY, "runtime_comm_variants": {"sequence_parallel": {**VARIANT, **changes}}}
    return ask(
        folder, VARIANT_FILES, op or fused([144]), entry, sequence_parallel=True, tp_size=tp_size
    )


def test_sequence_parallelism_replaces_the_collective(tmp_path: Path) -> None:
    answer = ask_variant(tmp_path / "a")
    assert (answer.source, answer.latency_us) == ("MEASURED", 25)
    assert answer.details["communication_variant"] == "sequence_parallel"
    part = answer.details["sub_kernels"][1]
    assert (part["name"], part["in_place_of"]) == (SCATTER, REDUCE)
    assert ask_variant(tmp_path / "b", message_bytes_mode="full_output").latency_us == 90
    entry = {**ENTRY, "runtime_comm_variants": {"sequence_parallel": VARIANT}}
    plain = ask(tmp_path / "c", VARIANT_FILES, fused([144]), entry, tp_size=2)
    assert (plain.latency_us, plain.details["communication_variant"]) == (29, None)
    other = {**ENTRY, "runtime_comm_variants": {"other": VARIANT}}
    answer = ask(tmp_path / "d", VARIANT_FILES, fused([144]), other, sequence_parallel=True)
    assert answer.latency_us == 29


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kernel_type": "MatMulV2"}, "invalid_runtime_comm_variant"),
        ({"kernel_type": None}, "invalid_runtime_comm_variant"),
        ({"message_bytes_mode": "guess"}, "invalid_runtime_comm_variant"),
        ({"group_type": "pipeline"}, "invalid_runtime_comm_variant"),
        ({"interpolation_method": "cubic"}, "invalid_runtime_comm_variant"),
        ({"source_kernel_type": "hcom_broadcast_"}, "runtime_comm_variant_source_missing"),
        ({"tp_size": 4}, "invalid_runtime_comm_variant"),
        ({"tp_size": None}, "invalid_runtime_comm_variant"),
    ],
)
def test_invalid_variants(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    answer = ask_variant(tmp_path, **changes)
    assert (answer.source, answer.miss_reason) == (None, reason)


@pytest.mark.parametrize(
    ("op", "tp_size", "problem"),
    [
        (fused([144], group=[0]), 1, "invalid_per_rank_output_group_size"),
        (fused([144], group=[*range(5)]), 5, "nondivisible_per_rank_output:bytes=73728;devices=5"),
    ],
)
def test_an_output_that_cannot_be_split_is_a_miss(
    tmp_path: Path, op: dict[str, Any], tp_size: int, problem: str
) -> None:
    answer = ask_variant(tmp_path, op, tp_size)
    assert answer.miss_reason == "comm_sub_kernel_miss"
    assert answer.details["sub_kernels"][1]["miss_reason"] == problem


def test_a_batch_equals_one_by_one(tmp_path: Path) -> None:
    write_version(
        tmp_path / "v",
        {
            "MatMulV2.csv": [MATMUL_HEADER, *(row(f"{m},512;512,256", m) for m in (8, 144))],
            f"{REDUCE}.csv": [COMM_HEADER, "4096,2,3", "73728,2,9"],
        },
        {MM: ENTRY},
    )
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    ops = [fused([m], bias=bias) for m in (8, 9, 144) for bias in (None, tensor(256))]
    with sqlinterp.open(tmp_path / "p.duckdb") as database:
        answers = database.lookup_many(ops)
        assert answers == [database.lookup(op) for op in ops]
    assert [answer.latency_us for answer in answers] == [11, 11, None, None, 153, 153]
