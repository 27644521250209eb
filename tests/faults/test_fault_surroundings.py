"""A full disk, a folder that cannot be written, sources that change while they are read."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from faults_support import Place, digest

import sqlinterp
from sqlinterp.errors import SourceError
from sqlinterp.ingestion import reading, run

_CAPABILITIES_3 = 0x20080522
_OVERRIDES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@dataclass(frozen=True)
class FileSizeLimit:
    """Let no file of the process that this runs in grow beyond a size, as a full disk does."""

    size: int

    def __call__(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.size))


def heed_permissions() -> None:
    """Give up the rights of root to read and write whatever the permissions are, no others."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    # Effective, permitted and inheritable, for the first 32 capabilities and for the others.
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    for place in range(3):
        sets[place] &= ~_OVERRIDES
    assert libc.capset(header, sets) == 0


@pytest.mark.parametrize("size", [50_000, 500_000, 1_000_000])
def test_a_disk_that_is_full(size: int, place: Place) -> None:
    for is_new in (True, False):
        if not is_new:
            sqlinterp.ingest([place.sources], place.database)
            place.write(2.0)
        before = place.database.read_bytes() if not is_new else None
        done = place.run(place.ingest, FileSizeLimit(size))
        assert done.code == 4, done
        assert "Traceback" not in done.output and "p.duckdb" in done.output
        assert place.litter() == []
        assert (place.database.read_bytes() if place.database.exists() else None) == before


@pytest.fixture
def ingested(place: Place) -> Iterator[Place]:
    """A place with a database file; whatever permissions a test gives it end with the test."""
    if sys.platform != "linux":
        pytest.skip("how root gives up rights is only known for Linux")
    sqlinterp.ingest([place.sources], place.database)
    yield place
    place.folder.chmod(0o755)


def test_a_folder_that_cannot_be_written(ingested: Place) -> None:
    ingested.folder.chmod(0o555)
    before = digest(ingested.database)
    writers = [ingested.ingest, ["migrate", "--db", ingested.database]]
    new = ["ingest", ingested.sources, "--db", ingested.folder / "new" / "p.duckdb"]
    for arguments in (*writers, new):
        done = ingested.run(arguments, heed_permissions)
        assert done.code == 4, done
        assert "Permission denied" in done.output and "Traceback" not in done.output
    done = ingested.run(["sql", "--db", ingested.database, "SELECT 41 + 1 AS x"], heed_permissions)
    assert done.code == 0 and "42" in done.output
    assert digest(ingested.database) == before and ingested.litter() == []


def test_a_file_that_is_read_only_is_not_replaced(ingested: Place) -> None:
    ingested.database.chmod(0o444)
    before = ingested.database.read_bytes()
    done = ingested.run(ingested.ingest, heed_permissions)
    assert done.code == 4 and "the file is read-only" in done.output
    assert ingested.database.read_bytes() == before and ingested.litter() == []


def test_a_file_that_cannot_be_read(ingested: Place) -> None:
    ingested.database.chmod(0o000)
    for arguments in (ingested.ingest, ["views", "--db", ingested.database]):
        done = ingested.run(arguments, heed_permissions)
        assert done.code == 4 and "Traceback" not in done.output, done


def test_a_source_folder_that_cannot_be_read(ingested: Place) -> None:
    closed = ingested.sources / "d" / "closed"
    closed.mkdir()
    closed.chmod(0o000)
    arguments = [*ingested.ingest, "--strict"]
    done = ingested.run(arguments, heed_permissions)
    assert f"error: {closed}: cannot be read: Permission denied" in done.output
    assert done.code == 3


@dataclass
class Change:
    """Changes a file in the moment between its inspection and its reading."""

    path: Path
    content: bytes | None
    keeps_times: bool = False

    def __call__(self, *given: object) -> reading.Inspected:
        found = reading.inspect(*given)  # type: ignore[arg-type]
        times = os.stat(self.path)
        if self.content is None:
            self.path.unlink()
        else:
            self.path.write_bytes(self.content)
        if self.keeps_times:
            os.utime(self.path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return found


@pytest.mark.parametrize("keeps_times", [False, True])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_csv_that_changes_while_it_is_read(
    keeps_times: bool, is_old: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlinterp.ingest([place.sources], place.database)
    before = place.database.read_bytes()
    place.write(2.0)
    csv = place.version / "MatMulV2.csv"
    if is_old:
        os.utime(csv, (1_000_000_000, 1_000_000_000))
    other = csv.read_bytes().replace(b",128.0", b",129.0")
    assert len(other) == len(csv.read_bytes()) and other != csv.read_bytes()
    monkeypatch.setattr(run, "inspect", Change(csv, other, keeps_times))
    with pytest.raises(SourceError, match=r"MatMulV2.csv: was changed while it was read"):
        sqlinterp.ingest([place.sources], place.database)
    assert place.database.read_bytes() == before and place.litter() == []
    monkeypatch.undo()
    sqlinterp.ingest([place.sources], place.database)
    with sqlinterp.open(place.database) as database:
        rows = "select latency_us from measurement order by 1"
        assert database.sql(rows).fetchall() == [(32,), (129,), (512,)]


def test_a_csv_that_goes_away_while_it_is_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv = place.version / "MatMulV2.csv"
    monkeypatch.setattr(run, "inspect", Change(csv, None))
    with pytest.raises(SourceError, match=r"MatMulV2.csv: cannot be read any more: No such file"):
        sqlinterp.ingest([place.sources], place.database)
    assert place.litter() == [] and not place.database.exists()


def test_a_csv_that_is_only_touched_is_what_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv = place.version / "MatMulV2.csv"
    monkeypatch.setattr(run, "inspect", Change(csv, csv.read_bytes()))
    assert sqlinterp.ingest([place.sources], place.database).total("rows_stored") == 3


def test_a_place_on_another_file_system(place: Place) -> None:
    other = Path("/dev/shm")
    if not os.access(other, os.W_OK) or os.stat(other).st_dev == os.stat(place.folder).st_dev:
        pytest.skip("there is no second file system to write to")
    folder = Path(tempfile.mkdtemp(dir=other))
    try:
        sqlinterp.ingest([place.sources], folder / "p.duckdb")
        place.write(2.0)
        sqlinterp.ingest([place.sources], folder / "p.duckdb")
        assert [file.name for file in folder.iterdir()] == ["p.duckdb"]
    finally:
        shutil.rmtree(folder)
