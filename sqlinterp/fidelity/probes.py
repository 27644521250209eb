"""A coordinate with its truth: what a lookup is asked for, and what it should have said."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlinterp.fidelity.grid import Coordinate, Group, Point
from sqlinterp.fidelity.schemes import Holdout

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Probe:
    """One question.

    Attributes
    ----------
    region : str
        What its error is told under.
    axis : int or None
        The axis that the region is about.
    holdout : Holdout or None
        What the lookup may not see, None when it sees everything.
    truth_us : float or None
        What was measured there, None when nobody knows [us].
    point : Point or None
        The measured point of the group at the coordinate.
    drift_us : float or None
        Factor that the truth was divided by to take out the drift of a version.
    scheme : str
        How the probe came about: a hold-out scheme, ``generated``, ``given`` or ``truth``.
    """

    group: Group
    coordinate: Coordinate
    region: str
    axis: int | None = None
    holdout: Holdout | None = None
    truth_us: float | None = None
    point: Point | None = None
    drift: float | None = None
    scheme: str = ""

    @property
    def target(self) -> dict[str, float]:
        """The coordinate by the names of its axes."""
        return self.group.target(self.coordinate)


def order_key(probe: Probe, salt: str) -> str:
    """Return the MD5 that decides which probes are drawn: the same for the same data and salt."""
    text = "|".join(
        (
            probe.group.group_id,
            " ".join(f"{value:.17g}" for value in probe.coordinate),
            probe.region,
            probe.holdout.name if probe.holdout else "",
            salt,
        )
    )
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def stratified(probes: Sequence[Probe], most: int | None, salt: str) -> tuple[list[Probe], bool]:
    """Return at most so many probes in the order given, regions in proportion.

    Every region keeps at least one probe while there is room.

    Returns
    -------
    list of Probe, bool
        The probes, and whether any were left out.
    """
    if most is None or len(probes) <= most:
        return list(probes), False
    places: dict[str, list[int]] = {}
    for place, probe in enumerate(probes):
        places.setdefault(probe.region, []).append(place)
    kept: set[int] = set()
    for region, share in _shares({name: len(own) for name, own in places.items()}, most).items():
        ordered = sorted(places[region], key=lambda place: order_key(probes[place], salt))
        kept.update(ordered[:share])
    return [probes[place] for place in sorted(kept)], True


def _shares(sizes: dict[str, int], most: int) -> dict[str, int]:
    """Return how many of each region are drawn: largest remainders, no region left empty."""
    total = sum(sizes.values())
    exact = {name: most * size / total for name, size in sizes.items()}
    shares = {name: min(sizes[name], max(1, int(part))) for name, part in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(exact[name] - int(exact[name])), name))
    for name in by_remainder * 2:
        if sum(shares.values()) < most and shares[name] < sizes[name]:
            shares[name] += 1
    while sum(shares.values()) > most:
        largest = max(shares, key=lambda name: (shares[name], name))
        shares[largest] -= 1
    return shares


def grouped_by(items: Iterable[Item], key: Callable[[Item], object]) -> dict[object, list[Item]]:
    """Return items by a key, in the order of their first appearance."""
    found: dict[object, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
