"""Where the truth of probes comes from: held-out points, another version, a table, a program.

Source: fidelity specification, sections 2.2, 2.3 and 2.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.fidelity.command import TruthCommand
from sqlinterp.fidelity.drift import (
    Drift,
    Family,
    copied_coordinates,
    drift_factor,
    drift_of,
    family_of,
)
from sqlinterp.fidelity.generated import generated_coordinates
from sqlinterp.fidelity.grid import Coordinate, Group
from sqlinterp.fidelity.probes import Probe
from sqlinterp.fidelity.regions import final_region, region_at
from sqlinterp.fidelity.results import ON_GRID
from sqlinterp.fidelity.schemes import SCHEMES, Options
from sqlinterp.fidelity.source import Measured
from sqlinterp.fidelity.truth_table import TruthTable

Skipped = Counter[tuple[str, str, str]]
Latencies = Mapping[Coordinate, float | None]
Given = Sequence[tuple[Mapping[str, float], str]]
GENERATED, TRUTH, GIVEN = "generated", "truth", "given"


@dataclass(frozen=True)
class Truth:
    """Where the truth comes from.

    Attributes
    ----------
    kind : str
        ``holdout``, ``version``, ``table`` or ``command``.
    scheme : str
        Hold-out scheme.
    version, is_normalized : str, bool
        The other version, and whether its drift is divided out.
    path, column_map : Path, mapping
        The table, and its columns by our names.
    argv, timeout_s, batch : tuple of str, float, int
        The program, its longest time [s] and most points of one call.
    """

    kind: str = "holdout"
    scheme: str = "loo"
    options: Options = field(default_factory=Options)
    version: str = ""
    is_normalized: bool = False
    path: Path = Path()
    column_map: Mapping[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    timeout_s: float = 600.0
    batch: int = 64

    @property
    def reference(self) -> str | None:
        """The other version, table or command line, None for a hold-out."""
        told = {"version": self.version, "table": str(self.path), "command": " ".join(self.argv)}
        return told.get(self.kind)

    def record(self) -> dict[str, Any]:
        """Return what was asked for as responses hold it."""
        if self.kind == "holdout":
            options = {k: v for k, v in vars(self.options).items() if v is not None}
            return {"kind": self.kind, "scheme": self.scheme, **options}
        if self.kind == "version":
            return {"kind": self.kind, "version": self.version, "normalize": self.is_normalized}
        if self.kind == "table":
            return {"kind": self.kind, "path": str(self.path), "column_map": dict(self.column_map)}
        return {"kind": self.kind, "argv": list(self.argv), "timeout_s": self.timeout_s,
                "batch": self.batch}  # fmt: skip


@dataclass
class Asked:
    """Probes, and what became of the rest.

    Attributes
    ----------
    skipped : Counter
        Points that are not asked for, by (kernel, path, reason).
    drifts : dict
        How the other version compares, by kernel and dtype.
    latencies : callable or None
        Gives the truths of drawn probes; None when they have them already.
    """

    probes: list[Probe] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Counter)
    drifts: dict[Family, Drift] = field(default_factory=dict)
    latencies: Callable[[list[Probe]], list[float | None]] | None = None


def held_out(groups: Sequence[Group], truth: Truth, given: Given | None) -> Asked:
    """Return the points of groups that a scheme holds out, or those of them that are given."""
    scheme = SCHEMES.get(truth.scheme)
    if scheme is None:
        known = ", ".join(SCHEMES)
        raise UsageError(f"hold-out scheme '{truth.scheme}' is unknown", expected=known)
    asked = Asked()
    for group in groups:
        axes, problem = _axes(group, truth.options.axis)
        if problem is not None:
            asked.skipped[group.kernel_type, group.path, problem] += len(group.points)
            continue
        wanted = None if given is None else dict(_placed(group, given))
        count = 0
        for held in scheme(group, axes, truth.options):
            count += 1
            point = held.point
            if wanted is None or point.coordinate in wanted:
                region = held.region if wanted is None else wanted[point.coordinate]
                asked.probes.append(
                    Probe(
                        group, point.coordinate, region, held.axis, held.holdout,
                        None if point.is_conflicting else point.truth_us, point,
                        scheme=truth.scheme,
                    )
                )  # fmt: skip
        if not count:
            asked.skipped[group.kernel_type, group.path, "too_few_values"] += len(group.points)
    return asked


def _axes(group: Group, name: str | None) -> tuple[list[int], str | None]:
    """Return the axes along which points of a group leave, or why none does."""
    if not group.varying:
        return [], "single_coordinate"
    if name is None:
        return list(group.varying), None
    if name not in group.axes:
        return [], "axis_absent"
    axis = group.axes.index(name)
    return ([axis], None) if axis in group.varying else ([], "axis_constant")


def _placed(group: Group, given: Given) -> Iterator[tuple[Coordinate, str]]:
    """Yield stored coordinates and regions of the given probes that fit the axes of a group."""
    for told, region in given:
        if set(told) != set(group.axes):
            raise UsageError(
                f"a probe has ({', '.join(told)}), expected the axes {', '.join(group.axes)}"
            )
        coordinate = group.regime.stored(told)
        if coordinate is not None:
            yield coordinate, region


def _coordinates(
    group: Group, given: Given | None, told: Latencies | None
) -> Iterator[tuple[Coordinate, str, int | None, str]]:
    """Yield coordinates with region, axis and origin: given ones, those of the truth, generated.

    A coordinate that the group has measured is told as such whatever was given.
    """
    if given is not None:
        for coordinate, region in _placed(group, given):
            is_measured = coordinate in group.by_coordinate
            yield coordinate, ON_GRID if is_measured else region, None, GIVEN
    elif told is not None:
        for coordinate in told:
            yield coordinate, *region_at(group, coordinate), TRUTH
    else:
        for coordinate, region, axis in generated_coordinates(group):
            yield coordinate, region, axis, GENERATED


def from_latencies(
    group: Group, latencies: Latencies, given: Given | None, is_generated: bool
) -> Iterator[Probe]:
    """Yield probes of a group whose truths lie in a mapping; those without one have none."""
    told = None if is_generated else latencies
    for coordinate, region, axis, origin in _coordinates(group, given, told):
        yield Probe(
            group, coordinate, region, axis, None, latencies.get(coordinate),
            group.by_coordinate.get(coordinate), scheme=origin,
        )  # fmt: skip


def from_version(
    measured: Measured,
    groups: Sequence[Group],
    truth: Truth,
    aggregation: str,
    options: tuple[Given | None, bool],
) -> Asked:
    """Return probes whose truth is another version, judged by how far that drifted.

    Parameters
    ----------
    options : tuple
        Given probes, and whether coordinates are generated.
    """
    key = measured.resolved(truth.version)
    wanted = {group.group_id for group in groups}
    regimes = [r for r in measured.regimes(key) if r[0]["group_id"] in wanted]
    others = {g.group_id: g for g in measured.groups(regimes, aggregation, key)}
    asked = Asked()
    families: dict[Family, list[tuple[Group, Group | None]]] = {}
    for group in groups:
        families.setdefault(family_of(group), []).append((group, others.get(group.group_id)))
    for family, pairs in families.items():
        drift = asked.drifts[family] = drift_of(pairs, truth.is_normalized)
        factor = drift_factor(pairs) if truth.is_normalized else None
        for group, other in pairs:
            if other is None:
                place = (group.kernel_type, group.path, "group_not_in_truth")
                asked.skipped[place] += len(group.points)
                continue
            copied = copied_coordinates(group, other) if drift.has_copies else set()
            latencies = {
                at: None if at in copied else point.truth_us / (factor or 1.0)
                for at, point in other.by_coordinate.items()
            }
            made = from_latencies(group, latencies, *options)
            asked.probes += [replace(probe, drift=factor) for probe in made]
    return asked


def from_table(groups: Sequence[Group], truth: Truth, options: tuple[Given | None, bool]) -> Asked:
    """Return probes whose truth is a table."""
    if not truth.path.is_file():
        raise UsageError("there is no such table", str(truth.path))
    table = TruthTable(truth.path, truth.column_map)
    asked = Asked()
    for group in groups:
        asked.probes += from_latencies(group, table.latencies(group), *options)
    return asked


def from_command(groups: Sequence[Group], truth: Truth, given: Given | None) -> Asked:
    """Return probes whose truth a program tells, once they are drawn."""
    command = TruthCommand(truth.argv, truth.timeout_s, truth.batch)
    asked = Asked()
    for group in groups:
        asked.probes += from_latencies(group, {}, given, True)

    def latencies(probes: list[Probe]) -> list[float | None]:
        told: dict[int, float | None] = {}
        places: dict[Group, list[int]] = {}
        for place, probe in enumerate(probes):
            places.setdefault(probe.group, []).append(place)
        for group, own in places.items():
            points = [probes[place].target for place in own]
            found = command.latencies(group.kernel_type, group.fields, points)
            told.update(zip(own, found, strict=True))
        return [told[place] for place in range(len(probes))]

    asked.latencies = latencies
    return asked


def with_final_regions(probes: Sequence[Probe], small_us: float) -> list[Probe]:
    """Return probes with the regions that fixed rules give them."""
    told = []
    for probe in probes:
        region = final_region(probe.region, probe.truth_us, small_us)
        told.append(probe if region == probe.region else replace(probe, region=region))
    return told
