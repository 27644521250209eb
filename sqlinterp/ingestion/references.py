"""Version directories with their mappings and the communication folders that those refer to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlinterp.errors import SourceError
from sqlinterp.ingestion.folders import (
    VersionFolder,
    communication_folder,
    communication_key,
    is_below,
)
from sqlinterp.ingestion.mapping import OpMapping, mapping_of

_KEY = "communication_data_ref"


@dataclass(frozen=True)
class Source:
    """One folder to ingest.

    Attributes
    ----------
    communication : VersionFolder or None
        Folder of collectives that the mapping refers to.
    """

    folder: VersionFolder
    mapping: OpMapping
    communication: VersionFolder | None = None


def with_communication(versions: list[VersionFolder]) -> list[Source]:
    """Pair versions with their mapping and communication folder, found or referred to.

    Folders of collectives come first, so that versions can be linked to them.

    Raises
    ------
    SourceError
        If two folders share a key.
    """
    by_path = {version.path: version for version in versions}
    named: set[Path] = set()
    sources = []
    for version in versions:
        if version.kind == "communication":
            continue
        mapping = mapping_of(version)
        folder = None
        if mapping.communication_ref is not None:
            folder = _referred(version, mapping, by_path)
        if folder is not None and folder.path not in named and folder.kind == "communication":
            folder = replace(folder, key=communication_key(folder.path, version))
            by_path[folder.path] = folder
            named.add(folder.path)
        sources.append(Source(version, mapping, folder))
    _check_keys(by_path.values())
    shared = [folder for folder in by_path.values() if folder.kind == "communication"]
    return [*(Source(folder, OpMapping()) for folder in shared), *sources]


def _check_keys(folders: Iterable[VersionFolder]) -> None:
    by_key: dict[str, VersionFolder] = {}
    for folder in folders:
        other = by_key.setdefault(folder.key, folder)
        if other is not folder:
            raise SourceError(
                f"two folders have the version key '{folder.key}'",
                f"{other.path} and {folder.path}",
                todo="Ingest them into different database files.",
            )


def _referred(
    version: VersionFolder, mapping: OpMapping, by_path: dict[Path, VersionFolder]
) -> VersionFolder | None:
    """Return the folder that a mapping refers to; a problem is noted in the mapping."""
    reference = mapping.communication_ref or ""
    target = Path(os.path.normpath(version.path / reference))
    if "\0" in reference:
        mapping.error(_KEY, f"{_KEY} is {reference!r}, no path")
        return None
    if target not in by_path and not is_below(_resolved(target), _reachable(version)):
        mapping.error(_KEY, f"{_KEY} points to {target}, out of the device's folder: not read")
        return None
    if target not in by_path and os.path.isdir(target):
        try:
            by_path[target] = communication_folder(target, version)
        except SourceError as error:
            mapping.error(_KEY, f"{_KEY} points to {error}")
            return None
    if target not in by_path:
        text = f"{_KEY} points to {target}, which does not exist"
        mapping.problems.append(("warning", _KEY, text))
    return by_path.get(target)


def _reachable(version: VersionFolder) -> list[Path]:
    """Return the folders that a mapping may refer into: those given, and its device's."""
    device = version.device
    return [*version.within, *([device] if device != device.parent else [])]


def _resolved(path: Path) -> Path:
    """Return where a path leads; one that leads in a circle or nowhere stays as it is."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
