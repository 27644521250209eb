"""The versions that the demonstration writes, and their folders."""

from __future__ import annotations

from dataclasses import dataclass

DEVICE = "SYNTHETIC_NPU"


@dataclass(frozen=True)
class Version:
    """One version folder: short name, folder name and CSV layout."""

    name: str
    folder: str
    layout: str

    @property
    def path(self) -> str:
        """Path of the folder below the target directory, with forward slashes."""
        return f"{DEVICE}/vllm_ascend/{self.folder}"


VERSIONS: tuple[Version, ...] = (
    Version("0.13", "vllm0.13.0_torch2.8.0_cann8.3", "legacy36"),
    Version("0.15", "vllm0.15.0_torch2.9.0_cann8.5", "legacy36"),
    Version("0.18", "vllm0.18.0_torch2.9.0_cann8.5", "current62"),
)
