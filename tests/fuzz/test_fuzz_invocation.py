"""Whatever is asked: an answer that makes sense, or what is wrong with the request."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from databases_for_tests import matmul_call
from fuzz_support import answer_problems, fuzzing
from hypothesis import given
from hypothesis import strategies as st

import sqlinterp
from sqlinterp.cli.requests import Line
from sqlinterp.cli.stream import Stream
from sqlinterp.errors import UsageError
from sqlinterp.resources import resource_folder

SAMPLE = next(resource_folder("databases").glob("*/vllm_ascend/vllm0.18*"))
OPERATORS: dict[str, dict[str, Any]] = yaml.safe_load((SAMPLE / "op_mapping.yaml").read_text())[
    "operator_mappings"
]
TORCH = {
    "DT_BF16": "bfloat16", "FLOAT": "float32", "INT8": "int8", "INT32": "int32", "INT64": "int64",
    "FLOAT16": "float16", "BOOL": "bool",
}  # fmt: skip
KEYWORDS = (
    "avg_seq_len", "required", "is_decode_values", "api_path", "quant_mode", "phase", "topk",
    "num_heads", "num_key_value_heads", "block_size", "sparse_mode", "input_layout", "cache_mode",
    "ep_size", "num_tokens", "batch_size", "dim", "group", "rank",
)  # fmt: skip
INTERNAL = re.compile(r"bad_request: line \d+: [A-Za-z]*(Error|Exception|Exit)\b")
VERSION = SAMPLE.name


def _rows(kernel: str) -> list[dict[str, str]]:
    path = SAMPLE / f"{kernel}.csv"
    if not path.is_file():
        return []
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


ROWS = {op: _rows(str(fields.get("kernel_type"))) for op, fields in OPERATORS.items()}
# Operators whose kernels have many rows come more often, so that some calls lie between rows.
DRAWN = [op for op in sorted(OPERATORS) for _ in range(1 + min(40, len(ROWS[op])))]


def tensors(shapes: str, dtypes: str) -> list[Any]:
    """The slots of a row as arguments of a call."""
    names = dtypes.split(";")
    found: list[Any] = []
    for place, slot in enumerate(shapes.replace('"', "").split(";")):
        dtype = TORCH.get(names[place] if place < len(names) else "", "bfloat16")
        shape = [int(size) for size in slot.split(",") if size]
        found.append({"shape": shape, "dtype": dtype} if shape else None)
    return found


NUMBERS = (0, 1, 16, 128, 5120, 7168, 2**31, 2**40, 2**40 + 1, 2**70, -1)
SIZES = st.one_of(
    st.integers(0, 300), st.sampled_from(NUMBERS), st.booleans(), st.floats(), st.text(max_size=2)
)
NAMES = ("bfloat16", "float16", "int8", "int64", "float8_e4m3fn", "torch.bfloat16", "")
DTYPES = st.one_of(st.sampled_from(NAMES), st.text(max_size=6), st.none())
SOUND_TENSORS = st.fixed_dictionaries(
    {
        "shape": st.lists(st.sampled_from(NUMBERS[:7]), max_size=5),
        "dtype": st.sampled_from(NAMES[:5]),
    },
    optional={"values": st.lists(st.integers(0, 9999), max_size=6)},
)
TENSORS = st.fixed_dictionaries(
    {"shape": st.lists(SIZES, max_size=5), "dtype": DTYPES},
    optional={"values": st.one_of(st.lists(SIZES, max_size=6), st.none()), "more": st.none()},
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    *[SOUND_TENSORS.map(dict)] * 4,
    TENSORS,
    st.fixed_dictionaries({"ints": st.lists(st.integers(), max_size=5)}),
    st.fixed_dictionaries({"bools": st.lists(st.booleans(), max_size=5)}),
)
ARGUMENTS = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@st.composite
def calls(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    """A call whose tensors are those of a measured row, with some of it changed."""
    if draw(st.integers(0, 7)) == 0:
        m, k, n = (draw(st.integers(*ends)) for ends in ((1, 300), (1536, 5200), (700, 2400)))
        return matmul_call(m, k, n)
    op = draw(st.sampled_from(DRAWN))
    call: dict[str, Any] = {"op": op, "args": [], "kwargs": {}, "outputs": []}
    if ROWS[op]:
        row = draw(st.sampled_from(ROWS[op]))
        call["args"] = tensors(row["Input Shapes"], row["Input Data Types"])
        if "Output Shapes" in row and draw(st.booleans()):
            outputs = tensors(row["Output Shapes"], row["Output Data Types"])
            call["outputs"] = [output for output in outputs if output]
    else:
        call["args"] = [{"shape": draw(st.lists(st.integers(1, 4096), min_size=1, max_size=3)),
                         "dtype": "bfloat16"} for _ in range(draw(st.integers(0, 4)))]  # fmt: skip
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        draw(
            st.sampled_from(
                [_other_size, _other_size, _other_size, _other_argument, _keyword, _output]
            )
        )(draw, call)
    if depth == 0 and draw(st.integers(0, 5)) == 0:
        call["children"] = draw(st.lists(calls(depth=1), max_size=3))
        for child in call["children"]:
            if draw(st.booleans()):
                child["kernel"] = draw(st.sampled_from(["MatMulV2", "RmsNorm", "none", "", 3]))
                child.pop("op")
    if draw(st.integers(0, 15)) == 0:
        keys = st.one_of(st.sampled_from(sorted(call)), st.text(max_size=3))
        call[draw(keys)] = draw(ARGUMENTS)
    return call


def _other_size(draw: st.DrawFn, call: dict[str, Any]) -> None:
    shaped = [a for a in call["args"] if isinstance(a, dict) and a.get("shape")]
    if shaped:
        shape = draw(st.sampled_from(shaped))["shape"]
        sound = st.integers(1, 2 * abs(int(shape[0])) + 8) if isinstance(shape[0], int) else SIZES
        shape[draw(st.integers(0, len(shape) - 1))] = draw(
            sound if draw(st.integers(0, 7)) else SIZES
        )


def _other_argument(draw: st.DrawFn, call: dict[str, Any]) -> None:
    place = draw(st.integers(0, len(call["args"])))
    call["args"][place : place + draw(st.integers(0, 1))] = draw(st.lists(ARGUMENTS, max_size=1))


def _keyword(draw: st.DrawFn, call: dict[str, Any]) -> None:
    call["kwargs"][draw(st.one_of(st.sampled_from(KEYWORDS), st.text(max_size=4)))] = draw(
        ARGUMENTS
    )


def _output(draw: st.DrawFn, call: dict[str, Any]) -> None:
    call["outputs"].append(draw(st.one_of(SOUND_TENSORS, ARGUMENTS)))


CONTEXTS = st.fixed_dictionaries(
    {},
    optional={
        "ep_size": st.one_of(st.none(), st.integers(1, 64)),
        "tp_size": st.one_of(st.none(), st.integers(1, 64)),
        "sequence_parallel": st.booleans(),
        "disable_interpolation": st.booleans(),
        "aggregation": st.sampled_from(["mean", "median", "min", "first", "reference"]),
        "comm_grid": st.sampled_from([None, ((48, 8, 2), (0, 1, 2)), ((4,), (0,))]),
    },
)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file ingested from the shipped sample."""
    path = tmp_path_factory.mktemp("fuzz") / "sample.duckdb"
    sqlinterp.ingest([resource_folder("databases")], path)
    return path


