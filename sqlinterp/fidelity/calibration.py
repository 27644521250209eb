"""What recorded runs say of confidence and error, written where answers read it.

Confidence is a label for readers: nothing here changes which answer is given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sqlinterp import queries
from sqlinterp.database import rows
from sqlinterp.migrations import migrate
from sqlinterp.publishing import publishing

SCOPE = "confidence"
LEAST = 20  # answers of a bucket
Row = dict[str, Any]


@dataclass(frozen=True)
class Calibration:
    """What was written.

    Attributes
    ----------
    labels : list of dict
        version_id, kernel_type, path, confidence_from, confidence_to, calibrated, n_answered.
    quantiles : list of dict
        Rows of ``error_quantile``.
    """

    labels: list[Row]
    quantiles: list[Row]


def calibrate(database: Path, kernels: Sequence[str] = (), least: int = LEAST) -> Calibration:
    """Write calibrated confidences into the policies, and error quantiles, from recorded runs.

    Parameters
    ----------
    kernels : sequence of str
        Only these; all when empty. What was written for them before is replaced.
    least : int
        Fewest answers that a bucket is judged by.

    Raises
    ------
    DatabaseError
        If somebody else writes the file, or it cannot be written.
    """
    with publishing(database) as connection:
        migrate(connection)
        connection.execute("begin")
        told = {"kernels": list(kernels)}
        labels = _run(connection, "calibrations", **told, least=least)
        _write_labels(connection, labels, kernels)
        _run(connection, "forget_quantiles", **told)
        _run(connection, "write_quantiles", **told, least=least)
        found = rows(
            connection.execute(
                "select * from error_quantile order by version_id, kernel_type, path,"
                " spread_low nulls last, width_low"
            )
        )
        connection.execute("commit")
        return Calibration(labels, found)


def _run(connection: duckdb.DuckDBPyConnection, query: str, **parameters: Any) -> list[Row]:
    return rows(connection.execute(queries.load(f"fidelity.{query}").body, parameters))


def _write_labels(
    connection: duckdb.DuckDBPyConnection, labels: list[Row], kernels: Sequence[str]
) -> None:
    connection.execute(
        "delete from interpolation_policy where scope = $scope"
        " and (len($kernels) = 0 or list_contains($kernels, subject))",
        {"scope": SCOPE, "kernels": list(kernels)},
    )
    found: dict[tuple[int, str], dict[str, list[list[float]]]] = {}
    for row in labels:
        own = found.setdefault((row["version_id"], row["kernel_type"]), {})
        own.setdefault(row["path"], []).append(
            [row["confidence_from"], row["confidence_to"], row["calibrated"], row["n_answered"]]
        )
    for (version_id, kernel), buckets in found.items():
        connection.execute(
            "insert into interpolation_policy values ($id, $scope, $kernel, $json)",
            {"id": version_id, "scope": SCOPE, "kernel": kernel,
             "json": json.dumps(buckets, sort_keys=True)},
        )  # fmt: skip
