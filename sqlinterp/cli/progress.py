"""Progress on stderr, shown only to a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sqlinterp.cli.output import message_console

Advance = Callable[[str, int, int], None]


@contextmanager
def file_progress(verb: str) -> Iterator[Advance]:
    """Show a bar while files are handled.

    Yields
    ------
    callable
        ``advance(name, done, total)``; a total of 0 means that it is not known.
    """
    console = message_console()
    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(verb, total=None)

        def advance(name: str, done: int, total: int) -> None:
            text = f"{verb} {name}"[:60]
            if total:
                bar.update(task, description=text, completed=done, total=total)
            else:
                bar.update(task, description=text, advance=1)

        yield advance
