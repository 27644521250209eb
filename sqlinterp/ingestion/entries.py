"""One operator entry of the mapping: its dispatch path and the check of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlinterp.ingestion.folders import KERNEL_NAME

QUERY_MODES = (
    "attention_special",
    "elementwise",
    "moe_fused",
    "mtp_projection",
    "attention_lightning_indexer",
    "attention_sparse_sharedkv",
    "scatter_nd_update_mla",
)
SUBCATEGORIES = ("compute_scale", "quantized_matmul")
_MOST_OPERANDS = 2**31 - 1  # what the column holds
_NEEDS_NO_KERNEL = ("composite", "zero_cost", "accepted_miss")


@dataclass(frozen=True)
class Entry:
    """One usable entry of ``operator_mappings``."""

    operator: str
    dispatch: str
    kernel_type: str | None
    alternates: tuple[str, ...]
    query_mode: str | None
    subcategory: str | None
    input_limit: int | None
    fields: dict[str, Any]

    @property
    def kernels(self) -> tuple[str, ...]:
        """Primary kernel, then the alternates, without repeats."""
        names = ([self.kernel_type] if self.kernel_type else []) + list(self.alternates)
        return tuple(dict.fromkeys(names))


def dispatch_of(fields: Mapping[str, Any]) -> str:
    """Return the lookup path that an entry selects (first match of the documented order)."""
    mode = fields.get("query_mode")
    if fields.get("composite"):
        return "composite"
    if fields.get("category") == "communication":
        return "communication"
    if mode in QUERY_MODES:
        return str(mode)
    if mode is not None:
        return "query_mode_unknown"
    if fields.get("zero_cost"):
        return "zero_cost"
    if fields.get("accepted_miss"):
        return "accepted_miss"
    subcategory = fields.get("compute_subcategory")
    if subcategory is None:
        return "compute"
    return str(subcategory) if subcategory in SUBCATEGORIES else "compute_subcategory_unknown"


def read_entry(operator: str, fields: Any) -> tuple[Entry | None, list[str]]:
    """Return the entry, or None when it is unusable, and the sentences that say what is wrong."""
    if not isinstance(fields, Mapping):
        return None, [f"the entry is {fields!r}, expected a mapping of fields"]
    dispatch = dispatch_of(fields)
    problems = _kernel_problems(fields, dispatch) + _list_problems(fields)
    limit = fields.get("tc_input_count")
    if limit is not None and (type(limit) is not int or not 1 <= limit <= _MOST_OPERANDS):
        problems.append(f"tc_input_count is {limit!r}, expected a positive integer")
    for key in ("query_mode", "compute_subcategory", "category"):
        if fields.get(key) is not None and not isinstance(fields[key], str):
            problems.append(f"{key} is {fields[key]!r}, expected text")
    policy = fields.get("interpolation_policy")
    if "interpolation_policy" in fields and not isinstance(policy, Mapping):
        problems.append(f"interpolation_policy is {policy!r}, expected a mapping")
    if problems:
        return None, problems
    return _entry(operator, dispatch, dict(fields)), []


def _entry(operator: str, dispatch: str, fields: dict[str, Any]) -> Entry:
    return Entry(
        operator=operator,
        dispatch=dispatch,
        kernel_type=fields.get("kernel_type"),
        alternates=tuple(fields.get("alternate_kernel_types") or ()),
        query_mode=fields.get("query_mode"),
        subcategory=fields.get("compute_subcategory"),
        input_limit=fields.get("tc_input_count"),
        fields=fields,
    )


def _kernel_problems(fields: Mapping[str, Any], dispatch: str) -> list[str]:
    kernel = fields.get("kernel_type")
    if kernel is None:
        if dispatch in _NEEDS_NO_KERNEL and "kernel_type" not in fields:
            return []
        if fields.get("zero_cost") or dispatch in _NEEDS_NO_KERNEL:
            return []
        return ["kernel_type is missing"]
    return _name_problems("kernel_type", kernel)


def _name_problems(key: str, name: Any) -> list[str]:
    if isinstance(name, str) and KERNEL_NAME.fullmatch(name):
        return []
    return [f"{key} is {name!r}, expected a kernel name (the stem of a CSV file)"]


def _list_problems(fields: Mapping[str, Any]) -> list[str]:
    problems = []
    for key in ("alternate_kernel_types", "sub_kernels"):
        if key not in fields:
            continue
        names = fields[key]
        if not isinstance(names, list):
            problems.append(f"{key} is {names!r}, expected a list of kernel names")
            continue
        for name in names:
            problems += _name_problems(key, name)
    return problems
