"""Files that are no database, a damaged or a newer one: a clear error, or the content unharmed."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import matmul_call
from faults_support import SIZES, Place, context

import sqlinterp
from sqlinterp.cli.requests import Line
from sqlinterp.cli.stream import Stream
from sqlinterp.errors import DatabaseError
from sqlinterp.publishing import publishing

FLIPS = 40
CALLS = [matmul_call(m, 64, 32) for m in (*SIZES, 40)]
GIVEN = '{"op": "aten.mm.default"}'


@pytest.fixture
def database(place: Place) -> Path:
    """A good database file."""
    sqlinterp.ingest([place.sources], place.database)
    return place.database


def commands(place: Place) -> list[list[str | Path]]:
    """Commands that open the database file: readers first, then writers."""
    given = place.version / "op.json"
    given.write_text(GIVEN)
    at = ["--db", place.database]
    return [
        ["lookup", *at, given],
        ["migrate", *at],
        place.ingest,
    ]


def check_refused(place: Place, words: str, *more: list[str | Path]) -> None:
    """Every command says what is wrong, exits with 4, and leaves the file as it is."""
    before = place.database.read_bytes()
    for arguments in (*commands(place), *more):
        done = place.run(arguments)
        assert done.code == 4, (arguments, done)
        assert words in done.output and "p.duckdb" in done.output, (arguments, done)
        assert "Traceback" not in done.output and done.output.count("\n") <= 3, done
    assert place.database.read_bytes() == before
    assert place.litter() == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"hello", "no DuckDB database"),
        (b"SQLite format 3\0" + bytes(8192), "no DuckDB database"),
        (bytes(100_000), "no DuckDB database"),
        (bytes(8) + b"DUCK", "damaged"),
    ],
)
def test_a_file_that_is_no_database(content: bytes, words: str, place: Place) -> None:
    place.database.write_bytes(content)
    check_refused(place, words)


@pytest.mark.parametrize("share", [0.0001, 0.002, 0.3, 0.9])
def test_a_truncated_file(share: float, database: Path, place: Place) -> None:
    content = database.read_bytes()
    database.write_bytes(content[: max(12, int(share * len(content)))])
    check_refused(place, "damaged")


def test_a_folder_or_a_pipe_or_a_device(place: Place) -> None:
    place.database.mkdir()
    for arguments in commands(place):
        done = place.run(arguments)
        assert done.code == 4 and "is no regular file" in done.output, done
    place.database.rmdir()
    os.mkfifo(place.database)
    for arguments in commands(place):
        done = place.run(arguments)
        assert done.code == 4 and "is no regular file" in done.output, done
    with pytest.raises(DatabaseError, match="is no regular file"):
        sqlinterp.open("/dev/zero")


def ask_flipped(path: Path, content: bytes, seed: int, told: Path) -> None:
    """Flip one byte after the other, ask, and write down what comes of it."""
    draw = random.Random(seed)
    outcomes: list[Any] = []
    for _ in range(FLIPS):
        place = draw.choice([draw.randrange(12_288), draw.randrange(len(content))])
        flipped = bytearray(content)
        flipped[place] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        try:
            with sqlinterp.open(path) as opened:
                answers = [answer.latency_us for answer in opened.lookup_many(CALLS)]
            outcomes.append([place, "answered", answers])
        except DatabaseError as error:
            outcomes.append([place, "refused", str(error)])
        except BaseException as error:
            outcomes.append([place, "raised", repr(error)])
    told.write_text(json.dumps(outcomes))


def test_a_flipped_byte_is_noticed_or_does_not_matter(database: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    given = (database, database.read_bytes(), 7, told)
    process = context().Process(target=ask_flipped, args=given, daemon=True)
    process.start()
    process.join(120)
    assert process.exitcode == 0
    outcomes = json.loads(told.read_text())
    assert len(outcomes) == FLIPS
    for place, kind, found in outcomes:
        if kind == "answered":
            assert found == [float(m) for m in (*SIZES, 40)], place
        else:
            assert kind == "refused", (place, found)
            assert "damaged" in found or "newer" in found or "version" in found, (place, found)
    assert {kind for _, kind, _ in outcomes} == {"answered", "refused"}


def damage(database: Path) -> None:
    """Flip one byte of every block, in the file as it is."""
    with database.open("r+b") as file:
        for block in range(12_288 + 100, database.stat().st_size, 65_536):
            file.seek(block)
            byte = file.read(1)[0]
            file.seek(block)
            file.write(bytes([byte ^ 1]))


def test_a_damaged_block_is_an_error_of_the_command_too(database: Path, place: Place) -> None:
    damage(database)
    at = ["--db", database]
    stream = place.version / "ops.jsonl"
    stream.write_text(f"{GIVEN}\n{GIVEN}\n")
    more = [["views", *at], ["sql", *at, "SELECT count(*) FROM point"], ["lookup", *at, stream]]
    check_refused(place, "damaged", *more)


def test_a_block_that_is_damaged_while_a_stream_is_answered(database: Path) -> None:
    with sqlinterp.open(database, follow=False) as opened:
        damage(database)
        with pytest.raises(DatabaseError, match="damaged"):
            Stream(opened, None).answer([Line(1, json.dumps(CALLS[0]).encode())])


def test_a_file_of_a_newer_sqlinterp(database: Path, place: Place) -> None:
    with publishing(database) as connection:
        connection.execute("insert into schema_migration select 999, * exclude (id)"
                           " from schema_migration limit 1")  # fmt: skip
    before = database.read_bytes()
    for arguments in commands(place):
        done = place.run(arguments)
        assert done.code == 4, (arguments, done)
        assert "[999] that this sqlinterp does not know" in done.output
        assert "Update sqlinterp, or ingest into a new file" in done.output
    assert database.read_bytes() == before and place.litter() == []


def test_a_file_of_a_newer_duckdb(database: Path, place: Place) -> None:
    content = bytearray(database.read_bytes())
    content[12:20] = (int.from_bytes(content[12:20], "little") + 1000).to_bytes(8, "little")
    database.write_bytes(content)
    with pytest.raises(duckdb.Error) as caught:
        duckdb.connect(str(database), read_only=True)
    # DuckDB tells the checksum that the changed header ought to have.
    found = re.search(r"computed checksum (\d+)", str(caught.value))
    assert found is not None
    content[:8] = int(found[1]).to_bytes(8, "little")
    database.write_bytes(content)
    check_refused(place, "Update duckdb, or ingest into a new file")
