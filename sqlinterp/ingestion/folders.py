"""Finding version directories and the communication folders that they refer to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlinterp.errors import SourceError

MAPPING_FILE = "op_mapping.yaml"
KERNEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class VersionFolder:
    """One folder to ingest: its key, kind and CSV files."""

    key: str
    kind: str
    path: Path
    csv_files: tuple[Path, ...]

    @property
    def mapping_path(self) -> Path:
        """Path of the folder's ``op_mapping.yaml``."""
        return self.path / MAPPING_FILE


def version_key(path: Path) -> str:
    """Return ``<device>/<backend>/<folder name>`` of a version directory.

    Examples
    --------
    >>> version_key(Path("/data/NPU/vllm_ascend/vllm0.18.0"))
    'NPU/vllm_ascend/vllm0.18.0'
    """
    return "/".join([part for part in path.parts if part != path.anchor][-3:])


def find_versions(roots: Iterable[str | os.PathLike[str]]) -> list[VersionFolder]:
    """Return every version directory below the roots, sorted by path, without repeats.

    A folder is a version directory if it holds ``op_mapping.yaml`` or a collective's CSV, or if
    it is a given root itself and holds CSV files. Symbolic links to folders are not followed.

    Raises
    ------
    SourceError
        If a root is no folder, or nothing was found below any of them, or two folders share a key.
    """
    found: dict[Path, VersionFolder] = {}
    for root in roots:
        top = Path(root)
        if not top.is_dir():
            raise SourceError("there is no such folder", str(root))
        for folder, subfolders, names in os.walk(top.resolve()):
            subfolders.sort()
            version = _version_folder(Path(folder), names, is_root=Path(folder) == top.resolve())
            if version is not None:
                found[version.path] = version
    if not found:
        raise SourceError(
            f"no version directory below {', '.join(map(str, roots))}",
            expected=f"folders with {MAPPING_FILE} and one CSV per kernel",
            todo="'sqlinterp demo DIR' writes examples.",
        )
    return _unique([found[path] for path in sorted(found)])


def communication_folder(path: Path) -> VersionFolder:
    """Return a folder of collective CSVs that a mapping refers to."""
    names = os.listdir(path)
    return VersionFolder(version_key(path), "communication", path, _csv_files(path, names))


def _version_folder(path: Path, names: list[str], is_root: bool) -> VersionFolder | None:
    files = _csv_files(path, names)
    if MAPPING_FILE in names:
        return VersionFolder(version_key(path), "kernel", path, files)
    if any(file.name.startswith("hcom_") for file in files):
        return VersionFolder(version_key(path), "communication", path, files)
    if is_root and files:
        return VersionFolder(version_key(path), "kernel", path, files)
    return None


def _csv_files(path: Path, names: Iterable[str]) -> tuple[Path, ...]:
    return tuple(path / name for name in sorted(names) if name.endswith(".csv"))


def _unique(versions: list[VersionFolder]) -> list[VersionFolder]:
    by_key: dict[str, VersionFolder] = {}
    for version in versions:
        other = by_key.setdefault(version.key, version)
        if other is not version:
            raise SourceError(
                f"two folders have the version key '{version.key}'",
                f"{other.path} and {version.path}",
                todo="Ingest them into different database files.",
            )
    return versions
