"""Version directories that the tests upgrade."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from sqlinterp.demo.columns import BASE8, LEGACY36
from sqlinterp.resources import resource_folder
from sqlinterp.upgrade import UpgradeReport
from sqlinterp.upgrade.table import Table

SAMPLE = resource_folder("databases") / "SYNTHETIC_NPU"
OLD = "vllm0.15.0_torch2.9.0_cann8.5"
OLDER = "vllm0.13.0_torch2.8.0_cann8.3"
CURRENT = "vllm0.18.0_torch2.9.0_cann8.5"
BASE_CELLS = ("dynamic", "AI_CORE", '"16,16"', "DT_BF16", "ND", '"16,16"', "DT_BF16", "ND")


def copy_sample(target: Path, *versions: str) -> Path:
    """Copy version directories of the shipped sample; return the folder that holds them."""
    for version in versions:
        shutil.copytree(SAMPLE / "vllm_ascend" / version, target / "NPU" / "vllm" / version)
    return target / "NPU" / "vllm"


def csv_bytes(header: Sequence[str], *rows: Sequence[str], end: str = "\r\n") -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end)
    writer.writerows([header, *rows])
    return stream.getvalue().encode()


def legacy_row(average: str = "12.5", **cells: str) -> list[str]:
    """A row of ``legacy36``; ``cells`` replace others by column name."""
    values = {**dict.fromkeys(LEGACY36, "1.000000"), **dict(zip(BASE8, BASE_CELLS, strict=True))}
    values |= {"Average Duration(us)": average, "Median Duration(us)": "12.0", **cells}
    return list(values.values())


def legacy_bytes(*rows: Sequence[str]) -> bytes:
    return csv_bytes(LEGACY36, *(rows or [legacy_row()]))


def write_version(
    folder: Path, files: Mapping[str, bytes], mapping: Mapping[str, object] | None = None
) -> Path:
    """Write a version directory of the given CSV contents, by file name."""
    folder.mkdir(parents=True)
    (folder / "op_mapping.yaml").write_text(
        yaml.safe_dump({"operator_mappings": {}, **(mapping or {})}), encoding="utf-8"
    )
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def table(kernel: str, **columns: Sequence[str]) -> Table:
    """A table of columns whose names have ``_`` for a blank."""
    header = tuple(name.replace("_", " ", 1) for name in columns)
    rows = tuple(zip(*columns.values(), strict=True))
    return Table(kernel, header, rows, tuple(range(2, len(rows) + 2)))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def outcomes(report: UpgradeReport) -> dict[str, str]:
    return {file.name: file.outcome for version in report.versions for file in version.files}
