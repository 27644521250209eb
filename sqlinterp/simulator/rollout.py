"""Who gets interpolated answers: nobody yet, the kernels that were looked at, or everybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.given import list_of
from sqlinterp.model import Answer, OpInvocation, QueryContext
from sqlinterp.session import ProfilingDatabase

MODES = ("default", "shadow", "allowlist")


@dataclass(frozen=True)
class Verdict:
    """The answer that is given, and the other one when that differs.

    Attributes
    ----------
    answer : Answer
        What the caller gets.
    candidate : Answer or None
        What interpolation says instead, None when it says the same or was not asked.
    """

    answer: Answer
    candidate: Answer | None = None


@dataclass(frozen=True)
class Rollout:
    """The step of introducing interpolation that a data source is at.

    Attributes
    ----------
    mode : str
        ``shadow``: exact answers, with what interpolation would have said beside them.
        ``allowlist``: interpolated answers of the allowed kernels and operators only.
        ``default``: all answers.
    allowed : frozenset of str
        Kernels and operators.

    Notes
    -----
    Source: profiling RFC phase 1, section 13.4.
    """

    mode: str = "default"
    allowed: frozenset[str] = frozenset()

    def answer(
        self,
        database: ProfilingDatabase,
        invocations: Sequence[OpInvocation],
        context: QueryContext,
    ) -> list[Verdict]:
        """Answer invocations in order, with one batch of statements per kind of answer."""
        full = database.lookup_many(invocations, context)
        if self.mode == "default" or context.disable_interpolation:
            return [Verdict(answer) for answer in full]
        places = [i for i, answer in enumerate(full) if not self._is_allowed(answer)]
        exact = replace(context, disable_interpolation=True)
        base = database.lookup_many([invocations[i] for i in places], exact)
        verdicts = [Verdict(answer) for answer in full]
        for place, answer in zip(places, base, strict=True):
            differs = _gist(answer) != _gist(full[place])
            verdicts[place] = Verdict(answer, full[place] if differs else None)
        return verdicts

    def _is_allowed(self, answer: Answer) -> bool:
        """Return whether an answer may be given whatever it took.

        A sum may be when every part of it that is not exact may be.
        """
        if self.mode != "allowlist":
            return False
        return answer.op in self.allowed or self._has_allowed_kernels(
            answer.kernel_type, answer.details
        )

    def _has_allowed_kernels(self, kernel: str | None, details: dict[str, Any]) -> bool:
        parts = details.get("sub_kernels")
        if not parts:
            return kernel in self.allowed
        inexact = [part for part in parts if part["source"] != "MEASURED"]
        return bool(inexact) and all(
            part["name"] in self.allowed
            or self._has_allowed_kernels(part.get("kernel_type"), part.get("details") or {})
            for part in inexact
        )


def read_rollout(mode: str, allowlist: Iterable[str]) -> Rollout:
    """Return the rollout that a caller describes.

    Raises
    ------
    UsageError
        If the mode is unknown, or the list and the mode do not go together.
    """
    names = [allowlist] if isinstance(allowlist, str) else list_of(allowlist, "allowlist", "names")
    allowed = frozenset(names)
    if mode not in MODES:
        raise UsageError(f"rollout mode '{mode}' is unknown", expected=", ".join(MODES))
    if (mode == "allowlist") != bool(allowed):
        raise UsageError(
            f"mode '{mode}' with {len(allowed)} names in the allowlist",
            expected="kernels or operators with mode 'allowlist', none with another",
        )
    return Rollout(mode, allowed)


def _gist(answer: Answer) -> tuple[Any, ...]:
    return answer.source, answer.latency_us, answer.kernel_type, answer.miss_reason
