-- The groups of each attention target that may be the best: the least padded, the nearest, in the best latency column.
-- reads: groups
-- source: the order that a single target's groups are compared in
select * from groups
qualify rank() over (partition by item_id order by padding_ratio, seq_distance, latency_rank) = 1
