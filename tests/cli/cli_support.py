"""What the tests of the command line share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = "vllm0.18.0_torch2.9.0_cann8.5"


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Outcome]


def environment(**extra: str) -> dict[str, str]:
    dropped = ("SQLINTERP_DB", "SQLINTERP_DEBUG", "PYTHONUNBUFFERED")
    kept = {k: v for k, v in os.environ.items() if k not in dropped}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1", **extra}


def invocation(op: str, *shapes: list[int], dtype: str = "bfloat16") -> str:
    """The JSON of a call with tensors only."""
    args = [{"shape": shape, "dtype": dtype} for shape in shapes]
    return json.dumps({"op": op, "args": args})


def mm(m: int, k: int, n: int) -> str:
    return invocation("aten.mm.default", [m, k], [k, n])
