"""Folders that want to be read wrongly: links, pipes, devices and names. Nothing hangs."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases_for_tests import MATMUL_HEADER, matmul_call, write_version

import sqlinterp
from sqlinterp.errors import SourceError
from sqlinterp.ingestion import IngestSummary
from sqlinterp.upgrade.run import upgrade

ROW = '"8,16;16,32",DT_BF16;DT_BF16,ND;ND,"8,32",DT_BF16,ND,5.0'
CSV = f"{MATMUL_HEADER}\n{ROW}\n"
SECRET = "Input Shapes,Input Data Types,Duration(us)\n1,DT_BF16,42\n"
LIMIT_S = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A version directory with one good CSV, and a CSV that nobody gave beside its root."""
    (tmp_path / "secret.csv").write_text(SECRET)
    files = {"MatMulV2.csv": [MATMUL_HEADER, ROW]}
    return write_version(
        tmp_path / "data" / "d" / "b" / "v", files, {"aten.mm.default": "MatMulV2"}
    )


def in_time(function: Callable[[], Any]) -> Any:
    """What a function returns; a failure instead of a test that never ends."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    assert not thread.is_alive(), "it hangs"
    if errors:
        raise errors[0]
    return results[0]


class Outcome:
    """What an ingest of everything below the root made of it; the good CSV is always stored."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.root = root or folder.parents[2]
        self.database = folder.parents[3] / "p.duckdb"
        self.summary: IngestSummary = in_time(lambda: sqlinterp.ingest([self.root], self.database))
        good = "select count(*) from measurement where kernel_type = 'MatMulV2'"
        assert self.rows(good) == [(1,)]
        assert self.rows("select * from measurement where latency_us = 42") == []
        read, *ends = (
            self.summary.total(f"rows_{field}")
            for field in ("read", "stored", "rejected", "without_latency")
        )
        assert read == sum(ends)

    def rows(self, query: str) -> list[Any]:
        with duckdb.connect(str(self.database), read_only=True) as connection:
            return connection.execute(query).fetchall()

    def told(self, words: str) -> bool:
        """Whether an error message holds some words."""
        return any(s == "error" and words in text for s, _, text in self.summary.messages)


@contextmanager
def a_socket(path: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket may not be long
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)
        yield


def test_a_named_pipe_a_device_and_a_socket_are_refused(folder: Path) -> None:
    os.mkfifo(folder / "Pipe.csv")
    (folder / "Device.csv").symlink_to("/dev/zero")
    (folder / "Tty.csv").symlink_to("/dev/stdin")
    with a_socket(folder / "Socket.csv"):
        outcome = Outcome(folder)
        report = in_time(lambda: upgrade(folder, "current62"))
    assert outcome.summary.total("files_unusable") == 4
    assert not outcome.summary.is_clean
    assert outcome.told("Pipe.csv cannot be read: it is a named pipe, no file")
    assert outcome.told("Socket.csv cannot be read: it is a socket, no file")
    assert outcome.told("Device.csv cannot be read: it is a device, no file")
    assert report.count("left alone") == 4


@pytest.mark.parametrize("name", ["op_mapping.yaml", "MatMulV2.csv"])
def test_a_pipe_in_place_of_a_file_that_was_ingested(name: str, folder: Path) -> None:
    database = folder.parents[3] / "p.duckdb"
    sqlinterp.ingest([folder], database)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    summary = in_time(lambda: sqlinterp.ingest([folder], database))
    assert any(
        f"{name} cannot be read: it is a named pipe" in text for *_, text in summary.messages
    )


