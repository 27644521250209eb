"""Statements that the database plans only once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER, call, matmul_call, tensor, write_version

import sqlinterp
from sqlinterp import queries
from sqlinterp.paths import PATHS

MACROS = {name.removeprefix("macros."): queries.load(name).body for name in queries.names("macros")}
PLANNED_ONCE = [
    *((path.target_cells, path.query) for path in PATHS.values()),
    ("lookup.operand_key",),
    ("lookup.operand_key_folded",),
    ("lookup.padded_match",),
    (
        "lookup.attention_wanted",
        "lookup.attention_given_slot",
        "lookup.attention_candidate",
        "lookup.attention_optional",
        "lookup.attention_group",
    ),
    (
        "lookup.communication_given_size",
        "lookup.communication_given_fit",
        "lookup.communication_bracket",
    ),
]


def expanded(text: str) -> str:
    """A text with the bodies of all macros that it uses, and that those use."""
    known: set[str] = set()
    while used := {name for name in MACROS if re.search(rf"\b{name}\s*\(", text)} - known:
        known |= used
        text = "\n".join([text, *(MACROS[name] for name in sorted(used))])
    return text


@pytest.mark.parametrize("steps", PLANNED_ONCE, ids=lambda steps: steps[-1])
def test_what_is_planned_once_reads_neither_table_nor_variable(steps: Sequence[str]) -> None:
    """The database plans any other statement whenever it runs, and one with a parameter twice."""
    text = expanded("\n".join(queries.load(step).body for step in steps))
    assert "getvariable" not in text
    parameters = re.findall(r"\$(\w+)", text)
    assert len(parameters) == len(set(parameters)), parameters
    made = set(re.findall(r"(?:with|,)\s*(\w+) as \(", text))
    read = set(re.findall(r"(?<!distinct )\b(?:from|join)\s+(?!from_json)(\w+)", text)) - made
    assert read <= {"cells", "wanted", "slots", "accepted", "candidates", "sizes", "fits"}, read


def test_several_statements_may_share_a_cursor(tmp_path: Path) -> None:
    """As they do when lookups and traces take turns; each has its own order of what it plans."""
    files = {
        "MatMulV2.csv": [
            MATMUL_HEADER,
            *(f'"{m},64;64,128",DT_BF16;DT_BF16,ND;ND,"{m},128",DT_BF16,ND,{m}' for m in (64, 128)),
        ],
        "Softmax.csv": [
            MATMUL_HEADER,
            *(f'"{n},64",DT_BF16,ND,"{n},64",DT_BF16,ND,{n / 8}' for n in (64, 128)),
        ],
    }
    operators = {"aten.mm.default": "MatMulV2", "aten.softmax.int": "Softmax"}
    write_version(tmp_path / "v", files, operators)
    sqlinterp.ingest([tmp_path / "v"], tmp_path / "p.duckdb")
    calls = [
        (matmul_call(m, 64, 128), call("aten.softmax.int", tensor(m, 64), outputs=[tensor(m, 64)]))
        for m in (100, 90)
    ]
    expected = []
    for pair in calls:
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            expected.append([database.lookup(one) for one in pair])
    assert {answer.source for pair in expected for answer in pair} == {"INTERPOLATED"}
    for first, second in ((0, 1), (1, 0)):
        with sqlinterp.open(tmp_path / "p.duckdb") as database:
            assert database.lookup(calls[0][first]) == expected[0][first]
            assert database.trace(calls[0][second])[0] == expected[0][second]
            assert database.lookup(calls[1][first]) == expected[1][first]
