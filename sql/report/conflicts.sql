-- Rows with equal signatures and different latencies, the widest first.
select version_key, kernel_type, file_name, line_numbers, ratio, latency_min_us, latency_max_us, row_count, input_shapes,
    input_dtypes, latency_columns, is_across_columns
from conflicting_latency
order by ratio desc, row_id
