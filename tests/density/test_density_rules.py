"""Files of density rules: every fault is listed, and the shipped numbers are the stated ones."""

from __future__ import annotations

import doctest
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sqlinterp import strict_yaml
from sqlinterp.database import connect_writer
from sqlinterp.demo.axes import HEADS, M_GRID, MOE_TOKENS, NK_GRID, PAD_TOKENS
from sqlinterp.density import checks, default_text, load_rules, rules
from sqlinterp.density.rules import Limit, Rule, read_rules
from sqlinterp.errors import SourceError
from sqlinterp.strict_yaml import parse_yaml

GOOD = {"name": "a", "axis": "M", "required": [1]}
LIMIT = {"from": 1, "max_gap": 2}


def faults_of(*items: Any) -> list[str]:
    return read_rules({"rules": list(items)})[1]


@pytest.fixture(scope="module")
def shipped() -> dict[str, Rule]:
    found, faults = read_rules(parse_yaml(default_text().encode()))
    assert faults == []
    return {rule.name: rule for rule in found}


def test_a_rule_is_read_with_everything_that_it_says() -> None:
    item = {
        "name": " both ",
        "axis": "K",
        "paths": ["matmul", "compute_scale"],
        "kernels": ["A", "B"],
        "limits": [{"from": 8, "max_ratio": 2}, {"from": 0, "to": 8, "max_gap": 1.5}],
        "required": [4, 1, 2.5],
        "source": "here",
    }
    limits = (Limit(0, 8, 1.5, None), Limit(8, None, None, 2))
    rule = Rule("both", "K", ("matmul", "compute_scale"), ("A", "B"), limits, (1, 2.5, 4), "here")
    assert read_rules({"rules": [item]}) == ([rule], [])
    assert list(rule.subjects()) == [
        ("K", path, kernel) for path in ("matmul", "compute_scale") for kernel in ("A", "B")
    ]
    assert read_rules({"rules": []}) == ([], [])


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (None, "the file has no list 'rules'"),
        ([], "the file has no list 'rules'"),
        ({"rules": {}}, "the file has no list 'rules'"),
        ({"rules": [], "rule": 1}, "the key 'rule' is unknown, expected 'rules'"),
        ({"rules": ["x"]}, "rule 1: is 'x', expected a mapping"),
        ({"rules": [{**GOOD, "axes": 1}]}, "rule 1 'a': the key 'axes' is unknown, expected name,"),
        ({"rules": [{"axis": "M", "required": [1]}]}, "rule 1: name is missing"),
        ({"rules": [{**GOOD, "name": " "}]}, "rule 1: name is ' ', expected text"),
        ({"rules": [{**GOOD, "name": True}]}, "rule 1: name is True, expected text"),
        ({"rules": [{"name": "a", "required": [1]}]}, "rule 1 'a': axis is missing"),
        ({"rules": [{**GOOD, "axis": "Q"}]}, "axis 'Q' is unknown, expected M, K, N, axis_0,"),
        ({"rules": [{**GOOD, "paths": "matmul"}]}, "paths is 'matmul', expected a list of text"),
        ({"rules": [{**GOOD, "paths": []}]}, "paths is a list, expected a list of text"),
        ({"rules": [{**GOOD, "paths": ["matmul", "matmul"]}]}, "paths holds 'matmul' twice"),
        ({"rules": [{**GOOD, "paths": ["mat"]}]}, "path 'mat' is unknown, expected matmul,"),
        ({"rules": [{**GOOD, "paths": ["moe_fused"]}]}, "'moe_fused' has no axis 'M', only tokens"),
        ({"rules": [{**GOOD, "paths": ["declared:a,b"]}]}, "'declared:a,b' has no axis 'M'"),
        ({"rules": [{**GOOD, "kernels": [3]}]}, "kernels holds 3, expected text"),
        ({"rules": [{"name": "a", "axis": "M"}]}, "has neither limits nor required values"),
        ({"rules": [{**GOOD, "limits": 3}]}, "limits is 3, expected a list"),
        ({"rules": [{**GOOD, "limits": [3]}]}, "rule 1 'a', limit 1: is 3, expected a mapping"),
        ({"rules": [{**GOOD, "limits": [{"max_gap": 1}]}]}, "limit 1: from is missing"),
        ({"rules": [{**GOOD, "limits": [{"from": 1}]}]}, "max_gap and max_ratio are missing"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "gap": 1}]}]}, "the key 'gap' is unknown"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "to": 1}]}]}, "to is 1, expected more than from"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "max_gap": 0}]}]}, "max_gap is 0, expected more"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "max_gap": -1}]}]}, "max_gap is -1, expected a"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "max_ratio": 1}]}]}, "max_ratio is 1, expected"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "from": True}]}]}, "from is True, expected a"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "to": "8"}]}]}, "to is '8', expected a number"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "to": float("nan")}]}]}, "to is nan, expected"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "to": float("inf")}]}]}, "to is inf, expected"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "to": 10**400}]}]}, "to is 1000"),
        ({"rules": [{**GOOD, "limits": [{"from": 0, "max_ratio": 2}]}]}, "range from more than 0"),
        ({"rules": [{**GOOD, "limits": [LIMIT, {"from": 9, "max_gap": 1}]}]},
         "the limits from 1 and from 9 overlap"),
        ({"rules": [{**GOOD, "limits": [{**LIMIT, "from": 5, "to": 9}, {**LIMIT, "to": 6}]}]},
         "the limits from 1 and from 5 overlap"),
        ({"rules": [{**GOOD, "required": 1}]}, "required is 1, expected a list of numbers"),
        ({"rules": [{**GOOD, "required": ["1"]}]}, "required holds '1', expected numbers"),
        ({"rules": [{**GOOD, "required": [1, 1.0]}]}, "required holds 1 twice"),
        ({"rules": [{**GOOD, "source": 3}]}, "source is 3, expected text"),
        ({"rules": [{**GOOD, "name": "a\x1b[31m", "axis": "Q"}]}, r"rule 1 'a\x1b[31m': axis 'Q'"),
        ({"rules": [GOOD, {**GOOD, "axis": "K"}]}, "rule 'a': the name repeats"),
        ({"rules": [GOOD, {**GOOD, "name": "b"}]},
         "rules 'a' and 'b': are both about axis 'M' of any path and any kernel"),
        ({"rules": [{**GOOD, "kernels": ["X", "Y"]}, {**GOOD, "name": "b", "kernels": ["Y"]}]},
         "are both about axis 'M' of any path and kernel 'Y'"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(document: Any, fault: str) -> None:
    found = read_rules(document)[1]
    assert len(found) == 1, found
    assert fault in found[0]


def test_all_faults_are_listed_in_order() -> None:
    bad = {"name": "b", "axis": "Q", "limits": [{"to": 0}, LIMIT, {"from": -1, "max_gap": 1}]}
    assert [text.partition(",")[0].partition(":")[0] for text in faults_of("x", bad, 7)] == [
        "rule 1", "rule 2 'b'", "rule 2 'b'", "rule 2 'b'", "rule 2 'b'", "rule 3",
    ]  # fmt: skip


def test_rules_about_different_things_go_together() -> None:
    kernel = {**GOOD, "name": "b", "kernels": ["X"]}
    path = {**GOOD, "name": "c", "paths": ["matmul"]}
    both = {**kernel, **path, "name": "d"}
    assert faults_of(GOOD, kernel, path, both, {**GOOD, "name": "e", "axis": "K"}) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"rules: [", "is no valid YAML"),
        (b"rules: []\nrules: []\n", "the key 'rules' repeats"),
        (b"rules: !!python/object/apply:os.system ['true']\n", "is no valid YAML"),
        (b"rules: !!python/name:os.system\n", "is no valid YAML"),
        (b"rules: \xff\n", "is not UTF-8"),
        (b"[" * 5_000, "is no valid YAML"),
        (b"", "has no list 'rules'"),
        (b"version https://git-lfs.github.com/spec/v1\n", "has no list 'rules'"),
        (b" " * 1_000_001, "too large"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_plain_yaml_is_refused(
    tmp_path: Path, migrated_file: Path, content: bytes | None, message: str
) -> None:
    database, file = tmp_path / "p.duckdb", tmp_path / "mine.yaml"
    database.write_bytes(migrated_file.read_bytes())
    if content is not None:
        file.write_bytes(content)
    connection = connect_writer(database)
    before = connection.execute("from density_rule").fetchall()
    with pytest.raises(SourceError, match=message) as caught:
        load_rules(connection, file)
    assert str(file) in str(caught.value) and caught.value.exit_code == 3
    assert connection.execute("from density_rule").fetchall() == before
    connection.close()


def test_values_that_refer_to_each_other_do_not_make_long_messages() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 5)]
    found = read_rules(parse_yaml("\n".join([*lines, "rules: [*a4]"]).encode()))[1]
    assert len(found) == 6 and all(len(text) < 200 for text in found)


