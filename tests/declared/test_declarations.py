"""Declarations: what may stand in them, and that all mistakes are told at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from declared_support import GEMM, write_declaration

from sqlinterp.declared import read_declaration, shipped_declarations
from sqlinterp.declared.feasible import feasible_count, feasible_problem
from sqlinterp.errors import SourceError


def problem(folder: Path, **changes: Any) -> str:
    """What is wrong with the declaration after changes."""
    with pytest.raises(SourceError) as caught:
        read_declaration(write_declaration(folder, **changes))
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_a_declaration_with_everything(tmp_path: Path) -> None:
    told = read_declaration(
        write_declaration(
            tmp_path,
            version="{gpu}/fw/{release}",
            kernel={"column": "op", "prefix": "fw."},
            regime=["dtype", {"name": "tp", "column": "num workers", "default": 1}],
            axes=[
                "m",
                {
                    "name": "size",
                    "column": "size(kb)",
                    "unit": "bytes",
                    "scale": 1024,
                    "transform": "log2",
                },
            ],
            spread={"min": "t_min", "max": "t_max"},
            where=[{"column": "ok", "equals": True}, {"column": "m", "min": 2}],
            constants={"release": "1.0"},
            path=r"(?P<gpu>[a-z0-9]+)\.csv$",
            backend="dtype",
            feasible="m * size <= 1e9",
            policy={"max_interpolation_dim": 2},
        )
    )
    assert told.axis_names == ["m", "size"]
    assert (told.axes[1].scale, told.axes[1].transform) == (1024.0, "log2")
    assert told.version_columns == ["gpu", "release"]
    assert [field.column for field in told.regime] == ["dtype", "num workers"]
    assert set(told.columns("")) == {
        "m",
        "size(kb)",
        "dtype",
        "num workers",
        "ok",
        "gpu",
        "release",
        "op",
        "t",
        "t_min",
        "t_max",
    }


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = problem(
        tmp_path, version="no slashes", latency={"column": "t", "unit": "h"}, axes=[], colour="red"
    )
    for part in ("unknown key 'colour'", "version is", "latency is", "there are 0 axes"):
        assert part in text


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"kernel": None}, "'kernel' is missing"),
        ({"kernel": {"columns": "time.median"}}, "kernel is"),
        ({"kernel": {"column": "op", "name": "x"}}, "kernel is"),
        ({"kernel": {"columns": "t.{kernel}"}}, "latency.column is 't', expected {kernel} in it"),
        ({"axes": ["m", "k", "n", "b", "x"]}, "there are 5 axes, expected 1 to 4"),
        ({"axes": [{"name": "m", "scale": 0}]}, "axes[1].scale is 0"),
        ({"axes": [{"name": "m", "scale": True}]}, "axes[1].scale is True"),
        ({"axes": [{"name": "m", "transform": "cube"}]}, "axes[1].transform is 'cube'"),
        ({"axes": ["size(kb)"]}, "axes[1].name is 'size(kb)'"),
        ({"axes": "m"}, "axes is 'm', expected a list"),
        ({"axes": ["m", "m"]}, "'m' names two fields"),
        ({"regime": ["m"]}, "'m' names two fields"),
        ({"regime": [7]}, "regime[1] is 7"),
        ({"spread": {"mode": "t"}}, "spread.mode is 't'"),
        ({"where": [{"column": "a", "like": "b"}]}, "where[1] is"),
        ({"where": [{"column": "a", "in": "b"}]}, "where[1] is"),
        ({"where": [{"column": "a", "min": "b"}]}, "where[1] is"),
        ({"path": "("}, "path is '(', expected a regular expression"),
        ({"constants": {"a": [1]}}, "constants.a is [1]"),
        ({"backend": "k"}, "backend is 'k', expected a field of the regime"),
        ({"feasible": "m + 1"}, "feasible: 'm + 1' is no boolean"),
        ({"policy": {"method": "magic"}}, "policy.method is 'magic'"),
        ({"name": "a b"}, "name is 'a b', expected a name"),
    ],
)
def test_a_problem_names_key_and_value(tmp_path: Path, changes: dict[str, Any], part: str) -> None:
    assert part in problem(tmp_path, **changes)


def test_a_file_that_is_no_declaration(tmp_path: Path) -> None:
    for content in (b"- a\n- b\n", b"a: [", b"\xff", b"a: 1\na: 2\n"):
        (tmp_path / "d.yaml").write_bytes(content)
        with pytest.raises(SourceError):
            read_declaration(tmp_path / "d.yaml")


def test_the_shipped_declarations_are_found_by_name() -> None:
    names = shipped_declarations()
    assert set(names) >= {
        "aiconfigurator_gemm",
        "aiconfigurator_context_attention",
        "vidur_mlp",
        "vidur_all_reduce",
        "llmservingsim_dense",
        "llmservingsim_attention",
    }
    for name in names:
        told = read_declaration(name)
        assert told.name == name
        assert set(told.source) >= {"repository", "commit", "licence"}
    with pytest.raises(SourceError, match="vidur_mlp"):
        read_declaration("vidur_mpl")


@pytest.mark.parametrize(
    "text",
    [
        "m",
        "m >",
        "n > 1",
        "'a' = m",
        "m > (select 1)",
        "exp(m) > 1",
        "a.m > 1",
        "m > 1; m > 2",
        "(m > 1) + 1 > 0",
        "not m",
        "m > 1 and k",
        "m between 1 and 2",
        7,
    ],
)
def test_a_predicate_may_only_compare_axes(text: Any) -> None:
    assert feasible_problem(text, ["m", "k"]) is not None


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("m <= k", lambda m, k: m <= k),
        ("m * k < 16 or m = 4", lambda m, k: m * k < 16 or m == 4),
        ("not (m = 1 or k <> 8)", lambda m, k: not (m == 1 or k != 8)),
        ("-m + k / 2 >= m % 3", lambda m, k: -m + k / 2 >= m % 3),
        ("m > 0 and 1 < 2", lambda m, k: True),
        ("k > 100", lambda m, k: False),
    ],
)
def test_feasible_cells_are_counted(text: str, holds: Callable[[float, float], bool]) -> None:
    m, k = [1.0, 2.0, 4.0], [1.0, 2.0, 8.0]
    assert feasible_problem(text, ["m", "k"]) is None
    assert feasible_count(text, ["m", "k"], [m, k]) == sum(holds(a, b) for a in m for b in k)


def test_gemm_of_these_tests_is_a_declaration(tmp_path: Path) -> None:
    assert read_declaration(write_declaration(tmp_path)).content == GEMM
