"""Finding version directories and the communication folders that they refer to."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlinterp.errors import SourceError

MAPPING_FILE = "op_mapping.yaml"
# With its suffix, the name of a file, which no file system allows to be longer than 255 bytes.
KERNEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,250}")
_SUFFIX = ".csv"
_KINDS = {stat.S_IFIFO: "named pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}

Note = tuple[str, str, str]  # severity, path, message


@dataclass(frozen=True)
class VersionFolder:
    """One folder to ingest: its key, kind and CSV files.

    Attributes
    ----------
    within : tuple of Path
        Folders that links may lead into.
    ignored : tuple of (file name, message)
        Files that look like data and are not read.
    """

    key: str
    kind: str
    path: Path
    csv_files: tuple[Path, ...]
    within: tuple[Path, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()

    @property
    def device(self) -> Path:
        """Folder of the device, which holds one folder for each backend."""
        return self.path.parent.parent

    @property
    def mapping_path(self) -> Path:
        """Path of the folder's ``op_mapping.yaml``."""
        return self.path / MAPPING_FILE

    def refusal(self, path: Path) -> str | None:
        """Return why a file of the folder must not be read, None when it may.

        Reading a named pipe or a device need not end, and a link may lead to a file that whoever
        ingests the folder never meant to give away.
        """
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            return f"{path.name} cannot be read: {error.strerror}"
        if not stat.S_ISREG(mode):
            return f"{path.name} cannot be read: it is a {kind_of(mode)}, no file"
        if path.is_symlink() and not is_below(path.resolve(), self.within):
            return (
                f"{path.name} cannot be read: it is a link out of the given folder, to"
                f" {path.resolve()}: copy that file, or give a folder that holds both"
            )
        return None


@dataclass
class Found:
    """What lies below the given folders.

    Attributes
    ----------
    notes : list of (severity, path, message)
        Folders that were not looked into, and why.
    """

    versions: list[VersionFolder] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def version_key(path: Path) -> str:
    """Return ``<device>/<backend>/<folder name>`` of a version directory.

    Examples
    --------
    >>> version_key(Path("/data/NPU/vllm_ascend/vllm0.18.0"))
    'NPU/vllm_ascend/vllm0.18.0'
    """
    return "/".join([part for part in path.parts if part != path.anchor][-3:])


def find_versions(roots: Iterable[str | os.PathLike[str]]) -> list[VersionFolder]:
    """Return every version directory below the roots; see :func:`scan`."""
    return scan(roots).versions


def scan(roots: Iterable[str | os.PathLike[str]]) -> Found:
    """Return every version directory below the roots, sorted by path, without repeats.

    A folder is a version directory if it holds ``op_mapping.yaml`` or a collective's CSV, or if
    it is a given root itself and holds CSV files. Symbolic links to folders are not followed.

    Raises
    ------
    SourceError
        If a root is no folder, or nothing was found below any of them.
    """
    given = list(roots)
    tops = tuple(_top(root) for root in given)
    by_path: dict[Path, VersionFolder] = {}
    found = Found()
    for top in tops:
        for folder, names in _walk(top, found.notes):
            version = _version_folder(folder, names, tops)
            if version is not None:
                by_path[version.path] = version
    if not by_path:
        raise _nothing_found(given, found.notes)
    found.versions = [by_path[path] for path in sorted(by_path)]
    found.notes = sorted({note for note in found.notes if not _is_known(note, by_path)})
    return found


def communication_folder(path: Path, referring: VersionFolder) -> VersionFolder:
    """Return a folder of collective CSVs that the mapping of a version refers to.

    Raises
    ------
    SourceError
        If it cannot be listed.
    """
    try:
        names = os.listdir(path)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", str(path)) from error
    files, ignored = _csv_files(path, names)
    within = (*referring.within, path.resolve())
    return VersionFolder(version_key(path), "communication", path, files, within, ignored)


def communication_key(path: Path, referring: VersionFolder) -> str:
    """Return the key of a folder of collectives that begins with the device of a version.

    The last three parts of a path deeper in the device's folder would not tell devices apart.
    """
    device = referring.device
    parts = path.relative_to(device).parts if path.is_relative_to(device) else ()
    return "/".join((device.name, *parts)) if device.name and len(parts) > 2 else version_key(path)


