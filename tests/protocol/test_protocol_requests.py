"""Whatever the request, one JSON document and an exit code; requests and schemas agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from protocol_support import DECLARED, Ask

from sqlinterp.protocol import answer_bytes, problems, schemas, write_document

GRID = {
    "protocol": 1,
    "op": "grid",
    "version": DECLARED,
    "kind": "gemm",
    "config": {"dtype": "bf16"},
}
EVAL = {**GRID, "op": "eval", "query_points": [{"m": 4, "k": 32}]}


def checked(content: bytes, database: Path) -> tuple[dict[str, Any], int]:
    """The answer to bytes, after checks that hold for every request."""
    document, code = answer_bytes(content, database)
    written = write_document(document)
    assert json.loads(written.decode("utf-8"), parse_constant=pytest.fail) == document
    assert code in (0, 2, 3, 4)
    if code:
        assert problems(document, "error.response") == []
        assert "Traceback" not in document["error"]["message"]
        assert not document["error"]["message"].startswith("unexpected")
    return document, code


class TestErrors:
    """The error documents."""

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"x",
            b"[]",
            b"3",
            b"null",
            b'{"op": "grid"}',
            b'{"op": "dance"}',
            b'{"op": 1}',
            b"{}",
            b'{"op": "grid", "op": "eval"}',
            b"\xff",
            b'{"op": NaN}',
            b"[" * 100_000,
            b'{"op": "grid", "kind": ' + b"9" * 5000 + b"}",
            json.dumps({**GRID, "protocol": 2}).encode(),
            json.dumps({**GRID, "extra": 1}).encode(),
            json.dumps({**GRID, "config": []}).encode(),
            json.dumps({**EVAL, "query_points": [[1]]}).encode(),
            json.dumps({**EVAL, "query_points": [{"m": "4", "k": 32}]}).encode(),
            json.dumps({**EVAL, "query_points": [{}]}).encode(),
            json.dumps({**EVAL, "query_points": [{"m": 4}]}).encode(),
            b'{"protocol":1,"op":"eval","version":"dev/fw/1.0","kind":"gemm","config":{"dtype":"bf16"},'
            b'"query_points":[{"m":1e999,"k":1}]}',
        ],
    )
    def test_a_bad_request_exits_with_2(self, database: Path, content: bytes) -> None:
        document, code = checked(content, database)
        assert (document["error"]["code"], code) == ("bad_request", 2)

    def test_peak_is_refused_with_the_ops_that_exist(self, database: Path) -> None:
        document, code = checked(b'{"protocol": 1, "op": "peak", "requests": []}', database)
        assert code == 2
        assert document["error"]["known"] == ["grid", "eval", "eval_coords", "fidelity", "suggest"]

    @pytest.mark.parametrize(
        ("changes", "error", "known"),
        [
            ({"version": "1.0"}, "unknown_version", ["dev/fw/1.0", "dev/fw/2.0"]),
            ({"version": "dev/fw/1.0 "}, "unknown_version", ["dev/fw/1.0", "dev/fw/2.0"]),
            ({"kind": "GEMM"}, "unknown_kind", ["gemm", "line"]),
            ({"config": {"gpu_name": "NVIDIA dev"}}, "no_points", ["dev"]),
            ({"config": {"gpu_name": ["dev"]}}, "no_points", ["dev"]),
            ({"config": {"dtypes": "bf16"}}, "unknown_regime_key", ["dtype", "source"]),
            ({"config": {"dtype": "bfloat16"}}, "no_points", ["bf16", "fp8"]),
            ({"config": {}}, "ambiguous_regime", ["dtype=bf16", "dtype=fp8"]),
            ({"config": {"dtype": "fp8"}}, "ambiguous_regime", ["source=a", "source=b"]),
        ],
    )
    def test_keys_are_exact_and_the_error_lists_the_known_ones(
        self, ask: Ask, changes: dict[str, Any], error: str, known: list[str]
    ) -> None:
        request = {**GRID, **changes}
        document = ask(
            request["op"], request["kind"], 2, config=request["config"], version=request["version"]
        )
        assert (document["error"]["code"], document["error"]["known"]) == (error, known)

    def test_a_database_that_is_none_exits_with_3(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("hello")
        (tmp_path / "folder").mkdir()
        for name in ("nosuch", "text", "folder", "a\0b", "\ud800"):
            request = json.dumps({**GRID, "db": str(tmp_path / name)}).encode()
            document, code = checked(request, tmp_path / "x")
            assert (document["error"]["code"], code) == ("data_error", 3)

    def test_the_database_of_the_request_wins(self, database: Path, tmp_path: Path) -> None:
        request = json.dumps({**GRID, "db": str(database)}).encode()
        assert checked(request, tmp_path / "nosuch")[1] == 0


class TestSchemas:
    """The schemas that are shipped."""

    def test_they_are_schemas(self) -> None:
        from jsonschema import Draft202012Validator

        Draft202012Validator.check_schema(schemas())
        assert len(schemas()["$defs"]) == 11

    def test_they_differ_from_the_specification_where_it_says_less(self, shared: Path) -> None:
        text = (shared / "spec" / "fidelity_schemas.json").read_text()
        specified = json.loads(text)
        own = schemas()["$defs"]

        def resolved(value: Any) -> Any:
            if isinstance(value, list):
                return [resolved(item) for item in value]
            if not isinstance(value, dict):
                return value
            if "$ref" in value:
                return resolved(own[value["$ref"].removeprefix("#/$defs/")])
            return {key: resolved(item) for key, item in value.items() if key != "$schema"}

        more: dict[str, Any] = {}
        for name, schema in specified.items():
            _differences(name, resolved(schema), resolved(own[name]), more)
        methods = ["griddata_linear", "multilinear", "bracket_consensus"]
        assert {key.split("/", 1)[1] for key in more if key.endswith("/method")} <= {
            "properties/policy/properties/method",
            "properties/compare/properties/policy/properties/method",
        }
        assert all(value == {"enum": methods} for key, value in more.items() if "method" in key)
        assert {key: value for key, value in more.items() if "method" not in key} == {
            "eval_coords.request/properties/query_points/items/maxItems": 4,
            "eval.response/properties/op/enum": ["eval", "eval_coords"],
            "eval.response/properties/op/const": None,
        }

    def test_the_examples_of_these_tests_are_requests(self) -> None:
        assert problems(GRID, "grid.request") == problems(EVAL, "eval.request") == []
        assert problems({**GRID, "protocol": True}, "grid.request") != []


def _differences(where: str, one: Any, other: Any, found: dict[str, Any]) -> None:
    """Note what ``other`` has that ``one`` has not, or has otherwise."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {*one, *other}:
            _differences(f"{where}/{key}", one.get(key), other.get(key), found)
    elif one != other:
        found[where] = other


