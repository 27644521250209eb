"""Commands that are killed at any point: the old content or the new one, and the way on is free.

A command is killed at moments that a seed draws: half of them at an event of its own (a call that
touches a file or the database), half of them after a time. To have another command killed here,
add a :class:`Victim`.
"""

from __future__ import annotations

import random
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import pytest
from databases_for_tests import MATMUL_HEADER
from faults_support import Place, digest
from kill_events import CountEvents, SignalAt

import sqlinterp
from sqlinterp import migrations
from sqlinterp.database import connect_writer
from sqlinterp.export import check_files, read_manifest

LEFT_BY_A_KILL = {".p.duckdb.lock", ".p.duckdb.building", ".p.duckdb.building.wal"}
EARLY = 12  # events
LAST_EVENTS = 250  # in which the new file takes its place
HALF_OF_THE_MIGRATIONS = 12


class Victim(ABC):
    """A command that is killed again and again in one place."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder / "place")
        self.place.folder.mkdir()
        self.place.write(1.0)

    @property
    @abstractmethod
    def arguments(self) -> Sequence[str | Path]:
        """The command."""

    @abstractmethod
    def reset(self) -> None:
        """Make everything as it was before the command, whatever a killed one left."""

    @abstractmethod
    def check(self) -> str:
        """Return ``old`` or ``new``, after making sure that everything is the one or the other."""

    @abstractmethod
    def finish(self) -> None:
        """Run the command over what a killed one left, and make sure that nothing tells of that."""


class DatabaseVictim(Victim):
    """A command that changes the database file."""

    def prepare(self) -> None:
        """Note what the file is before and after the command."""
        self.old = self.place.database.read_bytes() if self.place.database.exists() else None
        self.run()
        self.new_digest = digest(self.place.database)
        self.reset()

    def run(self) -> None:
        """Run the command to its end."""
        done = self.place.run(self.arguments)
        assert done.code == 0, done.output

    def reset(self) -> None:
        for path in self.place.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.old is not None:
            self.place.database.write_bytes(self.old)

    def check(self) -> str:
        database = self.place.database
        assert set(self.place.litter()) <= LEFT_BY_A_KILL
        if not database.exists():
            assert self.old is None
            return "old"
        if database.read_bytes() == self.old:
            return "old"
        assert digest(database) == self.new_digest
        return "new"

    def finish(self) -> None:
        self.run()
        assert self.place.litter() == []
        assert digest(self.place.database) == self.new_digest


class Reingest(DatabaseVictim):
    """Ingest of a changed CSV into a database file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        sqlinterp.ingest([self.place.sources], self.place.database)
        self.place.write(2.0)
        self.prepare()

    @property
    def arguments(self) -> Sequence[str | Path]:
        return self.place.ingest


class FirstIngest(DatabaseVictim):
    """Ingest into a file that does not exist yet."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.prepare()

    @property
    def arguments(self) -> Sequence[str | Path]:
        return self.place.ingest


class Migrate(DatabaseVictim):
    """Migrations of a file that an older sqlinterp made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        connection = connect_writer(self.place.database)
        for migration in migrations.available()[:HALF_OF_THE_MIGRATIONS]:
            migrations._apply(connection, migration)
        connection.execute(
            "insert into profile_version values"
            " (1, 'd/b/v', 'kernel', '/d/b/v', null, 'x', '{}', now()::timestamp)"
        )
        connection.close()
        self.prepare()

    @property
    def arguments(self) -> Sequence[str | Path]:
        return ["migrate", "--db", self.place.database]


