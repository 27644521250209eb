"""The rules of the code base, read from its syntax: sizes, layers, and what importing loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "sqlinterp"
FILES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
MAX_LINES, MAX_FUNCTION, MAX_ARGUMENTS = 300, 40, 6
LAYERS = (
    (
        "errors",
        "forks",
        "given",
        "interrupts",
        "memo",
        "model",
        "parts",
        "version",
        "resources",
        "retiring",
        "strict_yaml",
    ),
    ("database", "queries", "locks", "publishing"),
    (
        "migrations",
        "interpolation",
        "simplices",
        "certified_cell",
        "paths",
        "policy",
        "density",
        "extrapolation",
    ),
    ("definitions",),
    ("lookup", "ingestion"),
    ("opened", "relational", "export"),
    (
        "session",
        "analyst",
        "demo",
        "upgrade",
        "simulator",
        "fidelity",
        "reports",
        "declared",
        "protocol",
        "spark",
    ),
    ("cli", "__main__"),
)
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}
HEAVY = ("pandas", "scipy", "sqlglot", "numpy", "duckdb")
SCIPY_USERS = ("interpolation.py", "simplices.py")


def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def part(name: str) -> str:
    """The module or subpackage directly below ``sqlinterp`` that a file belongs to."""
    return name.split("/")[0].removesuffix(".py")


def imports(name: str) -> Iterator[str]:
    """Dotted names that a file imports, in functions too."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{name}: relative import"
            yield node.module
            if node.module == "sqlinterp":
                yield from (f"sqlinterp.{alias.name}" for alias in node.names)


def functions(name: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_there_are_files() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_short(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("name", FILES)
def test_the_functions_are_short_and_take_few_arguments(name: str) -> None:
    problems = []
    for function in functions(name):
        length = (function.end_lineno or 0) - function.lineno + 1
        if length > MAX_FUNCTION:
            problems.append(f"{function.name} has {length} lines")
        given = function.args
        count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
        names = [argument.arg for argument in (*given.posonlyargs, *given.args)]
        count -= names[:1] in (["self"], ["cls"])
        if count > MAX_ARGUMENTS and part(name) != "cli":
            problems.append(f"{function.name} takes {count} arguments")
    assert not problems, problems


@pytest.mark.parametrize("name", [name for name in FILES if name != "__init__.py"])
def test_imports_point_down(name: str) -> None:
    own = part(name)
    problems = []
    for module in imports(name):
        names = module.split(".")
        if names[0] != "sqlinterp" or len(names) == 1 or names[1] in ("__version__", own):
            continue
        if LAYER_OF.get(names[1], -1) > LAYER_OF[own]:
            problems.append(module)
    assert not problems, problems


def test_every_module_has_a_layer() -> None:
    assert {part(name) for name in FILES} - {"__init__"} <= set(LAYER_OF)


@pytest.mark.parametrize("name", FILES)
def test_only_the_command_line_prints_and_only_database_connects(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called != "print" or part(name) == "cli", node.lineno
            assert called != "duckdb.connect" or name == "database.py", node.lineno


@pytest.mark.parametrize("name", FILES)
def test_only_the_interpolation_imports_scipy(name: str) -> None:
    uses = [module for module in imports(name) if module.split(".")[0] == "scipy"]
    assert not uses or name in SCIPY_USERS


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, sqlinterp; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert done.stdout.strip() == "[]"


def test_no_two_test_modules_have_one_name() -> None:
    """Test folders are no packages: modules of one name hide each other."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
