"""Where the packaged folders are: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

from sqlinterp.errors import QueryFileError


def resource_folder(name: str) -> Path:
    """Return the folder ``sql``, ``migrations`` or ``databases`` that this package ships.

    Raises
    ------
    QueryFileError
        If the installation lacks the folder.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_shipped" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise QueryFileError(
        f"the folder '{name}' of sqlinterp is missing", str(package), todo="Reinstall sqlinterp."
    )
