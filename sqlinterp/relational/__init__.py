"""Lookups from relation to relation: targets as a table, portable SQL, any engine that runs it."""
