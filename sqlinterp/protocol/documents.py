"""Bytes to a request and a response to bytes: JSON without NaN, checked against the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sqlinterp.model import finite_json
from sqlinterp.protocol.failures import RequestError

OPS = ("grid", "eval", "eval_coords", "fidelity", "suggest")
_MOST_PROBLEMS = 5
_WIDTH = 100


@cache
def schemas() -> dict[str, Any]:
    """Return the JSON Schemas (2020-12) of every request and response, in ``$defs``."""
    path = Path(__file__).with_name("schemas.json")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def problems(document: Any, name: str) -> list[str]:
    """Return what a schema says is wrong with a document, one sentence each.

    Parameters
    ----------
    name : str
        Schema in ``$defs``, e.g. ``grid.request``.
    """
    found = sorted(_validator(name).iter_errors(document), key=lambda error: str(error.json_path))
    return [f"{error.json_path}: {error.message[:300]}" for error in found]


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schemas()["$defs"]})


def read_request(content: bytes) -> dict[str, Any]:
    """Return the request that the bytes are.

    Raises
    ------
    RequestError
        If they are no UTF-8, no JSON, no object, of an unknown op, or not as its schema says.
    """
    try:
        request = json.loads(content.decode("utf-8-sig"), parse_constant=_refused,
                             object_pairs_hook=_unique)  # fmt: skip
    except UnicodeDecodeError as error:
        raise RequestError(f"the request is not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise RequestError("the request is nested too deeply") from error
    except ValueError as error:
        raise RequestError(f"the request is no JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestError("the request is no JSON object")
    op = request.get("op")
    if op == "peak":
        raise RequestError(
            "op 'peak' needs rates of the device, which tables do not hold", known=OPS
        )
    if not isinstance(op, str) or op not in OPS:
        raise RequestError(f"op {json.dumps(op)[:100]} is unknown", known=OPS)
    try:
        found = problems(request, f"{op}.request")
    except RecursionError as error:
        raise RequestError("the request is nested too deeply") from error
    if found:
        more = len(found) - _MOST_PROBLEMS
        text = "; ".join(found[:_MOST_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
        raise RequestError(f"the request is not as its schema says: {text}")
    return request


def write_document(document: Any) -> bytes:
    """Return a document as UTF-8 with a newline at its end; what is not finite becomes null.

    Lists and objects that fit on one line are written on one.
    """
    return (_text(finite_json(document), 0) + "\n").encode("utf-8", "backslashreplace")


def _text(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (dict, list)) or len(flat) + 2 * depth <= _WIDTH:
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        return flat
    if isinstance(value, list):
        items = [f"{inner}{_text(item, depth + 1)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{outer}]"
    items = [
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(item, depth + 1)}"
        for key, item in value.items()
    ]
    return "{\n" + ",\n".join(items) + f"\n{outer}}}"


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, refuse one that repeats a key: which value counts would be a guess."""
    told: dict[str, Any] = {}
    for key, value in pairs:
        if key in told:
            raise ValueError(f"the key {json.dumps(key)[:100]} repeats")
        told[key] = value
    return told
