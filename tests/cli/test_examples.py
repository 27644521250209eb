"""Every command shows examples of itself, with options that it has."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from sqlinterp.cli.app import app
from sqlinterp.cli.examples import EXAMPLES

NAMES = [
    command.name or command.callback.__name__  # type: ignore[union-attr]
    for command in app.registered_commands
]


def test_every_command_has_examples() -> None:
    assert set(NAMES) == set(EXAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_the_help_shows_them_and_their_options(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "160"}).output
    for example in EXAMPLES[name]:
        assert f"$ {example}" in shown
        own = [part for part in re.split(r"&&|\|", example) if f"sqlinterp {name}" in part]
        assert own, example
        for option in re.findall(r"(?<!\S)--[a-z-]+", " ".join(own)):
            assert option in shown.split("For example:")[0], option


def test_the_start_page_says_where_to_begin() -> None:
    assert "sqlinterp quickstart" in CliRunner().invoke(app, ["--help"]).output
