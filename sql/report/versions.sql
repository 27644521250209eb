-- Versions with their files and where every row of them went.
select version_key, file_count, unusable_file_count, rows_read, rows_stored, rows_rejected, rows_without_latency,
    difference
from ingest_balance
order by version_key