GRIDS = {
    "matmul M": M_GRID,
    "matmul K": NK_GRID,
    "matmul N": NK_GRID,
    "MoE matmul tokens": MOE_TOKENS,
    "fused MoE tokens": MOE_TOKENS,
    "elementwise tokens": (1, 4, 16, 64, *(2**power for power in range(7, 16))),
    "elementwise width": NK_GRID,
    "quantisation width": NK_GRID,
    "attention sequence length": (1, 4, 16, 64, *(2**power for power in range(7, 18))),
    "collective message size": tuple(2**power for power in range(7, 30)),
}


def too_wide(rule: Rule, grid: tuple[int, ...]) -> list[tuple[int, int]]:
    """Neighbours of a grid that lie further apart than the rule allows."""
    wide = []
    for value, following in pairwise(sorted(grid)):
        for limit in rule.limits:
            if limit.start <= value and (limit.end is None or value < limit.end):
                gap = following - value
                is_wide = gap > (limit.max_gap or gap) or following > value * (
                    limit.max_ratio or following
                )
                wide += [(value, following)] * is_wide
    return wide


@pytest.mark.parametrize("name", GRIDS)
def test_the_grid_that_shapes_are_generated_from_keeps_its_rule(
    shipped: dict[str, Rule], name: str
) -> None:
    rule, grid = shipped[name], GRIDS[name]
    assert too_wide(rule, grid) == []
    assert set(rule.required) <= set(grid)
    assert rule.limits[0].start == min(grid) and rule.limits[-1].end == max(grid)
    assert too_wide(rule, HEADS if name == "matmul M" else (min(grid), max(grid))) != []


