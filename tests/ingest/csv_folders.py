"""Version directories of a few CSV rows, ingested into a real file and checked for balance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import yaml

import sqlinterp
from sqlinterp.ingestion import IngestSummary

COLUMNS = (
    "OP State", "Accelerator Core", "Input Shapes", "Input Data Types", "Input Formats",
    "Output Shapes", "Output Data Types", "Output Formats",
    "Average Duration(us)", "Profiling Average Duration(us)",
)  # fmt: skip
HEADER = ",".join(COLUMNS)


def line(shapes: str = "16,16", average: str = "10", profiling: str = "12", **cells: str) -> str:
    """One CSV line of the columns above; ``cells`` replace others by a short name."""
    values = {
        "state": "dynamic", "core": "AI_CORE", "shapes": f'"""{shapes}"""', "dtypes": "DT_BF16",
        "formats": "ND", "out": '"""16,16"""', "out_dtypes": "DT_BF16", "out_formats": "ND",
        "average": average, "profiling": profiling, **cells,
    }  # fmt: skip
    return ",".join(values.values())


def text(*lines: str, header: str = HEADER, end: str = "\n") -> str:
    """A CSV of the given lines below the header."""
    return end.join((header, *lines)) + end


class Folder:
    """One version directory and the database file that it is ingested into."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "databases"
        self.path = self.root / "NPU" / "vllm" / "v1"
        self.path.mkdir(parents=True)
        self.database = tmp_path / "profiling.duckdb"
        self.mapping(operator_mappings={"aten.add.Tensor": {"kernel_type": "Good"}})
        self.write("Good", text(line(), line("32,16")))

    def mapping(self, **document: Any) -> None:
        """Write ``op_mapping.yaml``."""
        self.write_mapping(yaml.safe_dump(document))

    def write_mapping(self, content: str) -> None:
        """Write ``op_mapping.yaml`` as given."""
        (self.path / "op_mapping.yaml").write_text(content, encoding="utf-8")

    def write(self, kernel: str, content: str | bytes) -> Path:
        """Write a CSV as it is given, without any change of line ends."""
        path = self.path / f"{kernel}.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def ingest(self) -> IngestSummary:
        """Ingest, and check that every row of every file is accounted for."""
        summary = sqlinterp.ingest([self.root], self.database)
        check_balance(self.database, summary)
        return summary

    def load(self, content: str | bytes, kernel: str = "Bad") -> Outcome:
        """Write one CSV beside the good one, ingest both and return what became of it."""
        return self.load_all({kernel: content})[kernel]

    def load_all(self, files: Mapping[str, str | bytes]) -> dict[str, Outcome]:
        """Write CSVs beside the good one, ingest all and return what became of each."""
        for kernel, content in files.items():
            self.write(kernel, content)
        self.ingest()
        stored = self.rows("select rows_stored from source_file where file_name = 'Good.csv'")
        assert stored == [(2,)]
        return {kernel: Outcome(self, kernel) for kernel in files}

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[Any]:
        """The rows of a query over the database file."""
        with duckdb.connect(str(self.database), read_only=True) as connection:
            return connection.execute(query, parameters or {}).fetchall()


class Outcome:
    """What became of one CSV."""

    def __init__(self, folder: Folder, kernel: str) -> None:
        self._folder, self._kernel = folder, kernel

    def _of_file(self, columns: str, table: str, order: str) -> list[Any]:
        return self._folder.rows(
            f"select {columns} from {table} where file_id ="
            f" (select file_id from source_file where kernel_type = $kernel) order by {order}",
            {"kernel": self._kernel},
        )

    @property
    def status(self) -> str:
        return str(self._of_file("status", "source_file", "1")[0][0])

    @property
    def message(self) -> str:
        return str(self._of_file("message", "source_file", "1")[0][0])

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Rows read, stored, rejected and without latency."""
        names = "rows_read, rows_stored, rows_rejected, rows_without_latency"
        return tuple(self._of_file(names, "source_file", "1")[0])  # type: ignore[return-value]

    @property
    def rejected(self) -> list[tuple[int, str | None, str]]:
        """Line, column and reason of the rejected rows."""
        return self._of_file("line_number, column_name, reason", "rejected_row", "line_number")

    @property
    def issues(self) -> list[tuple[int | None, str | None, str]]:
        """Line, column and reason of the issues."""
        return self._of_file("line_number, column_name, reason", "source_issue", "all")

    def stored(self, columns: str) -> list[Any]:
        """Columns of the stored rows in file order."""
        return self._of_file(columns, "measurement", "row_number")


def check_balance(database: Path, summary: IngestSummary) -> None:
    """The four counts of every file agree with each other, with the tables and with the summary."""
    query = (
        "select file_name, rows_read, rows_stored, rows_rejected, rows_without_latency,"
        " (select count(*) from measurement as m where m.file_id = f.file_id),"
        " (select count(*) from rejected_row as r where r.file_id = f.file_id),"
        " (select count(*) from unmeasured_row as u where u.file_id = f.file_id)"
        " from source_file as f"
    )
    places = (
        "select file_id, row_number from measurement union all"
        " select file_id, row_number from unmeasured_row union all"
        " select file_id, row_number from rejected_row"
    )
    with duckdb.connect(str(database), read_only=True) as connection:
        files = connection.execute(query).fetchall()
        numbers = connection.execute(places).fetchall()
    for name, read, *counts in files:
        assert read == sum(counts[:3]), name
        assert counts[:3] == counts[3:], name
    assert len(set(numbers)) == len(numbers), "a row has two ends"
    fields = ("rows_read", "rows_stored", "rows_rejected", "rows_without_latency")
    assert [summary.total(field) for field in fields] == [
        sum(file[place] for file in files) for place in range(1, 5)
    ]


def content(folder: Folder, table: str) -> list[Any]:
    """A table as sorted rows without ids, line numbers and times."""
    left_out = (
        "row_id", "file_id", "regime_id", "signature_id", "first_row_id", "row_number",
        "line_number", "first_line_number", "ingested_at", "sha256", "latency_first_us",
    )  # fmt: skip
    columns = folder.rows(
        "select column_name from duckdb_columns() where table_name = $table"
        " and not list_contains($left_out, column_name) order by column_index",
        {"table": table, "left_out": list(left_out)},
    )
    names = ", ".join(name for (name,) in columns)
    return folder.rows(f"select {names} from {table} order by all")
