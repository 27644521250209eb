"""Writes the demonstration databases: one CSV per kernel, mappings, collectives and a README."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path

from sqlinterp.demo.columns import COMM6, header_of
from sqlinterp.demo.communication import COLLECTIVES, PATH, collective_rows
from sqlinterp.demo.mapping import mapping_text
from sqlinterp.demo.sheet import layout_of, plan_of, rows_of
from sqlinterp.demo.tables import Kernel, kernels
from sqlinterp.demo.versions import DEVICE, VERSIONS, Version
from sqlinterp.errors import UsageError

DEFAULT_SEED = 20260101
SAMPLE_SCALE = 0.003
MAX_SCALE = 100.0
_TRIPLE_BOM = "Cast"
_BOM = b"\xef\xbb\xbf"
_MARK = f"# {DEVICE}: nothing in this folder was measured"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class DemoFile:
    """One written file: path below the target directory, data rows (0 if no table) and bytes."""

    path: str
    rows: int
    size_bytes: int


@dataclass(frozen=True)
class DemoSummary:
    """What was written: the target directory and every file in it."""

    directory: Path
    files: tuple[DemoFile, ...]

    @property
    def rows(self) -> int:
        """Data rows of all CSV files."""
        return sum(file.rows for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Size of all files together."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True)
class _Run:
    """The settings of one run and the place where its files go."""

    directory: Path
    scale: float
    seed: int
    sample: bool
    progress: Progress

    def save(self, path: str, content: bytes, rows: int = 0) -> DemoFile:
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self.progress(f"{path}: {rows} rows" if rows else path)
        return DemoFile(path, rows, len(content))


def _csv_bytes(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue().encode()


def _wanted(version: Version, sample: bool) -> list[Kernel]:
    return [
        kernel for kernel in kernels() if version.name in (kernel.sample if sample else kernel.rows)
    ]


def _version_files(run: _Run, version: Version) -> list[DemoFile]:
    mapping = mapping_text(version).encode()
    written = [run.save(f"{version.path}/op_mapping.yaml", mapping)]
    before = 0
    for kernel in _wanted(version, run.sample):
        plan = plan_of(kernel, version, run.scale, run.seed, before)
        header = header_of(kernel.name, layout_of(kernel, version))
        content = _csv_bytes(header, rows_of(plan, kernel, version, run.seed))
        if version.layout == "current62":
            content = _BOM * (3 if kernel.name == _TRIPLE_BOM else 1) + content
        rows = len(plan.points)
        written.append(run.save(f"{version.path}/{kernel.name}.csv", content, rows))
        before += rows
    return written


def _collective_files(run: _Run) -> list[DemoFile]:
    written = []
    for collective in COLLECTIVES:
        rows = collective_rows(collective, run.scale, run.seed)
        path = f"{DEVICE}/{PATH}/{collective.name}.csv"
        written.append(run.save(path, _csv_bytes(COMM6, rows), len(rows)))
    return written


def _readme(run: _Run, written: Sequence[DemoFile]) -> bytes:
    template = package_files("sqlinterp.demo").joinpath("readme_template.md")
    command = f"sqlinterp demo DIR --scale {run.scale:g}"
    if run.sample:
        command = "python -c \"from sqlinterp.demo import write_sample; write_sample('DIR')\""
    values = {
        "scale": f"{run.scale:g}",
        "seed": run.seed,
        "rows": sum(file.rows for file in written),
        "files": len(written),
        "selection": " (the sample has a part of the kernels)" if run.sample else "",
        "command": command,
    }
    return template.read_text(encoding="utf-8").format(**values).encode()


def _clear(directory: Path) -> None:
    """Remove the CSV files of an earlier run, so that no file of another scale stays behind."""
    root = directory / DEVICE
    readme = root / "README.md"
    if not root.exists() or not any(root.iterdir()):
        return
    if not readme.is_file() or not readme.read_text(encoding="utf-8").startswith(_MARK):
        raise UsageError(
            "the folder exists and was not written by this command",
            str(root),
            "a new or empty directory",
            "Choose another directory.",
        )
    folders = [directory / version.path for version in VERSIONS] + [root / PATH]
    names = {kernel.name for kernel in kernels()} | {item.name for item in COLLECTIVES}
    for folder in folders:
        for name in sorted(names):
            (folder / f"{name}.csv").unlink(missing_ok=True)


def _write(run: _Run) -> DemoSummary:
    readme = f"{DEVICE}/README.md"
    written: list[DemoFile] = []
    try:
        _clear(run.directory)
        run.save(readme, f"{_MARK}\n\nThe command has not finished.\n".encode())
        for version in VERSIONS:
            written.extend(_version_files(run, version))
        written.extend(_collective_files(run))
        written.append(run.save(readme, _readme(run, written)))
    except OSError as error:
        where = str(error.filename or run.directory)
        raise UsageError(f"the demonstration cannot be written: {error.strerror}", where) from error
    return DemoSummary(run.directory, tuple(written))


def _silent(_: str) -> None:
    return None


def write_demo(
    directory: Path | str,
    scale: float = 1.0,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> DemoSummary:
    """Write the synthetic demonstration databases.

    Parameters
    ----------
    directory : Path or str
        Target; everything goes below its folder ``SYNTHETIC_NPU``.
    scale : float
        1 gives about the documented number of rows of every kernel (41 thousand in all); less
        thins the grids, more makes them denser.
    seed : int
        Seed of the noise; the same seed and scale give the same bytes.
    progress : callable, optional
        Is called with one line of text per written file.

    Returns
    -------
    DemoSummary
        Every file with its number of rows.

    Raises
    ------
    UsageError
        If the scale is not a positive number of at most 100, or the target folder holds
        something else or cannot be written.
    """
    if not (math.isfinite(scale) and 0 < scale <= MAX_SCALE):
        raise UsageError(
            "the scale is out of range",
            f"scale {scale}",
            f"a number above 0 and up to {MAX_SCALE:g}",
        )
    return _write(_Run(Path(directory), scale, seed, False, progress or _silent))


def write_sample(directory: Path | str, progress: Progress | None = None) -> DemoSummary:
    """Write the small sample that is checked in: a part of the kernels at a small scale.

    Parameters
    ----------
    directory : Path or str
        Target; everything goes below its folder ``SYNTHETIC_NPU``.
    progress : callable, optional
        Is called with one line of text per written file.

    Returns
    -------
    DemoSummary
        Every file with its number of rows.

    Raises
    ------
    UsageError
        If the target folder holds something else or cannot be written.
    """
    return _write(_Run(Path(directory), SAMPLE_SCALE, DEFAULT_SEED, True, progress or _silent))
