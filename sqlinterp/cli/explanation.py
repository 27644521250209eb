"""An explained lookup, section by section."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from sqlinterp import queries
from sqlinterp.cli.neighbours import neighbour_table, point_table
from sqlinterp.cli.output import as_text, heading, make_table, microseconds, print_table
from sqlinterp.cli.parts import bracket_rows, fit_lines, part_rows
from sqlinterp.cli.steps import decisive_rows
from sqlinterp.cli.trust import bar_lines, estimate_rows, extrapolation_lines, refusal_lines
from sqlinterp.lookup.engine import Engine
from sqlinterp.lookup.exact import tried_rules
from sqlinterp.lookup.plan import Plan
from sqlinterp.lookup.statements import Step
from sqlinterp.model import Answer, Tensor

_DISPATCH = {
    "unmapped": "op_mapping.yaml has no entry for this operator",
    "zero_cost": "the entry says that the operator costs nothing",
    "accepted_miss": "the entry accepts that nothing was measured",
}


class Explanation:
    """Writes how one invocation was answered."""

    def __init__(self, console: Console, engine: Engine, plan: Plan, answer: Answer) -> None:
        self._console, self._catalog = console, engine.catalog
        self._plan, self._answer = plan, answer

    def show(self, steps: Sequence[Step]) -> None:
        """Write every section."""
        self._dispatch()
        self._operands()
        self._statements(steps)
        self._regime()
        self._neighbours()
        self._error_bar()
        self._parts()
        self._attempts()
        self._result()

    def _line(self, label: str, value: Any) -> None:
        self._console.print(f"  {label:<15} {value}", soft_wrap=True)

    def _table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Iterable[str]
    ) -> None:
        print_table(self._console, make_table(columns, rows, numeric))

    def _dispatch(self) -> None:
        plan = self._plan
        self._console.print(f"{plan.invocation.op} in {self._catalog.version_key}", style="bold")
        heading(self._console, "1. Dispatch")
        self._line("path", plan.dispatch)
        if plan.dispatch in _DISPATCH:
            self._line("", _DISPATCH[plan.dispatch])
        if plan.fields:
            self._line("mapping entry", json.dumps(plan.fields, ensure_ascii=False))
        if plan.path is not None:
            self._line(
                "axes", f"{', '.join(plan.path.axes)} (sql/{plan.path.query.replace('.', '/')}.sql)"
            )
        rows: list[tuple[Any, ...]] = [
            (c.position + 1, c.kernel.kernel_type, c.kernel.file_name, c.kernel.status,
             c.policy.max_interpolation_dim, c.policy.method)
            for c in plan.candidates
        ]  # fmt: skip
        rows += [
            ("", k.kernel_type, k.file_name or f"{k.kernel_type}.csv", k.status, "", "")
            for k in plan.unavailable
        ]
        if rows:
            columns = ["order", "kernel", "CSV", "status", "most dimensions", "method"]
            self._table(columns, rows, ["order", "most dimensions"])

    def _operands(self) -> None:
        heading(self._console, "2. Operands")
        operands = self._plan.operands
        if operands.shapes:
            rows = [
                (i, list(shape), dtype or "unknown", gap)
                for i, (shape, dtype, gap) in enumerate(
                    zip(operands.shapes, operands.dtypes, operands.gaps, strict=True)
                )
            ]
            columns = ["operand", "shape", "dtype", "empty places before"]
            self._table(columns, rows, [columns[0], columns[3]])
        else:
            shapes = [list(a.shape) for a in self._plan.invocation.args if isinstance(a, Tensor)]
            self._line("", f"not looked at; the call has {as_text(shapes)}")
        outputs = [list(tensor.shape) for tensor in self._plan.invocation.outputs]
        self._line("outputs", as_text(outputs) if outputs else "not given")

    def _statements(self, steps: Sequence[Step]) -> None:
        heading(self._console, "3. SQL")
        if not steps:
            self._line("", "none: the mapping entry decides")
        for number, step in enumerate(steps, start=1):
            self._console.print(f"  statement {number}: {len(step.rows)} rows")
            for name in step.steps:
                query = queries.load(name.split("=")[-1])
                self._console.print(f"    {query.name}: {query.purpose}", soft_wrap=True)
            self._decisive(step)
        if self._plan.dispatch == "compute":
            self._rules()

    def _decisive(self, step: Step) -> None:
        columns, cells, numeric = decisive_rows(step, self._plan)
        if columns:
            self._console.print()
            self._table(columns, cells, numeric)
            self._console.print()

    def _regime(self) -> None:
        details = self._answer.details
        if not details.get("exact_fields"):
            return
        heading(self._console, "4. Regime and axes")
        for name, value in details["exact_fields"].items():
            self._line(name, as_text(value))
        target = ", ".join(
            f"{name} = {as_text(value)}" for name, value in details["target"].items()
        )
        self._line("target", target)
        self._line("points", f"{details['raw_count']} measurements in the regime,"
                   f" {details['aggregated_count']} points on the searched axes")  # fmt: skip

    def _neighbours(self) -> None:
        details = self._answer.details
        if details.get("method") == "alpha_beta":
            heading(self._console, "5. Fit")
            for label, value in fit_lines(details):
                self._line(label, value)
            self._table(*bracket_rows(details))
        elif details.get("extrapolation"):
            heading(self._console, "5. Beyond the measured range")
            for label, value in extrapolation_lines(details):
                self._line(label, value)
            print_table(self._console, point_table(self._answer))
        elif details.get("corner_points"):
            heading(self._console, "5. Neighbours and weights")
            for axis, (low, high) in details["boundary"].items():
                self._line(axis, f"{as_text(details['target'][axis])} lies between {as_text(low)}"
                           f" and {as_text(high)}")  # fmt: skip
            print_table(self._console, neighbour_table(self._answer))
        elif details.get("method") == "exact":
            heading(self._console, "4. Measured rows")
            self._line("row", f"{details['file']}:{details['line']}")
            self._line("column", details["latency_column"])
            self._line("measurements", details["raw_count"])
            for key in ("asked_shapes", "measured_shapes", "padding_ratio", "dtype_compatible"):
                if key in details:
                    self._line(key.replace("_", " "), as_text(details[key]))

    def _error_bar(self) -> None:
        bar = self._answer.details.get("error_bar")
        if not bar:
            return
        heading(self._console, "6. Error bar")
        if bar["estimates"]:
            columns = ["along", "between", "latency us"]
            self._table(columns, estimate_rows(bar), ["latency us"])
        for label, value in bar_lines(bar):
            self._line(label, value)

    def _parts(self) -> None:
        if self._answer.details.get("sub_kernels"):
            heading(self._console, "4. Parts")
            self._table(*part_rows(self._answer.details["sub_kernels"]))

    def _rules(self) -> None:
        """Write which rules of the exact lookup were tried, and which one matched."""
        for candidate in self._plan.candidates:
            tried = tried_rules(self._catalog.trait(candidate.kernel.kernel_type))
            self._line("rules tried", f"{candidate.kernel.kernel_type}: {', '.join(tried)}")

    def _attempts(self) -> None:
        attempts = self._answer.details.get("attempts")
        if not attempts:
            return
        heading(self._console, "4. Attempts")
        columns = ["kernel", "axes", "status", "rows", "points"]
        rows = [
            (a["kernel_type"], " ".join(a.get("axes", [])) or a.get("path", ""), a["status"],
             a.get("filtered_count"), a.get("aggregated_count"))
            for a in attempts
        ]  # fmt: skip
        self._table(columns, rows, ["rows", "points"])
        for label, value in refusal_lines(attempts):
            self._line(label, value)
        self._unmatched_regime(attempts)

    def _unmatched_regime(self, attempts: Sequence[dict[str, Any]]) -> None:
        """Write the regime that no measured row has, field by field."""
        unmatched = [
            a for a in attempts if a["status"] == "regime_key_unmatched" and a.get("regime")
        ]
        if not unmatched:
            return
        self._console.print()
        self._line("", f"no row of {unmatched[0]['kernel_type']} has this regime:")
        for name, value in unmatched[0]["regime"].items():
            if value is not None:
                self._line(name, as_text(value))

    def _result(self) -> None:
        answer = self._answer
        heading(self._console, "Answer")
        if answer.source is None:
            self._line("no answer", answer.miss_reason)
            return
        self._line("latency", f"{microseconds(answer.latency_us)} us")
        self._line("source", f"{answer.source}, confidence {answer.confidence or 0:.4g}")
        for label, value in (
            ("rule", answer.shape_match_rule),
            ("kernel", answer.kernel_type),
            ("missing", answer.miss_reason),
        ):
            if value:
                self._line(label, value)
