-- The nearest smaller and larger measured size of each collective, per tier and latency column, and the lines between them.
-- reads: sizes, fits
-- param: requests varchar [JSON list: id, kernel file, bytes (beyond 64 bits: read as null), devices, tier (null = unknown)]
-- order: the preferred latency column first
with wanted as (
    select unnest(from_json($requests::varchar, '[{"id": "INTEGER", "file_id": "INTEGER", "message_bytes": "BIGINT",
        "num_devices": "BIGINT", "topology_tier": "BIGINT"}]'), recursive := true)
), brackets as (
    select w.id, w.message_bytes, s.file_id, s.num_devices, s.topology_tier, s.latency_column,
        min(s.latency_rank) as latency_rank, count(*) as size_count, min(s.message_bytes) as smallest_bytes,
        max(s.message_bytes) as largest_bytes,
        arg_max(s.size, s.message_bytes) filter (s.message_bytes <= w.message_bytes) as lower_size,
        arg_min(s.size, s.message_bytes) filter (s.message_bytes >= w.message_bytes) as upper_size
    from wanted as w join sizes as s on s.file_id = w.file_id and s.num_devices = w.num_devices
        and (w.topology_tier is null or not s.has_tiers or s.topology_tier = w.topology_tier)
    group by w.id, w.message_bytes, s.file_id, s.num_devices, s.topology_tier, s.latency_column
)
select b.id, b.topology_tier, b.latency_column, b.size_count, b.smallest_bytes, b.largest_bytes, b.lower_size, b.upper_size,
    f.row_count, f.alpha_us, f.beta_us_per_byte, f.r2, f.alpha_us + f.beta_us_per_byte * b.message_bytes as fitted_us,
    greatest(least(f.alpha_us + f.beta_us_per_byte * b.message_bytes, greatest(lower_size.latency_us, upper_size.latency_us)),
        least(lower_size.latency_us, upper_size.latency_us)) as alpha_beta_us,
    lower_size.latency_us + (upper_size.latency_us - lower_size.latency_us) * ((b.message_bytes - lower_size.message_bytes)
        / nullif(upper_size.message_bytes - lower_size.message_bytes, 0)) as bracket_linear_us
from brackets as b join fits as f on f.file_id = b.file_id and f.num_devices = b.num_devices
    and f.topology_tier is not distinct from b.topology_tier and f.latency_column = b.latency_column
order by b.id, b.latency_rank, b.latency_column, b.topology_tier
