"""The fused MLA preprocess kernel as a child: by runtime fields, bounded in its tokens."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlinterp.interpolation import linear_interp
from sqlinterp.lookup.answers import exact_answer, miss_answer
from sqlinterp.lookup.catalog import Catalog, MappedOperator
from sqlinterp.lookup.error_bars import line_bar
from sqlinterp.lookup.operands import Operands
from sqlinterp.lookup.plan import Plan, Target, with_kernels
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer, OpInvocation, Tensor

Row = dict[str, Any]

_NUMBERS = (
    "num_tokens", "hidden_size", "local_num_heads", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "block_size",
)  # fmt: skip
_TEXTS = ("cache_mode", "quant_mode", "weight_format", "enable_inner_out", "weight_quantized")
_COLUMNS = (
    *(f"Runtime {name}" for name in (*_NUMBERS, *_TEXTS, "metadata_completeness")),
    "Input Shapes", "Input Data Types", "Input Formats",
    "Output Shapes", "Output Data Types", "Output Formats",
)  # fmt: skip
_MOST_TOKENS = 1024
_TILE = 32  # FRACTAL_NZ tiles of INT8 weights are 32 wide
_MISMATCH = "semantic_key_mismatch:mlapo_preprocess"
_ONE_SIDED = "shape_mismatch:mlapo_preprocess:bounded_interpolation_only"


def mlapo_plan(plan: Plan, entry: MappedOperator, services: Services) -> Plan:
    """Plan the kernel from the fields that the caller gives as keyword arguments.

    Tokens, hidden size and dtype may be left to the first argument (tokens, hidden size).
    """
    catalog = services.catalog
    plan = with_kernels(plan, entry.kernels, entry, catalog, services.context)
    fields = _fields(plan.invocation, catalog)
    missing = sorted(name for name, value in fields.items() if value is None)
    if missing:
        return replace(plan, miss_reason=f"semantic_context_missing:target:{','.join(missing)}")
    shape = (fields["num_tokens"], fields["hidden_size"])
    operands = Operands((shape,), (fields["dtype"],), (0,))
    return replace(
        plan,
        operands=operands,
        target=Target(operands, plan.invocation.outputs, fields),
        miss_reason=_problem(fields),
    )


def _fields(invocation: OpInvocation, catalog: Catalog) -> Row:
    given = dict(invocation.kwargs)
    first = invocation.args[0] if invocation.args else None
    if isinstance(first, Tensor) and len(first.shape) == 2:
        given = {"num_tokens": first.shape[0], "hidden_size": first.shape[1],
                 "dtype": first.dtype, **given}  # fmt: skip
    fields: Row = {name: _positive(given.get(name)) for name in _NUMBERS}
    fields.update({name: _text(given.get(name)) for name in _TEXTS})
    name = given.get("dtype")
    fields["dtype"] = (catalog.dtype(name) or name) if isinstance(name, str) else None
    return fields


def _positive(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value > 0 else None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, bool)) else None


def _problem(fields: Row) -> str | None:
    if fields["num_tokens"] > _MOST_TOKENS:
        return f"{_MISMATCH}:num_tokens_out_of_range"
    if fields["hidden_size"] % _TILE or fields["q_lora_rank"] % _TILE:
        return f"{_MISMATCH}:fractal_nz_alignment"
    if fields["dtype"] != "DT_BF16":
        return f"{_MISMATCH}:dtype"
    return None


class MlapoHandler:
    """Answers by rows of equal fields: measured at the tokens, else linear between two of them."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def answer(self, plans: Mapping[int, Plan]) -> dict[int, Answer]:
        """Return the answer of every plan by its number."""
        groups = self._groups(plans)
        answers = {}
        for number, plan in plans.items():
            own = groups.get(number, [])
            exact = [group for group in own if group["num_tokens"] == group["wanted"]]
            if exact:
                answers[number] = self._measured(number, plan, exact)
            else:
                answers[number] = self._bounded(plan, own) or miss_answer(
                    plan, _reason(plan, own), None
                )
        return answers

    def _groups(self, plans: Mapping[int, Plan]) -> dict[int, list[Row]]:
        targets = [
            {"id": number, "position": position, "file_id": candidate.kernel.file_id,
             **plan.seen.enrichment}
            for number, plan in plans.items()
            for position, candidate in enumerate(plan.candidates)
        ]  # fmt: skip
        found: dict[int, list[Row]] = defaultdict(list)
        if targets:
            rows = self._services.statements.run(
                "matches=lookup.mlapo_match", "groups=lookup.mlapo_neighbour",
                targets=json.dumps(targets), aggregation=self._services.exact_aggregation,
            )  # fmt: skip
            for row in rows:
                found[row["id"]].append(row)
        return found

    def _measured(self, number: int, plan: Plan, groups: Sequence[Row]) -> Answer:
        matches = [{**group, "rule": "mlapo_runtime_exact", "quality": 0} for group in groups]
        best = self._services.exact_search().best({number: plan}, matches)[number]
        return exact_answer(plan, best, self._services.exact_aggregation)

    def _bounded(self, plan: Plan, groups: Sequence[Row]) -> Answer | None:
        """Return the answer between the nearest token counts of one kernel and latency column."""
        order = "row_id" if self._services.exact_aggregation == "first" else "signature_id"
        ranked: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for group in groups:
            ranked[group["position"], group["latency_rank"]].append(group)
        for key in sorted(ranked):
            own = sorted(ranked[key], key=lambda group: int(group[order]))
            lower = next((g for g in own if g["num_tokens"] < g["wanted"]), None)
            upper = next((g for g in own if g["num_tokens"] > g["wanted"]), None)
            if lower is not None and upper is not None:
                return _between(plan, lower, upper, self._services.exact_aggregation)
        return None


