-- Targets under the keys of the exact lookup; only transposable kernels have keys that start with s.
-- reads: targets
-- source: the same macros as sql/ingest/row_keys.sql
select id, file_id, position, distance, suffix, unnest([{'quality': 0, 'rule': 'identity', 'key': shapes::varchar},
    {'quality': 1, 'rule': 'batch_strip', 'key': bare::varchar},
    {'quality': 1, 'rule': 'transpose', 'key': 's' || sorted_weights(bare)::varchar}], recursive := true)
from (select *, bare_shapes(shapes) as bare from targets)
