"""A declaration: which columns of a measured table are kernel, regime, axes and latency."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

UNITS_US = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
TRANSFORMS = ("identity", "log2", "log", "sqrt")
SPREADS = ("min", "max", "mean", "median", "std")
FILTERS = ("equals", "not_equals", "in", "not_in", "min", "max")
MOST_AXES = 4
KERNEL_PLACE = "{kernel}"

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A continuous coordinate.

    Attributes
    ----------
    name : str
        Name of the field that requests give.
    column : str
        Column of the table.
    unit : str
        Unit of the field [text], empty when untold.
    scale : float
        What a cell is multiplied with to give the field.
    transform : str
        How the field is stored, and so in which quantity latencies are taken as linear.
    """

    name: str
    column: str
    unit: str = ""
    scale: float = 1.0
    transform: str = "identity"


@dataclass(frozen=True)
class RegimeField:
    """A discrete field that must match exactly; a blank cell has the default, if there is one."""

    name: str
    column: str
    default: Any = None
    has_default: bool = False


@dataclass(frozen=True)
class Filter:
    """Rows to keep: those whose cell stands in a relation to a value."""

    column: str
    relation: str
    value: Any


@dataclass(frozen=True)
class KernelRule:
    """Where kernel names come from.

    Attributes
    ----------
    kind : str
        ``constant``, ``column`` (one name a row) or ``columns`` (one wide row is a row per name).
    text : str
        The name, the column, or the column pattern with ``{kernel}`` in it.
    prefix : str
        What names from the table get in front.
    """

    kind: str
    text: str
    prefix: str = ""

    def column(self, pattern: str, kernel: str) -> str:
        """Return the column that a pattern names for a kernel."""
        return pattern.replace(KERNEL_PLACE, kernel) if self.kind == "columns" else pattern

    def names_in(self, header: list[str]) -> list[str]:
        """Return the names that columns of a wide table give, in their order, without prefix."""
        before, after = (re.escape(part) for part in self.text.split(KERNEL_PLACE))
        found = (re.fullmatch(f"{before}(.+){after}", name) for name in header)
        return [match[1] for match in found if match]


@dataclass(frozen=True)
class Declaration:
    """How to read one kind of table; see ``databases/declarations`` for examples.

    Attributes
    ----------
    version : str
        Version key, in which ``{name}`` stands for a column, constant or part of the path.
    patterns : tuple of str
        Regular expressions searched in the path of a table; named groups act like constants.
    constants : mapping
        Columns that the table lacks, with their one value.
    latency_column, latency_unit : str
        Where latencies are, and in which unit.
    spread : mapping of str to str
        Columns of min, max, mean, median and std of the repetitions, in the unit of the latency.
    backend : str or None
        Field of the regime whose values are alternatives of which the fastest counts.
    feasible : str or None
        SQL boolean over the axes: which coordinates can exist.
    policy : mapping
        Interpolation policy of the kernels, with the keys of ``interpolation_policy``.
    source : mapping
        repository, commit, licence, path.
    """

    name: str
    version: str
    kernel: KernelRule
    axes: tuple[Axis, ...]
    latency_column: str
    latency_unit: str
    regime: tuple[RegimeField, ...] = ()
    spread: Mapping[str, str] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    backend: str | None = None
    feasible: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def axis_names(self) -> list[str]:
        """Names of the axes in order of preference."""
        return [axis.name for axis in self.axes]

    @property
    def version_columns(self) -> list[str]:
        """Columns that the version key is made of."""
        return re.findall(r"\{([^{}]+)\}", self.version)

    def columns(self, kernel: str) -> list[str]:
        """Return the columns that a row of a kernel is read from."""
        own = [self.latency_column, *self.spread.values()]
        columns = [axis.column for axis in self.axes] + [f.column for f in self.regime]
        columns += [f.column for f in self.filters] + self.version_columns
        if self.kernel.kind == "column":
            columns.append(self.kernel.text)
        columns += [self.kernel.column(pattern, kernel) for pattern in own]
        return list(dict.fromkeys(columns))
