"""What one query may use."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlinterp.errors import UsageError

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class Limits:
    """What one query may use.

    Attributes
    ----------
    seconds : int
        Longest run [s].
    memory : str
        Most memory of the query and most size of its result, such as ``500MB`` or ``1GB``.
    threads : int
        Worker threads [count].
    rows : int
        Most rows of the result [count].
    """

    seconds: int = 30
    memory: str = "1GB"
    threads: int = 2
    rows: int = 1_000_000

    def __post_init__(self) -> None:
        if self.memory_bytes <= 0 or min(self.seconds, self.threads, self.rows) < 1:
            raise UsageError(f"{self} allows nothing")

    @property
    def memory_bytes(self) -> int:
        """The memory limit [bytes]."""
        found = re.fullmatch(r"\s*(\d+)\s*([KMG]I?B)\s*", self.memory.upper())
        if not found:
            raise UsageError(f"'{self.memory}' is no size", "memory", "a number and KB, MB or GB")
        return int(found[1]) * _UNITS[found[2]]

    def settings(self) -> dict[str, str | int]:
        """Return the limits by DuckDB's names."""
        return {
            "memory_limit": self.memory,
            "threads": self.threads,
            "max_execution_time": self.seconds * 1000,
            "temp_directory": "",
            "python_enable_replacements": "false",
        }


DEFAULT_LIMITS = Limits()
