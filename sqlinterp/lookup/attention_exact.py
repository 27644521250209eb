"""Exact rows of attention: equal in meaning, nearest in sequence length, tokens maybe padded."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sqlinterp.lookup.answers import exact_answer
from sqlinterp.lookup.plan import Candidate, Plan
from sqlinterp.lookup.services import Services
from sqlinterp.model import Answer

# Sequence lengths are means over requests and are met within a block of 16 tokens.
CONFIDENCE = 0.9
_NEAR = 17.0  # whole tokens are compared, so that the means may differ by almost one more

_WANTED, _GROUPS = "wanted=lookup.attention_wanted", "groups=lookup.attention_group"
_NEAREST = "nearest=lookup.attention_nearest"
_GIVEN = "slots=lookup.attention_given_slot"
_BARE_SLOTS = ("slots=lookup.attention_slot",)
_FULL_SLOTS = ("near=lookup.attention_slot", "slots=lookup.attention_told_slot")
_BARE_STEPS = ("candidates=lookup.attention_candidate", _GROUPS)
_FULL_STEPS = (
    "accepted=lookup.attention_candidate",
    "candidates=lookup.attention_optional",
    _GROUPS,
)
# What every target tells or lets SQL derive, and what only some targets tell.
_MEANING = (
    "runtime_avg_seq_len",
    "runtime_sparse_mode",
    "runtime_num_key_value_heads",
    "runtime_input_layout",
)
_OPTIONAL = (
    "runtime_topk",
    "runtime_block_size",
    "runtime_phase",
    "runtime_quant_mode",
    "runtime_num_heads",
    "runtime_sparse_block_size",
    "runtime_sparse_indices_valid_count",
    "runtime_cache_layout",
    "runtime_kv_cache_mode",
    "runtime_sparse_indices_pattern",
    "runtime_actual_seq_lengths_values",
    "runtime_actual_seq_lengths_kv_values",
    "runtime_block_table_valid_blocks",
)

Row = dict[str, Any]


@dataclass(frozen=True)
class ExactOutcome:
    """What the rows of the kernels of one plan come to.

    Attributes
    ----------
    row : dict or None
        The group that answers; ``ambiguous`` is set when its kernel demands one latency and rows
        that match as well have several.
    reason : str
        Why there is no group.
    """

    row: Row | None = None
    reason: str = "shape_mismatch"

    @property
    def is_answer(self) -> bool:
        """Whether a group answers."""
        return self.row is not None and not self.row.get("ambiguous")


class AttentionSearch:
    """Finds the measured groups that answer attention calls, a statement or two for all of them.

    Plans bear the values of the columns of ``measurement`` that their call tells in the
    enrichment of their target, query and key in its operands, and CSV columns that have to be
    there as ``required_columns`` in their notes.
    """

    def __init__(self, services: Services) -> None:
        self._statements, self._aggregation = services.statements, services.exact_aggregation
        self._catalog = services.catalog

    def find(self, plans: Mapping[int, Plan]) -> dict[int, ExactOutcome]:
        """Return the outcome of every plan by its number."""
        outcomes = {
            n: ExactOutcome(reason="shape_mismatch" if plan.candidates else "csv_not_found")
            for n, plan in plans.items()
        }
        found: dict[int, list[Row]] = defaultdict(list)
        for number, row in self._rows(plans):
            found[number].append(row)
        for number, rows in found.items():
            outcomes[number] = self._best(plans[number], rows)
        return outcomes

    def _rows(self, plans: Mapping[int, Plan]) -> Iterator[tuple[int, Row]]:
        """Yield every matching group by plan, with kernel and dtype distance (1: FLOAT16 read)."""
        keys: list[tuple[int, Row]] = []
        targets, told = [], []
        for number, plan in plans.items():
            for candidate in plan.candidates:
                for distance, dtype in _spellings(plan):
                    target = {"item_id": len(keys), "dtype": dtype, **_target(plan, candidate)}
                    targets.append(target)
                    told.append({"item": len(keys), **_told(plan, candidate, _OPTIONAL)})
                    keys.append((number, {"position": candidate.position, "distance": distance}))
        if not targets:
            return
        is_told = any(len(values) > 1 for values in told)
        texts = {"told": json.dumps(told)} if is_told else {}
        for row in sorted(self._groups(targets, texts), key=itemgetter("item_id")):
            number, key = keys[row["item_id"]]
            yield number, {**row, **key}

    def _groups(self, targets: list[Row], told: Mapping[str, str]) -> list[Row]:
        """Return the groups of measurements near targets that they, and what is told, agree with.

        For a few targets these are read first: the statement that judges them reads no table then,
        and so is planned once.
        """
        files = sorted({target["file_id"] for target in targets})
        told_lengths = (target.get("runtime_avg_seq_len") for target in targets)
        lengths = [length for length in told_lengths if length is not None] or [-1.0]
        near = {
            "first_file": files[0], "last_file": files[-1],
            "first_seq": min(lengths) - _NEAR, "last_seq": max(lengths) + _NEAR,
        }  # fmt: skip
        texts = {
            "targets": json.dumps(targets),
            "columns": json.dumps({i: self._catalog.file_of(i).columns for i in files}),
            "aggregation": self._aggregation,
            **told,
        }
        statements = self._statements
        read, steps = (_FULL_SLOTS, _FULL_STEPS) if told else (_BARE_SLOTS, _BARE_STEPS)
        if not statements.is_short(texts["targets"]):
            return statements.run(_WANTED, *read, *steps, _NEAREST, **near, **texts)
        slots = [
            {name: value for name, value in row.items() if value is not None}
            for row in statements.run(*read, **near)
        ]
        return statements.evaluate(_WANTED, _GIVEN, *steps, slots=json.dumps(slots), **texts)

    def _best(self, plan: Plan, rows: list[Row]) -> ExactOutcome:
        """Return the best group: least padded, true dtype, nearest, first kernel, best column."""
        matches = [row for row in rows if row["signature_id"] is not None]
        if not matches:
            return ExactOutcome(reason=_reason(rows))
        best = min(matches, key=lambda row: (*_tie(row), self._content(row)))
        tied = [row for row in matches if _tie(row) == _tie(best)]
        sides = ("latency_min_us", "latency_max_us")
        is_single = len({round(row[side], 12) for row in tied for side in sides}) == 1
        if plan.candidates[best["position"]].is_unique and not is_single:
            kernel = plan.candidates[best["position"]].kernel.kernel_type
            best["ambiguous"] = True
            return ExactOutcome(best, f"ambiguous_semantic_match:{kernel}")
        return ExactOutcome(best)

    def _content(self, row: Row) -> int:
        """Return what decides between equal matches: their place for ``first``, else content."""
        return int(row["row_id"] if self._aggregation == "first" else row["signature_id"])


def _spellings(plan: Plan) -> list[tuple[int, str]]:
    """Return the dtypes of rows that the query may be answered by, with their distance."""
    dtype = plan.operands.dtypes[0]
    return [(0, dtype), (1, "DT_BF16")] if dtype == "FLOAT16" else [(0, dtype)]


def _target(plan: Plan, candidate: Candidate) -> Row:
    shapes = plan.operands.shapes
    return {
        "file_id": candidate.kernel.file_id,
        "shape": shapes[0],
        "key_shape": shapes[1] if len(shapes) > 1 else None,
        "needed": ["Runtime avg_seq_len", *plan.notes.get("required_columns", ())],
        **_told(plan, candidate, _MEANING),
    }


def _told(plan: Plan, candidate: Candidate, names: tuple[str, ...]) -> Row:
    """Return what the call tells of some columns; the policy of the kernel outweighs it."""
    target = plan.seen
    own = target.kernel_enrichment.get(candidate.kernel.kernel_type, {})
    values = {**target.enrichment, **own}
    return {name: values[name] for name in names if name in values}


def _tie(row: Row) -> tuple[Any, ...]:
    """Return what decides between matches before their content does."""
    quality = (row["padding_ratio"], row["distance"], row["seq_distance"])
    return (*quality, row["position"], row["latency_rank"])


def _reason(rows: list[Row]) -> str:
    """Return why no group matches; a CSV without a needed column outweighs other reasons."""
    if any(row["is_unreadable"] for row in rows):
        return "q_shape_normalize_failed"
    missing = [row["missing_columns"] for row in rows if row["missing_columns"]]
    if missing:
        return f"semantic_context_missing:csv:{','.join(missing[0])}"
    return "shape_mismatch"


def measured_answer(plan: Plan, row: Row, aggregation: str) -> Answer:
    """Return the answer of a measured group, with the gaps between it and the target."""
    is_padded = row["padding_ratio"] > 1
    row |= {"rule": "attention+padding" if is_padded else "attention", "quality": 2 * is_padded}
    answer = exact_answer(plan, row, aggregation)
    details = {
        **answer.details,
        "avg_seq_len": row["seq"],
        "measured_avg_seq_len": row["measured_mean"],
        "seq_gap": abs(row["measured_seq"] - row["seq"]),
        "measured_shapes": row["measured_shapes"],
        "q_tokens": row["tokens"],
        "measured_q_tokens": row["measured_tokens"],
        "sparse_mode": row["sparse_mode"],
        "num_kv_heads": row["kv_heads"],
        "input_layout": row["layout"],
        **plan.notes,
    }
    return replace(answer, confidence=CONFIDENCE, details=details)
