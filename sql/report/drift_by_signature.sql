-- Signatures that two versions measured, the largest change first.
select old_version_key, new_version_key, kernel_type, ratio, is_like_for_like, profiling_ratio, old_latency_us,
    new_latency_us, input_shapes, input_dtypes, output_shapes, old_quantities, new_quantities
from version_diff
order by abs(ln(ratio)) desc, old_version_key, new_version_key, kernel_type, input_shapes, input_dtypes, input_formats,
    output_shapes, old_latency_us, new_latency_us
