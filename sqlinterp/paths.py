"""The paths: which SQL file defines regime and axes, which axes it has, how many may vary."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Path:
    """One path of ``sql/paths``.

    Attributes
    ----------
    name : str
        Stem of the SQL file.
    axes : tuple of str
        Names of ``axis_1`` ... in order of preference for interpolation.
    max_dim : int
        Largest number of axes that may vary together, before policy.
    """

    name: str
    axes: tuple[str, ...]
    max_dim: int

    @property
    def query(self) -> str:
        """Name of the query that places cells on the axes."""
        return f"paths.{self.name}"

    def groups(self, dimension: int) -> list[tuple[int, ...]]:
        """Return the axis groups of one dimension, as axis positions, in order of preference."""
        return list(combinations(range(len(self.axes)), dimension))


PATHS = {
    path.name: path
    for path in (
        Path("matmul", ("M", "K", "N"), 3),
        Path("generic_axis_0", ("axis_0",), 1),
        Path("generic_output_numel", ("output_numel",), 1),
    )
}


def compute_path(is_matmul: bool, generic_axis: str) -> Path:
    """Return the path of a compute operator from its primary kernel and its policy."""
    if is_matmul:
        return PATHS["matmul"]
    if generic_axis == "output_numel":
        return PATHS["generic_output_numel"]
    return PATHS["generic_axis_0"]
