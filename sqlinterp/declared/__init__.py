"""Declared tables: measured CSV and Parquet tables of any layout, made readable by a few lines."""

from sqlinterp.declared.reading import read_declaration, shipped_declarations
from sqlinterp.declared.run import TableSummary, ingest_table

__all__ = ["TableSummary", "ingest_table", "read_declaration", "shipped_declarations"]
