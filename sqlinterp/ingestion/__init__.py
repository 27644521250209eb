"""Versioned profiling CSVs into a DuckDB file, every row accounted for."""

from sqlinterp.ingestion.run import ingest
from sqlinterp.ingestion.summary import IngestSummary, VersionSummary

__all__ = ["IngestSummary", "VersionSummary", "ingest"]