def test_a_link_out_of_the_given_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "Out.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "Relative.csv").symlink_to("../../../../secret.csv")
    (folder / "Chain.csv").symlink_to("Out.csv")
    (folder / "Passwords.csv").symlink_to("/etc/passwd")
    (folder / "Inside.csv").symlink_to("MatMulV2.csv")
    outcome = Outcome(folder)
    assert outcome.summary.total("files_unusable") == 4
    assert outcome.told("Out.csv cannot be read: it is a link out of the given folder, to")
    assert outcome.rows("select kernel_type from measurement order by 1") == [
        ("Inside",), ("MatMulV2",),
    ]  # fmt: skip
    texts = outcome.rows("select coalesce(string_agg(message), '') from source_issue")[0][0]
    assert "root:" not in texts


def test_links_that_lead_in_circles_or_nowhere(folder: Path) -> None:
    (folder / "Self.csv").symlink_to("Self.csv")
    (folder / "One.csv").symlink_to("Two.csv")
    (folder / "Two.csv").symlink_to("One.csv")
    (folder / "Nowhere.csv").symlink_to("nothing.csv")
    (folder / "up").symlink_to("..")
    (folder / "down").symlink_to("down")
    outcome = Outcome(folder)
    assert outcome.summary.total("files_unusable") == 4
    assert outcome.told("Self.csv cannot be read: Too many levels of symbolic links")
    assert outcome.told("Nowhere.csv cannot be read: No such file or directory")


def test_a_linked_folder_is_not_followed_but_told(folder: Path, tmp_path: Path) -> None:
    elsewhere = write_version(tmp_path / "x" / "y" / "z", {"Other.csv": CSV.splitlines()}, {})
    device = folder.parents[1]
    (device / "linked").symlink_to(elsewhere)
    (device / "latest").symlink_to(folder)
    (device / "documents").symlink_to("/usr")
    outcome = Outcome(folder)
    assert [key for (key,) in outcome.rows("select version_key from profile_version")] == ["d/b/v"]
    assert outcome.summary.messages == (
        ("warning", str(device / "linked"), "a link to a folder, which is not followed"),
    )


