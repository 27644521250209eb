"""The op_mapping.yaml of each version: the packaged operator table plus the policies."""

from __future__ import annotations

import json

from sqlinterp.demo.tables import read_table
from sqlinterp.demo.versions import DEVICE, Version

Entry = dict[str, object]

_STACKS: dict[str, tuple[str, str, str, str, str]] = {
    "0.13": ("0.13.0", "8.3.RC1", "2.8.0", "7.2.0", "2026-03-10"),
    "0.15": ("0.15.0", "8.5", "2.9.0", "7.3.0", "2026-03-15"),
    "0.18": ("0.18.0", "8.5", "2.9.0", "7.3.0", "2026-03-27"),
}
_MATMULS = ("MatMulV2", "MatMulV3", "MatMulCommon")
_UNIQUE = (
    "FusedInferAttentionScore",
    "SparseFlashAttention",
    "LightningIndexer",
    "KvRmsNormRopeCache",
)
_COMMENT = """\
# Synthetic demonstration data: no latency beside this file was measured.
# Operators and policies follow the structure of a real mapping of this version.
"""
_DIMENSION_COMMENT = """\
# Real mappings set max_interpolation_dim 1 for the MatMul kernels. The demonstration sets 3, so
# that two- and three-dimensional interpolation over M, K and N can be seen.
"""


def _operator(row: dict[str, str]) -> Entry:
    entry: Entry = {}
    for name in ("kernel_type", "category", "query_mode", "compute_subcategory"):
        if row[name]:
            entry[name] = row[name]
    for name in ("alternate_kernel_types", "sub_kernels"):
        if row[name]:
            entry[name] = row[name].split("|")
    for name in ("zero_cost", "composite"):
        if row[name]:
            entry[name] = True
    if row["tc_input_count"]:
        entry["tc_input_count"] = int(row["tc_input_count"])
    if row["other_fields"]:
        entry.update(json.loads(row["other_fields"]))
    return entry


def operators(version: Version) -> dict[str, Entry]:
    """Return the operator mappings of a version, in the order of the packaged table."""
    return {
        row["operator"]: _operator(row)
        for row in read_table("operators.csv")
        if version.name in row["versions"].split()
    }


def _overrides(entries: dict[str, Entry]) -> Entry:
    return {"kernel_overrides": entries}


def _interpolation(version: Version) -> Entry:
    current = version.name == "0.18"
    entries: dict[str, Entry] = {
        kernel: {"max_interpolation_dim": 3 if current else 1} for kernel in _MATMULS
    }
    if current:
        entries["QuantBatchMatmulV3"] = {"max_interpolation_dim": 1}
    entries["FusedInferAttentionScore"] = {"axis_transform": "sqrt_seq"}
    entries["SparseFlashAttention"] = {"axis_transform": "linear"}
    concat = () if version.name == "0.15" else ("ConcatD",)
    for kernel in ("GatherV2", "Index", *concat):
        entries[kernel] = {"generic_compute": {"axis": "output_numel"}}
    return _overrides(entries)


def _current_policies() -> Entry:
    envelope: Entry = {"profiling_core_envelope_fallback": {"max_duration_to_core_ratio": 1.5}}
    latency: dict[str, Entry] = {"QuantBatchMatmulV3": envelope}
    for kernel in ("LightningIndexer", "ScatterNdUpdate"):
        latency[kernel] = {"prefer_profiling_rows": True}
    unique: dict[str, Entry] = {kernel: {"require_semantic_unique": True} for kernel in _UNIQUE}
    return {"latency_policy": _overrides(latency), "query_selection_policy": _overrides(unique)}


def _head(version: Version) -> Entry:
    number, cann, torch, plugin, date = _STACKS[version.name]
    return {
        "version": number,
        "device": DEVICE,
        "cann_version": cann,
        "pytorch_version": torch,
        "op_plugin_version": plugin,
        "collection_date": date,
        "communication_data_ref": "../../hccl/v8.5/",
        "communication_fallback": "analytic",
    }


def mapping_text(version: Version) -> str:
    """Return the whole text of a version's ``op_mapping.yaml``."""
    import yaml

    def dump(part: Entry, flow: bool | None = None) -> str:
        text: str = yaml.safe_dump(part, sort_keys=False, default_flow_style=flow, width=100)
        return text

    current = version.name == "0.18"
    return "".join(
        (
            _COMMENT,
            dump(_head(version), flow=False),
            _DIMENSION_COMMENT if current else "",
            dump({"interpolation_policy": _interpolation(version)}),
            dump(_current_policies()) if current else "",
            dump({"operator_mappings": operators(version)}),
        )
    )