words = st.sampled_from(
    [
        "grid",
        "eval",
        "eval_coords",
        "peak",
        "gemm",
        "line",
        "MatMulV2",
        DECLARED,
        "dev/fw/2.0",
        "bf16",
        "fp8",
        "a",
        "m",
        "k",
        "size",
        "",
        "\ud800",
        "%s",
        "'; drop table point; --",
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
    | st.text(max_size=6)
)
keys = words | st.sampled_from(
    ["dtype", "source", "backends", "gpu_name", "method", "extrapolation", "axis_transform", "path"]
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
config = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["bf16", "fp8"]) | scalars,
        "source": scalars,
        "backends": st.lists(words, max_size=2) | scalars,
        "gpu_name": words,
        "odd": values,
    },
)
number = st.sampled_from([0, 1, 4, 5, 16, 300.5, -1, 1e300, 2**70]) | st.floats(allow_nan=False)
points = st.lists(
    st.fixed_dictionaries({"m": number, "k": number})
    | st.fixed_dictionaries({"size": number})
    | st.lists(number, min_size=1, max_size=3),
    max_size=3,
)
near_requests = st.fixed_dictionaries(
    {
        "protocol": st.just(1),
        "op": st.sampled_from(["grid", "eval", "eval_coords"]),
        "version": st.sampled_from([DECLARED, "dev/fw/2.0"]),
        "kind": st.sampled_from(["gemm", "line", "MatMulV2"]) | words,
        "config": config,
    },
    optional={"query_points": points | values, "explain": st.booleans(), "policy": values},
)
requests = near_requests | st.dictionaries(keys, values, max_size=4) | values


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(requests)
@example({**EVAL, "query_points": [{"m": 1e308, "k": -1e308}]})
@example({**GRID, "config": {"dtype": "\ud800"}})
@example({**GRID, "kind": "\ud800"})
@example({**GRID, "version": "\ud800"})
@example({**GRID, "config": {"dtype": {"a": [None]}}})
@example({**EVAL, "policy": {"extrapolation": {"allow": True, "work": "m * nosuch"}}})
def test_any_json_gets_one_document(database: Path, request: Any) -> None:
    checked(json.dumps(request).encode(), database)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=40))
def test_any_bytes_get_one_document(database: Path, content: bytes) -> None:
    assert checked(content, database)[1] == 2


count = st.integers(-1, 5)
truths = st.fixed_dictionaries(
    {
        "kind": st.just("holdout"),
        "scheme": st.sampled_from(
            ["loo", "plane", "cross", "thin", "tail", "head", "gap", "kfold"]
        ),
    },
    optional={
        "keep_every": count,
        "factors": st.lists(number, max_size=2),
        "cells": count,
        "k": count,
        "salt": words,
    },
) | st.fixed_dictionaries(
    {"kind": st.sampled_from(["version", "table"])}, optional={"version": words, "path": words}
)
fidelity_requests = st.fixed_dictionaries(
    {
        "protocol": st.just(1),
        "op": st.just("fidelity"),
        "version": st.sampled_from([DECLARED, "dev/fw/2.0"]),
        "kind": st.sampled_from(["gemm", "line", "MatMulV2"]),
        "truth": truths,
    },
    optional={
        "config": config,
        "scope": st.fixed_dictionaries({}, optional={"all_groups": st.booleans(), "where": words}),
        "probes": st.lists(
            st.fixed_dictionaries({"coords": st.dictionaries(keys, number), "region": words}),
            max_size=2,
        ),
        "max_probes": count,
        "compare": st.fixed_dictionaries({}, optional={"version": words, "kind": words}),
    },
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(fidelity_requests)
def test_any_fidelity_request_gets_one_document(database: Path, request: Any) -> None:
    document, code = checked(json.dumps(request).encode(), database)
    if code == 0:
        assert problems(document, "fidelity.response") == []
