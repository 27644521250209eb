"""The distinct rows of one kernel: cells, enrichment and the latency that the law gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from sqlinterp.demo.attention import SCENES
from sqlinterp.demo.domains import DOMAINS, Case, box_cases
from sqlinterp.demo.expressions import cell, value
from sqlinterp.demo.tables import TYPE_BYTES, Form, Kernel, Law, Side
from sqlinterp.demo.versions import Version

_LEAST_BOX = 48
_LEAST = 4
_BOX_VERSION = "0.18"

Slots = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Point:
    """One row before noise: six text cells, enrichment cells, work and ideal latency in us."""

    cells: tuple[str, ...]
    extras: Mapping[str, str]
    order: tuple[Slots, Slots]
    latency_us: float
    flops: int
    protected: bool


def row_count(kernel: Kernel, version: Version, scale: float) -> int:
    """Return the number of rows wanted, without the smallest box of a tiny scale."""
    full = kernel.rows[version.name]
    least = kernel.least if version.name == _BOX_VERSION else _LEAST
    return max(min(full, least), round(full * scale))


def _cases(domain: str, count: int) -> Iterator[Case]:
    if domain == "box":
        return box_cases(count)
    if domain in SCENES:
        return SCENES[domain](count)
    return DOMAINS[domain].cases(count)


def _moved_bytes(side: Side, shapes: Slots) -> int:
    return sum(
        prod(shape) * TYPE_BYTES[letter] if shape else 0
        for shape, letter in zip(shapes, side.types, strict=True)
    )


def _latency(law: Law, flops: int, moved: int) -> float:
    compute = flops / law.flops_per_us if law.flops_per_us else 0.0
    return law.base_us + max(compute, moved / law.bytes_per_us)


def _point(form: Form, case: Case, extras: Mapping[str, str]) -> Point:
    inputs, outputs = form.inputs.shapes.at(case.names), form.outputs.shapes.at(case.names)
    flops = value(form.law.flops, case.names) if form.law.flops else 0
    moved = (
        value(form.law.moved, case.names)
        if form.law.moved
        else _moved_bytes(form.inputs, inputs) + _moved_bytes(form.outputs, outputs)
    )
    cells = (
        cell(inputs),
        form.inputs.dtype_cell,
        form.inputs.format_cell,
        cell(outputs),
        form.outputs.dtype_cell,
        form.outputs.format_cell,
    )
    latency = _latency(form.law, flops, moved)
    return Point(cells, extras, (inputs, outputs), latency, flops, case.protected)


def _shares(kernel: Kernel, version: Version, count: int) -> list[tuple[Form, int]]:
    forms = [form for form in kernel.forms if form.domain != "box" or version.name == _BOX_VERSION]
    whole = sum(form.share for form in forms)
    wanted = [
        max(int(count * form.share / whole), _LEAST_BOX if form.domain == "box" else 0)
        for form in forms
    ]
    wanted[1 if forms[0].domain == "box" else 0] += max(0, count - sum(wanted))
    return list(zip(forms, wanted, strict=True))


def _identity(point: Point) -> tuple[str, ...]:
    return (*point.cells, *point.extras.values())


def points_of(kernel: Kernel, version: Version, scale: float) -> list[Point]:
    """Return the distinct points of one file, sorted by their shapes as numbers.

    Parameters
    ----------
    kernel : Kernel
        Kernel type of the file.
    version : Version
        Its layout decides whether enrichment columns tell rows apart.
    scale : float
        Share of the documented number of rows.

    Returns
    -------
    list of Point
        No two have the same shapes, dtypes, formats and enrichment.
    """
    found: dict[tuple[str, ...], Point] = {}
    enriched = version.layout == "current62"
    goal = 0
    for form, wanted in _shares(kernel, version, row_count(kernel, version, scale)):
        goal += wanted
        for factor in (1,) if form.domain == "box" else (1, 2, 4, 16):
            for case in _cases(form.domain, wanted * factor) if wanted else ():
                if len(found) >= goal:
                    break
                point = _point(form, case, case.extras if enriched else {})
                found.setdefault(_identity(point), point)
    return sorted(found.values(), key=lambda point: (point.order, _identity(point)))
