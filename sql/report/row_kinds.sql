-- Rows of each version by the latencies that they have, and those that are no measurements.
select version_key, sum(both_count)::bigint as both_count, sum(microbench_only_count)::bigint as microbench_only_count,
    sum(profiling_only_count)::bigint as profiling_only_count,
    (sum(rows_stored) - sum(both_count) - sum(microbench_only_count) - sum(profiling_only_count))::bigint as other_count,
    sum(rows_rejected)::bigint as rows_rejected, sum(rows_without_latency)::bigint as rows_without_latency
from kernel_coverage
group by version_key
order by version_key
