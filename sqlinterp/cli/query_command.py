"""``sqlinterp query``: the kernel-query protocol on stdin and stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlinterp.cli.options import Database
from sqlinterp.protocol import answer_bytes, schemas, write_document
from sqlinterp.protocol.failures import RequestError, error_document

_VERBS = ("grid", "eval", "eval_coords")


def _write(document: Any) -> None:
    sys.stdout.buffer.write(write_document(document))
    sys.stdout.buffer.flush()


def _show_schemas(wanted: bool) -> None:
    if wanted:
        _write(schemas())
        raise typer.Exit()


_Verb = Annotated[
    str | None,
    typer.Argument(
        metavar="VERB",
        help="grid, eval or eval_coords: the request is made of the options. Without, it is read"
        " from stdin.",
        show_default=False,
    ),
]
_Version = Annotated[str, typer.Option(metavar="KEY", help="Exact version key.")]
_Kind = Annotated[str, typer.Option(metavar="KERNEL", help="Kernel.")]
_Config = Annotated[
    str, typer.Option(metavar="JSON", help="Fields of the regime, as text or @FILE.")
]
_Points = Annotated[str, typer.Option(metavar="JSON", help="Points of eval, as text or @FILE.")]
_Explain = Annotated[bool, typer.Option("--explain", help="Name the measured points.")]
_Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 5 when a verdict of fidelity is 'fail'.")
]
_Schema = Annotated[
    bool,
    typer.Option(
        "--schema",
        callback=_show_schemas,
        is_eager=True,
        help="Write the JSON Schemas of all requests and responses.",
    ),
]


def query(
    context: typer.Context,
    verb: _Verb = None,
    db: Database = None,
    version: _Version = "",
    kind: _Kind = "",
    config: _Config = "{}",
    points: _Points = "[]",
    explain: _Explain = False,
    strict: _Strict = False,
    schema: _Schema = False,
) -> None:
    """Answer one JSON request on stdin (grid, eval, eval_coords, fidelity, suggest) on stdout.

    Exactly one JSON document is written, of an error too.

    Exit codes: 0 answered, 2 bad request, 3 data or database, 4 truth command, 5 strict verdict.
    """
    try:
        if context.args:
            raise RequestError(f"unknown arguments: {' '.join(context.args)}")
        told = {"version": version, "kind": kind, "config": config, "points": points}
        content = sys.stdin.buffer.read() if verb is None else _request(verb, told, explain)
    except Exception as error:
        document, code = error_document(error)
    else:
        document, code = answer_bytes(content, db, strict)
    _write(document)
    raise typer.Exit(code)


def _request(verb: str, told: dict[str, str], explain: bool) -> bytes:
    """Return the request that the options amount to."""
    if verb not in _VERBS:
        raise RequestError(f"'{verb}' is no verb", known=_VERBS)
    request: dict[str, Any] = {"protocol": 1, "op": verb, "config": _json("config", told["config"])}
    request |= {"version": told["version"], "kind": told["kind"]}
    if verb != "grid":
        request |= {"query_points": _json("points", told["points"]), "explain": explain}
    return json.dumps(request).encode()


def _json(option: str, text: str) -> Any:
    """Return JSON that is given as text, or in a file as ``@FILE``."""
    try:
        return json.loads(Path(text[1:]).read_bytes() if text.startswith("@") else text)
    except (ValueError, OSError) as error:
        raise RequestError(f"--{option} is no JSON: {error}") from error
