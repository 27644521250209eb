"""Small folders of collectives, and calls as the simulator makes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from databases_for_tests import call, tensor

HEADER = "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps"
ALL_REDUCE = "tensor_cast.all_reduce.default"
ENTRY = {"category": "communication", "kernel_type": "hcom_allReduce_"}


def row(size: int, latency: object, tier: object = 0, devices: int = 2, dtype: str = "B") -> str:
    return f"{size},{devices},{dtype},{tier},{latency},1"


def collective(size: int, group: Iterable[int] = (0, 1), op: str = ALL_REDUCE) -> dict[str, Any]:
    """An invocation whose message has ``size`` bytes."""
    return call(op, tensor(size, dtype="int8"), 0, {"ints": list(group)})


def write_collectives(folder: Path, **files: Iterable[str]) -> None:
    """Write a folder of collectives only: the lines of each file below its name."""
    folder.mkdir(parents=True)
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