class UpgradeCsv(Victim):
    """Upgrade of three CSVs of an older layout: each of them is the old or the new one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.version = self.place.folder / "v"
        header = MATMUL_HEADER.replace("Duration", "Duration") + ",Average aicore_time(us)"
        row = '"8,64;64,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,{},1'
        self.old = {
            f"K{number}.csv": f"{header}\n{row.format(number)}\n".encode() for number in range(1, 4)
        }
        self.reset()
        assert self.place.run(self.arguments).code == 0
        self.new = self._files()
        assert all(self.new[name] != content for name, content in self.old.items())
        self.reset()

    @property
    def arguments(self) -> Sequence[str | Path]:
        return ["upgrade-csv", self.version, "--to", "current62"]

    def _files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.version.glob("*.csv"))}

    def reset(self) -> None:
        shutil.rmtree(self.version, ignore_errors=True)
        self.version.mkdir()
        for name, content in self.old.items():
            (self.version / name).write_bytes(content)

    def check(self) -> str:
        found = self._files()
        assert found.keys() == self.old.keys()
        for name, content in found.items():
            assert content in (self.old[name], self.new[name])
        return "old" if found == self.old else "new"

    def finish(self) -> None:
        undone = self.place.run(["upgrade-csv", self.version, "--undo"])
        assert undone.code == 0 or "no upgrade to undo" in undone.output
        assert self._files() == self.old
        done = self.place.run(self.arguments)
        assert done.code == 0, done.output
        assert self._files() == self.new
        assert not [path for path in self.version.iterdir() if path.name.endswith("-tmp")]


class Export(Victim):
    """Export of a changed database file over an earlier export."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.export = self.place.folder / "export"
        sqlinterp.ingest([self.place.sources], self.place.database)
        assert self.place.run(self.arguments).code == 0
        self.old = self._files()
        self.place.write(2.0)
        sqlinterp.ingest([self.place.sources], self.place.database)
        assert self.place.run(self.arguments).code == 0
        self.new = self._files()
        assert self.old != self.new
        self.reset()

    @property
    def arguments(self) -> Sequence[str | Path]:
        return ["export", self.export, "--db", self.place.database]

    def _files(self) -> dict[str, bytes]:
        files = (path for path in sorted(self.export.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.export)): path.read_bytes() for path in files}

    def reset(self) -> None:
        for name in self.place.litter():
            shutil.rmtree(path) if (path := self.place.folder / name).is_dir() else path.unlink()
        for name, content in self.old.items():
            path = self.export / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def check(self) -> str:
        found = self._files()
        assert found in (self.old, self.new)
        check_files(self.export, read_manifest(self.export))
        return "old" if found == self.old else "new"

    def finish(self) -> None:
        assert self.place.run(self.arguments).code == 0
        assert self._files() == self.new
        assert self.place.litter() == ["export"]


def kill_often(victim: Victim, kills: int, seed: int, finish_every: int) -> list[str]:
    """Kill a command so often; return what it left each time, ``old`` or ``new``."""
    draw = random.Random(f"{type(victim).__name__} {seed}")
    counter = CountEvents(victim.place.folder.parent / "events")
    begin = time.monotonic()
    assert victim.place.run(victim.arguments, counter).code == 0
    seconds, events = time.monotonic() - begin, counter.read()
    victim.reset()
    left: list[str] = []
    attempts = 0
    while len(left) < kills:
        attempts += 1
        assert attempts < 4 * kills, "the command ends before it is killed"
        # Once at the start and once after everything is in its place, then anywhere.
        known = {0: EARLY, 1: events - EARLY}.get(len(left))
        if not _killed(victim, draw, known, events, seconds):
            victim.reset()
            continue
        left.append(victim.check())
        if len(left) % finish_every == 0:
            victim.finish()
        victim.reset()
    return left


def _killed(
    victim: Victim, draw: random.Random, known: int | None, events: int, seconds: float
) -> bool:
    """Start the command and kill it, at a known event if one is given; False if it had ended."""
    place = victim.place
    if known is not None or draw.random() < 0.5:
        begin = draw.choice([0, max(0, events - LAST_EVENTS)])
        number = draw.randrange(begin, events) if known is None else known
        return place.run(victim.arguments, SignalAt(number)).code == -signal.SIGKILL
    process = place.start(victim.arguments)
    process.join(draw.random() * seconds)
    process.kill()
    return place.ended(process).code == -signal.SIGKILL


@pytest.mark.parametrize(
    ("kind", "kills"),
    [(Reingest, 16), (FirstIngest, 6), (Migrate, 10), (UpgradeCsv, 12), (Export, 10)],
)
def test_a_killed_command_leaves_the_old_or_the_new(
    kind: type[Victim], kills: int, tmp_path: Path
) -> None:
    left = kill_often(kind(tmp_path), kills, seed=1, finish_every=8)
    # Most kills come before the swap; when they come in seconds, none may come after it.
    assert len(left) == kills and "old" in left and set(left) <= {"old", "new"}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("kind", [Reingest, FirstIngest, Migrate, UpgradeCsv, Export])
def test_a_command_that_is_killed_very_often(kind: type[Victim], seed: int, tmp_path: Path) -> None:
    left = kill_often(kind(tmp_path), 50, seed, finish_every=5)
    assert len(left) == 50


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_ingest_leaves_the_old_file_and_no_litter(name: str, tmp_path: Path) -> None:
    victim = Reingest(tmp_path)
    counter = CountEvents(tmp_path / "events")
    victim.place.run(victim.arguments, counter)
    victim.reset()
    events, draw = counter.read(), random.Random(name)
    moments = [draw.randrange(first, events - 9) for first in [0] * 3 + [events - LAST_EVENTS] * 4]
    for moment in moments:
        done = victim.place.run(victim.arguments, SignalAt(moment, getattr(signal, name)))
        assert done.code == 130, done
        assert "Traceback" not in done.output
        victim.check()
        assert victim.place.litter() == [], moment
        victim.reset()
