"""Arguments of a call as operands: the tensors in order, and the places left empty before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from sqlinterp.lookup.catalog import Catalog
from sqlinterp.model import Argument, OpInvocation, Tensor

Shape = tuple[int, ...]


class Operands(NamedTuple):
    """The tensors of a call that take part in matching.

    Attributes
    ----------
    shapes : tuple of shape
        Dims of each tensor [elements].
    dtypes : tuple of str
        Their dtypes by the database's names.
    gaps : tuple of int
        Scalar or absent arguments in front of each [count].
    """

    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    gaps: tuple[int, ...]

    def cut(self, limit: int) -> Operands:
        """Keep the first ``limit`` operands, all for 0."""
        if limit == 0:
            return self
        return Operands(self.shapes[:limit], self.dtypes[:limit], self.gaps[:limit])

    def with_shapes(self, shapes: Iterable[Shape], order: Iterable[int]) -> Operands:
        """Return the operands in another order and with other shapes, without gaps."""
        shapes = tuple(shapes)
        dtypes = tuple(self.dtypes[place] for place in order)
        return Operands(shapes, dtypes, (0,) * len(shapes))

    @property
    def has_gaps(self) -> bool:
        """Whether an argument in front of an operand is scalar or absent."""
        return any(self.gaps)


def operands_of(invocation: OpInvocation, catalog: Catalog) -> tuple[Operands, str | None]:
    """Collect the operands of a call and the first problem with a dtype.

    Lists of tensors are opened one level deep; scalars, text and null leave a gap.

    Returns
    -------
    Operands
        The operands, with a dtype of ``""`` where it is unknown.
    str or None
        ``dtype_unmapped:args[i]:name`` for the first tensor whose dtype has no database name.
    """
    shapes, dtypes, gaps = [], [], []
    problem, gap = None, 0
    for place, argument in enumerate(_flat(invocation.args)):
        if not isinstance(argument, Tensor) or len(argument.shape) == 0:
            gap += 1
            continue
        dtype = catalog.dtype(argument.dtype)
        if dtype is None and problem is None:
            problem = f"dtype_unmapped:args[{place}]:{argument.dtype}"
        shapes.append(argument.shape)
        dtypes.append(dtype or "")
        gaps.append(gap)
        gap = 0
    return Operands(tuple(shapes), tuple(dtypes), tuple(gaps)), problem


def _flat(arguments: Iterable[Argument]) -> Iterator[Argument]:
    for argument in arguments:
        if isinstance(argument, list):
            yield from argument
        else:
            yield argument


def rearranged(operands: Operands, rearrangement: str | None) -> list[Operands]:
    """Return the operand lists under which a kernel of a special family may store the call.

    Source: exact lookup rules for RoPE, SwiGlu and cache kernels.
    """
    if rearrangement == "rope" and len(operands.shapes) >= 2:
        return [_rope(operands)]
    if rearrangement == "swiglu" and len(operands.shapes) == 2:
        return [operands, *_joined_halves(operands)]
    if rearrangement == "reshape_and_cache" and len(operands.shapes) == 4:
        return [operands, *_split_cache(operands)]
    return [operands]


def _rope(operands: Operands) -> Operands:
    """Key before query, heads after sequence; cosine and sine with a head dim of 1."""
    first, second, *rest = operands.shapes
    heads_last = [_swap_middle(second), _swap_middle(first)]
    if not rest:
        return operands.with_shapes(heads_last, (1, 0))
    if len(rest) == 1:
        return operands
    tables = [(*s[:2], 1, s[2]) if len(s) == 3 and s[0] == 1 else s for s in rest[:2]]
    return operands.with_shapes([*heads_last, *tables], (1, 0, 2, 3))


def _swap_middle(shape: Shape) -> Shape:
    return (shape[0], shape[2], shape[1], shape[3]) if len(shape) == 4 else shape


def _joined_halves(operands: Operands) -> list[Operands]:
    left, right = (_without_leading_one(shape) for shape in operands.shapes)
    if left != right or operands.dtypes[0] != operands.dtypes[1]:
        return []
    return [operands.with_shapes([(*left[:-1], left[-1] + right[-1])], (0,))]


def _without_leading_one(shape: Shape) -> Shape:
    return shape[1:] if len(shape) > 1 and shape[0] == 1 else shape


def _split_cache(operands: Operands) -> list[Operands]:
    key, value, cache, slots = operands.shapes
    if len(key) != 2 or len(value) != 2 or len(cache) < 2 or cache[0] != 2:
        return []
    lines = [(key[0], 1, key[1]), (value[0], 1, value[1])]
    return [operands.with_shapes([*lines, cache[1:], cache[1:], slots], (0, 1, 2, 2, 3))]


def spellings(operands: Operands, is_relaxed: bool) -> tuple[tuple[int, str], ...]:
    """Return (distance, suffix) of every dtype spelling that may match, as the keys end.

    Distance 0 is the true dtype, 1 an fp16 target on DT_BF16 rows, 2 a kernel that serves
    DT_BF16 and FLOAT alike. Rows with empty slots match only where the call leaves them empty.
    """
    return _suffixes(operands.dtypes, operands.gaps, is_relaxed)


@lru_cache(maxsize=4096)
def _suffixes(
    dtypes: tuple[str, ...], gaps: tuple[int, ...], is_relaxed: bool
) -> tuple[tuple[int, str], ...]:
    true = "|" + ";".join(dtypes)
    found = {true: 0}
    found.setdefault(true.replace("FLOAT16", "DT_BF16"), 1)
    if is_relaxed:
        loose = [d if d not in ("FLOAT", "FLOAT16") else "DT_BF16" for d in dtypes]
        found.setdefault("|~" + ";".join(loose), 2)
    places = ["", str(list(gaps))] if any(gaps) else [""]
    return tuple((distance, text + place) for text, distance in found.items() for place in places)


def as_half_precision_brain(operands: Operands) -> Operands | None:
    """Return the operands with FLOAT16 read as DT_BF16, None when there is no FLOAT16."""
    if "FLOAT16" not in operands.dtypes:
        return None
    return operands._replace(
        dtypes=tuple("DT_BF16" if d == "FLOAT16" else d for d in operands.dtypes)
    )
