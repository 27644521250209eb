-- Measurements whose operands equal the target's in shape, dtype and ND storage, aggregated by latency column.
-- param: targets varchar [JSON list: id, file_id, shapes and dtypes of all operands]
-- param: aggregation varchar [mean, median, min or first]
-- order: target, latency column
with targets as (
    select unnest(from_json($targets, '[{"id": "INTEGER", "file_id": "INTEGER", "shapes": "BIGINT[][]", "dtypes": "VARCHAR[]"}]'),
        recursive := true)
), matches as (
    select id, m.row_id, line_number, latency_us, latency_column, latency_rank, signature_id
    from targets as t join measurement as m
        on m.file_id = t.file_id and operand_shapes = shapes and operand_dtypes = dtypes
            and list_sum(operand_gaps) = 0 and list_bool_and(list_transform(operand_formats, lambda f: f = 'ND'))
)
select id, latency_column, latency_rank, arg_min(line_number, row_id) as line_number, count(*) as measurement_count,
    min(latency_us) as latency_min_us, max(latency_us) as latency_max_us,
    round(min(latency_us), 12) < round(max(latency_us), 12) as has_several,
    has_several and min(signature_id) < max(signature_id) as is_conflicting,
    case $aggregation when 'mean' then avg(latency_us order by latency_us) when 'median' then median(latency_us)
        when 'min' then min(latency_us) else arg_min(latency_us, row_id) end as latency_us
from matches group by id, latency_column, latency_rank
order by id, latency_rank, latency_column
