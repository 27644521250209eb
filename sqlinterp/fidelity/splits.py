"""The splits: which coordinates of a family leave together, and which region they are told under.

A split is one function that yields :class:`Leaving`; its name in ``SPLITS`` is all that the
command needs to know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlinterp.fidelity.grid import Coordinate, Family


@dataclass(frozen=True)
class Leaving:
    """Coordinates that leave together.

    Attributes
    ----------
    region : str
        What their errors are told under.
    axis : int or None
        The axis along which they leave, None when they leave from all.
    """

    region: str
    axis: int | None
    coordinates: tuple[Coordinate, ...]


Split = Callable[[Family, list[int]], Iterator[Leaving]]


def loo(family: Family, axes: list[int]) -> Iterator[Leaving]:
    """Every coordinate leaves alone."""
    only = axes[0] if len(axes) == 1 else None
    region = "loo" if only is None else f"axis{only}"
    for coordinate in family.coordinates:
        yield Leaving(region, only, (coordinate,))


def plane(family: Family, axes: list[int]) -> Iterator[Leaving]:
    """All coordinates that share one value of an axis leave together, axis by axis."""
    for axis in axes:
        for value in family.values(axis):
            yield Leaving(f"axis{axis}", axis, _with_values(family, axis, {value}))


def thin(family: Family, axes: list[int]) -> Iterator[Leaving]:
    """Every second value of an axis leaves, all at once; first and last value stay."""
    for axis in axes:
        dropped = set(family.values(axis)[1:-1:2])
        if dropped:
            yield Leaving(f"axis{axis}", axis, _with_values(family, axis, dropped))


SPLITS: dict[str, Split] = {"loo": loo, "plane": plane, "thin": thin}


def region_of(family: Family, leaving: Leaving, coordinate: Coordinate) -> str:
    """Return the region of one coordinate: at the end of every axis in question it is ``edge``.

    Such a coordinate has no neighbours on one side once it is gone, so that no interpolation can
    answer it.
    """
    axes = family.varying if leaving.axis is None else [leaving.axis]
    ends = [(family.values(axis), axis) for axis in axes]
    if all(coordinate[axis] in (values[0], values[-1]) for values, axis in ends):
        return "edge"
    return leaving.region


def _with_values(family: Family, axis: int, values: set[float]) -> tuple[Coordinate, ...]:
    return tuple(c for c in family.coordinates if c[axis] in values)
