"""The paths: which SQL file defines regime and axes, which axes it has, how many may vary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

KEY_FIELDS = ("file_id", "input_limit", "regime_key", "output_dtypes")


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
    is_enriched : bool
        Whether the path reads more than operands and outputs: EP size, runtime metadata.
    refuses_conflicts : bool
        Whether a point whose measurements differ in any recorded field is a miss.
    is_dtype_strict : bool
        Whether a FLOAT16 target is answered by FLOAT16 rows only, never by DT_BF16 ones.
    regime_steps : tuple of str
        Steps of a statement that find the regimes of targets, the last one named ``regimes``.
    regime_fields : tuple of str
        Which fields of a placed target decide its regimes; empty when its points do, too.
    transforms : tuple of str
        How declared axes are stored: identity, log2, log or sqrt; empty for those that are as told.
    """

    name: str
    axes: tuple[str, ...]
    max_dim: int
    is_enriched: bool = False
    refuses_conflicts: bool = False
    is_dtype_strict: bool = False
    regime_steps: tuple[str, ...] = ("regimes=lookup.target_regime",)
    # Not shown, since databases remember how paths are shown: lookups alone are concerned.
    regime_fields: tuple[str, ...] = field(default=KEY_FIELDS, repr=False)
    transforms: tuple[str, ...] = ()

    def is_plain(self, axis: int) -> bool:
        """Whether the values of an axis are stored as they are told."""
        return not self.transforms or self.transforms[axis] == "identity"

    def width(self, axis: int, low: float, high: float) -> float:
        """Return how many times the upper end of a bracket on an axis is the lower one, as told.

        Infinite from zero.
        """
        if high <= low:
            return 1.0
        if self.transforms and self.transforms[axis] in ("log2", "log"):
            step = min(high - low, 700.0)
            return math.exp2(step) if self.transforms[axis] == "log2" else math.exp(step)
        ratio = high / low if low > 0 else math.inf
        is_root = bool(self.transforms) and self.transforms[axis] == "sqrt"
        return ratio * ratio if is_root else ratio

    @property
    def query(self) -> str:
        """Name of the query that places cells on the axes."""
        return f"paths.{self.name}"

    @property
    def measured_cells(self) -> str:
        """Name of the query that reads measurements as cells of the path."""
        return "ingest.measured_cells_enriched" if self.is_enriched else "ingest.measured_cells"

    @property
    def target_cells(self) -> str:
        """Name of the query that reads targets as cells of the path."""
        return "lookup.target_cell_enriched" if self.is_enriched else "lookup.target_cell"

    def groups(self, dimension: int) -> tuple[tuple[int, ...], ...]:
        """Return the axis groups of one dimension, as axis positions, in order of preference."""
        return _groups(len(self.axes), dimension)


@cache
def _groups(axes: int, dimension: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(axes), dimension))


PATHS = {
    path.name: path
    for path in (
        Path("matmul", ("M", "K", "N"), 3),
        Path("generic_axis_0", ("axis_0",), 1),
        Path("generic_output_numel", ("output_numel",), 1),
        Path("compute_scale", ("M", "K"), 2, is_enriched=True, is_dtype_strict=True),
        Path("quantized_matmul", ("M", "K", "N"), 3, is_enriched=True),
        Path("moe_fused", ("tokens",), 1, is_enriched=True, refuses_conflicts=True),
        Path(
            "elementwise",
            ("axis_0", "axis_1"),
            2,
            regime_steps=("matches=lookup.target_regime", "regimes=lookup.elementwise_regime"),
        ),
        Path(
            "attention_special",
            ("seq", "batch", "heads", "head_dim"),
            3,
            is_enriched=True,
            regime_steps=(
                "matches=lookup.attention_regime",
                "regimes=lookup.attention_equal_tokens",
            ),
            regime_fields=(*KEY_FIELDS, "axis_2", "reason"),
        ),
        Path("scatter_nd_update_mla", ("tokens",), 1, refuses_conflicts=True),
        Path(
            "attention_lightning_indexer",
            ("tokens", "cache_blocks"),
            2,
            is_enriched=True,
            refuses_conflicts=True,
        ),
        Path("attention_sparse_sharedkv", ("tokens",), 1, is_enriched=True, refuses_conflicts=True),
    )
}

# Dispatches whose entries are placed on one path whatever their kernel.
PATH_OF_DISPATCH: dict[str, str] = {
    "attention_special": "attention_special",
    "compute_scale": "compute_scale",
    "quantized_matmul": "quantized_matmul",
    "moe_fused": "moe_fused",
    "elementwise": "elementwise",
    "scatter_nd_update_mla": "scatter_nd_update_mla",
    "attention_lightning_indexer": "attention_lightning_indexer",
    "attention_sparse_sharedkv": "attention_sparse_sharedkv",
}


def compute_path(is_matmul: bool, generic_axis: str) -> Path:
    """Return the path of a compute operator from its primary kernel and its policy."""
    if is_matmul:
        return PATHS["matmul"]
    if generic_axis == "output_numel":
        return PATHS["generic_output_numel"]
    return PATHS["generic_axis_0"]
