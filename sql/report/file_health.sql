-- Every CSV with its health, those with problems first.
select version_key, file_name, status, is_clean, layout, rows_read, rows_stored, rows_rejected, rows_without_latency,
    error_count, warning_count, bom_count, column_count, unknown_columns, size_bytes, message, sha256
from file_inventory
order by status = 'loaded', is_clean, version_key, file_name
