"""Whatever ``op_mapping.yaml`` holds: no traceback, all of it told, and lookups still answer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from databases_for_tests import MATMUL_HEADER, matmul_call
from fuzz_support import answer_problems, fuzzing, ingest
from hypothesis import given
from hypothesis import strategies as st

import sqlinterp
from sqlinterp.errors import UsageError
from sqlinterp.ingestion.folders import KERNEL_NAME
from sqlinterp.ingestion.mapping import canonical_json, read_mapping
from sqlinterp.resources import resource_folder

SAMPLE = yaml.safe_load(
    next(resource_folder("databases").glob("*/vllm_ascend/vllm0.18*/op_mapping.yaml")).read_text()
)
ENTRIES = list(SAMPLE["operator_mappings"].items())
FIELDS = sorted({field for _, fields in ENTRIES for field in fields} | {
    "alternate_kernel_types", "sub_kernels", "tc_input_count", "query_mode", "category",
    "composite", "zero_cost", "accepted_miss", "compute_subcategory",
    "interpolation_policy", "method", "mtp_projection_kernel_type",
    "decomposer", "confidence", "notes",
})  # fmt: skip
POLICY = (
    "method", "max_interpolation_dim", "generic_axis", "axes", "kernel_overrides", "rescale",
    "transform", "allow_interpolation", "min_points", "aggregation", "confidence", "axis_transform",
)  # fmt: skip
ROWS = [f'"{m},64;64,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{m}.5' for m in (8, 16, 64)]
MARKS = (
    "&a ", "*a", "!!", "<<: ", "- ", ": ", "{", "}", "[", "'", '"', "\t", "|", ">", "%", "---\n",
    "...\n", "? ", "!!float nan", "!!python/object:x ",
)  # fmt: skip
CALLS = [matmul_call(m, 64, 32) for m in (16, 40, 999)]

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 20), st.integers(), st.floats(allow_nan=False),
    st.text(max_size=12),
    st.sampled_from(["MatMulV2", "RmsNorm", "../x", "linear", "griddata_linear", "multilinear", "M",
                     "communication", "elementwise", "attention_special", "quantized_matmul",
                     "log2", "compute_scale", "true", "mtp_projection", "\u0000", "\ud800"]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(POLICY), st.text(max_size=6), st.integers(0, 3)),
                        inner, max_size=4),
    ),
    max_leaves=8,
)  # fmt: skip


@st.composite
def entries(draw: st.DrawFn) -> Any:
    """An entry of the sample with some fields changed, or anything."""
    if draw(st.integers(0, 15)) == 0:
        return draw(VALUES)
    fields = dict(draw(st.sampled_from(ENTRIES))[1])
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        fields[draw(st.sampled_from(FIELDS))] = draw(VALUES)
    return fields


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A mapping that is mostly sound."""
    operators = st.one_of(
        st.sampled_from(["aten.mm.default", *(name for name, _ in ENTRIES)]),
        st.text(max_size=8),
        st.integers(0, 3),
    )
    document = {
        "operator_mappings": draw(st.dictionaries(operators, entries(), min_size=2, max_size=10))
    }
    for key in ("interpolation_policy", "latency_policy", "query_selection_policy"):
        if draw(st.booleans()):
            document[key] = draw(st.one_of(
                VALUES,
                st.fixed_dictionaries({"kernel_overrides": st.dictionaries(
                    st.sampled_from(["MatMulV2", "Add", "x y"]), VALUES, max_size=3)}),
                st.dictionaries(st.sampled_from(POLICY), VALUES, max_size=4),
            ))  # fmt: skip
    for _ in range(draw(st.integers(0, 2))):
        known = st.sampled_from(["communication_data_ref", "operator_mappings", "version"])
        document[draw(st.one_of(known, st.text(max_size=5)))] = draw(VALUES)
    return document


@st.composite
def yaml_texts(draw: st.DrawFn) -> bytes:
    """The text of a mapping, whole, cut, changed, or anything."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
    text = yaml.safe_dump(draw(documents()), allow_unicode=draw(st.booleans()))
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    if draw(st.integers(0, 3)) == 0:
        start = draw(st.integers(0, len(content)))
        new = draw(st.one_of(st.sampled_from(MARKS).map(str.encode), st.binary(max_size=3)))
        content[start : start + draw(st.integers(0, 6))] = new
    return bytes(content)


def check_read(path: Path) -> int:
    """Read a mapping, make sure that what is left of it is sound; return how many entries."""
    mapping = read_mapping(path)
    for severity, key, text in mapping.problems:
        assert severity in ("warning", "error")
        assert text and len(text) < 400 and len(key) < 400
        (key + text).encode()
    json.loads(canonical_json(mapping.metadata), parse_constant=pytest.fail)
    for entry in mapping.entries:
        assert all(KERNEL_NAME.fullmatch(kernel) for kernel in entry.kernels)
        assert entry.input_limit is None or 0 < entry.input_limit < 2**31
        json.loads(canonical_json(entry.fields), parse_constant=pytest.fail)
    for *_, fields in mapping.policies:
        json.loads(canonical_json(fields), parse_constant=pytest.fail)
    return len(mapping.entries)


def check(contents: list[bytes]) -> dict[str, int]:
    """Ingest mappings beside one CSV each, and ask for every operator of them."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "data"
        counts = {"files": len(contents), "entries": 0, "problems": 0}
        for number, content in enumerate(contents):
            folder = root / "d" / "b" / f"v{number}"
            folder.mkdir(parents=True)
            (folder / "MatMulV2.csv").write_text("\n".join([MATMUL_HEADER, *ROWS, ""]))
            (folder / "op_mapping.yaml").write_bytes(content)
            counts["entries"] += check_read(folder / "op_mapping.yaml")
        database = Path(name) / "p.duckdb"
        summary = ingest(root, database)
        counts["problems"] = summary.total("errors")
        assert summary.total("rows_stored") == len(ROWS) * len(contents)
        with duckdb.connect(str(database), read_only=True) as connection:
            stored = connection.execute("select version_id, operator from op_mapping").fetchall()
            keys = dict(
                connection.execute("select version_id, version_key from profile_version").fetchall()
            )
        assert len(stored) == counts["entries"]
        for version_id, key in keys.items():
            operators = [operator for number, operator in stored if number == version_id]
            with sqlinterp.open(database, key) as opened:
                calls = [{**CALLS[1], "op": operator} for operator in operators if operator]
                for call in [*calls, *CALLS]:
                    try:
                        answer = opened.lookup(call)
                    except UsageError:
                        continue
                    assert answer_problems(answer) == []
        return counts


def test_any_mapping() -> None:
    totals = {"files": 0, "entries": 0, "problems": 0}

    @fuzzing(3)
    @given(st.lists(yaml_texts(), min_size=10, max_size=20))
    def count(contents: list[bytes]) -> None:
        for key, value in check(contents).items():
            totals[key] += value

    count()
    assert totals["files"] >= 30
    assert totals["entries"] > totals["files"] / 2 and totals["problems"] > totals["files"] / 2


@pytest.mark.long
@fuzzing(400, is_long=True)
@given(st.lists(yaml_texts(), min_size=10, max_size=40))
def test_very_many_mappings(contents: list[bytes]) -> None:
    check(contents)
