"""Effective interpolation policy: built-in defaults, then global, operator and kernel settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.extrapolation.rules import Rule, extrapolation_rules, rule_problems

AGGREGATIONS = ("mean", "median", "min", "first")
PRESETS = {name: (name, name) for name in AGGREGATIONS} | {"reference": ("first", "median")}
# On two and three axes, bracket_consensus is griddata_linear.
METHODS = ("griddata_linear", "multilinear", "bracket_consensus")
# Spellings of axis_transform: latencies are linear in the root of the sequence length, or as is.
TRANSFORMS = {"sqrt": "sqrt", "sqrt_seq": "sqrt", "linear": None}
_DEFAULTS: dict[str, Any] = {
    "max_interpolation_dim": 3,
    "method": "griddata_linear",
    "generic_compute": {"axis": "axis_0"},
    "axes": None,
    "axis_transform": None,
    "allow_extrapolation": False,
}
_FIELDS = (*_DEFAULTS, "shape_transform", "quant_mode", "extrapolation", "interpolation_method")


@dataclass(frozen=True)
class Policy:
    """What a lookup may do with one kernel.

    Attributes
    ----------
    max_interpolation_dim : int
        Axes that may vary together; 0 disables interpolation.
    method : str
        ``griddata_linear``; ``multilinear`` on complete cells; or ``bracket_consensus``, the median
        of the estimates along every single axis whose neighbours were measured.
    generic_axis : str
        ``axis_0`` or ``output_numel`` for kernels without special axes.
    axes : tuple of str or None
        Axes that may vary, None for all of the path.
    axis_transform : str or None
        ``sqrt`` when latencies are linear in the root of the sequence length, None as is.
    quant_mode : str or None
        Quantisation regime of attention kernels, None when the policy does not tell.
    sha256 : str
        SHA-256 of the canonical JSON of the merged settings.
    extrapolation : tuple of Rule
        What the kernel may do beyond its measured range, empty when nothing.
    """

    max_interpolation_dim: int
    method: str
    generic_axis: str
    axes: tuple[str, ...] | None
    axis_transform: str | None
    quant_mode: str | None
    sha256: str
    extrapolation: tuple[Rule, ...] = ()


def effective_policy(
    *layers: Mapping[str, Any] | None,
    aggregation: str = "mean",
    opting_in: Sequence[Mapping[str, Any] | None] = (),
) -> Policy:
    """Merge policy layers, later ones winning field by field.

    Fields with a value that makes no sense are reported at ingest and keep their default here.
    Only the layers ``opting_in``, which are of one kernel, switch extrapolation on.
    """
    merged: dict[str, Any] = dict(_DEFAULTS)
    for layer in layers:
        merged.update(_settings(layer or {}))
    merged.pop("kernel_overrides", None)
    merged["axis_transform"] = TRANSFORMS.get(str(merged["axis_transform"]))
    merged["aggregation"] = aggregation
    text = json.dumps(merged, sort_keys=True, separators=(",", ":"), default=str)
    generic = merged["generic_compute"]
    axis = generic.get("axis") if isinstance(generic, Mapping) else None
    axes = merged["axes"]
    dim = merged["max_interpolation_dim"]
    quant_mode = merged.get("quant_mode")
    return Policy(
        max_interpolation_dim=dim if isinstance(dim, int) and not isinstance(dim, bool) else 3,
        method=merged["method"] if merged["method"] in METHODS else "griddata_linear",
        generic_axis="output_numel" if axis == "output_numel" else "axis_0",
        axes=tuple(map(str, axes)) if isinstance(axes, list) else None,
        axis_transform=merged["axis_transform"],
        quant_mode=quant_mode if isinstance(quant_mode, str) else None,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        extrapolation=extrapolation_rules(*opting_in),
    )


def _settings(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a layer sets, ``shape_transform`` under the name that it is an alias of."""
    told = {key: value for key, value in layer.items() if value is not None}
    alias = told.pop("shape_transform", None)
    if alias is not None:
        told.setdefault("axis_transform", alias)
    return told


def run_policy(told: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a policy that a caller gives for all lookups of a run.

    It has the fields of ``interpolation_policy``, ``kernel_overrides`` included, and wins over
    those of the mapping.

    Raises
    ------
    UsageError
        If it is no mapping, or a field is unknown or makes no sense.
    """
    if not isinstance(told, Mapping):
        raise UsageError(f"policy is {told!r}", expected="fields of interpolation_policy")
    blocks = told.get("kernel_overrides") or {}
    if not isinstance(blocks, Mapping):
        raise UsageError(f"policy.kernel_overrides is {blocks!r}", expected="a mapping of kernels")
    general = {key: value for key, value in told.items() if key != "kernel_overrides"}
    problems = _run_problems("policy", general, is_kernel=False)
    for kernel, fields in blocks.items():
        where = f"policy.kernel_overrides.{kernel}"
        if isinstance(fields, Mapping):
            problems += _run_problems(where, fields, is_kernel=True)
        else:
            problems.append(f"{where} is {fields!r}, expected a mapping")
    if problems:
        raise UsageError("; ".join(problems), expected="fields of interpolation_policy")
    return json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)


def _run_problems(where: str, fields: Mapping[str, Any], is_kernel: bool) -> list[str]:
    unknown = [f"{where}.{key} is unknown" for key in fields if key not in _FIELDS]
    return unknown + policy_problems(where, fields, is_kernel)


def policy_problems(where: str, fields: Mapping[str, Any], is_kernel: bool = True) -> list[str]:
    """Return what is wrong with the fields of one policy block, one sentence each.

    Blocks that are not of one kernel cannot allow extrapolation.
    """
    problems = rule_problems(where, fields, is_kernel)
    dim = fields.get("max_interpolation_dim")
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int) or not 0 <= dim <= 3):
        problems.append(f"{where}.max_interpolation_dim is {dim!r}, expected 0, 1, 2 or 3")
    method = fields.get("method")
    if method is not None and method not in METHODS:
        problems.append(f"{where}.method is {method!r}, expected one of {', '.join(METHODS)}")
    generic = fields.get("generic_compute")
    if generic is not None and not isinstance(generic, Mapping):
        problems.append(f"{where}.generic_compute is {generic!r}, expected a mapping")
    axes = fields.get("axes")
    if axes is not None and not isinstance(axes, list):
        problems.append(f"{where}.axes is {axes!r}, expected a list")
    for key in ("axis_transform", "shape_transform"):
        value = fields.get(key)
        if value is not None and str(value) not in TRANSFORMS:
            problems.append(f"{where}.{key} is {value!r}, expected one of {', '.join(TRANSFORMS)}")
    quant_mode = fields.get("quant_mode")
    if quant_mode is not None and not isinstance(quant_mode, str):
        problems.append(f"{where}.quant_mode is {quant_mode!r}, expected text")
    return problems
