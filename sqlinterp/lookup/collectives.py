"""Latencies of collectives by message size, group size and topology tier: measured or fitted."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlinterp.lookup.catalog import KernelFile
from sqlinterp.lookup.collective_details import fitted_details, measured_details, miss_details
from sqlinterp.lookup.services import Services

Row = dict[str, Any]
CommGrid = tuple[tuple[int, ...], tuple[int, ...]]

DEFAULT_METHOD = "alpha_beta"
METHODS = (DEFAULT_METHOD, "bracket_linear")
_CONFIDENCE = {"MEASURED": 0.9, "INTERPOLATED": 0.8}
# A header that lacks columns is still known.
_READABLE = ("loaded", "header_invalid")
_NEEDED = ("message_bytes", "num_devices")
_ELEMENT_SIZES = {
    1: "bool int8 uint8 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
    " float8_e8m0 float4_e2m1fn_x2 float4_e2m1",
    2: "bfloat16 dt_bf16 float16 half int16 short uint16",
    4: "float32 float int32 int uint32",
    8: "float64 double int64 long uint64 complex64",
    16: "complex128",
}
_SIZE_OF = {name: size for size, names in _ELEMENT_SIZES.items() for name in names.split()}

_ROWS, _SIZES = "collective_rows=lookup.communication_row", "sizes=lookup.communication_size"
_FITS, _BRACKETS = "fits=lookup.communication_fit", "brackets=lookup.communication_bracket"


@dataclass(frozen=True)
class CommunicationRequest:
    """One collective to look up.

    Attributes
    ----------
    kernel_type : str
        The collective, stem of its CSV.
    message_bytes : int
        Size of the message [bytes].
    num_devices : int
        Devices in the group [count].
    tier : int or None
        Topology tier, 0 = outermost; None when it is not known.
    method : str
        ``alpha_beta`` or ``bracket_linear`` between measured sizes.
    """

    kernel_type: str
    message_bytes: int
    num_devices: int
    tier: int | None
    method: str = DEFAULT_METHOD


@dataclass(frozen=True)
class CommunicationResult:
    """What was found for one collective.

    Attributes
    ----------
    source : str or None
        MEASURED, INTERPOLATED, or None for a miss.
    latency_us : float or None
        Latency [us].
    miss_reason : str or None
        Why there is none.
    details : dict
        Where the number comes from, or how far the search got.
    kernel : KernelFile
        The CSV of the collective.
    """

    source: str | None
    latency_us: float | None
    miss_reason: str | None
    details: Row = field(default_factory=dict)
    kernel: KernelFile = field(default_factory=lambda: KernelFile(""))

    @property
    def confidence(self) -> float | None:
        """Label for display: 0.9 measured, 0.8 fitted."""
        return _CONFIDENCE.get(self.source or "")


class CommunicationSearch:
    """Finds the latencies of many collectives in one statement."""

    def __init__(self, services: Services) -> None:
        self._statements, self._catalog = services.statements, services.catalog
        self._aggregation = services.exact_aggregation

    def find(self, requests: Mapping[int, CommunicationRequest]) -> dict[int, CommunicationResult]:
        """Return the result of every request by its number."""
        distinct = list(dict.fromkeys(requests.values()))
        candidates = self._candidates(distinct)
        raw_files = self._raw_files([r for r in distinct if not candidates.get(r)])
        return {
            number: self._result(request, candidates.get(request, []), raw_files)
            for number, request in requests.items()
        }

    def _candidates(
        self, requests: Sequence[CommunicationRequest]
    ) -> dict[CommunicationRequest, list[Row]]:
        """Return what each tier and latency column offers a request, the preferred one first."""
        asked = [
            {
                "id": number,
                "file_id": self._catalog.file(request.kernel_type).file_id,
                "message_bytes": request.message_bytes,
                "num_devices": request.num_devices,
                "topology_tier": request.tier,
            }
            for number, request in enumerate(requests)
            if self._catalog.file(request.kernel_type).status == "loaded"
        ]
        candidates: dict[CommunicationRequest, list[Row]] = defaultdict(list)
        for row in self._brackets(asked) if asked else ():
            candidates[requests[row["id"]]].append(row)
        return candidates

    def _brackets(self, asked: Sequence[Row]) -> list[Row]:
        """Return the neighbours of requests, and the lines between them.

        What a few groups of devices measured is read once and kept.
        """
        groups = list(dict.fromkeys((row["file_id"], row["num_devices"]) for row in asked))
        requests = json.dumps(asked)
        if not self._statements.is_short(requests):
            return self._statements.run(
                _ROWS, _SIZES, _FITS, _BRACKETS,
                requests=requests, aggregation=self._aggregation, **_named(groups),
            )  # fmt: skip
        sizes, fits = [], []
        for group in groups:
            kept, named = self._catalog.kept, _named([group])
            sizes += kept(self._statements, _ROWS, _SIZES, aggregation=self._aggregation, **named)
            fits += kept(self._statements, _ROWS, _FITS, **named)
        return self._statements.evaluate(
            "sizes=lookup.communication_given_size", "fits=lookup.communication_given_fit",
            _BRACKETS, requests=requests, sizes=json.dumps(sizes), fits=json.dumps(fits),
        )  # fmt: skip

    def _raw_files(self, requests: Iterable[CommunicationRequest]) -> dict[int, list[str]]:
        """Return the columns that the files of the requests lack, by file, if they lack any."""
        files = {self._catalog.file(request.kernel_type) for request in requests}
        missing = {
            file.file_id: [name for name in _NEEDED if name not in file.columns]
            for file in files
            if file.file_id is not None and file.status in _READABLE
        }
        return {file_id: names for file_id, names in missing.items() if names}

    def _result(
        self, request: CommunicationRequest, candidates: list[Row], raw_files: dict[int, list[str]]
    ) -> CommunicationResult:
        kernel = self._catalog.file(request.kernel_type)
        details = _asked(request)
        if not candidates:
            reason = _file_problem(kernel, raw_files) or "shape_mismatch"
            if kernel.file_id in raw_files:
                details["missing_columns"] = raw_files[kernel.file_id]
            return CommunicationResult(None, None, reason, details, kernel)
        row = _choose(request, candidates)
        if isinstance(row, str):
            details |= miss_details(candidates)
            return CommunicationResult(None, None, row, details, kernel)
        details["topology_tier"] = row["topology_tier"]
        details["aggregation"] = self._aggregation
        if _is_exact(row):
            latency = row["lower_size"]["latency_us"]
            details |= measured_details(row, kernel)
            return CommunicationResult("MEASURED", latency, None, details, kernel)
        details |= fitted_details(details, row, kernel)
        latency = row[f"{request.method}_us"]
        return CommunicationResult("INTERPOLATED", latency, None, details, kernel)


def tier_of(group: Sequence[int], comm_grid: CommGrid | None) -> int | None:
    """Return the topology tier of a group of ranks: that of the outermost dim they differ in.

    Parameters
    ----------
    group : sequence of int
        Ranks; those beyond the grid start over.
    comm_grid : tuple of (shape, tiers) or None
        Dims of the device grid, outermost first, and the dims at which a tier begins.

    Returns
    -------
    int or None
        The tier, None when the grid is unknown or has none for the group.

    Examples
    --------
    >>> grid = ((48, 8, 2), (0, 1, 2))
    >>> tier_of((0, 1), grid), tier_of((0, 2), grid), tier_of((0, 16), grid), tier_of((5,), grid)
    (2, 1, 0, 2)
    """
    if comm_grid is None:
        return None
    shape, tiers = comm_grid
    if not tiers or not shape or min(shape) < 1:
        return None
    for dim, size in enumerate(shape):
        stride = math.prod(shape[dim + 1 :])
        if len({rank // stride % size for rank in group}) > 1:
            return max((tier for tier in tiers if tier <= dim), default=None)
    return max(tiers)


def element_size(dtype: str) -> int | None:
    """Return the size of an element [bytes], None for a dtype that is not known.

    Both torch's names and the names of this database are understood.

    Examples
    --------
    >>> element_size("bfloat16"), element_size("FLOAT"), element_size("nothing")
    (2, 4, None)
    """
    return _SIZE_OF.get(dtype.lower())


def tensor_bytes(shape: Sequence[int], dtype: str) -> int | None:
    """Return the size of a tensor [bytes], None when its dtype is not known."""
    size = element_size(dtype)
    return None if size is None else math.prod(shape) * size


def _named(groups: Iterable[tuple[int, int]]) -> dict[str, list[int]]:
    """Return files and numbers of devices as statements take them."""
    file_ids, device_counts = zip(*groups, strict=True)
    return {"file_ids": list(file_ids), "device_counts": list(device_counts)}


def _file_problem(kernel: KernelFile, raw_files: Mapping[int, list[str]]) -> str | None:
    """Return why the CSV of a collective cannot answer anything."""
    if kernel.file_id is None:
        return "csv_not_found"
    if kernel.file_id in raw_files:
        return "csv_format_raw"
    return None if kernel.status == "loaded" else f"csv_unavailable:{kernel.file_name}"


def _choose(request: CommunicationRequest, candidates: list[Row]) -> Row | str:
    """Return the candidate that answers, or the reason why none does.

    Tiers are never mixed: when the tier is unknown, all rows that fit must be of one.
    """
    fitting = [row for row in candidates if _is_exact(row)] or candidates
    smallest = min(row["smallest_bytes"] for row in fitting)
    largest = max(row["largest_bytes"] for row in fitting)
    if not smallest <= request.message_bytes <= largest:
        return "shape_mismatch"
    if len({row["topology_tier"] for row in fitting}) > 1:
        return "topology_tier_unknown"
    bracketed = [row for row in fitting if row["lower_size"] and row["upper_size"]]
    if not bracketed:
        return "shape_mismatch"
    if request.method not in METHODS and not _is_exact(bracketed[0]):
        return "invalid_comm_interpolation_method"
    return bracketed[0]


def _is_exact(row: Row) -> bool:
    """Whether the size itself was measured: it is then its own neighbour on both sides."""
    return row["lower_size"] is not None and row["lower_size"] == row["upper_size"]


def _asked(request: CommunicationRequest) -> Row:
    return {
        "message_bytes": request.message_bytes,
        "num_devices": request.num_devices,
        "asked_topology_tier": request.tier,
        "method": request.method,
    }
