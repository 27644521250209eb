-- CSV columns that latencies were read from, what they are and why they were taken.
select version_key, latency_column, quantity, reason, count(*) as row_count,
    count(distinct kernel_type) as kernel_count, min(latency_us) as latency_min_us,
    median(latency_us) as latency_median_us, max(latency_us) as latency_max_us
from effective_latency
group by version_key, latency_column, quantity, reason
order by version_key, row_count desc, latency_column, quantity, reason
