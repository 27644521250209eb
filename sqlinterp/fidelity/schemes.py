"""Which measured points leave together, and what their errors are told under.

Source: fidelity specification, section 2.3. Nothing is random: the same points and options give
the same hold-outs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from sqlinterp.fidelity.grid import Coordinate, Group, Point

LARGEST = 1.7e308  # ranges without an upper end; JSON has no infinity
FACTORS = (1.5, 2.0, 4.0, 8.0)
_LEAST_KEPT, _LEAST_TOP = 4, 3


@dataclass(frozen=True)
class Options:
    """What a scheme depends on.

    Attributes
    ----------
    keep_every : int
        ``thin`` keeps every so many-th value.
    factors : tuple of float
        ``tail`` and ``head`` hold out beyond the end divided or multiplied by these.
    cells : int
        ``gap`` holds out so many neighbouring values.
    k : int
        Parts of ``kfold``.
    salt : str
        Changes the parts of ``kfold`` and the draw of samples.
    axis : str or None
        Only along this axis.
    """

    keep_every: int = 2
    factors: tuple[float, ...] = FACTORS
    cells: int = 1
    k: int = 10
    salt: str = ""
    axis: str | None = None


@dataclass(frozen=True, eq=False)
class Holdout:
    """Points that leave a group together.

    Attributes
    ----------
    ranges : tuple of (axis, low, high)
        A point in any of them leaves.
    at : tuple of float or None
        One point that leaves.
    coordinates : frozenset or None
        All points that leave, when ranges cannot tell them.
    """

    name: str
    ranges: tuple[tuple[int, float, float], ...] = ()
    at: Coordinate | None = None
    coordinates: frozenset[Coordinate] | None = None

    def holds(self, coordinate: Coordinate) -> bool:
        """Whether a coordinate leaves."""
        if self.coordinates is not None:
            return coordinate in self.coordinates
        if coordinate == self.at:
            return True
        return any(low <= coordinate[axis] <= high for axis, low, high in self.ranges)


@dataclass(frozen=True, eq=False)
class Held:
    """A point that leaves, with its hold-out, its region, and the axis that this is about."""

    point: Point
    holdout: Holdout
    region: str
    axis: int | None = None


Scheme = Callable[[Group, list[int], Options], Iterator[Held]]


def _chosen(group: Group, axes: list[int]) -> str:
    """Return the region of a hold-out over all axes of a group: along its only one, or diagonal."""
    return f"axis{axes[0]}" if len(group.varying) == 1 else "diag"


def loo(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """Every point leaves alone."""
    del options
    only = axes[0] if len(group.varying) == 1 else None
    region = "loo" if only is None else f"axis{only}"
    for point in group.points:
        at = point.coordinate
        is_end = all(_is_end(group, axis, at[axis]) for axis in group.varying)
        is_paired = any(group.is_paired(axis, at[axis]) for axis in group.varying)
        holdout = Holdout(f"point {_text(group, at)}", at=at)
        yield Held(point, holdout, _place(region, is_end, is_paired), only)


def plane(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """All points that share a value of an axis leave, a boundary pair as one value."""
    del options
    for axis in axes:
        holdouts: dict[tuple[float, float], Holdout] = {}
        for point in group.points:
            value = point.coordinate[axis]
            unit = group.unit(axis, value)
            if unit not in holdouts:
                holdouts[unit] = Holdout(_range_name(group, axis, *unit), ((axis, *unit),))
            is_end = any(_is_end(group, axis, v) for v in unit)
            region = _place(f"axis{axis}", is_end, unit[0] < unit[1])
            yield Held(point, holdouts[unit], region, axis)


def cross(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """All points that share the value of any axis with a point leave, boundary pairs as one."""
    del options
    region, only = _chosen(group, axes), axes[0] if len(group.varying) == 1 else None
    for point in group.points:
        units = {axis: group.unit(axis, point.coordinate[axis]) for axis in axes}
        ranges = tuple((axis, *unit) for axis, unit in units.items())
        is_end = any(_is_end(group, axis, v) for axis, unit in units.items() for v in unit)
        is_paired = any(low < high for low, high in units.values())
        holdout = Holdout(f"cross {_text(group, point.coordinate)}", ranges)
        yield Held(point, holdout, _place(region, is_end, is_paired), only)


def thin(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """All but every so many-th value of each axis leave at once; first and last stay."""
    dropped = {axis: _dropped(group.values(axis), options.keep_every) for axis in axes}
    gone = {
        point: [axis for axis in axes if point.coordinate[axis] in dropped[axis]]
        for point in group.points
    }
    leaving = frozenset(point.coordinate for point, out in gone.items() if out)
    holdout = Holdout(f"thin {options.keep_every}", coordinates=leaving)
    for point, out in gone.items():
        if out:
            is_paired = any(group.is_paired(axis, point.coordinate[axis]) for axis in out)
            region = f"axis{out[0]}" if len(out) == 1 else "diag"
            only = out[0] if len(out) == 1 else None
            yield Held(point, holdout, _place(region, False, is_paired), only)


def tail(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """All points above the largest value over a factor leave."""
    for factor in options.factors:
        ranges = {}
        for axis in axes:
            cut = group.field_value(axis, group.values(axis)[-1]) / factor
            beyond = [v for v in group.values(axis) if group.field_value(axis, v) > cut]
            if cut > 0 and _is_enough(group, axis, cut):
                ranges[axis] = (axis, beyond[0], LARGEST)
        yield from _beyond(group, ranges, f"extrap{{}}_x{factor:g}")
        if len(ranges) > 1:
            yield from _jointly(group, ranges, f"tail x{factor:g}")


def head(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """All points below the smallest value times a factor leave."""
    for factor in options.factors:
        ranges = {}
        for axis in axes:
            values = group.values(axis)
            cut = group.field_value(axis, values[0]) * factor
            beyond = [v for v in values if group.field_value(axis, v) < cut]
            if beyond and len(values) - len(beyond) >= _LEAST_KEPT:
                ranges[axis] = (axis, -LARGEST, beyond[-1])
        yield from _beyond(group, ranges, f"under{{}}_x{factor:g}")


def gap(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """So many neighbouring inner values of an axis leave, at every place in turn."""
    for axis in axes:
        values, region = group.values(axis), f"gap{axis}_b{options.cells}"
        having: dict[float, list[Point]] = {value: [] for value in values}
        for point in group.points:
            having[point.coordinate[axis]].append(point)
        for start in range(1, len(values) - options.cells):
            gone = values[start : start + options.cells]
            span = (axis, gone[0], gone[-1])
            holdout = Holdout(_range_name(group, *span), (span,))
            for value in gone:
                yield from (Held(point, holdout, region, axis) for point in having[value])


def kfold(group: Group, axes: list[int], options: Options) -> Iterator[Held]:
    """Every point leaves with the others of its part; the parts come from hashes."""
    del axes
    parts: dict[int, list[Point]] = {}
    for point in group.points:
        text = f"{group.group_id}|{_text(group, point.coordinate)}|{options.salt}"
        number = int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), 16) % options.k
        parts.setdefault(number, []).append(point)
    for number, members in sorted(parts.items()):
        leaving = frozenset(point.coordinate for point in members)
        kept = [point.coordinate for point in group.points if point.coordinate not in leaving]
        holdout = Holdout(f"fold {number} of {options.k}", coordinates=leaving)
        ends = {
            axis: (min(c[axis] for c in kept), max(c[axis] for c in kept))
            for axis in (group.varying if kept else ())
        }
        for point in members:
            at = point.coordinate
            outside = any(not low <= at[axis] <= high for axis, (low, high) in ends.items())
            is_paired = any(group.is_paired(axis, at[axis]) for axis in group.varying)
            yield Held(point, holdout, _place("kfold", outside or not kept, is_paired))


SCHEMES: dict[str, Scheme] = {
    "loo": loo,
    "plane": plane,
    "cross": cross,
    "thin": thin,
    "tail": tail,
    "head": head,
    "gap": gap,
    "kfold": kfold,
}


def _place(region: str, is_end: bool, is_paired: bool) -> str:
    """Return the fixed region that goes before the region of the scheme, if there is one."""
    if is_end:
        return "edge"
    return "boundary" if is_paired else region


def _is_end(group: Group, axis: int, value: float) -> bool:
    values = group.values(axis)
    return value in (values[0], values[-1])


def _dropped(values: tuple[float, ...], keep_every: int) -> set[float]:
    last = len(values) - 1
    return {value for i, value in enumerate(values) if i % keep_every and i != last}


def _is_enough(group: Group, axis: int, cut: float) -> bool:
    """Whether enough values stay below a cut, and enough of them in the octave below it."""
    told = [group.field_value(axis, value) for value in group.values(axis)]
    kept = [value for value in told if value <= cut]
    if len(kept) < _LEAST_KEPT:
        return False
    return sum(value >= kept[-1] / 2 for value in kept) >= _LEAST_TOP


def _beyond(
    group: Group, ranges: dict[int, tuple[int, float, float]], region: str
) -> Iterator[Held]:
    for axis, span in ranges.items():
        holdout = Holdout(_range_name(group, *span), (span,))
        for point in group.points:
            if holdout.holds(point.coordinate):
                yield Held(point, holdout, region.format(axis), axis)


def _jointly(
    group: Group, ranges: dict[int, tuple[int, float, float]], name: str
) -> Iterator[Held]:
    """Yield the points that are beyond the end of two axes or more, when all ends leave at once."""
    holdout = Holdout(name, tuple(ranges.values()))
    for point in group.points:
        beyond = [a for a, low, high in ranges.values() if low <= point.coordinate[a] <= high]
        if len(beyond) > 1:
            yield Held(point, holdout, "extrap_joint")


def _text(group: Group, coordinate: Coordinate) -> str:
    return " ".join(f"{name}={value:.15g}" for name, value in group.target(coordinate).items())


def _range_name(group: Group, axis: int, low: float, high: float) -> str:
    name, first = group.axes[axis], f"{group.field_value(axis, low):.15g}" if low > -LARGEST else ""
    last = f"{group.field_value(axis, high):.15g}" if high < LARGEST else ""
    return f"{name}={first}" if first == last else f"{name}={first}..{last}"


def widest_step(values: tuple[float, ...]) -> float | None:
    """Return the largest ratio of neighbouring positive values, None when there are none."""
    return max((high / low for low, high in pairwise(values) if low > 0), default=None)
