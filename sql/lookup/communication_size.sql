-- Measured message sizes of each group: the measurements of one size are one latency by policy.
-- reads: collective_rows
-- param: aggregation varchar [mean, median, min or first]
select file_id, num_devices, has_tiers, topology_tier, latency_column, min(latency_rank) as latency_rank, message_bytes, {
    'message_bytes': message_bytes,
    'latency_us': case $aggregation when 'mean' then avg(latency_us order by latency_us)
        when 'median' then median(latency_us) when 'min' then min(latency_us) else arg_min(latency_us, row_id) end,
    'latency_min_us': min(latency_us), 'latency_max_us': max(latency_us), 'measurement_count': count(*),
    'line': arg_min(line_number, row_id), 'dtypes': list_sort(list_distinct(list(communication_dtype)))} as size
from collective_rows
group by file_id, num_devices, has_tiers, topology_tier, latency_column, message_bytes
