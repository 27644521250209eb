-- Measurements of the wanted collectives, and whether their CSV records the topology tier.
-- param: file_ids integer[] [file of each wanted group, no pair twice]
-- param: device_counts bigint[] [devices of each wanted group]
select file_id, num_devices, list_contains(column_names, 'topology_tier') as has_tiers, topology_tier, message_bytes,
    communication_dtype, latency_us, latency_column, latency_rank, row_id, line_number
from (select unnest($file_ids) as file_id, unnest($device_counts) as num_devices)
join measurement using (file_id, num_devices) join source_file using (file_id)
where message_bytes is not null
