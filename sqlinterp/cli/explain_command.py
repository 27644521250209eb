"""``sqlinterp explain``: the steps of one lookup as a person reads them."""

from __future__ import annotations

import typer

from sqlinterp.cli import options
from sqlinterp.cli.explanation import Explanation
from sqlinterp.cli.output import data_console
from sqlinterp.cli.requests import open_input, read_requests
from sqlinterp.errors import UsageError
from sqlinterp.lookup.invocation import read_invocation
from sqlinterp.session import open_database


def explain(
    file: options.Request = None,
    db: options.Database = None,
    version: options.Version = None,
    ep_size: options.EpSize = None,
    tp_size: options.TpSize = None,
    comm_grid: options.CommGrid = None,
    sequence_parallel: options.SequenceParallel = False,
    disable_profiling_interpolation: options.ExactOnly = False,
    aggregation: options.Aggregation = "mean",
    policy: options.Policy = None,
) -> None:
    """Show how one invocation is answered: dispatch, SQL, regime, neighbours, weights, answer.

    The exit code is that of 'lookup': 0 when it is answered, 1 for a miss.
    """
    context = options.query_context(
        ep_size, tp_size, comm_grid, sequence_parallel, disable_profiling_interpolation,
        aggregation, policy,
    )  # fmt: skip
    with open_database(db, version, follow=False, **context) as database:
        with open_input(file) as stream:
            single = read_requests(stream).single
        if single is None:
            raise UsageError("the input holds several invocations", expected="one JSON object")
        invocation = read_invocation(single)
        answer, engine, steps = database.trace(invocation)
        plan = engine.plan(invocation)
        Explanation(data_console(), engine, plan, answer).show(steps)
    raise typer.Exit(1 if answer.source is None else 0)
