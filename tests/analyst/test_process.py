"""The process of a query: it ends with its caller, and knows nothing of its environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_for

from sqlinterp.analyst import run_sql
from sqlinterp.errors import DatabaseError, QueryError, UsageError

LONG = "SELECT levenshtein(repeat('a', 400000), repeat('b', 400000))"
REPOSITORY = Path(__file__).resolve().parents[2]
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    try:
        return [int(n) for task in tasks.iterdir() for n in (task / "children").read_text().split()]
    except OSError:
        return []


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def busy(database: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that runs a query that takes long, and the process of the query."""
    (tmp_path / "tmp").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "TMPDIR": str(tmp_path / "tmp"),
        "SECRET": "hidden",
        "NO_COLOR": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "sqlinterp", "sql", "--db", str(database), LONG],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            assert wait_for(lambda: bool(children(process.pid)))
            query = children(process.pid)[0]
            # More time than it takes to start: the query is running.
            assert wait_for(lambda: processor_seconds(query) > 0.8)
            yield process, query
        finally:
            process.kill()


@needs_proc
def test_an_interrupt_ends_the_query(
    busy: tuple[subprocess.Popen[str], int], tmp_path: Path
) -> None:
    process, query = busy
    process.send_signal(signal.SIGINT)
    output, messages = process.communicate(timeout=20)
    assert process.returncode == 130
    assert output == "" and "Traceback" not in messages
    assert not is_running(query)
    assert list((tmp_path / "tmp").iterdir()) == []


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_query_ends_with_its_command(
    busy: tuple[subprocess.Popen[str], int], tmp_path: Path, number: signal.Signals
) -> None:
    process, query = busy
    process.send_signal(number)
    process.wait(timeout=20)
    assert wait_for(lambda: not is_running(query))
    assert wait_for(lambda: list((tmp_path / "tmp").iterdir()) == [])


@needs_proc
def test_the_environment_is_not_handed_over(busy: tuple[subprocess.Popen[str], int]) -> None:
    _, query = busy
    given = Path(f"/proc/{query}/environ").read_bytes().split(b"\0")
    names = {item.partition(b"=")[0] for item in given if item}
    assert b"PATH" in names
    assert names <= {b"PATH", b"LD_LIBRARY_PATH", b"TZ", b"LC_CTYPE"}


@needs_proc
def test_a_query_whose_process_is_ended_is_an_error(
    busy: tuple[subprocess.Popen[str], int],
) -> None:
    process, query = busy
    os.kill(query, signal.SIGSEGV)
    output, messages = process.communicate(timeout=20)
    assert (process.returncode, output) == (4, "")
    assert "ended its process (SIGSEGV)" in messages and "Traceback" not in messages


def test_what_is_no_database_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no such database file"):
        run_sql(tmp_path / "absent.duckdb", "SELECT 1")
    (tmp_path / "text.duckdb").write_text("no database at all")
    with pytest.raises(DatabaseError, match="no DuckDB database"):
        run_sql(tmp_path / "text.duckdb", "SELECT 1")


def test_parameters_that_cannot_be_handed_over(database: Path) -> None:
    with pytest.raises(UsageError, match="cannot be handed over"):
        run_sql(database, "SELECT ?", [lambda: 1])
    with pytest.raises(QueryError):
        run_sql(database, "SELECT ?", [object()])


def test_a_relative_path_and_a_relative_import_path(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(database.parent)
    monkeypatch.syspath_prepend("")
    assert run_sql("profiling.duckdb", "SELECT count(*) FROM point").fetchall() == [(3,)]
