"""Composites with children: which children there are, how they are looked up, what they sum to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from databases_for_tests import MATMUL_HEADER, call, kept_database, tensor, write_version

import sqlinterp
from sqlinterp import queries
from sqlinterp.model import Answer

PARENT = "x.block.default"
COMPOSITE = {"composite": True, "decomposer": True}
COMM_HEADER = "message_bytes,num_devices,Duration(us)"


def row(
    shapes: str, latency: object, dtypes: str | None = None, output: str = '"1",DT_BF16,ND'
) -> str:
    count = shapes.count(";") + 1
    dtypes = dtypes or ";".join(["DT_BF16"] * count)
    return f'"{shapes}",{dtypes},{";".join(["ND"] * count)},{output},{latency}'


MATMUL_ROWS = [row("4,8;8,2", 10), row("8,8;8,2", 20)]


def by_kernel(kernel: str, *args: Any, **fields: Any) -> dict[str, Any]:
    """A child for a named kernel."""
    return {"kernel": kernel, "args": list(args), **fields}


def matmul(m: int, **fields: Any) -> dict[str, Any]:
    """A child for MatMulV2 with M rows."""
    return by_kernel("MatMulV2", tensor(m, 8), tensor(8, 2), **fields)


def parent(*children: Any, op: str = PARENT) -> dict[str, Any]:
    """A composite of the children."""
    return {**call(op), "children": list(children)}


def build(
    folder: Path,
    files: Mapping[str, Iterable[str]],
    operators: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
) -> Path:
    """Ingest files given by their rows; a file whose name is no collective has compute columns."""
    tables = {
        name: [COMM_HEADER if name.startswith("hcom_") else MATMUL_HEADER, *lines]
        for name, lines in files.items()
    }
    write_version(folder / "v", tables, operators, extra)
    return kept_database(folder / "v")


def ask(
    folder: Path,
    op: dict[str, Any],
    files: Mapping[str, Iterable[str]] | None = None,
    operators: Mapping[str, Any] | None = None,
    **context: Any,
) -> Answer:
    """Answer one invocation from a database of the rows."""
    files = {"MatMulV2.csv": MATMUL_ROWS} if files is None else files
    operators = {PARENT: COMPOSITE} if operators is None else operators
    with sqlinterp.open(build(folder, files, operators), **context) as database:
        return database.lookup(op)


def test_measured_children_sum_to_a_measured_answer(tmp_path: Path) -> None:
    answer = ask(tmp_path, parent(matmul(4), matmul(8), matmul(4)))
    assert (answer.source, answer.latency_us, answer.confidence) == ("MEASURED", 40, 0.8)
    assert (answer.kernel_type, answer.shape_match_rule) == ("MatMulV2,MatMulV2,MatMulV2", None)
    children = answer.details["sub_kernels"]
    assert [child["latency_us"] for child in children] == [10, 20, 10]
    assert [(child["file"], child["line"]) for child in children] == [
        ("MatMulV2.csv", 2), ("MatMulV2.csv", 3), ("MatMulV2.csv", 2)
    ]  # fmt: skip
    assert {child["shape_match_rule"] for child in children} == {"identity"}
    assert answer.details["fallback_from"] is None


def test_a_child_that_is_not_measured_interpolates_on_its_own(tmp_path: Path) -> None:
    answer = ask(tmp_path, parent(matmul(4), matmul(6)))
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 25)
    assert (answer.confidence, answer.shape_match_rule) == (0.5, "interpolated_composite")
    assert answer.details["fallback_from"] == "partial"
    assert [child["method"] for child in answer.details["sub_kernels"]] == ["exact", "linear_1d"]
    exact = ask(tmp_path / "exact", parent(matmul(4), matmul(6)), disable_interpolation=True)
    assert (exact.source, exact.latency_us, exact.confidence) == ("PARTIAL", 10, 0.5)
    nothing = ask(tmp_path / "none", parent(matmul(5), matmul(6)))
    assert nothing.details["fallback_from"] == "exact_miss"


def test_a_partial_sum_says_what_it_lacks_and_why(tmp_path: Path) -> None:
    op = parent(matmul(4), matmul(99), by_kernel("Absent", tensor(4)))
    answer = ask(tmp_path, op)
    assert (answer.source, answer.latency_us) == ("PARTIAL", 10)
    assert answer.confidence == pytest.approx(1 / 3)
    assert answer.kernel_type is None
    assert answer.miss_reason == "sub_kernel_miss:MatMulV2,Absent"
    assert answer.details["missing"] == [
        {"name": "MatMulV2", "miss_reason": "outside_axis_boundary"},
        {"name": "Absent", "miss_reason": "csv_not_found"},
    ]


def test_a_partial_sum_is_the_same_whether_interpolation_is_tried_in_vain_or_not(
    tmp_path: Path,
) -> None:
    op = parent(matmul(4), matmul(99), matmul(8))
    tried = ask(tmp_path / "a", op)
    not_tried = ask(tmp_path / "b", op, disable_interpolation=True)
    assert (tried.source, tried.latency_us, tried.confidence) == ("PARTIAL", 30, 2 / 3)
    assert (not_tried.source, not_tried.latency_us) == (tried.source, tried.latency_us)
    assert not_tried.confidence == tried.confidence


def test_a_sum_of_nothing_is_a_miss(tmp_path: Path) -> None:
    answer = ask(tmp_path, parent(matmul(99), by_kernel("Absent", tensor(4))))
    assert (answer.source, answer.latency_us) == (None, None)
    assert answer.miss_reason == "sub_kernel_miss:MatMulV2,Absent"
    assert len(answer.details["sub_kernels"]) == 2


def test_an_entry_may_require_all_children(tmp_path: Path) -> None:
    operators = {PARENT: {**COMPOSITE, "require_all_sub_kernels": True}}
    answer = ask(tmp_path, parent(matmul(4), matmul(99)), operators=operators)
    assert (answer.source, answer.miss_reason) == (None, "sub_kernel_miss:MatMulV2")
    whole = ask(tmp_path / "b", parent(matmul(4), matmul(6)), operators=operators)
    assert (whole.source, whole.latency_us) == ("INTERPOLATED", 25)
    assert whole.details["fallback_from"] == "exact_miss"


def test_an_attention_child_that_is_missing_is_a_miss_of_the_whole(tmp_path: Path) -> None:
    attention = by_kernel("FusedInferAttentionScore", tensor(4, 8, 16))
    answer = ask(tmp_path, parent(matmul(4), attention))
    assert answer.source is None
    reason = answer.miss_reason or ""
    assert reason.startswith("attention_sub_kernel_miss:FusedInferAttentionScore:")


def test_children_by_operator_go_through_the_mapping(tmp_path: Path) -> None:
    operators = {
        PARENT: COMPOSITE,
        "aten.mm.default": "MatMulV2",
        "x.view.default": {"zero_cost": True},
    }
    mm = call("aten.mm.default", tensor(4, 8), tensor(8, 2))
    answer = ask(tmp_path, parent(mm, call("x.view.default"), mm), operators=operators)
    assert (answer.source, answer.latency_us) == ("MEASURED", 20)
    unknown = ask(tmp_path / "b", parent(mm, call("x.unknown.default")), operators=operators)
    assert (unknown.source, unknown.miss_reason) == (
        "PARTIAL", "sub_kernel_miss:x.unknown.default"
    )  # fmt: skip
    assert unknown.details["missing"][0]["miss_reason"] == "unmapped"


@pytest.mark.parametrize("entry", [None, "MatMulV2", {"zero_cost": True}, COMPOSITE])
def test_children_answer_for_any_operator(tmp_path: Path, entry: Any) -> None:
    operators = {} if entry is None else {PARENT: entry}
    answer = ask(tmp_path, parent(matmul(4), matmul(8)), operators=operators)
    assert (answer.source, answer.latency_us, answer.op) == ("MEASURED", 30, PARENT)


def test_alternates_are_tried_in_order(tmp_path: Path) -> None:
    files = {"A.csv": [row("4,8", 10)], "B.csv": [row("4,8", 20), row("8,8", 30)]}
    child = by_kernel("A", tensor(8, 8), alternates=["B"])
    answer = ask(tmp_path, parent(child, by_kernel("A", tensor(4, 8), alternates=["B"])), files)
    assert (answer.latency_us, answer.kernel_type) == (40, "B,A")
    lost = ask(tmp_path / "b", parent(by_kernel("A", tensor(65, 8), alternates=["B"])), files)
    assert lost.miss_reason == "sub_kernel_miss:A"


def test_a_child_matches_rows_by_their_first_operands(tmp_path: Path) -> None:
    files = {"K.csv": [row("4,8;8;8", 10), row("6,8;8", 20), row("4,9;8;8", 30)]}
    operators = {PARENT: COMPOSITE}
    whole = parent(by_kernel("K", tensor(4, 8), tensor(8)), by_kernel("K", tensor(6, 8), tensor(8)))
    answer = ask(tmp_path / "a", whole, files, operators)
    assert (answer.source, answer.latency_us) == ("MEASURED", 30)
    one = parent(by_kernel("K", tensor(4, 8)), by_kernel("K", tensor(6, 8), tensor(8)))
    assert ask(tmp_path / "b", one, files, operators).latency_us == 30
    cut = parent(by_kernel("K", tensor(4, 9), tensor(5), tc_input_count=1))
    assert ask(tmp_path / "c", cut, files, operators).latency_us == 30
    more = parent(by_kernel("K", tensor(4, 8), tensor(8), tc_input_count=3))
    assert ask(tmp_path / "d", more, files, operators).miss_reason == "sub_kernel_miss:K"


@pytest.mark.parametrize("entry", ["MatMulV2", {"kernel_type": "MatMulV2", "tc_input_count": 2}])
def test_cut_keys_made_on_the_fly_are_those_that_are_stored(tmp_path: Path, entry: Any) -> None:
    rows = [
        row("4,8;2,8;2", 10), row("1,6,8;8,2;2", 20), row("63,8;8,2;2", 30),
        row("5,8;8,2;2", 40, "FLOAT;FLOAT;FLOAT"), row("5,8;8,2;2", 44, "FLOAT;FLOAT;FLOAT"),
    ]  # fmt: skip
    operators = {PARENT: COMPOSITE, "aten.mm.default": entry}
    children = [matmul(m) for m in (4, 6, 64, 5)]
    with sqlinterp.open(build(tmp_path, {"MatMulV2.csv": rows}, operators)) as database:
        answers = database.lookup_many([parent(child) for child in children])
    found = [answer.details["sub_kernels"][0] for answer in answers]
    assert [child["shape_match_rule"] for child in found] == [
        "transpose", "batch_strip", "padding", "identity"
    ]  # fmt: skip
    assert [child["latency_us"] for child in found] == [10, 20, 30, 42]
    assert [child["line"] for child in found] == [2, 3, 4, 5]
    assert "dtype_compatible" in found[3]["details"]


def test_cut_keys_have_the_forms_that_ingest_stores() -> None:
    made, stored = (queries.load(name).body for name in ("lookup.cut_group", "ingest.row_keys"))
    start, end = "), forms as (", "    from keyed_forms\n)"
    forms = [text[text.index(start) : text.index(end)] for text in (made, stored)]
    assert forms[0] == forms[1]


def test_a_cut_child_interpolates_where_rows_of_that_cut_are_placed(tmp_path: Path) -> None:
    rows = [row("4,8;8,2;2", 10), row("8,8;8,2;2", 20)]
    mapped = {"kernel_type": "MatMulV2", "tc_input_count": 2}
    operators = {PARENT: COMPOSITE, "aten.mm.default": mapped}
    answer = ask(tmp_path / "a", parent(matmul(6)), {"MatMulV2.csv": rows}, operators)
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 15)
    answer = ask(tmp_path / "b", parent(matmul(6)), {"MatMulV2.csv": rows}, {PARENT: COMPOSITE})
    assert answer.miss_reason == "sub_kernel_miss:MatMulV2"
    answer = ask(tmp_path / "c", parent(matmul(6)))
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 15)


@pytest.mark.parametrize("entry", [None, {"compute_subcategory": "quantized_matmul"}])
def test_quantised_matrices_and_cache_updates_interpolate_by_their_first_operands(
    tmp_path: Path, entry: Any
) -> None:
    int8 = "INT8;INT8;FLOAT"
    files = {
        "QuantBatchMatmulV3.csv": [row("4,8;8,2;2", 10, int8), row("8,8;8,2;2", 20, int8)],
        "KvRmsNormRopeCache.csv": [row("4,1,1,576;512", 3), row("8,1,1,576;512", 5)],
    }
    matrices = tensor(6, 8, dtype="int8"), tensor(8, 2, dtype="int8")
    children = (
        by_kernel("QuantBatchMatmulV3", *matrices),
        by_kernel("KvRmsNormRopeCache", tensor(6, 1, 1, 576)),
    )
    operators: dict[str, Any] = {PARENT: COMPOSITE}
    if entry is not None:
        operators["x.quant.default"] = {"kernel_type": "QuantBatchMatmulV3", **entry}
    answer = ask(tmp_path, parent(*children), files, operators)
    assert (answer.source, answer.latency_us) == ("INTERPOLATED", 19)


def test_composites_nest(tmp_path: Path) -> None:
    inner = {**call("x.inner.default"), "children": [matmul(4), matmul(99), matmul(8)]}
    complete = {**call("x.inner.default"), "children": [matmul(4), matmul(6)]}
    answer = ask(tmp_path, parent(complete, matmul(8)))
    assert (answer.source, answer.latency_us, answer.confidence) == ("INTERPOLATED", 45, 0.5)
    partial = ask(tmp_path / "b", parent(inner, matmul(8)))
    assert (partial.source, partial.latency_us, partial.confidence) == ("PARTIAL", 50, 3 / 4)
    assert partial.miss_reason == "sub_kernel_miss:MatMulV2"
    strict = {PARENT: COMPOSITE, "x.inner.default": {**COMPOSITE, "require_all_sub_kernels": True}}
    lost = ask(tmp_path / "c", parent(inner, matmul(8)), operators=strict)
    assert (lost.source, lost.latency_us, lost.confidence) == ("PARTIAL", 20, 1 / 4)
    assert lost.miss_reason == "sub_kernel_miss:x.inner.default"


def test_a_collective_is_a_child_too(tmp_path: Path) -> None:
    files = {"MatMulV2.csv": MATMUL_ROWS, "hcom_allReduce_.csv": ["16,2,3", "64,2,7"]}
    reduce = by_kernel("hcom_allReduce_", tensor(4, 2), {"ints": [0, 1]})
    exact = ask(tmp_path, parent(matmul(4), reduce), files)
    assert (exact.source, exact.latency_us, exact.confidence) == ("MEASURED", 13, 0.8)
    fitted = by_kernel("hcom_allReduce_", tensor(8, 2), {"ints": [0, 1]})
    answer = ask(tmp_path / "b", parent(matmul(4), fitted), files)
    assert (answer.source, answer.confidence) == ("INTERPOLATED", 0.75)
    assert answer.shape_match_rule is None and answer.details["fallback_from"] is None


def test_an_unknown_query_mode_of_a_child_is_a_miss(tmp_path: Path) -> None:
    answer = ask(tmp_path, parent(matmul(4), matmul(8, query_mode="telepathy")))
    assert answer.source == "PARTIAL"
    assert answer.details["missing"][0]["miss_reason"] == "query_mode_unknown"


def test_the_number_of_children_does_not_change_the_number_of_statements(tmp_path: Path) -> None:
    path = build(tmp_path, {"MatMulV2.csv": MATMUL_ROWS}, {PARENT: COMPOSITE})
    with sqlinterp.open(path) as database:
        database.lookup(parent(matmul(6)))  # regimes are asked for once
        few, _, some = database.trace(parent(*[matmul(6)] * 50))
        many, _, steps = database.trace(parent(*[matmul(6)] * 500))
    assert (few.latency_us, many.latency_us) == (750, 7500)
    assert len(steps) == len(some)


def test_a_batch_equals_one_by_one(tmp_path: Path) -> None:
    inner = {**call("x.inner.default"), "children": [matmul(6), matmul(4)]}
    ops = [parent(matmul(4), matmul(m), inner) for m in (4, 5, 6, 7, 8, 99)]
    ops += [parent(by_kernel("Absent", tensor(m))) for m in (1, 2)]
    path = build(tmp_path, {"MatMulV2.csv": MATMUL_ROWS}, {PARENT: COMPOSITE})
    with sqlinterp.open(path) as database:
        singles = [database.lookup(op) for op in ops]
        assert database.lookup_many(ops) == singles
        assert {answer.source for answer in singles} == {"INTERPOLATED", "PARTIAL", None}