def test_the_ranges_of_widths_are_the_widest_that_the_grid_keeps(shipped: dict[str, Rule]) -> None:
    # A limit begins where the stricter one before it would break next.
    limits = shipped["matmul K"].limits
    for low, high in pairwise(limits):
        following = min(value for value in NK_GRID if value > high.start)
        allowed = high.start + low.max_gap if low.max_gap else high.start * (low.max_ratio or 1)
        assert following > allowed


def test_padded_tokens_keep_the_rule_of_their_kernel(shipped: dict[str, Rule]) -> None:
    assert "PadV3" in shipped["vector kernel tokens"].kernels
    assert too_wide(shipped["vector kernel tokens"], PAD_TOKENS) == []


def test_the_shipped_numbers_are_those_of_the_standard(shipped: dict[str, Rule]) -> None:
    steps = [
        (one.start, one.end, one.max_gap or one.max_ratio) for one in shipped["matmul M"].limits
    ]
    assert steps == [
        (1, 8, 1), (8, 16, 2), (16, 32, 4), (32, 64, 8), (64, 128, 16), (128, 256, 64),
        (256, 1024, 256), (1024, 32768, 2),
    ]  # fmt: skip
    assert all(rule.source for rule in shipped.values())


@pytest.mark.parametrize("module", [checks, rules, strict_yaml])
def test_the_examples_of_the_modules(module: Any) -> None:
    assert doctest.testmod(module).attempted >= 1
    assert doctest.testmod(module).failed == 0
