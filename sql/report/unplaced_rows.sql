-- Measurements that have no place on the axes of their path, and why.
select version_key, kernel_type, path, reason, row_count, share
from unplaced_row
order by row_count desc, version_key, kernel_type, path, reason
