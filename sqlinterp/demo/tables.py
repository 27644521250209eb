"""The packaged tables: which kernels exist, how many rows they have and how their slots look."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sqlinterp.demo.expressions import Shapes, Sum, parse

TYPE_NAMES: dict[str, str] = {
    "B": "DT_BF16",
    "F": "FLOAT",
    "C": "INT8",
    "I": "INT32",
    "L": "INT64",
    "O": "BOOL",
    "U": "DT_UNDEFINED",
}
TYPE_BYTES: dict[str, int] = {"B": 2, "F": 4, "C": 1, "I": 4, "L": 8, "O": 1, "U": 0}
FORMAT_NAMES: dict[str, str] = {"N": "ND", "Z": "FRACTAL_NZ", "0": "NULL"}


@dataclass(frozen=True)
class Side:
    """The slots of the inputs or of the outputs: shapes, dtype letters and the two text cells."""

    shapes: Shapes
    types: str
    dtype_cell: str
    format_cell: str


@dataclass(frozen=True)
class Law:
    """``base + max(flops / rate, bytes / rate)`` in us; FLOP and bytes come from expressions."""

    base_us: float
    flops: Sum | None
    flops_per_us: float
    moved: Sum | None
    bytes_per_us: float


@dataclass(frozen=True)
class Form:
    """One kind of row of a kernel: slot templates, the domain of its names and its law."""

    share: float
    domain: str
    inputs: Side
    outputs: Side
    law: Law


@dataclass(frozen=True)
class Kernel:
    """One kernel type: its rows per version, accelerator core and kind of rows."""

    name: str
    rows: Mapping[str, int]
    least: int
    core: str
    kind: str
    sample: tuple[str, ...]
    forms: tuple[Form, ...]


def read_table(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table that the package ships."""
    text = files("sqlinterp.demo").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _side(template: str, letters: str, formats: str) -> Side:
    shapes = Shapes.parse(template)
    if len(letters) != len(shapes.slots):
        given = iter(letters)
        letters = "".join(next(given) if slot else "U" for slot in shapes.slots)
    formats = formats or "".join("0" if letter == "U" else "N" for letter in letters)
    return Side(
        shapes,
        letters,
        ";".join(TYPE_NAMES[letter] for letter in letters),
        ";".join(FORMAT_NAMES[letter] for letter in formats),
    )


def _form(row: Mapping[str, str]) -> Form:
    into, out = row["types"].split(">")
    formats_in, _, formats_out = row["formats"].partition(">")
    law = Law(
        float(row["base_us"]),
        parse(row["flops"]) if row["flops"] else None,
        float(row["tera_flops"] or 0) * 1e6,
        parse(row["bytes"]) if row["bytes"] else None,
        float(row["tera_bytes"]) * 1e6,
    )
    inputs = _side(row["inputs"], into, formats_in)
    return Form(
        float(row["share"]), row["domain"], inputs, _side(row["outputs"], out, formats_out), law
    )


def _kernel(row: Mapping[str, str], forms: tuple[Form, ...]) -> Kernel:
    counts = {
        name.removeprefix("rows_"): int(text)
        for name, text in row.items()
        if name.startswith("rows_") and text
    }
    sample = tuple(row["sample"].split())
    return Kernel(row["kernel"], counts, int(row["least"]), row["core"], row["kind"], sample, forms)


@cache
def kernels() -> tuple[Kernel, ...]:
    """Return every kernel of the demonstration, in the order of the table."""
    forms: dict[str, list[Form]] = {}
    for row in read_table("forms.csv"):
        forms.setdefault(row["kernel"], []).append(_form(row))
    return tuple(_kernel(row, tuple(forms[row["kernel"]])) for row in read_table("kernels.csv"))
