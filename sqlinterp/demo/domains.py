"""The shape variables of each family of kernels: model shapes first, grids after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt

from sqlinterp.demo.axes import (
    HEADS,
    M_GRID,
    MOE_TOKENS,
    NK_GRID,
    PAD_TOKENS,
    TOKENS,
    axis,
    box_sides,
    unique,
)

Names = Mapping[str, int]


@dataclass(frozen=True)
class Case:
    """One shape: the values of the template's names and the enrichment cells of its row."""

    names: Names
    extras: Mapping[str, str] = field(default_factory=dict)
    protected: bool = False


@dataclass(frozen=True)
class Domain:
    """An axis of tokens crossed with variants, both thinned or densified to a number of rows."""

    axis: str
    variants: tuple[Names, ...]
    preferred: tuple[int, ...] = TOKENS
    limit: int = 32768
    spread: int = 1

    def cases(self, count: int) -> Iterator[Case]:
        """Yield ``count`` cases, variant after variant, each with one series of tokens."""
        length = min(max(3, 2 * isqrt(count)), len(M_GRID), -(-count // self.spread))
        variants = self.variants[: -(-count // length)]
        length = max(length, -(-count // len(variants)))
        tokens = axis(self.preferred, length, self.limit)
        for variant in variants:
            extras = {"EP Size": str(variant["Ep"])} if "Ep" in variant else {}
            for number in tokens:
                yield Case({self.axis: number, **variant}, extras)


def box_cases(count: int) -> Iterator[Case]:
    """Yield a complete M-K-N box; its rows are protected from defects."""
    rows, inner, outer = box_sides(count)
    for k in inner:
        for n in outer:
            for m in rows:
                yield Case({"M": m, "K": k, "N": n}, protected=True)


def _each(name: str, numbers: Sequence[int], **fixed: int) -> tuple[Names, ...]:
    return tuple({name: number, **fixed} for number in numbers)


def _gemms(pairs: Sequence[tuple[int, int]]) -> tuple[Names, ...]:
    return tuple({"K": k, "N": n} for k, n in dict.fromkeys(pairs))


_QWEN = (320, 640, 1280, 1600, 2560, 3200, 5120, 6400, 12800, 25600)
_DEEPSEEK = (576, 1152, 1536, 2304, 4608, 9216, 18432)
_GLM = (576, 768, 1536, 2048, 3072, 12288, 6144)
_LLAMA = (512, 1024, 1792, 2048, 3584, 7168, 8192, 28672)
_LATENT = (1024, 2048, 4096, 8192, 16384)
_DENSE_PAIRS = (
    *((5120, 768), (512, 5120), (5120, 3200), (1600, 5120), (512, 4096)),
    *((6144, 2624), (1024, 6144), (7168, 2112), (2048, 7168), (1536, 3072)),
    *((5120, n) for n in _QWEN),
    *((k, 5120) for k in _QWEN),
    *((7168, n) for n in _DEEPSEEK),
    *((k, 7168) for k in _DEEPSEEK[1:]),
    *((k, n) for k in (512, 1536, 2048) for n in _LATENT),
    *((6144, n) for n in _GLM),
    *((k, 6144) for k in _GLM[1:]),
)
_LLAMA_PAIRS = (*((8192, n) for n in _LLAMA), *((k, 8192) for k in _LLAMA))
_ND_PAIRS = ((5120, 9496), (7168, 256), (7168, 16160), *_LLAMA_PAIRS, *_DENSE_PAIRS)
_TOKEN_PAIRS = (
    *((7168, 4096), (2048, 7168), (7168, 4608), (2304, 7168), (6144, 2624), (1024, 6144)),
    *((7168, n) for n in _DEEPSEEK),
    *((k, 7168) for k in (1024, 1536, *_DEEPSEEK[1:])),
    *((6144, n) for n in _GLM),
    *((k, 6144) for k in _GLM[1:]),
)
_BIAS_PAIRS = (
    *((7168, 2112), (1536, 3072)),
    *((k, n) for k in (1536, 2048, 512) for n in _LATENT),
    *((side, 7168) for side in (512, 768, 896, 3584)),
    *((7168, side) for side in (512, 768, 896, 3584)),
)
_EXPERT_WIDTHS = (4096, 2048, 1024, 512, 256)
_EXPERTS = ((6144, 32), (7168, 16), (7168, 8), (6144, 16), (6144, 8), (7168, 32))
_HIDDEN = unique((5120, 7168, 6144, 8192, 1536, 2048, 2304), NK_GRID)
_VOCABULARY = (151936, 129280, 9496, 16160, 32000, 65536, 152064, 37984, 4096, 75968, 8080)
_SMALL = (8, 1, 64, 256, 5120, 128, 7168, 32, 2048)
_ROWS = (16, 1, 64, 4, 32, 8, 2, 128, 12, 24, 48, 96, 3, 5, 6, 7, 9, 10, 144, 192, 256, 512, 1024)
_BATCHED = tuple({"B": heads, "K": k, "N": 512} for k in (128, 192, 64, 256) for heads in HEADS)
_TRANSPOSED = tuple({"B": heads, "K": 512, "N": n} for n in (128, 256, 64, 192) for heads in HEADS)
_HEAD_SHAPES = tuple({"N": heads, "D": size} for size in (128, 256, 64) for heads in HEADS)
_KV_GROUPS = _each("G", (1, 2, 4, 8, 16, 32))
_TABLES = tuple(
    {"V": rows, "D": width}
    for width in (128, 7168, 5120, 6144, 8192, 64, 256)
    for rows in (16160, 81920, 9496, 129280, 151936, 40960, 152064, 4096)
)
_EXPERT_SHAPES = tuple(
    {"H": hidden, "E": 256 // size, "N": n, "Ep": size}
    for n in _EXPERT_WIDTHS
    for hidden, size in _EXPERTS
)
_GROUPED = tuple(
    {"H": hidden, "E": 256 // size, "N": n} for n in _EXPERT_WIDTHS for hidden, size in _EXPERTS
)

DOMAINS: dict[str, Domain] = {
    "tokens": Domain("T", ({},)),
    "hidden": Domain("T", _each("D", _HIDDEN)),
    "half": Domain("T", _each("D", unique((1600, 2304, 2048, 3072, 512), NK_GRID))),
    "small": Domain("T", _each("D", _SMALL)),
    "small_rows": Domain("T", ({},), _ROWS, 4096),
    "heads": Domain("T", tuple(_HEAD_SHAPES)),
    "head_norm": Domain("T", tuple(_HEAD_SHAPES)),
    "rope": Domain("T", _each("N", HEADS)),
    "rope_pair": Domain("T", _KV_GROUPS),
    "indexer_norm": Domain("T", _each("D", (128, 256, 64))),
    "vocab": Domain("T", _each("V", _VOCABULARY), _ROWS, 1024),
    "vocab_small": Domain("T", _each("V", _VOCABULARY), _ROWS, 1024),
    "padded": Domain("T", _each("D", _HIDDEN), PAD_TOKENS, 8193),
    "padded_small": Domain("T", _each("D", _SMALL), PAD_TOKENS, 8193),
    "gemm": Domain("M", _gemms((*_DENSE_PAIRS, *_LLAMA_PAIRS))),
    "gemm_nd": Domain("M", _gemms(_ND_PAIRS)),
    "quant_token": Domain("M", _gemms(_TOKEN_PAIRS)),
    "quant_bias": Domain("M", _gemms(_BIAS_PAIRS)),
    "batched": Domain("M", _BATCHED, limit=4096),
    "transposed": Domain("M", _TRANSPOSED, limit=4096),
    "grouped": Domain("M", _GROUPED, unique((16, 256, 4096, 1), MOE_TOKENS), 65536),
    "dispatch": Domain(
        "M", _EXPERT_SHAPES, unique((1, 120, 1024, 16, 240, 157, 513), MOE_TOKENS), 65536, 3
    ),
    "gating": Domain("T", _each("X", (256, 128, 64)), spread=2),
    "routed": Domain("T", _each("H", (7168, 6144, 5120))),
    "routed_ep": Domain("T", _each("H", (7168, 6144)), (3, 1, 16, 64, 4, 8, 2, 32, 128), 512),
    "table": Domain("T", _TABLES),
    "cache_rope": Domain("T", _each("P", (892,), R=512), unique((1, 5, 256, 2048), TOKENS)),
    "cache_write": Domain("T", _each("G", (1, 2, 4, 8), P=12308)),
    "cache_load": Domain("T", _each("R", (2, 8), P=892), (256, 1024, 3072, 512, 2048, 128), 8192),
    "scatter": Domain("T", _each("S", (214784, 226048)), unique((102, 4096), TOKENS)),
    "ring": Domain(
        "T", _each("S", (2048, 1024, 4096, 512), N=16), (2048, 1024, 512, 4096, 256, 3072), 8192
    ),
}
