"""The options of ``sqlinterp fidelity``, and the requests that they amount to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlinterp.database import database_path
from sqlinterp.errors import UsageError
from sqlinterp.fidelity import SCHEMES, Compare, Options, Request, Truth
from sqlinterp.fidelity.results import BAR


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


# What --set understands: how the text is read, and what it belongs to.
_SETTINGS: dict[str, tuple[Callable[[str], Any], str]] = {
    "keep_every": (int, "options"),
    "factors": (_numbers, "options"),
    "cells": (int, "options"),
    "k": (int, "options"),
    "normalize": (_flag, "version"),
    "timeout_s": (float, "command"),
    "batch": (int, "command"),
    "generated": (_flag, "request"),
    "small_us": (float, "request"),
    "min_region_n": (int, "request"),
    "limit_groups": (int, "request"),
}
_NAMES = {"normalize": "is_normalized", "generated": "is_generated"}

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder for fidelity.json, .md and .html, probes.csv and regions.csv.",
        show_default=False,
    ),
]
Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel", metavar="NAME", help="Only this kernel; may be repeated.", show_default=False
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        "--path", metavar="NAME", help="Only this lookup path; may be repeated.", show_default=False
    ),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE",
        help="Only regimes with this field; may be repeated, or be a JSON object.",
        show_default=False,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="SQL",
        help="Only regimes with this condition over their fields.",
        show_default=False,
    ),
]
Scheme = Annotated[
    list[str] | None,
    typer.Option(
        "--scheme",
        "--split",
        metavar="NAME",
        help=f"What leaves together: {', '.join(SCHEMES)}; may be repeated. By default loo.",
        show_default=False,
    ),
]
Axis = Annotated[
    str | None,
    typer.Option(
        "--axis", metavar="NAME", help="Only along this axis, such as M or seq.", show_default=False
    ),
]
TruthVersion = Annotated[
    str | None,
    typer.Option(
        "--truth-version",
        metavar="KEY",
        help="The truth is another version, if it passes the drift gate.",
        show_default=False,
    ),
]
TruthTable = Annotated[
    Path | None,
    typer.Option(
        "--truth-table",
        metavar="FILE",
        help="The truth is a CSV or Parquet file.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="OURS=THEIRS",
        help="A column of --truth-table by our name: an axis, a field, time_us; may be repeated.",
        show_default=False,
    ),
]
TruthProgram = Annotated[
    str | None,
    typer.Option(
        "--truth-command",
        metavar="JSON",
        help="The truth is a program: its words as a JSON list. No shell.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help=f"One of {', '.join(_SETTINGS)}.", show_default=False
    ),
]
PolicyFields = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="JSON",
        help="Policy fields that win over those of the kernels.",
        show_default=False,
    ),
]
Other = Annotated[
    str | None,
    typer.Option(
        "--compare",
        metavar="JSON",
        help='Asked on the same probes: {"policy": {...}}, {"version": "..."} or {"kind": "..."}.',
        show_default=False,
    ),
]
Bar = Annotated[float, typer.Option("--bar", help="Good is within a factor of 1 + bar.")]
Most = Annotated[
    int,
    typer.Option("--max-probes", "--limit", metavar="N", min=1, help="Most probes of a regime."),
]
Every = Annotated[bool, typer.Option("--all", help="All probes of every regime.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Decides which probes are drawn.")]
ByOperator = Annotated[
    bool,
    typer.Option("--through-operators", help="Ask by operators, on a copy of the file; slower."),
]
Record = Annotated[
    bool,
    typer.Option("--record", help="Keep the runs in the database file, for the views fidelity_*."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 5 if a region fails.")]
DEFAULT_BAR = BAR


def requests_of(told: Mapping[str, Any]) -> list[Request]:
    """Return the requests that the values of the options amount to, one for each truth.

    Raises
    ------
    UsageError
        If a value makes no sense, or several truths are given.
    """
    settings = _settings(told["settings"] or ())
    salt = {"salt": str(told["seed"]), "axis": told["axis"]}
    given = Options(**settings["options"], **salt)
    base = Request(
        database=database_path(told["db"]), version=told["version"],
        kernels=tuple(told["kernel"] or ()), paths=tuple(told["path"] or ()),
        config=config_of(told["config"]), where=told["where"],
        policy=json_of(told["policy"], "--policy"), compare=_compare(told["compare"]),
        bar=told["bar"], max_probes=None if told["every"] else told["max_probes"],
        aggregation=told["aggregation"], is_by_operator=told["through_operators"],
        **settings["request"],
    )  # fmt: skip
    return [replace(base, truth=truth) for truth in _truths(told, given, settings)]


def _truths(
    told: Mapping[str, Any], given: Options, settings: Mapping[str, dict[str, Any]]
) -> list[Truth]:
    names = ("truth_version", "truth_table", "truth_command", "scheme")
    if sum(bool(told[name]) for name in names) > 1:
        raise UsageError("several truths were given", expected="one of them, or --scheme")
    if told["truth_version"]:
        more = settings["version"]
        return [Truth("version", options=given, version=told["truth_version"], **more)]
    if told["truth_table"]:
        columns = pairs_of(told["column"] or (), "--column")
        return [Truth("table", options=given, path=told["truth_table"], column_map=columns)]
    if told["truth_command"]:
        argv = json_of(told["truth_command"], "--truth-command")
        if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
            raise UsageError("is no JSON list of texts", "--truth-command", '["program", "word"]')
        return [Truth("command", options=given, argv=tuple(argv), **settings["command"])]
    return [Truth(scheme=name, options=given) for name in dict.fromkeys(told["scheme"] or ["loo"])]


def _settings(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the values of --set by what they belong to."""
    found: dict[str, dict[str, Any]] = {"options": {}, "version": {}, "command": {}, "request": {}}
    for name, text in pairs_of(texts, "--set").items():
        if name not in _SETTINGS:
            raise UsageError(f"'{name}' is unknown", "--set", ", ".join(_SETTINGS))
        read, part = _SETTINGS[name]
        try:
            found[part][_NAMES.get(name, name)] = read(text)
        except (ValueError, KeyError) as error:
            raise UsageError(f"'{text}' is no value of {name}", "--set") from error
    return found


def pairs_of(texts: Sequence[str], where: str) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a mapping.

    Raises
    ------
    UsageError
        If one has no name or no value.
    """
    pairs = [text.split("=", 1) for text in texts]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise UsageError("is no NAME=VALUE", where)
    return {pair[0]: pair[1] for pair in pairs}


def config_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the wanted fields of regimes: pairs, or JSON objects."""
    told: dict[str, Any] = {}
    for text in texts or ():
        is_json = text.lstrip().startswith("{")
        told.update(json_of(text, "--config") if is_json else pairs_of([text], "--config"))
    return told


def _compare(text: str | None) -> Compare | None:
    told = json_of(text, "--compare")
    if told is None:
        return None
    if not isinstance(told, dict) or not told or not set(told) <= {"policy", "version", "kind"}:
        raise UsageError("is no comparison", "--compare", 'an object with "policy", "version" ...')
    return Compare(told.get("policy"), told.get("version"), told.get("kind"))


def json_of(text: str | None, where: str) -> Any:
    """Return the value of a JSON option, None when it was not given.

    Raises
    ------
    UsageError
        If it is no JSON.
    """
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is no JSON: {error}", where) from error