def _reason(plan: Plan, groups: Sequence[Row]) -> str:
    if not plan.candidates:
        return "csv_not_found"
    if groups:
        return _ONE_SIDED
    header = plan.candidates[0].kernel.columns
    missing = sorted(name for name in _COLUMNS if name not in header)
    return f"semantic_context_missing:csv:{','.join(missing)}" if missing else _MISMATCH


def _between(plan: Plan, lower: Row, upper: Row, aggregation: str) -> Answer:
    candidate = plan.candidates[lower["position"]]
    kernel, tokens = candidate.kernel, lower["wanted"]
    ends = (lower["num_tokens"], upper["num_tokens"])
    details: Row = {
        "method": "linear_1d",
        "interpolation_dim": 1,
        "axes": ["num_tokens"],
        "exact_fields": {"kernel_type": kernel.kernel_type,
                         **{k: v for k, v in plan.seen.enrichment.items() if k != "num_tokens"}},
        "target": {"num_tokens": tokens},
        "boundary": {"num_tokens": list(ends)},
        "corner_points": [
            {"num_tokens": row["num_tokens"], "latency_us": row["latency_us"],
             "file": kernel.file_name, "line": row["line_number"],
             "measurement_count": row["measurement_count"]}
            for row in (lower, upper)
        ],
        "latency_column": lower["latency_column"],
        "aggregation": aggregation,
        "axis_transform": None,
        "fallback_from": "exact_miss",
        "policy_hash": candidate.policy.sha256,
    }  # fmt: skip
    latency = linear_interp(tokens, ends[0], lower["latency_us"], ends[1], upper["latency_us"])
    details["error_bar"] = line_bar("num_tokens", list(ends), {"linear_1d": latency})
    return Answer(
        op=plan.invocation.op,
        source="INTERPOLATED",
        latency_us=latency,
        confidence=0.75,
        kernel_type=kernel.kernel_type,
        shape_match_rule="mlapo_num_tokens_bounded_interpolation",
        details=details,
    )
