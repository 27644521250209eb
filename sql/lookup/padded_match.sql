-- Candidates all of whose operands match, some of them padded, the least padded first.
-- reads: slots
-- order: padding ratio, dtype, kernel, latency column, content
with matches as (
    select id, position, distance, latency_rank, signature_id, row_id,
        concat_ws('+', arg_max(label, slot) filter (label not in ('identity', '')), 'padding') as rule,
        product(if(is_padded, ratio, 1.0)) as padding_ratio
    from slots
    group by id, position, distance, latency_rank, signature_id, row_id, operand_count
    having bool_or(is_padded) and count(*) = operand_count
)
select id, position, distance, row_id, rule, padding_ratio, operand_shapes as measured_shapes
from matches join (select row_id, operand_shapes from measurement) using (row_id)
order by id, padding_ratio, distance, position, matches.latency_rank, signature_id, row_id
