"""What a data source can be told besides the arguments of the contract."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlinterp.errors import UsageError
from sqlinterp.given import told
from sqlinterp.model import is_integer


@dataclass(frozen=True)
class Options:
    """Options of a data source, all by keyword.

    Attributes
    ----------
    mode : str
        ``default``, ``shadow`` or ``allowlist``; see :class:`sqlinterp.simulator.rollout.Rollout`.
    allowlist : collection of str
        Kernels and operators that may be interpolated in mode ``allowlist``.
    aggregation : str
        How repeated measurements become one latency: mean, median, min, first or reference.
    sequence_parallel : bool, callable or None
        Whether sequence parallelism is on, or what tells it at each lookup; None reads the
        parallel configuration, else the switch of the simulator.
    memo_size : int
        Most answers to remember [count].
    log : bool
        Whether calls are counted for the log, the metrics and the summary.
    policy : mapping or None
        Interpolation policy that wins over the mapping's, as :func:`sqlinterp.open` takes it.
    analytic_us : callable or None
        Gives the simulator's own estimate of an invocation [us], the weight of the metric M5.
    """

    mode: str = "default"
    allowlist: Collection[str] = ()
    aggregation: str = "mean"
    sequence_parallel: bool | Callable[[], bool] | None = None
    memo_size: int = 16_384
    log: bool = False
    policy: Mapping[str, Any] | None = None
    analytic_us: Callable[[Any], float | None] | None = None


def read_options(given: Mapping[str, Any]) -> Options:
    """Return the options that keyword arguments give.

    Raises
    ------
    UsageError
        If one is unknown or has no usable value.
    """
    known = [option.name for option in fields(Options)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"unknown options: {', '.join(unknown)}", expected=", ".join(known))
    options = Options(**given)
    if not is_integer(options.memo_size) or options.memo_size < 2:
        raise UsageError(f"memo_size is {options.memo_size!r}", expected="at least 2")
    check_callable(options.analytic_us, "analytic_us")
    return options


def check_callable(given: Any, name: str) -> None:
    """Refuse what is given for a hook and cannot be called.

    Raises
    ------
    UsageError
        If it is neither None nor callable.
    """
    if given is not None and not callable(given):
        raise UsageError(f"{name} is {told(given)}", expected="a function")
