"""Statements that the database plans only once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

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
