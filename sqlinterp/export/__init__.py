"""The tables of a database file as Parquet for engines of other machines."""

from sqlinterp.export.manifest import Manifest, check_files, read_manifest
from sqlinterp.export.writing import export_parquet

__all__ = ["Manifest", "check_files", "export_parquet", "read_manifest"]
