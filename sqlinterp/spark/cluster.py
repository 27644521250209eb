"""The Spark session: found or started, with this package on its workers."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlinterp
from sqlinterp.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a session on one machine needs; a cluster brings its own.
_LOCAL: dict[str, Any] = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def spark_session(given: SparkSession | None) -> SparkSession:
    """Return the given session, the one that is active, or a new one on this machine.

    Raises
    ------
    UsageError
        If pyspark or pyarrow is not installed, or no Java can be started.
    """
    try:
        import pyarrow  # noqa: F401
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(
            f"Spark's packages for Python are not installed ({error.name or error})",
            todo="Run 'pip install \"sqlinterp[spark]\"'.",
        ) from error
    session = given or SparkSession.getActiveSession()
    if session is not None:
        return session
    # Workers on this machine would run the first python3 on the path otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[*]").appName("sqlinterp")
    for name, value in _LOCAL.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.warehouse.dir", tempfile.gettempdir())
    try:
        started: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        raise UsageError(
            "Spark cannot be started", expected="Java 17 or newer",
            todo="Install it, and set JAVA_HOME if it is not on the path.",
        ) from error  # fmt: skip
    return started


def ship_package(session: SparkSession) -> None:
    """Make this package importable on the workers, as it is here."""
    session.sparkContext.addPyFile(str(_archive()))


@cache
def _archive() -> Path:
    """Return this package as an archive that stays until the process ends."""
    root = Path(sqlinterp.__file__).parent
    files = sorted(path for path in root.rglob("*.py") if "_shipped" not in path.parts)
    folder = tempfile.mkdtemp(prefix="sqlinterp-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = Path(folder) / "sqlinterp.zip"
    with zipfile.ZipFile(archive, "w") as package:
        # Packages without __init__.py are found only if their folders have entries.
        for parent in sorted({path.parent for path in files}):
            package.writestr(f"{parent.relative_to(root.parent).as_posix()}/", "")
        for path in files:
            package.write(path, path.relative_to(root.parent).as_posix())
    return archive
