"""Errors as a message on stderr with the exit code of the contract, never as a traceback."""

from __future__ import annotations

import os
from typing import Any

import duckdb
import typer
from typer.core import TyperGroup

from sqlinterp.cli.output import say
from sqlinterp.errors import DatabaseError, SqlinterpError, UsageError
from sqlinterp.interrupts import is_interrupt


class Commands(TyperGroup):
    """The group of all commands, which reports whatever goes wrong in one of them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except SqlinterpError as error:
            say(f"sqlinterp: {error}", "red")
            raise typer.Exit(error.exit_code) from None
        except Exception as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from None
            if hasattr(error, "show") or os.environ.get("SQLINTERP_DEBUG"):
                raise  # a usage error that the parser shows itself
            known = _described(error)
            say(f"sqlinterp: {known}", "red")
            raise typer.Exit(known.exit_code) from None


def _described(error: Exception) -> SqlinterpError:
    if isinstance(error, duckdb.Error):
        return DatabaseError(str(error))
    if isinstance(error, OSError):
        return UsageError(error.strerror or str(error), str(error.filename or ""))
    return UsageError(
        f"unexpected {type(error).__name__}: {error}",
        todo="Set SQLINTERP_DEBUG=1 to see where, and report it.",
    )
