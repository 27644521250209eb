"""``sqlinterp density``: the rules for how densely axes should be measured, and other ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlinterp.cli.options import Database
from sqlinterp.cli.output import as_text, data_console, print_result, say, write_line
from sqlinterp.database import database_path
from sqlinterp.density import default_text
from sqlinterp.density.apply import rules_in_force, use_rules
from sqlinterp.errors import UsageError

RuleFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="YAML file with rules to use from now on.", show_default=False
    ),
]


def density(
    file: RuleFile = None,
    db: Database = None,
    default: Annotated[
        bool, typer.Option("--default", help="Use the rules that sqlinterp ships again.")
    ] = False,
    template: Annotated[
        bool, typer.Option("--template", help="Print the shipped rules as YAML, to start from.")
    ] = False,
) -> None:
    """Show how densely axes should be measured, or use the rules of FILE for that.

    64..128:+16 means that the value after one from 64 to 128 may be 16 larger, x2 that it may be
    twice as large. Beside it stand the axes of regimes that the rule is about, the gaps that break
    it, and the values missing there, which the views 'coverage_axis' and 'density_gap' show one by
    one. Other rules need no new ingest.
    """
    if sum((file is not None, default, template)) > 1:
        raise UsageError("FILE, --default and --template exclude each other")
    if template:
        write_line(default_text().rstrip("\n"))
        return
    path = database_path(db)
    if file is not None or default:
        use_rules(path, file)
    found = rules_in_force(path)
    origin = "shipped with sqlinterp" if found.is_default else f"from {found.file_name}"
    count = len(found.rules)
    say(f"{count} rule{'s' * (count != 1)} {origin}")
    columns = ["rule", "axis", "of", "limits", "required", "axes", "gaps", "missing"]
    cells = [_cells(rule) for rule in found.rules]
    print_result(data_console(), columns, cells, columns[-3:])


def _cells(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    paths = ", ".join(rule["paths"])
    about = [text for text in (paths, _some(rule["kernels"])) if text]
    limits = " ".join(_limit(limit) for limit in rule["limits"])
    required = " ".join(as_text(value) for value in rule["required"])
    counts = (rule["axis_count"], rule["gap_count"], rule["missing_count"])
    return (
        rule["rule_name"],
        rule["axis_name"],
        "; ".join(about) or "any",
        limits,
        required,
        *counts,
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:1]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _limit(limit: Mapping[str, float | None]) -> str:
    """Return a limit like ``64..128:+16`` or ``1024..:x2``.

    Examples
    --------
    >>> _limit({"range_from": 64.0, "range_to": 128.0, "max_gap": 16.0, "max_ratio": None})
    '64..128:+16'
    """
    ends = f"{as_text(limit['range_from'])}..{as_text(limit['range_to'])}"
    gap, ratio = limit["max_gap"], limit["max_ratio"]
    steps = [f"+{as_text(gap)}" if gap else "", f"x{as_text(ratio)}" if ratio else ""]
    return f"{ends}:{','.join(step for step in steps if step)}"
