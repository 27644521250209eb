-- Warnings and errors of ingest about files and mappings, errors first.
select version_key, file_name, severity, reason, line_number, column_name, message
from ingest_issue
order by severity, version_key, file_name nulls first, line_number, column_name, reason, message
