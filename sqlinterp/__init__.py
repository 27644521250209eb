"""sqlinterp: measured kernel latencies as SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlinterp.version import __version__

if TYPE_CHECKING:
    from sqlinterp.declared import ingest_table
    from sqlinterp.ingestion import ingest
    from sqlinterp.model import Answer, OpInvocation
    from sqlinterp.session import open_database as open

__all__ = ["Answer", "OpInvocation", "__version__", "ingest", "ingest_table", "open"]

_PLACES = {
    "ingest": ("sqlinterp.ingestion", "ingest"),
    "ingest_table": ("sqlinterp.declared", "ingest_table"),
    "open": ("sqlinterp.session", "open_database"),
    "Answer": ("sqlinterp.model", "Answer"),
    "OpInvocation": ("sqlinterp.model", "OpInvocation"),
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used, so that importing stays light."""
    from importlib import import_module

    if name == "simulator":
        return import_module("sqlinterp.simulator")
    if name not in _PLACES:
        raise AttributeError(f"module 'sqlinterp' has no attribute '{name}'")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
