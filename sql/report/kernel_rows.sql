-- What is known about each kernel of each version, the largest first.
select version_key, kernel_type, status, rows_read, rows_stored, rows_rejected, rows_without_latency, both_count,
    microbench_only_count, profiling_only_count, signature_count, regime_count, point_count, paths, latency_columns,
    operator_count, is_mapped
from kernel_coverage
order by rows_stored desc, version_key, kernel_type
