"""One request in, one document out: the protocol without its streams."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlinterp.database import database_path
from sqlinterp.interrupts import is_interrupt
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.points import kernel_context, kernel_regimes, point_policy
from sqlinterp.model import QueryContext
from sqlinterp.protocol.documents import read_request
from sqlinterp.protocol.evaluation import evaluate
from sqlinterp.protocol.failures import OK, STRICT_FAILED, RequestError, error_document
from sqlinterp.protocol.grid import grid_fields
from sqlinterp.protocol.groups import resolve
from sqlinterp.session import ProfilingDatabase

Document = dict[str, Any]


def answer_bytes(
    content: bytes, database: str | os.PathLike[str] | None = None, strict: bool = False
) -> tuple[Document, int]:
    """Answer a request that came as bytes; nothing is raised but interrupts.

    Parameters
    ----------
    database : path, optional
        Database file of requests that name none; by default ``$SQLINTERP_DB``, then
        ``profiling.duckdb``.
    strict : bool
        Whether a failed verdict of ``fidelity`` is told by the exit code.

    Returns
    -------
    document : dict
        The response, or ``{"error": {"code", "message", "known"}}``.
    exit_code : int
        0 answered, 2 bad request, 3 data or database, 4 truth command, 5 strict verdict.
    """
    try:
        document = answer_request(read_request(content), database)
    except Exception as error:  # the document is what the caller reads
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        return error_document(error)
    is_failed = any(region.get("verdict") == "fail" for region in document.get("regions", ()))
    return document, STRICT_FAILED if strict and is_failed else OK


def answer_request(request: Document, database: str | os.PathLike[str] | None = None) -> Document:
    """Answer a request that its schema has accepted.

    Raises
    ------
    SqlinterpError
        If it cannot be answered; ``code`` and ``known`` say why.
    """
    path = database_path(request.get("db") or database)
    if request["op"] == "fidelity":
        from sqlinterp.fidelity.requests import answer_fidelity

        return answer_fidelity(path, request)
    if request["op"] == "suggest":
        from sqlinterp.fidelity.requests import answer_suggest

        return answer_suggest(path, request)
    with open_exactly(path, request["version"]) as opened:
        return _answer_points(opened, request)


def open_exactly(path: Path, version: str) -> ProfilingDatabase:
    """Open a version by its whole key.

    Raises
    ------
    RequestError
        If the file has no version with just this key.
    """
    from sqlinterp.database import connect_reader
    from sqlinterp.migrations import check_current

    connection = connect_reader(path)
    try:
        check_current(connection, path)
        found = connection.execute(
            "select version_key from profile_version where kind = 'kernel' order by version_key"
        )
        known = [row[0] for row in found.fetchall()]
    finally:
        connection.close()
    if version not in known:
        raise RequestError(f"there is no version '{version}'", "unknown_version", known)
    return ProfilingDatabase(path, version, QueryContext())


def _answer_points(opened: ProfilingDatabase, request: Document) -> Document:
    kernel = request["kind"]
    with opened.services() as services:
        catalog, statements = services.catalog, services.statements
        known = catalog.kernel_names
        if kernel not in known:
            raise RequestError(f"there is no kernel '{kernel}'", "unknown_kind", known)
        regimes = kernel_regimes(services, kernel)
        told = settings(request.get("policy") or {}, regimes[0].axes)
        context = kernel_context(opened.context, kernel, told)
        services = Engine(statements, catalog, context).services
        groups = resolve(regimes, request["config"], catalog.version_key.split("/")[0])
        file = catalog.file_of(groups.groups[0].regimes[0].file_id)
        head = {
            "protocol": 1, "op": request["op"], "kind": kernel, "version": catalog.version_key,
            "policy_hash": point_policy(services, file).sha256,
            "schema_version": statements.run("protocol.schema_version")[0]["id"],
        }  # fmt: skip
        if request["op"] == "grid":
            return {**head, **grid_fields(services, groups)}
        points, explain = request["query_points"], request.get("explain", False)
        return {**head, "results": evaluate(services, groups, kernel, points, explain)}


def settings(policy: Mapping[str, Any], axes: tuple[str, ...]) -> dict[str, Any]:
    """Return the policy of a request as fields of ``interpolation_policy``.

    Raises
    ------
    RequestError
        If it asks for what lookups do not have.
    """
    told = {key: value for key, value in policy.items() if value is not None}
    if told.pop("respect_boundaries", False):
        raise RequestError("policy.respect_boundaries is not available; only false is")
    transforms = told.pop("axis_transform", {})
    unknown = [axis for axis in transforms if axis not in axes]
    if unknown:
        raise RequestError(
            f"policy.axis_transform names '{unknown[0]}', which is no axis", known=axes
        )
    curved = {axis: kind for axis, kind in transforms.items() if kind != "identity"}
    if curved and curved != {"seq": "sqrt"}:
        what = "policy.axis_transform: only 'sqrt' of 'seq' is available for lookups"
        raise RequestError(f"{what}; other axes can be declared with a transform")
    if transforms:
        told["axis_transform"] = "sqrt" if curved else "linear"
    return told
