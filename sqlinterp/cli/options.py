"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlinterp.errors import UsageError
from sqlinterp.policy import PRESETS
from sqlinterp.strict_yaml import parse_yaml

Database = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="Database file; by default $SQLINTERP_DB, then profiling.duckdb.",
        show_default=False,
        readable=False,  # what cannot be read is an error of the database, not of the usage
    ),
]
Request = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="File with the invocation as JSON; '-' or nothing reads stdin.",
        show_default=False,
    ),
]
Version = Annotated[
    str | None,
    typer.Option(
        "--version",
        metavar="KEY",
        help="Version key or a unique suffix of it; needed when the file holds several.",
        show_default=False,
    ),
]
EpSize = Annotated[
    int | None, typer.Option("--ep-size", min=1, help="Ranks in the expert-parallel group.")
]
TpSize = Annotated[
    int | None, typer.Option("--tp-size", min=1, help="Ranks in the tensor-parallel group.")
]
CommGrid = Annotated[
    str | None,
    typer.Option(
        "--comm-grid", metavar="48x8x2", help="Device grid, outermost topology tier first."
    ),
]
SequenceParallel = Annotated[
    bool, typer.Option("--sequence-parallel", help="Sequence parallelism is on.")
]
ExactOnly = Annotated[
    bool,
    typer.Option("--disable-profiling-interpolation", help="Answer from measured rows only."),
]
Aggregation = Annotated[
    str,
    typer.Option(
        "--aggregation",
        metavar="NAME",
        help=f"How repeated measurements become one latency: {', '.join(PRESETS)}.",
    ),
]

Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="Interpolation policy of this run, a YAML file or JSON text: the fields of"
        " 'interpolation_policy', which win over those of the mapping.",
        show_default=False,
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Append the answers to 'lookup_log' in this database file; views 'lookup_metrics' and"
        " 'miss_reason' read it.",
        show_default=False,
    ),
]
MetricsFile = Annotated[
    Path | None,
    typer.Option(
        "--export-metrics",
        metavar="FILE",
        help="Write the metrics M1 to M5 and the misses to this file as JSON.",
        show_default=False,
    ),
]
Summary = Annotated[
    bool, typer.Option("--summary", help="Show a table of the answers on stderr at the end.")
]


def read_grid(text: str | None) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return shape and tiers of a device grid written like ``48x8x2``.

    Raises
    ------
    UsageError
        If the text is no grid.

    Examples
    --------
    >>> read_grid("48x8x2")
    ((48, 8, 2), (0, 1, 2))
    """
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d{0,6}(x[1-9]\d{0,6}){0,5}", text):
        raise UsageError(f"'{text}' is no device grid", "--comm-grid", "sizes such as 48x8x2")
    shape = tuple(int(size) for size in text.split("x"))
    return shape, tuple(range(len(shape)))


def read_policy(text: str | None) -> dict[str, Any] | None:
    """Return the policy that a file or a JSON text holds.

    Raises
    ------
    UsageError
        If there is no such file, or it holds no mapping.
    """
    if text is None:
        return None
    try:
        content = text.encode() if text.lstrip().startswith("{") else Path(text).read_bytes()
        found = parse_yaml(content)
    except OSError as error:
        raise UsageError(f"'{text}' cannot be read: {error.strerror}", "--policy") from error
    except ValueError as error:
        raise UsageError(f"the policy {error}", "--policy", "YAML or JSON") from error
    if not isinstance(found, dict):
        raise UsageError("the policy is no mapping", "--policy", "fields of interpolation_policy")
    return found


def query_context(
    ep_size: int | None,
    tp_size: int | None,
    comm_grid: str | None,
    sequence_parallel: bool,
    exact_only: bool,
    aggregation: str,
    policy: str | None = None,
) -> dict[str, Any]:
    """Return the context of a lookup as ``sqlinterp.open`` takes it."""
    return {
        "ep_size": ep_size,
        "tp_size": tp_size,
        "comm_grid": read_grid(comm_grid),
        "sequence_parallel": sequence_parallel,
        "disable_interpolation": exact_only,
        "aggregation": aggregation,
        "policy": read_policy(policy),
    }
