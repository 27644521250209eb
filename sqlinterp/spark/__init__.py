"""Lookups on Spark over an export; importing this does not load Spark."""

from sqlinterp.spark.database import SparkProfilingDatabase

__all__ = ["SparkProfilingDatabase"]