def is_sound(value: Any) -> bool:
    """Whether a tensor of a request has sizes that a tensor can have, found by other means."""
    if isinstance(value, dict):
        if "shape" in value and not ("ints" in value or "bools" in value):
            sizes = value["shape"]
            return isinstance(sizes, list) and all(
                type(size) is int and 0 <= size <= 2**40 for size in sizes
            ) and isinstance(value.get("dtype"), str) and value["dtype"] != ""  # fmt: skip
        return True
    return all(map(is_sound, value)) if isinstance(value, list) else True


def ask(path: Path, asked: list[dict[str, Any]], context: dict[str, Any]) -> Counter[str]:
    """Ask one by one, all together and as lines; the answers are the same and make sense."""
    found: Counter[str] = Counter()
    good, answers = [], []
    with sqlinterp.open(path, VERSION, **context) as database:
        for call in asked:
            try:
                answer = database.lookup(call)
            except UsageError as error:
                found["refused"] += 1
                assert "malformed invocation" in str(error) and len(str(error)) < 5000
                continue
            assert is_sound(call["args"]), call
            assert answer_problems(answer) == [], call
            found[str(answer.source)] += 1
            good.append(call)
            answers.append(answer.to_dict())
        assert [answer.to_dict() for answer in database.lookup_many(good)] == answers
        texts = [json.dumps(call).encode("utf-8", "surrogatepass") for call in asked]
        lines = Stream(database, None).answer(
            [Line(number, text) for number, text in enumerate(texts, start=1)]
        )
    for line in lines:
        parsed = json.loads(line, parse_constant=pytest.fail)
        assert not INTERNAL.match(parsed["miss_reason"] or ""), parsed
    assert len(lines) == len(asked)
    return found


def test_any_invocation(sample: Path) -> None:
    found: Counter[str] = Counter()

    @fuzzing(8)
    @given(st.lists(calls(), min_size=10, max_size=40), CONTEXTS)
    def count(asked: list[dict[str, Any]], context: dict[str, Any]) -> None:
        found.update(ask(sample, asked, context))

    count()
    assert {"MEASURED", "INTERPOLATED", "None", "refused"} <= set(found)
    assert found.total() > 80


@pytest.mark.long
@fuzzing(600, is_long=True)
@given(st.lists(calls(), min_size=10, max_size=80), CONTEXTS)
def test_very_many_invocations(
    sample: Path, asked: list[dict[str, Any]], context: dict[str, Any]
) -> None:
    ask(sample, asked, context)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line of a stream, broken more often than not."""
    content = bytearray(json.dumps(draw(calls())).encode())
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        words = [b'"', b"{", b"]", b",", b"NaN", b"Infinity", b"1e999", b"-1", b"\\ud800", b"null",
                 b'"count": 0,', b'"op": 1,', b"\xff", b"[" * 2000, b"9" * 5000]  # fmt: skip
        content[start : start + draw(st.integers(0, 4))] = draw(st.sampled_from(words))
    return bytes(content).replace(b"\n", b" ")


@fuzzing(6)
@given(st.lists(lines(), min_size=5, max_size=40))
def test_any_line(sample: Path, contents: list[bytes]) -> None:
    with sqlinterp.open(sample, VERSION) as database:
        given = [Line(number, text) for number, text in enumerate(contents, start=1)]
        answers = Stream(database, None).answer(given)
    assert len(answers) == len(contents)
    for number, text in enumerate(answers, start=1):
        answer = json.loads(text, parse_constant=pytest.fail)
        reason = answer["miss_reason"] or ""
        assert not INTERNAL.match(reason), (contents[number - 1], reason)
        if reason.startswith("bad_request"):
            assert f"line {number}:" in reason and answer["latency_us"] is None
