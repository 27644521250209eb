"""Short names of versions and kernels, for places with little room."""

from __future__ import annotations

from collections.abc import Iterable

_TELLING = 6  # characters that an ending needs


def version_labels(keys: Iterable[str]) -> dict[str, str]:
    """Return the shortest endings of version keys that tell them apart and say something.

    Examples
    --------
    >>> version_labels(["NPU/hccl/v8.5", "NPU/vllm_ascend/vllm0.18.0"])
    {'NPU/hccl/v8.5': 'hccl/v8.5', 'NPU/vllm_ascend/vllm0.18.0': 'vllm0.18.0'}
    """
    known = sorted(set(keys))
    return {key: _ending(key, known) for key in known}


def _ending(key: str, known: Iterable[str]) -> str:
    parts = key.split("/")
    for start in range(len(parts) - 1, 0, -1):
        ending = "/".join(parts[start:])
        owners = [other for other in known if other.endswith(f"/{ending}")]
        if len(owners) == 1 and len(ending) >= _TELLING:
            return ending
    return key


def clipped(label: str, width: int) -> str:
    """Return a label of at most ``width`` characters, its middle left out.

    Examples
    --------
    >>> clipped("MoeDistributeDispatchV2", 13)
    'MoeDis…atchV2'
    """
    if len(label) <= width:
        return label
    half = (width - 1) // 2
    return f"{label[: width - 1 - half]}…{label[len(label) - half :]}"