def test_a_linked_mapping_is_not_quoted(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: [hunter2\n")
    (folder / "op_mapping.yaml").unlink()
    (folder / "op_mapping.yaml").symlink_to(secret)
    outcome = Outcome(folder)
    assert outcome.told("op_mapping.yaml cannot be read: it is a link out of the given folder")
    assert not any("hunter2" in text for *_, text in outcome.summary.messages)


REFERENCES = {
    "../../../..": "out of the device's folder",
    "/etc": "out of the device's folder",
    "../../../../private": "out of the device's folder",
    "\0": "is no valid YAML",
    "x" * 5000: "which does not exist",
    "../" * 2000: "out of the device's folder",
    "../link": "out of the device's folder",
    "../pipe": "which does not exist",
}


def test_a_reference_leads_nowhere_that_was_not_given(folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "hcom_allReduce_.csv").write_text("message_bytes,num_devices,Duration(us)\n1,2,42\n")
    (folder.parent / "link").symlink_to(private)
    os.mkfifo(folder.parent / "pipe")
    for number, reference in enumerate(REFERENCES):
        write_version(folder.with_name(f"v{number}"), {}, {}, {"communication_data_ref": reference})
    outcome = Outcome(folder)
    told = {key: text for _, key, text in outcome.summary.messages}
    for number, words in enumerate(REFERENCES.values()):
        assert words in told[f"d/b/v{number}"]
    keys = outcome.rows("select version_key from profile_version where kind = 'communication'")
    assert keys == []


def test_a_reference_to_the_folder_of_another_backend_is_followed(folder: Path) -> None:
    shared = folder.parents[1] / "hccl" / "v8.5"
    shared.mkdir(parents=True)
    rows = "message_bytes,num_devices,dtype,topology_tier,Duration(us)\n1,2,DT_BF16,0,7\n"
    (shared / "hcom_allReduce_.csv").write_text(rows)
    write_version(folder, {}, {"aten.mm.default": "MatMulV2"},
                  {"communication_data_ref": "../../hccl/v8.5/"})  # fmt: skip
    outcome = Outcome(folder, folder)
    assert outcome.summary.is_clean
    assert len(outcome.rows("from profile_version where communication_version_id is not null")) == 1


NAMES = [
    "A*.csv", "A?.csv", "[AB].csv", "A[!x].csv", "**.csv", "a b.csv", "a'b.csv", 'a"b.csv',
    "a;b.csv", "a{b,c}.csv", "\\.csv", "a\\*b.csv", "a\nb.csv", "a\tb.csv", "$x.csv", "%41.csv",
    "~.csv", "-h.csv", "ä.csv", "核.csv", "\u202e.csv", ".csv", "..csv", "...csv",
    "x" * 240 + ".csv", "CON.csv", "null.csv", "a.csv.csv", "#.csv", "s3:.csv", "a=1.csv",
    "NULL.csv", "😀.csv",
]  # fmt: skip


def test_every_name_of_a_file_is_read_as_this_file(folder: Path) -> None:
    for number, name in enumerate(NAMES):
        (folder / name).write_text(CSV.replace("5.0", f"{number}.5").replace("8,16;", "4,16;"))
    outcome = Outcome(folder)
    found = outcome.rows(
        "select file_name, latency_us, rows_stored from source_file left join measurement"
        " using (file_id) where file_name <> 'MatMulV2.csv' order by latency_us"
    )
    assert found == [(name, number + 0.5, 1) for number, name in enumerate(NAMES)]
    assert outcome.summary.is_clean


def test_every_name_of_a_folder_is_read_as_this_folder(folder: Path) -> None:
    names = ["[v]", "v*", "v?", "a b", "v'", "ä", "v{1,2}", "$HOME", "back\\slash", "new\nline"]
    for number, name in enumerate(names):
        rows = [MATMUL_HEADER, ROW.replace("5.0", f"{number}.5")]
        write_version(
            folder.with_name(name), {"MatMulV2.csv": rows}, {"aten.mm.default": "MatMulV2"}
        )
    root = folder.parents[2]
    summary = sqlinterp.ingest([root], root.parent / "p.duckdb")
    assert summary.is_clean and summary.total("rows_stored") == len(names) + 1
    for number, name in enumerate(names):
        with sqlinterp.open(root.parent / "p.duckdb", f"d/b/{name}") as database:
            assert database.lookup(matmul_call(8, 16, 32)).latency_us == number + 0.5


def test_a_name_that_is_no_text_is_told(folder: Path) -> None:
    with open(os.fsencode(folder) + b"/\xff.csv", "w") as file:
        file.write(CSV)
    os.mkdir(os.fsencode(folder.parent) + b"/\xfe")
    outcome = Outcome(folder)
    assert outcome.told("\\udcff.csv is not read: the name of the file is no UTF-8")
    assert outcome.told("the name of the folder is no UTF-8, so it was not looked into")
    with pytest.raises(SourceError, match="the name of the folder is no UTF-8"):
        sqlinterp.ingest([os.fsdecode(os.fsencode(folder.parent) + b"/\xfe")], outcome.database)


def test_a_suffix_in_capitals_is_told(folder: Path) -> None:
    (folder / "Add.CSV").write_text(CSV)
    (folder / "Mul.Csv").write_text(CSV)
    outcome = Outcome(folder)
    assert not outcome.summary.is_clean and outcome.summary.total("errors") == 2
    assert outcome.told("Add.CSV is not read: the name has to end with '.csv': call it Add.csv")
    (folder / "Add.CSV").rename(folder / "Add.csv")
    (folder / "Mul.Csv").unlink()
    assert Outcome(folder).summary.is_clean


def test_a_root_with_suffixes_in_capitals_only_is_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "Add.CSV").write_text(CSV)
    summary = sqlinterp.ingest([root], tmp_path / "p.duckdb")
    assert any("Add.CSV is not read" in text for *_, text in summary.messages)


def test_a_folder_named_like_a_csv_is_no_file(folder: Path) -> None:
    (folder / "Folder.csv").mkdir()
    assert Outcome(folder).summary.is_clean
