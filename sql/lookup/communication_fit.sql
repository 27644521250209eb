-- Least squares latency = alpha + beta * bytes over all measurements of a group size, tier and latency column.
-- reads: collective_rows
-- source: the aggregates of the view communication_fit; their order makes the sums independent of the order of rows
select file_id, num_devices, topology_tier, latency_column, count(*) as row_count,
    regr_intercept(latency_us, message_bytes order by message_bytes, latency_us) as alpha_us,
    regr_slope(latency_us, message_bytes order by message_bytes, latency_us) as beta_us_per_byte,
    regr_r2(latency_us, message_bytes order by message_bytes, latency_us) as r2
from collective_rows
group by file_id, num_devices, topology_tier, latency_column
