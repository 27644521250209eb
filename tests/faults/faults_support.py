"""What the fault tests share: commands as processes, a place to run them, content as one hash."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, write_version

SIZES = (16, 64, 256)
# What a run leaves in no two files alike.
_TIMES = ("ingested_at", "applied_at", "logged_at")
_LIMIT_S = 120  # for one command on a machine that does much else


@cache
def context() -> ForkServerContext:
    """Processes that are forked from one that has imported everything and opened nothing."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["faults_preload"])
    with pytest.MonkeyPatch.context() as patch:
        # Up to Python 3.12, the process that is forked from does not get the path otherwise.
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()
    return found


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, negative for a signal, and what it wrote."""

    code: int
    output: str


def start(
    arguments: Sequence[str | Path], log: Path, *prepare: Callable[[], None]
) -> ForkServerProcess:
    """Start a command line of sqlinterp in a process of its own, prepared by some functions."""
    given = ([*map(str, arguments)], log, prepare)
    process = context().Process(target=_command, args=given, daemon=True)
    process.start()
    return process


def ended(process: ForkServerProcess, log: Path) -> Ended:
    """Wait for a command."""
    process.join(_LIMIT_S)
    assert process.exitcode is not None, "the command hangs"
    code = process.exitcode
    process.close()
    return Ended(code, log.read_text(errors="replace") if log.exists() else "")


def _command(arguments: list[str], log: Path, prepare: tuple[Callable[[], None], ...]) -> None:
    from sqlinterp.cli import main

    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    try:
        for function in prepare:
            function()
        main(arguments)
    finally:
        sys.setprofile(None)


@dataclass(frozen=True)
class Place:
    """A folder with a database file, and a version directory elsewhere to ingest into it."""

    folder: Path

    @property
    def sources(self) -> Path:
        return self.folder.parent / f"{self.folder.name}-sources"

    @property
    def version(self) -> Path:
        return self.sources / "d" / "b" / "v"

    @property
    def database(self) -> Path:
        return self.folder / "p.duckdb"

    def write(self, scale: float) -> None:
        """Let the product of (m, 64) and (64, 32) take ``scale * m`` us in the CSV."""
        rows = [
            f'"{m},64;64,32",DT_BF16;DT_BF16,ND;ND,"{m},32",DT_BF16,ND,{scale * m}' for m in SIZES
        ]
        files = {"MatMulV2.csv": [MATMUL_HEADER, *rows]}
        write_version(self.version, files, {"aten.mm.default": "MatMulV2"})

    def start(
        self, arguments: Sequence[str | Path], *prepare: Callable[[], None]
    ) -> ForkServerProcess:
        """Start a command."""
        return start(arguments, self._log, *prepare)

    def ended(self, process: ForkServerProcess) -> Ended:
        """Wait for a command that was started."""
        return ended(process, self._log)

    def run(self, arguments: Sequence[str | Path], *prepare: Callable[[], None]) -> Ended:
        """Run a command to its end."""
        return self.ended(self.start(arguments, *prepare))

    @property
    def _log(self) -> Path:
        return self.folder.parent / f"{self.folder.name}.log"

    @property
    def ingest(self) -> list[str | Path]:
        """The command that ingests the CSV."""
        return ["ingest", self.sources, "--db", self.database]

    def litter(self) -> list[str]:
        """What is in the folder besides the database file."""
        return sorted({path.name for path in self.folder.iterdir()} - {self.database.name})


def digest(path: Path) -> str:
    """A hash of every row of every table, times left out, and of the names of the views."""
    total = hashlib.sha256()
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "select table_name, list(column_name order by column_index) from duckdb_columns()"
            " where table_name in (select table_name from duckdb_tables())"
            " group by table_name order by table_name"
        ).fetchall()
        for table, columns in tables:
            names = ", ".join(f'"{name}"' for name in columns if name not in _TIMES)
            found = connection.execute(f"select {names} from {table} order by all").fetchall()
            total.update(repr((table, columns, found)).encode())
        views = "select view_name from duckdb_views() where not internal order by 1"
        total.update(repr(connection.execute(views).fetchall()).encode())
    return total.hexdigest()
