-- Operators by lookup path and query mode, and how many of them have data.
select version_key, dispatch, query_mode, operator_count, share, with_kernel_count, with_csv_count, with_every_csv_count
from mapping_summary
order by version_key, operator_count desc, dispatch, query_mode