def kind_of(mode: int) -> str:
    """Return what a path of a mode leads to if that is no file, in one or two words."""
    return _KINDS.get(stat.S_IFMT(mode), "device")


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is one of the folders or lies in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def _top(root: str | os.PathLike[str]) -> Path:
    top = Path(root)
    if not os.path.isdir(top):
        raise SourceError("there is no such folder", _shown(str(root)))
    top = top.resolve()
    if not _is_text(str(top)):
        raise SourceError("the name of the folder is no UTF-8", _shown(str(top)))
    return top


def _walk(top: Path, notes: list[Note]) -> Iterator[tuple[Path, list[str]]]:
    """Yield the folders below a folder with the names of their files; note what is left out."""

    def unreadable(error: OSError) -> None:
        notes.append(("error", _shown(str(error.filename)), f"cannot be read: {error.strerror}"))

    for name, subfolders, files in os.walk(top, onerror=unreadable):
        folder = Path(name)
        kept = []
        for subfolder in sorted(subfolders):
            path = folder / subfolder
            if not _is_text(subfolder):
                text = "the name of the folder is no UTF-8, so it was not looked into"
                notes.append(("error", _shown(str(path)), text))
            elif path.is_symlink():
                notes.append(("warning", str(path), "a link to a folder, which is not followed"))
            else:
                kept.append(subfolder)
        subfolders[:] = kept
        yield folder, files


def _is_known(note: Note, versions: dict[Path, VersionFolder]) -> bool:
    """Return whether a note is of a link that leads to nothing to ingest, or to what is found."""
    path = Path(note[1])
    if note[0] == "error" or not path.is_symlink():
        return False
    target = path.resolve()
    if any(version.is_relative_to(target) for version in versions):
        return True
    try:
        names = os.listdir(target)
    except OSError:
        return False
    return MAPPING_FILE not in names and not any(name.endswith(_SUFFIX) for name in names)


def _nothing_found(roots: list[str | os.PathLike[str]], notes: list[Note]) -> SourceError:
    reasons = "".join(f"; {path}: {text}" for _, path, text in notes[:3])
    below = f"no version directory below {', '.join(_shown(str(root)) for root in roots)}{reasons}"
    return SourceError(
        below if roots else "no folder was given",
        expected=f"folders with {MAPPING_FILE} and one CSV per kernel",
        todo="'sqlinterp demo DIR' writes examples.",
    )


def _version_folder(path: Path, names: list[str], tops: tuple[Path, ...]) -> VersionFolder | None:
    files, ignored = _csv_files(path, names)
    if MAPPING_FILE in names:
        kind = "kernel"
    elif any(name.startswith("hcom_") for name in names if name.lower().endswith(_SUFFIX)):
        kind = "communication"
    elif path in tops and (files or ignored):
        kind = "kernel"
    else:
        return None
    return VersionFolder(version_key(path), kind, path, files, tops, ignored)


def _csv_files(
    path: Path, names: Iterable[str]
) -> tuple[tuple[Path, ...], tuple[tuple[str, str], ...]]:
    """Return the CSVs of a folder, and the files that are meant as CSVs but named otherwise."""
    files, ignored = [], []
    for name in sorted(names):
        if not name.lower().endswith(_SUFFIX):
            continue
        if not _is_text(name):
            ignored.append((_shown(name), "the name of the file is no UTF-8"))
        elif name.endswith(_SUFFIX):
            files.append(path / name)
        else:
            stem = name[: -len(_SUFFIX)]
            ignored.append((name, f"the name has to end with '{_SUFFIX}': call it {stem}{_SUFFIX}"))
    told = ((name, f"{name} is not read: {reason}") for name, reason in ignored)
    return tuple(files), tuple(told)


def _is_text(name: str) -> bool:
    """Return whether a name from the file system is text, which a database can store."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    """Return a name as messages can hold it."""
    return name if _is_text(name) else ascii(name)[1:-1]
