"""The profiling database as a data source of a simulator."""

from sqlinterp.simulator.log import LookupLog
from sqlinterp.simulator.results import QueryResult, QuerySource, ShapeMatchInfo
from sqlinterp.simulator.source import SqlDataSource

__all__ = ["LookupLog", "QueryResult", "QuerySource", "ShapeMatchInfo", "SqlDataSource"]
