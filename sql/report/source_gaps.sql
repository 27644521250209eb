-- Rows whose microbenchmark and profiling latencies disagree, hot ones first.
select version_key, kernel_type, file_name, line_number, input_shapes, microbench_us, profiling_us, ratio,
    difference_us, is_hot
from gap_hotspot
order by is_hot desc, greatest(ratio, 1 / ratio) desc, row_id
